"""Contributions of imported models: the libraries' own."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 8)).astype(np.float32)
X[RANDOM.random(X.shape) < 0.15] = np.nan
X[RANDOM.random(X.shape) < 0.1] = 0.0
KNOWN = np.nan_to_num(X)
GRADES = np.clip(np.round(KNOWN[:, 0] + KNOWN[:, 1] * KNOWN[:, 2] + RANDOM.normal(size=600)), 0, 4)


@pytest.mark.parametrize(
    "settings", [{}, {"num_leaves": 60, "min_data_in_leaf": 2}, {"use_missing": False}, {"objective": "regression"}], ids=str
)
def test_lightgbm(settings, tmp_path):
    asked = {"objective": "lambdarank", "verbosity": -1, "num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, **settings}
    group = [15] * 40 if asked["objective"] == "lambdarank" else None
    model = lightgbm.train(asked, lightgbm.Dataset(X, GRADES, group=group), 30)
    model.save_model(tmp_path / "model.txt")
    theirs = model.predict(X, pred_contrib=True)
    ours = rk.load(tmp_path / "model.txt").contributions(X)
    largest = np.abs(theirs[:, :-1]).max(axis=1, keepdims=True)
    assert (np.abs(ours.values - theirs[:, :-1]) / largest).max() < 1e-6
    assert ours.base == pytest.approx(theirs[0, -1], abs=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"max_depth": 9, "min_child_weight": 0.01}, {"objective": "reg:squarederror"}], ids=str
)
def test_xgboost(settings, tmp_path):
    asked = {"objective": "rank:ndcg", "max_depth": 4, "nthread": 1, "base_score": 0.0, **settings}
    data = xgboost.DMatrix(X, GRADES)
    if asked["objective"].startswith("rank"):
        data.set_group([15] * 40)
    model = xgboost.train(asked, data, 30)
    model.save_model(tmp_path / "model.json")
    theirs = model.predict(data, pred_contribs=True)
    ours = rk.load(tmp_path / "model.json").contributions(X)
    largest = np.abs(theirs[:, :-1]).max(axis=1, keepdims=True)
    assert (np.abs(ours.values - theirs[:, :-1]) / largest).max() < 1e-4
