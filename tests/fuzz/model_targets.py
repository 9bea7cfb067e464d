"""Models: our own files, those of other libraries and engines, checkpoints, trials. Whatever loads must also score."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import rankinite as rk
from fuzz.data_targets import put
from fuzz.mutation import damaged_bytes, damaged_lines, damaged_tree, json_text
from fuzz.target import Target
from oracles.foreign_models import onnx_ensemble, onnx_file, onnx_regressor, ranklib_text, solr_model, solr_trees
from oracles.trees import random_forest
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.methods.catalogue import AdaptationMethod
from rankinite.adapt.shared_fits import Task
from rankinite.adapt.trial_store import TrialStore
from rankinite.adapt.trials import MethodTrial

MODELS = Path(__file__).parents[1] / "model_files"
MOST_FEATURES = 50_000
"""Models that name more are loaded, but score nothing here."""


@cache
def training() -> rk.Dataset:
    """Few rows, some values missing, for the smallest models of every library."""
    features = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    features[::7, 2] = np.nan
    return rk.read(features, grades=np.arange(60) % 3, qid=np.arange(60) // 6)


@cache
def training_codes() -> np.ndarray:
    """The same rows with a category in place of the last feature."""
    features = training().features.copy()
    features[:, 3] = np.arange(60) % 3 + 3 * (np.arange(60) % 2)
    return features


def load_and_score(path: Path) -> None:
    ranker = rk.load(path)
    names = tuple(getattr(ranker, "feature_names", None) or ("1", "2", "3", "4"))
    str(ranker)
    if len(names) > MOST_FEATURES:
        return
    rows = np.resize(np.float32([0.0, 1.0, -1.0, np.nan, 1e30, 0.5]), (6, len(names)))
    data = rk.Dataset(rows, np.arange(6) % 2, np.asarray([0, 3, 6]), np.asarray(["a", "b"]), names)
    scores = ranker.score(data)
    assert scores.shape == (6,)


# ---- our own ------------------------------------------------------------------------------------------------------------


def make_own(rng: Random, folder: Path) -> Path:
    content = rng.choice(sorted(MODELS.glob("*.rankinite"))).read_bytes()
    if rng.random() < 0.3:
        return put(folder / "model.rankinite", damaged_bytes(rng, content))
    return put(folder / "model.rankinite", repacked(rng, content))


def repacked(rng: Random, content: bytes) -> bytes:
    """A model file whose header, description or arrays are changed, and which is otherwise sound."""
    length = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
    match rng.randrange(4):
        case 0:
            header = damaged_tree(rng, header)
        case 1:
            body = damaged_numbers(rng, body)
        case _:
            described = damaged_tree(rng, json.loads(header["__metadata__"]["rankinite"]))
            header["__metadata__"]["rankinite"] = json_text(described)
    text = json_text(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def damaged_numbers(rng: Random, body: bytes) -> bytes:
    """A few whole numbers of an array replaced by others that are near, negative or far away."""
    found = bytearray(body)
    for _ in range(rng.choice([1, 2, 8])):
        at = rng.randrange(max(1, len(found) // 4)) * 4
        value = rng.choice([0, 1, -1, 2, 1000, 2**31 - 1, -(2**31), rng.randrange(100)])
        found[at : at + 4] = struct.pack("<i", value)
    return bytes(found[: len(body)])


# ---- LightGBM and XGBoost -----------------------------------------------------------------------------------------------


@cache
def lightgbm_text(categorical: bool = False) -> str:
    import lightgbm

    data, chosen = training(), [3] if categorical else []
    settings = {"objective": "lambdarank", "num_leaves": 4, "min_data_in_leaf": 2, "verbosity": -1, "num_threads": 1}
    settings |= {"min_data_per_group": 1, "cat_smooth": 0} if categorical else {}
    rows = training_codes() if categorical else data.features
    own = lightgbm.Dataset(rows, data.grades, group=np.diff(data.offsets), categorical_feature=chosen, params={"verbosity": -1})
    return lightgbm.train(settings, own, 3).model_to_string()


def make_lightgbm(rng: Random, folder: Path) -> Path:
    content = damaged_lines(rng, lightgbm_text(rng.random() < 0.3), rng.choice([" ", "=", "\t"]))
    raw = content.encode(errors="replace")
    return put(folder / "model.txt", damaged_bytes(rng, raw) if rng.random() < 0.2 else raw)


@cache
def xgboost_tree(categorical: bool = False) -> Any:
    import xgboost

    data = training()
    kinds = {"feature_types": ["q", "q", "q", "c"], "enable_categorical": True} if categorical else {}
    rows = training_codes() if categorical else data.features
    matrix = xgboost.DMatrix(rows, data.grades, qid=data.query_of_row(), **kinds)
    settings = {"objective": "rank:ndcg", "max_depth": 2, "nthread": 1}
    return json.loads(bytes(xgboost.train(settings, matrix, 3).save_raw("json")))


def make_xgboost(rng: Random, folder: Path) -> Path:
    raw = json_text(damaged_tree(rng, xgboost_tree(rng.random() < 0.3))).encode()
    return put(folder / "model.json", damaged_bytes(rng, raw) if rng.random() < 0.2 else raw)


def make_ubjson(rng: Random, folder: Path) -> Path:
    try:
        raw = b"".join(ubjson(rng, damaged_tree(rng, xgboost_tree()) if rng.random() < 0.7 else xgboost_tree()))
    except RecursionError:
        raw = b"[" * 100_000
    return put(folder / "model.ubj", damaged_bytes(rng, raw) if rng.random() < 0.5 else raw)


def ubjson(rng: Random, value: Any) -> Iterator[bytes]:
    """A JSON value in UBJSON; a count is sometimes a lie."""
    match value:
        case None:
            yield b"Z"
        case bool():
            yield b"T" if value else b"F"
        case int() if abs(value) < 2**63:
            yield b"L" + struct.pack(">q", value)
        case int() | float():
            yield b"D" + struct.pack(">d", float(value))
        case str():
            yield b"S" + _length(rng, len(raw := value.encode())) + raw
        case list() if value and all(type(item) is float for item in value) and rng.random() < 0.5:
            yield b"[$d#" + _length(rng, len(value)) + struct.pack(f">{len(value)}f", *np.float32(value).tolist())
        case list():
            yield b"[#" + _length(rng, len(value))
            for item in value:
                yield from ubjson(rng, item)
        case _:
            yield b"{"
            for key, item in value.items():
                yield _length(rng, len(raw := key.encode())) + raw
                yield from ubjson(rng, item)
            yield b"}"


def _length(rng: Random, count: int) -> bytes:
    if rng.random() < 0.0005:
        count = rng.choice([-1, 2**31, 2**62, count + 1, 10**9])
    return b"L" + struct.pack(">q", count)


# ---- CatBoost, RankLib, Solr, ONNX ----------------------------------------------------------------------------------------


@cache
def catboost_trees() -> tuple[Any, ...]:
    """Models with symmetric trees, and with others."""
    import catboost

    data, found = training(), []
    for policy in ("SymmetricTree", "Lossguide"):
        settings = {"iterations": 3, "depth": 2, "grow_policy": policy, "thread_count": 1, "loss_function": "RMSE"}
        model = catboost.CatBoost({**settings, "verbose": False, "allow_writing_files": False}).fit(data.features, data.grades)
        with TemporaryDirectory() as folder:
            model.save_model(f"{folder}/model.json", format="json")
            found.append(json.loads(Path(folder, "model.json").read_bytes()))
    return tuple(found)


def make_catboost(rng: Random, folder: Path) -> Path:
    model = {name: entry for name, entry in rng.choice(catboost_trees()).items() if name != "model_info" or rng.random() < 0.1}
    raw = json_text(damaged_tree(rng, model)).encode()
    return put(folder / "model.json", damaged_bytes(rng, raw) if rng.random() < 0.2 else raw)


@cache
def ranklib_texts() -> tuple[str, ...]:
    forest = random_forest(1, trees=4, features=4)
    weights = "1:0.25 2:-1.5E-3 4:7"
    linear = (f"## Linear Regression\n## Lambda = 1.0E-10\n0:0.5 {weights}", f"## Coordinate Ascent\n{weights}")
    forests = (("LambdaMART", 1), ("Random Forests", 2))
    return (*(ranklib_text(forest, 0.1, learner, parts) for learner, parts in forests), *linear)


def make_ranklib(rng: Random, folder: Path) -> Path:
    content = rng.choice(ranklib_texts())
    if rng.random() < 0.9:
        content = damaged_lines(rng, content, rng.choice([" ", ":", "\t", ">", '"']))
    raw = content.encode(errors="replace")
    return put(folder / "model.txt", damaged_bytes(rng, raw) if rng.random() < 0.2 else raw)


@cache
def solr_models() -> tuple[Any, ...]:
    forest = random_forest(2, trees=3, features=3, most=4)
    norms = {
        "f0": {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": {"avg": "0.5", "std": "2"}},
        "f1": {"class": "org.apache.solr.ltr.norm.MinMaxNormalizer", "params": {"min": "-1", "max": "3"}},
    }
    names = forest.feature_names
    layers = [
        {"matrix": [[0.5, 1.0, -1.0], [0.1, 0.2, 0.3]], "bias": [0.1, 0.2], "activation": "tanh"},
        {"matrix": [[1.0, -1.0]], "bias": [0.5], "activation": "identity"},
    ]
    return (
        solr_trees(forest, "0.5", norms=norms),
        solr_trees(forest, missing=True),
        solr_model("LinearModel", names, {"weights": dict.fromkeys(names, 0.5)}, norms),
        solr_model("NeuralNetworkModel", names, {"layers": layers}, norms),
    )


def make_solr(rng: Random, folder: Path) -> Path:
    raw = json_text(damaged_tree(rng, rng.choice(solr_models()))).encode()
    return put(folder / "model.json", damaged_bytes(rng, raw) if rng.random() < 0.2 else raw)


@cache
def onnx_nodes() -> tuple[bytes, ...]:
    """Ensembles as nodes, of which copies are changed."""
    forest = random_forest(3, trees=3, features=3, most=5)
    return tuple(
        node.SerializeToString()
        for double in (False, True)
        for node in (onnx_regressor(forest, double=double), onnx_ensemble(forest, double=double))
    )


def make_onnx(rng: Random, folder: Path) -> Path:
    """A model in which an attribute is changed, left out or repeated, or whose bytes are damaged."""
    import onnx

    node = onnx.NodeProto()
    node.ParseFromString(rng.choice(onnx_nodes()))
    for _ in range(rng.choice([0, 1, 1, 2])):
        attribute = rng.choice(list(node.attribute))
        values = getattr(attribute, rng.choice(["ints", "ints", "floats", "strings"]))
        if values and rng.random() < 0.8:
            odd = {
                int: [0, 1, -1, 2, 7, 2**31, -(2**62)],
                float: [0.0, -1.0, math.nan, math.inf, 1e30],
                bytes: [b"", b"LEAF", b"\xff"],
            }
            values[rng.randrange(len(values))] = rng.choice(odd[type(values[0])])
        elif rng.random() < 0.5:
            node.attribute.remove(attribute)
        else:
            attribute.i = rng.choice([0, 1, -1, 5, 2**40])
    raw = onnx_file([node], rng.choice([3, 3, 3, None, 2, 2**40]), double=rng.random() < 0.5)
    return put(folder / "model.onnx", damaged_bytes(rng, raw) if rng.random() < 0.4 else raw)


# ---- checkpoints ----------------------------------------------------------------------------------------------------------


def learner() -> rk.LambdaMART:
    return rk.LambdaMART.plain(trees=4, leaves=3, min_rows=2, patience=None)


@cache
def checkpoint() -> bytes:
    """A checkpoint after two of four rounds."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.checkpoint")
        keep = rk.Checkpoint(path, every=2)
        learner().fit(training(), callbacks=[lambda progress: keep(progress) if progress.round == 2 else None, _Resume(keep)])
        return path.read_bytes()


class _Resume:
    """A callback that takes part in resuming but writes nothing itself."""

    def __init__(self, keep: rk.Checkpoint) -> None:
        self.resume = keep.resume

    def __call__(self, progress: rk.Progress) -> None:
        pass


def make_checkpoint(rng: Random, folder: Path) -> Path:
    content = checkpoint()
    changed = damaged_bytes(rng, content) if rng.random() < 0.2 else repacked(rng, content)
    return put(folder / "run.checkpoint", changed)


def resume(path: Path) -> None:
    learner().fit(training(), callbacks=[rk.Checkpoint(path, every=100)])


# ---- the trials of adapt --------------------------------------------------------------------------------------------------


@cache
def task() -> Task:
    target = training()
    return Task({"one": rk.Feature(0)}, target, rk.NDCG(5), folds=3)


@cache
def methods() -> tuple[AdaptationMethod, AdaptationMethod]:
    return tuple(AdaptationMethod(name, "", "target", lambda _: rk.Feature(0), 1.0) for name in ("one", "two"))  # pyright: ignore[reportReturnType]


def make_trials(rng: Random, folder: Path) -> Path:
    """A folder with two trials and a learning curve, in which mostly one file is damaged, and sometimes sealed again."""
    store = TrialStore(folder / "trials", task())
    kept = [rk.Feature(0), rk.load(rng.choice(sorted(MODELS.glob("*.rankinite"))))]
    for method, ranker in zip(methods(), kept, strict=True):
        store.put(MethodTrial(method, ranker, np.arange(60.0), np.ones(4), 1.5))
    store.put_curve("curve", LearningCurve(task().measure, (2, 4), {"background": np.zeros((2, 10)), "one": np.ones((2, 10))}))
    if rng.random() < 0.2:
        return folder / "trials"
    path = rng.choice(sorted(store.folder.iterdir()))
    content = path.read_bytes()
    if path.suffix == ".rankinite" and rng.random() < 0.6:
        path.write_bytes(repacked(rng, content))
    elif path.suffix == ".npz" and rng.random() < 0.6:
        with np.load(path) as stored:
            arrays = {name: other_array(rng, array) for name, array in stored.items()}
        np.savez(path, **arrays)
    else:
        path.write_bytes(damaged_bytes(rng, content))
    seal = path.with_suffix(".json")
    if seal != path and seal.exists() and rng.random() < 0.8:
        sealed = json.loads(seal.read_bytes())
        sealed["sha256"] = {
            ending: sha256(path.with_suffix(f".{ending}").read_bytes()).hexdigest() for ending in sealed["sha256"]
        }
        seal.write_text(json.dumps(sealed))
    return folder / "trials"


def other_array(rng: Random, array: np.ndarray) -> np.ndarray:
    """Now and then of another shape, type or value."""
    match rng.randrange(8):
        case 0:
            return array[..., None]
        case 1:
            return array.astype(rng.choice(["U5", "f4", "i8", "c16"])) if array.dtype.kind != "U" else array[:0]
        case 2 if array.dtype.kind == "f":
            return np.full_like(array, rng.choice([np.nan, np.inf, -1.0, 1e308]))
        case 3:
            return np.repeat(np.atleast_1d(array), 2, axis=0)
        case _:
            return array


def take_up(path: Path) -> None:
    """What the store gives is a sound trial, which scores and can be drawn; damage is told in a note."""
    store = TrialStore(path, task())
    trials = [store.get(method) for method in methods()]
    curve = store.get_curve("curve", ["background", "one"])
    for trial in trials:
        if trial is not None:
            scores = trial.ranker.score(task().target)
            assert scores.shape == trial.unseen.shape == (60,)
    if curve is not None:
        str(curve)
    if store.notes:
        raise rk.DataError(store.notes[0])


TARGETS = (
    Target("own models", make_own, load_and_score),
    Target("LightGBM text", make_lightgbm, load_and_score),
    Target("XGBoost JSON", make_xgboost, load_and_score),
    Target("XGBoost UBJSON", make_ubjson, load_and_score),
    Target("CatBoost JSON", make_catboost, load_and_score),
    Target("RankLib text", make_ranklib, load_and_score),
    Target("Solr JSON", make_solr, load_and_score),
    Target("ONNX", make_onnx, load_and_score),
    Target("checkpoints", make_checkpoint, resume),
    Target("trials", make_trials, take_up),
)
