"""XGBoost's models, and the traps of its format."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost

import rankinite as rk
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.files.ubjson import parse_ubjson
from rankinite.models.files.xgboost import xgboost_forest
from rankinite.models.forest import Forest
from rankinite.serving.proof import WrongExportError, named_rows, prove
from rankinite.trees.structure import LEAF
from refusals import refused
from serving.consumers.xgboost import agreed, booster_of
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of, differing, random_case
from trees.test_categories import made

FOREST = random_forest(2, trees=6)


def trees_of(model):
    return model["learner"]["gradient_booster"]["model"]["trees"]


def loaded(model):
    return booster_of(json.dumps(model).encode())


def depth_first(tree):
    """The same tree with its nodes in the order in which a naive writer meets them."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree["left_children"][node] >= 0:
            waiting += [tree["right_children"][node], tree["left_children"][node]]
    place = {old: new for new, old in enumerate(order)} | {-1: -1, 2147483647: 2147483647}
    moved = {name: [tree[name][node] for node in order] for name in tree if isinstance(tree[name], list) and tree[name]}
    for name in ("left_children", "right_children", "parents"):
        moved[name] = [place[entry] for entry in moved[name]]
    return {**tree, **moved}


def test_siblings_are_neighbours():
    case = case_of("xgboost", FOREST)
    model = json.loads(case.files["model.json"])
    for tree in trees_of(model):
        left, right = np.asarray(tree["left_children"]), np.asarray(tree["right_children"])
        assert (right == np.where(left >= 0, left + 1, -1)).all()
        assert all(tree["parents"][child] == node for node, child in enumerate(left) if child >= 0)
        assert tree["parents"][0] == 2147483647


def test_xgboost_scores_other_numberings_wrong_without_a_word_and_the_twin_does_not_predict_them():
    case = case_of("xgboost", FOREST)
    model = json.loads(case.files["model.json"])
    trees_of(model)[:] = [depth_first(tree) for tree in trees_of(model)]
    assert any(entry["right_children"][0] > entry["left_children"][0] + 1 for entry in trees_of(model))
    rows = np.nan_to_num(case.matrix)
    booster = loaded(model)
    one_by_one = np.concatenate([booster.inplace_predict(row[None]) for row in rows])
    right = case.target.twin(case.files, case.plan)(rows)
    assert (one_by_one != right).sum() > 5
    files = {**case.files, "model.json": json.dumps(model).encode()}
    assert np.isnan(case.target.twin(files, case.plan)(rows)).all()
    with pytest.raises(WrongExportError, match="score otherwise than predicted"):
        prove(case.target, files, case.plan)


def test_a_value_on_a_threshold_goes_left():
    case = case_of("xgboost", stumps((0.5, 0.1), (True, False)))
    rows = np.asarray([[0.5], [np.nextafter(np.float32(0.5), np.float32(1))], [0.1]], np.float32)
    naive = json.loads(case.files["model.json"])
    for tree, threshold in zip(trees_of(naive), (0.5, 0.1), strict=True):
        tree["split_conditions"][0] = threshold
    served = agreed(case.files, rows)
    np.testing.assert_array_equal(served, case.plan.ranker.score(rows).astype(np.float32))
    assert not np.array_equal(loaded(naive).inplace_predict(rows), served)


@pytest.mark.parametrize("threshold", [1e300, -1e300, 3.4028234663852886e38, 1e-45, -1e-45, 1e-310, 0.0, -0.0])
def test_thresholds_at_the_ends_of_float32(threshold):
    case = case_of("xgboost", stumps((threshold,), (True,)))
    largest = np.finfo(np.float32).max
    tiny = np.float32(1e-45)
    rows = np.asarray([[largest], [-largest], [0.0], [-0.0], [tiny], [-tiny], [1.0], [np.nan]], np.float32)
    np.testing.assert_array_equal(agreed(case.files, rows), case.plan.ranker.score(rows).astype(np.float32))


@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_missing_values_go_where_they_should(missing):
    trees = replace(FOREST.trees, missing_left=np.arange(len(FOREST.trees.feature)) % 2 == 0)
    ranker = replace(FOREST, trees=trees)
    case = case_of("xgboost", ranker, served_missing=missing)
    rows = np.full((1, 3), np.nan, np.float32)
    counted = rows if missing == "nan" else np.zeros((1, 3), np.float32)
    np.testing.assert_allclose(agreed(case.files, rows), ranker.score(counted), rtol=1e-6)


def test_the_base_score_is_0_and_the_start_is_in_the_first_tree():
    empty = Forest(FOREST.trees.take(0, 0), FOREST.feature_names, start=np.asarray([0.7]))
    case = case_of("xgboost", empty)
    assert json.loads(case.files["model.json"])["learner"]["learner_model_param"]["base_score"] == "0E0"
    np.testing.assert_array_equal(agreed(case.files, case.matrix), np.full(len(case.matrix), 0.7, np.float32))
    for start in (FOREST.start, FOREST.start - 2.5):
        moved = case_of("xgboost", replace(FOREST, start=start))
        assert differing([moved], "xgboost") == []


def test_values_of_leaves_are_base_weights_too():
    for content in (json.loads, parse_ubjson):
        file = "model.json" if content is json.loads else "model.ubj"
        for tree in trees_of(content(case_of("xgboost", FOREST).files[file])):
            leaf = np.asarray(tree["left_children"]) < 0
            np.testing.assert_array_equal(np.asarray(tree["base_weights"])[leaf], np.asarray(tree["split_conditions"])[leaf])


def test_both_files_say_the_same_and_are_read_back():
    for seed in (*range(20), 35):  # the odd ones have categories, the last one by name
        case = random_case("xgboost", seed)
        text, binary = json.loads(case.files["model.json"]), parse_ubjson(case.files["model.ubj"])
        one, other = (xgboost_forest(model) for model in (text, binary))
        np.testing.assert_array_equal(one.trees.threshold, other.trees.threshold)
        leaf = one.trees.feature == LEAF
        np.testing.assert_array_equal(one.trees.value[leaf], other.trees.value[leaf])
        by_name = "cats" in text["learner"]["gradient_booster"]["model"]
        assert by_name == (seed == 35)
        rows = pd.DataFrame(named_rows(case.plan, case.matrix)) if by_name else case.matrix
        np.testing.assert_allclose(one.score(rows), case.twin().astype(np.float64), rtol=1e-5, atol=1e-5)


def test_xgboost_writes_the_same_arrays_again():
    case = case_of("xgboost", FOREST)
    saved = json.loads(booster_of(case.files["model.ubj"]).save_raw("json"))
    ours = json.loads(case.files["model.json"])
    for again, written in zip(trees_of(saved), trees_of(ours), strict=True):
        assert {name: again[name] for name in written} == written


@pytest.mark.parametrize("name", ["特徴", "é b", 'q"x', "back\\slash", "a\\u0041", "x,y:{z}"])
def test_xgboost_reads_names_as_they_are(name):
    case = case_of("xgboost", stumps((0.5,), (True,), names=(name,)))
    assert [booster_of(case.files[file]).feature_names for file in ("model.json", "model.ubj")] == [[name], [name]]


def test_kinds_and_numbers_that_it_cannot_hold():
    with refused(ArgumentError, value=1e39):
        case_of("xgboost", stumps((0.5,), (True,), [(1.0, 1e39)]))
    with refused(ArgumentError, value=("a linear ranker",)):
        case_of("xgboost", linear_of(1))
    with refused(ArgumentError, value=("a net",)):
        case_of("xgboost", net_of(1))
    with refused(ArgumentError, value=("a forest of McRank",)):
        case_of("xgboost", random_forest(1, grades=(0.0, 1.0)))
    with refused(ArgumentError, setting="engine_version", value="3.2"):
        case_of("xgboost", FOREST, version="3.2")


def test_the_check_compares(tmp_path, monkeypatch):
    rk.export(FOREST, tmp_path / "model", to="xgboost")
    monkeypatch.chdir(tmp_path / "model")
    runpy.run_path("check.py")
    served = np.loadtxt("served.txt", dtype=np.float32)
    np.testing.assert_array_equal(served, np.loadtxt("sample-scores.txt", dtype=np.float32))


@pytest.mark.parametrize("categories", [0, 20])
def test_xgboost_splits_scores_by_feature_where_no_row_reached_a_leaf(categories):
    data = made(categories) if categories else rk.synthesise(20, world=rk.World(features=3, documents=8))
    forest = rk.LambdaMART.plain(trees=10, leaves=32, min_rows=1, shape="symmetric").fit(data)
    assert (forest.trees.curvature == 0.0).any()
    case = case_of("xgboost", forest)
    rows = xgboost.DMatrix(
        case.matrix.astype(np.float32),
        feature_names=list(case.plan.names),
        feature_types=["c" if name in case.plan.categories else "float" for name in case.plan.names],
        enable_categorical=True,
    )
    booster = booster_of(case.files["model.json"])
    split = booster.predict(rows, pred_contribs=True)
    assert np.isfinite(split).all()
    np.testing.assert_allclose(split.sum(axis=1), case.twin(), rtol=0, atol=1e-5)
