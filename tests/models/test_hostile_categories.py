"""Categorical models of LightGBM and XGBoost that are damaged or hostile: DataErrors with the place, never another error."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from models.test_hostile_models import MODEL, ODD, TEXT, TREE, load_json, load_text, outcome, places
from rankinite.errors import DataError
from rankinite.models.files.lightgbm import read_lightgbm
from rankinite.models.files.xgboost import read_xgboost
from refusals import refused

SETS = {
    "split_type": [1, 0, 0],
    "categories": [0, 2],
    "categories_nodes": [0],
    "categories_segments": [0],
    "categories_sizes": [2],
}
CATS = {"enc": [{"offsets": [0, 1, 3, 6], "values": [97, 98, 99, 100, 101, 102]}, {"offsets": [], "values": []}]}
LINES = {
    "decision_type": "1",
    "threshold": "0",
    "num_cat": "1",
    "cat_boundaries": "0 1",
    "cat_threshold": "5",
    "pandas_categorical:": '[["a","bc","def"]]',
}


def boost() -> dict:
    """A model of XGBoost whose first tree sends "a" and "def" right."""
    model = copy.deepcopy(MODEL)
    model["learner"]["feature_types"] = ["c", "q"]
    inside = model["learner"]["gradient_booster"]["model"]
    inside["trees"] = [copy.deepcopy({**TREE, **SETS})]
    inside["iteration_indptr"] = [0, 1]
    inside["cats"] = copy.deepcopy(CATS)
    return model


def light(**changes: str) -> str:
    """A model of LightGBM that sends "a" and "def" left."""
    lines = LINES | changes
    text = TEXT.replace("feature_names=a b", "feature_names=a b\nfeature_infos=-1:0:1:2 [0:1]")
    for name in ("decision_type", "threshold"):
        text = "\n".join(f"{name}={lines[name]}" if line.startswith(f"{name}=") else line for line in text.split("\n"))
    sets = "\n".join(f"{name}={lines[name]}" for name in ("num_cat", "cat_boundaries", "cat_threshold"))
    return text.replace("num_cat=0", sets) + f"\npandas_categorical:{lines['pandas_categorical:']}\n"


def test_the_models_are_sound_before_they_are_changed(tmp_path: Path) -> None:
    rows = np.asarray([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [np.nan, 0.0]])
    assert load_json(tmp_path, boost()).score(rows).tolist() == [2.5, -0.5, 2.5, -0.5, 2.5]
    assert load_text(tmp_path, light()).score(rows).tolist() == [-1.0, 2.0, -1.0, 2.0, 2.0]
    assert load_text(tmp_path, light()).categories["a"].names == ("a", "bc", "def")
    assert load_json(tmp_path, boost()).categories["f0"].names == ("a", "bc", "def")


@pytest.mark.parametrize(
    ("changes", "place", "value"),
    [
        ({"cat_boundaries": "0 2"}, "tree 0: cat_boundaries", ...),
        ({"cat_boundaries": "1 1"}, "tree 0: cat_boundaries", ...),
        ({"cat_boundaries": ""}, "tree 0: cat_boundaries", ...),
        ({"cat_boundaries": "0 x"}, "tree 0: cat_boundaries", "0 x"),
        ({"cat_threshold": ""}, "tree 0: cat_boundaries", ...),
        ({"cat_threshold": "-1"}, "tree 0: cat_threshold", ...),
        ({"cat_threshold": "4294967296"}, "tree 0: cat_threshold", ...),
        ({"cat_threshold": "0.5"}, "tree 0: cat_threshold", "0.5"),
        ({"cat_threshold": "0"}, "tree 0: cat_threshold", 0),
        ({"threshold": "1"}, "tree 0: threshold", 1.0),
        ({"threshold": "0.5"}, "tree 0: threshold", 0.5),
        ({"cat_threshold": "9"}, "pandas_categorical", 3),
        ({"pandas_categorical:": '[["a","a","b"]]'}, "pandas_categorical", ["a", "a", "b"]),
        ({"pandas_categorical:": '[["a"]'}, "pandas_categorical", ...),
        ({"pandas_categorical:": '{"a": 1}'}, "pandas_categorical", {"a": 1}),
        ({"pandas_categorical:": '[["a"]]'}, "pandas_categorical", 1),
        ({"decision_type": "0"}, "forest", ...),
    ],
    ids=str,
)
def test_errors_of_lightgbm_have_place_and_value(tmp_path: Path, changes: dict, place: str, value: object) -> None:
    with refused(DataError, place=place, **({} if value is ... else {"value": value})):
        load_text(tmp_path, light(**changes))


def test_codes_that_lightgbm_does_not_list_as_numbers(tmp_path: Path) -> None:
    for infos in ("feature_infos=-1:x [0:1]", "feature_infos=-1:0"):
        with refused(DataError, place="feature_infos"):
            load_text(tmp_path, light().replace("feature_infos=-1:0:1:2 [0:1]", infos))


@pytest.mark.parametrize(
    ("name", "odd", "place"),
    [
        ("categories_segments", [1], "tree 0: categories_segments"),
        ("categories_segments", [-1], "tree 0: categories_segments"),
        ("categories_segments", [2**62], "tree 0: categories_segments"),
        ("categories_sizes", [3], "tree 0: categories_segments"),
        ("categories_sizes", [0], "tree 0: categories_nodes"),
        ("categories_sizes", [2**63 - 1], "tree 0: categories_segments"),
        ("categories_sizes", [], "trees[0].categories_sizes"),
        ("categories_nodes", [3], "tree 0: categories_nodes"),
        ("categories_nodes", [1], "tree 0: categories_nodes"),
        ("categories", [0, -2], "tree 0: categories"),
        ("categories", [0, 2**24], "tree 0: categories"),
        ("categories", [0, 3], "cats.enc[0]"),
        ("split_type", [1], "trees[0].split_type"),
        ("split_type", [0, 0, 0], "forest"),
    ],
)
def test_errors_of_xgboost_have_a_place(tmp_path: Path, name: str, odd: list, place: str) -> None:
    model = boost()
    model["learner"]["gradient_booster"]["model"]["trees"][0][name] = odd
    with refused(DataError, place=place):
        load_json(tmp_path, model)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ({"offsets": [0, 1, 3, 7], "values": [97] * 6}, "cats.enc[0].offsets"),
        ({"offsets": [0, 3, 1, 6], "values": [97] * 6}, "cats.enc[0].offsets"),
        ({"offsets": [0, 1, 3, 6], "values": [97, 98, -61, 97, 97, 97]}, "cats.enc[0].values"),
        ({"offsets": [0, 1, 2, 6], "values": [97] * 6}, "cats.enc[0]"),
        ({"values": ["a"]}, "cats.enc[0].values"),
    ],
)
def test_words_of_xgboost_that_are_none(tmp_path: Path, words: dict, place: str) -> None:
    model = boost()
    model["learner"]["gradient_booster"]["model"]["cats"]["enc"][0] = words
    with refused(DataError, place=place):
        load_json(tmp_path, model)


def test_any_value_may_be_of_any_type() -> None:
    for path in places(boost())[1:]:
        for odd in ODD:
            model = boost()
            at = model
            for step in path[:-1]:
                at = at[step]
            if odd is ...:
                del at[path[-1]]
            else:
                at[path[-1]] = odd
            assert len(outcome(read_xgboost, json.dumps(model))) < 800
    lines = light().split("\n")
    for number, line in enumerate(lines):
        name = line.partition("=")[0]
        for odd in ("", f"{name}=", f"{name}=x", f"{name}=inf", f"{name}=-1", f"{name}=1e30 1e30", f"{name}={'9' * 5000}"):
            assert len(outcome(read_lightgbm, "\n".join([*lines[:number], odd, *lines[number + 1 :]]))) < 800


def test_a_code_far_beyond_all_others_takes_little_memory(tmp_path: Path) -> None:
    """The vocabulary has the codes that occur, not all up to the largest."""
    text = light(**{"pandas_categorical:": "null"}).replace("-1:0:1:2", "-1:0:1:2000000000")
    assert load_text(tmp_path, text).categories["a"].names == ("0", "1", "2", "2000000000")
    forest = load_text(tmp_path, text)
    forest.save(tmp_path / "own.rankinite")
    assert rk.load(tmp_path / "own.rankinite").categories == forest.categories
