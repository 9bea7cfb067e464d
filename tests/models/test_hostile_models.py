"""Models of LightGBM and XGBoost that are damaged or made to harm: DataErrors with the place, and little memory."""

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


def outcome(read: Callable[[bytes, str], rk.Forest], content: str) -> str:
    """The message of a refusal, or "" if a sound forest is read."""
    try:
        forest = read(content.encode(), "model")
    except DataError as problem:
        return str(problem)
    assert np.isfinite(forest.trees.value).all()
    return ""


def test_any_value_of_xgboost_may_be_of_any_type() -> None:
    for path in places(MODEL)[1:]:
        for odd in ODD if 1 not in path else ():  # the second tree is as the first
            assert len(outcome(read_xgboost, json.dumps(changed(*path, to=odd)))) < 800


@pytest.mark.parametrize(
    ("path", "odd", "says"),
    [
        (("learner_model_param",), [], r"learner\.learner_model_param is \[\], but must be a JSON object"),
        (("learner_model_param", "base_score"), [0.5], r"base_score is \[0\.5\], but must be a text"),
        (("learner_model_param", "base_score"), "[5E-1,5E-1]", "must be one number in a text"),
        (("learner_model_param", "num_feature"), "9" * 5000, "must be a whole number from 0 on"),
        (("objective", "name"), 3, r"learner\.objective\.name is 3, but must be a text"),
        (("gradient_booster", "model", "trees", 1, "left_children"), [1, -1], "must be a list of 2 numbers"),
        (("gradient_booster", "model", "trees", 1, "left_children"), [1, "x", -1], r"trees\[1\]\.left_children"),
        (("gradient_booster", "model", "trees", 1, "left_children"), [3, -1, -1], "tree 1 has no nodes, or a node that points"),
        (("gradient_booster", "model", "trees", 1, "right_children"), [-1, -1, -1], "points outside"),
        (("gradient_booster", "model", "trees", 1, "split_indices"), [0.5, 0, 0], "numbers of type int32"),
        (("gradient_booster", "model", "trees", 1, "split_indices"), [2**40, 0, 0], "numbers of type int32"),
        (("gradient_booster", "name"), ..., "gradient_booster has no entry 'name'"),
    ],
)
def test_errors_of_xgboost_name_the_place_and_the_rule(tmp_path: Path, path: tuple, odd: object, says: str) -> None:
    with pytest.raises(DataError, match=rf"model\.json: .*{says}"):
        load_json(tmp_path, changed("learner", *path, to=odd))


@pytest.mark.parametrize(("objective", "score"), [("binary:logistic", "1"), ("reg:logistic", "0"), ("count:poisson", "-1")])
def test_base_scores_that_the_objective_cannot_have(tmp_path: Path, objective: str, score: str) -> None:
    model = changed("learner", "objective", "name", to=objective)
    model["learner"]["learner_model_param"]["base_score"] = score
    with pytest.raises(DataError, match="base_score"):
        load_json(tmp_path, model)


def test_a_model_without_names_may_have_a_million_features(tmp_path: Path) -> None:
    announced = ("learner", "learner_model_param", "num_feature")
    with pytest.raises(DataError, match=r"has '300000000' features and no names.*1,000,000.*dense matrix.*feature_names"):
        load_json(tmp_path, changed(*announced, to="300000000"))
    assert len(load_json(tmp_path, changed(*announced, to="20000")).feature_names) == 20_000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"learner":' * 100_000, '{"learner": ' + "[" * 100_000 + "]" * 100_000 + "}"])
def test_deep_nesting_is_a_data_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text if text.startswith("{") else f'{{"a":{text}')
    with pytest.raises(DataError, match=r"model\.json"):
        rk.load(path)
    with pytest.raises(DataError, match="nested more than 100 deep"):
        parse_ubjson(b"{U\x01a" + b"[" * 100_000, "model.ubj")


def announced(kind: bytes, count: int, bracket: bytes = b"[") -> bytes:
    """A typed container of UBJSON in 24 bytes that announces so many entries."""
    return b"{U\x01a" + bracket + b"$" + kind + b"#L" + count.to_bytes(8, "big", signed=True) + b"\x00" * 5


@pytest.mark.parametrize("kind", [b"Z", b"T", b"N", b"C", b"[", b"{", b"S", b"d", b"L"])
@pytest.mark.parametrize("count", [2**62, 10**9, 30, -1])
@pytest.mark.parametrize("bracket", [b"[", b"{"])
def test_counts_that_the_bytes_cannot_justify(kind: bytes, count: int, bracket: bytes) -> None:
    with pytest.raises(DataError, match=r"model\.ubj: this is no whole UBJSON file: at byte \d+"):
        parse_ubjson(announced(kind, count, bracket), "model.ubj")


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
    *refused, peak = result.stdout.splitlines()
    assert [line.split(":")[0] for line in refused] == [str(path) for path in paths]
    assert int(peak) < 1_000_000  # kilobytes; it was 6 GB


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_feature_idx=x", "names 2 features, but its max_feature_idx is 'x'"),
        ("max_feature_idx=" + "9" * 5000, "max_feature_idx is '9+…'"),
        ("max_feature_idx=7", "max_feature_idx is '7'"),
        ("num_leaves=inf", "tree 0: num_leaves is 'inf', but there are 2 entries of leaf_value"),
        ("num_leaves=300000000", "num_leaves is '300000000'"),
        ("num_leaves=0", "num_leaves is '0'"),
        ("num_leaves=x", "num_leaves is 'x'"),
        ("leaf_value=", "there are 0 entries of leaf_value"),
        ("leaf_value=1 nan", "value that is no number"),
        ("leaf_value=1 1e999", "value that is no number"),
        ("leaf_value=1 " + "9" * 100_000, "leaf_value has an entry that is no number \\('9+…'\\)"),
        ("split_feature=0.5", "split_feature has an entry that is no int32"),
        ("split_feature=1e12", "no int32"),
        ("left_child=inf", "left_child has an entry that is no int32"),
        ("leaf_count=1 nan", "leaf_count has an entry that is no int64"),
        ("decision_type=1e300", "decision_type has an entry that is no int64"),
        ("threshold=nan", "value that is no number"),
        ("shrinkage=inf", "shrinkage is inf, which is no finite number"),
        ("shrinkage=x", "shrinkage has an entry that is no number"),
        ("num_tree_per_iteration=" + "9" * 100_000, "scores a row"),
    ],
    ids=lambda text: text[:30],
)
def test_errors_of_lightgbm_name_the_place_and_the_rule(tmp_path: Path, line: str, says: str) -> None:
    name = line.partition("=")[0]
    text = "\n".join(line if old.startswith(f"{name}=") else old for old in TEXT.split("\n"))
    with pytest.raises(DataError, match=rf"model\.txt: .*{says}") as caught:
        load_text(tmp_path, text)
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
    with pytest.raises(DataError, match=r"model\.txt: .*largest leaves.*beyond.*floats"):
        load_text(tmp_path, head + "".join(f"\nTree={number}{huge}" for number in range(2)))
    forest = load_text(tmp_path, head + f"\nTree=0{huge}")
    assert forest.score([[1.0, 0.0]]).tolist() == [1e308]
    with pytest.raises(DataError, match="largest leaves"):
        forest.extended(forest)


def test_names_of_features_are_compared_in_one_pass_and_cut_in_errors(tmp_path: Path) -> None:
    names = [*(str(number) for number in range(50_000)), "x" * 100_000, "x" * 100_000]
    text = TEXT.replace("feature_names=a b", f"feature_names={' '.join(names)}").replace(
        "max_feature_idx=1", f"max_feature_idx={len(names) - 1}"
    )
    with pytest.raises(DataError, match=r"two features are called 'x+…'") as caught:
        load_text(tmp_path, text)
    assert len(str(caught.value)) < 300
