"""Trada on forests of LightGBM and XGBoost."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from oracles.trada_forests import SETTINGS, SOURCE, TARGET, same
from rankinite.adapt.methods.trada import trada
from refusals import refused

COMMON = {"num_leaves": 8, "learning_rate": 0.2, "verbosity": -1, "num_threads": 1, "deterministic": True}


def from_lightgbm(folder, objective):
    data = lightgbm.Dataset(SOURCE.features, SOURCE.grades, group=np.diff(SOURCE.offsets), feature_name=[*SOURCE.feature_names])
    model = lightgbm.train({"objective": objective, **COMMON}, data, 12)
    model.save_model(folder / "light.txt")
    return rk.load(folder / "light.txt")


def from_xgboost(folder, objective):
    ranks = objective.startswith("rank")
    data = xgboost.DMatrix(SOURCE.features, SOURCE.grades, feature_names=list(SOURCE.feature_names))
    if ranks:
        data.set_group(np.diff(SOURCE.offsets))
    settings = {"objective": objective, "max_depth": 3, "eta": 0.2, "lambda": 0.0, "nthread": 1}
    xgboost.train(settings, data, 12).save_model(folder / "x.json")
    return rk.load(folder / "x.json")


@pytest.mark.parametrize("objective", ["regression", "lambdarank"])
def test_models_of_lightgbm_are_adapted(tmp_path, objective):
    forest = from_lightgbm(tmp_path, objective)
    for settings in SETTINGS:
        if not settings["trim"]:
            assert same(trada(forest, TARGET, 0.0, **settings), forest)
        measure = "ndcg@10"
        better = rk.evaluate(trada(forest, TARGET, **settings), TARGET, measure)[measure].mean
        assert better > rk.evaluate(forest, TARGET, measure)[measure].mean


@pytest.mark.parametrize("settings", SETTINGS[:6], ids=str)
def test_the_mean_in_lightgbms_first_tree_is_a_start(tmp_path, settings):
    forest = from_lightgbm(tmp_path, "regression")
    mean = forest.trees.value[0]
    assert mean == pytest.approx(SOURCE.grades.mean(), abs=1e-3)
    value = forest.trees.value.copy()
    value[: forest.trees.offsets[1]] -= mean
    recorded = {**forest.settings, "learner": "MART"}
    moved = replace(forest, trees=replace(forest.trees, value=value), start=np.asarray([mean]), settings=recorded)
    assert trada(forest, TARGET, **settings).score(SOURCE) == pytest.approx(
        trada(moved, TARGET, **settings).score(SOURCE), abs=1e-9
    )


@pytest.mark.parametrize("objective", ["reg:squarederror", "rank:ndcg"])
def test_models_of_xgboost_are_adapted_by_their_curvature(tmp_path, objective):
    forest = from_xgboost(tmp_path, objective)
    with refused(rk.ArgumentError, place=repr(forest), value=[]):
        trada(forest, TARGET)
    for settings in SETTINGS:
        if not settings["trim"]:
            assert same(trada(forest, TARGET, 0.0, rate=0.2, **settings), forest)
        assert not same(trada(forest, TARGET, rate=0.2, **settings), forest)
    if objective == "reg:squarederror":  # a row's curvature is 1: the same as by rows
        counted = replace(forest, trees=replace(forest.trees, rows=np.rint(forest.trees.curvature).astype(np.int64)))
        for settings in SETTINGS:
            one, other = (trada(kind, TARGET, rate=0.2, **settings).trees for kind in (forest, counted))
            assert (one.threshold == other.threshold).all()
            assert (one.value == other.value).all()


def test_xgboosts_inner_nodes_have_their_shrinkage(tmp_path):
    """What the tree would add if it ended there: of squared loss without L2, the rate times the mean residual."""
    forest = from_xgboost(tmp_path, "reg:squarederror")
    tree = forest.trees.take(0, 1)
    assert tree.feature[1] != -1
    column = SOURCE.features[:, tree.feature[0]]
    for child, rows in ((tree.left[0], column <= tree.threshold[0]), (tree.right[0], column > tree.threshold[0])):
        assert tree.value[child] == pytest.approx(0.2 * (SOURCE.grades - forest.start[0])[rows].mean(), abs=1e-5)
