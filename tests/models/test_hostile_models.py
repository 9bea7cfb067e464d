"""Models of LightGBM and XGBoost that are damaged or hostile: DataErrors with the place, and little memory."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import DataError
from rankinite.models.files.lightgbm import read_lightgbm
from rankinite.models.files.ubjson import parse_ubjson
from rankinite.models.files.xgboost import read_xgboost
from refusals import refused

pytestmark = pytest.mark.tools("/proc of Linux")

TREE = {
    "left_children": [1, -1, -1],
    "right_children": [2, -1, -1],
    "split_conditions": [0.5, -1.0, 2.0],
    "split_indices": [0, 0, 0],
    "split_type": [0, 0, 0],
    "default_left": [0, 0, 0],
    "sum_hessian": [3.0, 1.0, 2.0],
    "loss_changes": [1.0, 0.0, 0.0],
    "categories": [],
}
MODEL = {
    "learner": {
        "attributes": {"best_iteration": "0"},
        "feature_names": [],
        "gradient_booster": {
            "name": "gbtree",
            "model": {
                "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2"},
                "iteration_indptr": [0, 1, 2],
                "trees": [TREE, dict(TREE)],
            },
        },
        "learner_model_param": {"base_score": "[5E-1]", "num_class": "0", "num_feature": "2", "num_target": "1"},
        "objective": {"name": "rank:ndcg"},
    }
}
TEXT = """tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=1
objective=lambdarank
feature_names=a b

Tree=0
num_leaves=2
num_cat=0
split_feature=0
split_gain=1
threshold=0.5
decision_type=2
left_child=-1
right_child=-2
leaf_value=-1 2
leaf_weight=1 2
leaf_count=1 2
internal_value=0
internal_weight=3
internal_count=3
is_linear=0
shrinkage=1

end of trees
"""


def changed(*path: object, to: object) -> dict:
    """The model of XGBoost with the value at a place replaced, or taken out."""
    model = copy.deepcopy(MODEL)
    at = model
    for step in path[:-1]:
        at = at[step]
    if to is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return model


def places(value: object, path: tuple = ()) -> list[tuple]:
    """The paths of all values inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, entry in inside for found in places(entry, (*path, step)))]


def load_json(folder: Path, model: object) -> rk.Forest:
    (folder / "model.json").write_text(json.dumps(model))
    return rk.load(folder / "model.json")


def load_text(folder: Path, text: str) -> rk.Forest:
    (folder / "model.txt").write_text(text)
    return rk.load(folder / "model.txt")


def test_the_models_are_sound_before_they_are_changed(tmp_path: Path) -> None:
    rows = np.asarray([[0.0, 0.0], [1.0, 0.0]])
    assert load_json(tmp_path, MODEL).score(rows).tolist() == [-0.5, 2.5]
    assert load_text(tmp_path, TEXT).score(rows).tolist() == [-1.0, 2.0]


ODD = [None, True, 3, -1, math.nan, 10**30, "x", "9" * 5000, [], [[]], [0.5], {"a": 1}, ...]


def outcome(read: Callable[[bytes], rk.Forest], content: str) -> str:
    """The message of a refusal, or "" if a sound forest is read."""
    try:
        forest = read(content.encode())
    except DataError as problem:
        return str(problem)
    assert np.isfinite(forest.trees.value).all()
    return ""


def test_any_value_of_xgboost_may_be_of_any_type() -> None:
    for path in places(MODEL)[1:]:
        for odd in ODD if 1 not in path else ():  # the second tree is as the first
            assert len(outcome(read_xgboost, json.dumps(changed(*path, to=odd)))) < 800


@pytest.mark.parametrize(
    ("path", "odd", "place", "value"),
    [
        (("learner_model_param",), [], "learner.learner_model_param", []),
        (("learner_model_param", "base_score"), [0.5], "learner_model_param.base_score", [0.5]),
        (("learner_model_param", "base_score"), "[5E-1,5E-1]", "learner_model_param.base_score", "[5E-1,5E-1]"),
        (("learner_model_param", "num_feature"), "9" * 5000, "num_feature", "9" * 5000),
        (("objective", "name"), 3, "learner.objective.name", 3),
        (("gradient_booster", "model", "trees", 1, "left_children"), [1, -1], "trees[1].right_children", [2, -1, -1]),
        (("gradient_booster", "model", "trees", 1, "left_children"), [1, "x", -1], "trees[1].left_children", [1, "x", -1]),
        (("gradient_booster", "model", "trees", 1, "left_children"), [3, -1, -1], "tree 1", 3),
        (("gradient_booster", "model", "trees", 1, "right_children"), [-1, -1, -1], "tree 1", 3),
        (("gradient_booster", "model", "trees", 1, "split_indices"), [0.5, 0, 0], "trees[1].split_indices", [0.5, 0, 0]),
        (("gradient_booster", "model", "trees", 1, "split_indices"), [2**40, 0, 0], "trees[1].split_indices", [2**40, 0, 0]),
        (("gradient_booster", "name"), ..., "gradient_booster", "name"),
    ],
)
def test_errors_of_xgboost_have_place_and_value(tmp_path: Path, path: tuple, odd: object, place: str, value: object) -> None:
    with refused(DataError, place=place, value=value) as caught:
        load_json(tmp_path, changed("learner", *path, to=odd))
    assert caught.value.place.startswith(str(tmp_path / "model.json"))


@pytest.mark.parametrize(("objective", "score"), [("binary:logistic", "1"), ("reg:logistic", "0"), ("count:poisson", "-1")])
def test_base_scores_that_the_objective_cannot_have(tmp_path: Path, objective: str, score: str) -> None:
    model = changed("learner", "objective", "name", to=objective)
    model["learner"]["learner_model_param"]["base_score"] = score
    with refused(DataError, place="base_score", value=score):
        load_json(tmp_path, model)


def test_a_model_without_names_may_have_a_million_features(tmp_path: Path) -> None:
    announced = ("learner", "learner_model_param", "num_feature")
    with refused(DataError, place="num_feature", value="300000000"):
        load_json(tmp_path, changed(*announced, to="300000000"))
    assert len(load_json(tmp_path, changed(*announced, to="20000")).feature_names) == 20_000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"learner":' * 100_000, '{"learner": ' + "[" * 100_000 + "]" * 100_000 + "}"])
def test_deep_nesting_is_a_data_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text if text.startswith("{") else f'{{"a":{text}')
    with refused(DataError) as caught:
        rk.load(path)
    assert caught.value.place.startswith(str(path))
    with refused(DataError, place="byte 104", value=101):
        parse_ubjson(b"{U\x01a" + b"[" * 100_000)


def announced(kind: bytes, count: int, bracket: bytes = b"[") -> bytes:
    """A typed container of UBJSON in 24 bytes that announces ``count`` entries."""
    return b"{U\x01a" + bracket + b"$" + kind + b"#L" + count.to_bytes(8, "big", signed=True) + b"\x00" * 5


@pytest.mark.parametrize("kind", [b"Z", b"T", b"N", b"C", b"[", b"{", b"S", b"d", b"L"])
@pytest.mark.parametrize("count", [2**62, 10**9, 30, -1])
@pytest.mark.parametrize("bracket", [b"[", b"{"])
def test_counts_that_the_bytes_cannot_justify(kind: bytes, count: int, bracket: bytes) -> None:
    with refused(DataError) as caught:
        parse_ubjson(announced(kind, count, bracket))
    assert caught.value.place.startswith("byte ")


BOMBS = """
import sys
import rankinite as rk
for path in sys.argv[1:]:
    try:
        rk.load(path)
    except rk.DataError as problem:
        print(problem)
# Not getrusage: its peak is that of the process that started this one, if that was larger.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_small_files_that_announce_much_take_little_memory(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.ubj", "b.ubj", "c.json", "d.txt")]
    paths[0].write_bytes(announced(b"T", 2**60))
    paths[1].write_bytes(announced(b"d", 2**60))
    paths[2].write_text(json.dumps(changed("learner", "learner_model_param", "num_feature", to="300000000")))
    paths[3].write_text(TEXT.replace("num_leaves=2", "num_leaves=300000000"))
    result = subprocess.run(
        [sys.executable, "-c", BOMBS, *map(str, paths)], capture_output=True, text=True, check=True, timeout=300
    )
    *errors, peak = result.stdout.splitlines()
    assert [line.split(":")[0] for line in errors] == [str(path) for path in paths]
    assert int(peak) < 1_000_000  # kilobytes; it was 6 GB


@pytest.mark.parametrize(
    ("line", "place", "value"),
    [
        ("max_feature_idx=x", "max_feature_idx", "x"),
        ("max_feature_idx=" + "9" * 5000, "max_feature_idx", "9" * 5000),
        ("max_feature_idx=7", "max_feature_idx", "7"),
        ("num_leaves=inf", "tree 0: num_leaves", "inf"),
        ("num_leaves=300000000", "tree 0: num_leaves", "300000000"),
        ("num_leaves=0", "tree 0: num_leaves", "0"),
        ("num_leaves=x", "tree 0: num_leaves", "x"),
        ("leaf_value=", "tree 0: num_leaves", "2"),
        ("leaf_value=1 nan", "forest", ...),
        ("leaf_value=1 1e999", "forest", ...),
        ("leaf_value=1 " + "9" * 100_000, "tree 0: leaf_value", "1 " + "9" * 100_000),
        ("split_feature=0.5", "tree 0: split_feature", "0.5"),
        ("split_feature=1e12", "tree 0: split_feature", "1e12"),
        ("left_child=inf", "tree 0: left_child", "inf"),
        ("leaf_count=1 nan", "tree 0: leaf_count", "1 nan"),
        ("decision_type=1e300", "tree 0: decision_type", "1e300"),
        ("threshold=nan", "forest", ...),
        ("shrinkage=inf", "tree 0: shrinkage", math.inf),
        ("shrinkage=x", "tree 0: shrinkage", "x"),
        ("num_tree_per_iteration=" + "9" * 100_000, "num_tree_per_iteration", "9" * 100_000),
    ],
    ids=lambda text: str(text)[:30],
)
def test_errors_of_lightgbm_have_place_and_value(tmp_path: Path, line: str, place: str, value: object) -> None:
    name = line.partition("=")[0]
    text = "\n".join(line if old.startswith(f"{name}=") else old for old in TEXT.split("\n"))
    with refused(DataError, place=place, **({} if value is ... else {"value": value})) as caught:
        load_text(tmp_path, text)
    assert caught.value.place.startswith(str(tmp_path / "model.txt"))
    assert len(str(caught.value)) < 800


def test_any_line_of_lightgbm_may_be_missing_or_odd() -> None:
    lines = TEXT.split("\n")
    for number, line in enumerate(lines):
        name = line.partition("=")[0]
        for odd in ("", f"{name}=", f"{name}=x", f"{name}=inf", f"{name}=-1", f"{name}=1e30 1e30", f"{name}={'9' * 5000}"):
            text = "\n".join([*lines[:number], odd, *lines[number + 1 :]])
            assert len(outcome(read_lightgbm, text)) < 800


def test_leaves_whose_sum_overflows_are_refused(tmp_path: Path) -> None:
    head, tree = TEXT.split("\nTree=0")
    huge = tree.replace("leaf_value=-1 2", "leaf_value=-1 1e308").replace("\nend of trees", "")
    with refused(DataError, place="model.txt: forest", value=math.inf):
        load_text(tmp_path, head + "".join(f"\nTree={number}{huge}" for number in range(2)))
    forest = load_text(tmp_path, head + f"\nTree=0{huge}")
    assert forest.score([[1.0, 0.0]]).tolist() == [1e308]
    with refused(DataError, place="forest", value=math.inf):
        forest.extended(forest)


def test_names_of_features_are_compared_in_one_pass_and_cut_in_errors(tmp_path: Path) -> None:
    names = [*(str(number) for number in range(50_000)), "x" * 100_000, "x" * 100_000]
    text = TEXT.replace("feature_names=a b", f"feature_names={' '.join(names)}").replace(
        "max_feature_idx=1", f"max_feature_idx={len(names) - 1}"
    )
    with refused(DataError, place="forest", value="x" * 100_000) as caught:
        load_text(tmp_path, text)
    assert len(str(caught.value)) < 300
