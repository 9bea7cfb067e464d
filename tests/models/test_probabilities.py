"""Forests trained on a logistic loss say what their scores stand for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.gradients.pointwise import Logistic, Multiclass
from refusals import refused

WORLD = rk.World(features=4, documents=8, seed=2)
TRAIN, OTHER = (rk.synthesise(30, part=part, world=WORLD) for part in ("train", "test"))
SMALL = {"trees": 5, "leaves": 4, "min_rows": 5}
LOSSES = ("binary", "balanced", "graded")


def objective(loss, data, sigma):
    return Logistic(data, "graded" if loss == "graded" else "binary", sigma, balanced=loss == "balanced")


def targets(loss, data):
    return (2.0**data.grades - 1.0) / 16.0 if loss == "graded" else (data.grades >= 1).astype(float)


@pytest.mark.parametrize("sigma", [1.0, 0.3])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_of_the_loss_is_what_the_probability_leaves_to_explain(loss, sigma):
    """Push 2σ(P̄ − P), times the weights that balance classes."""
    forest = rk.MART(**SMALL, loss=loss, sigma=sigma).fit(TRAIN)
    found = forest.probabilities(TRAIN)
    assert found.shape == (TRAIN.rows,)
    push, curvature = np.empty((1, TRAIN.rows)), np.empty((1, TRAIN.rows))
    objective(loss, TRAIN, sigma).gradients(forest.outputs_of(TRAIN), push, curvature)
    wanted = targets(loss, TRAIN)
    relevant = wanted.mean()
    weight = np.where(wanted > 0, 0.5 / relevant, 0.5 / (1 - relevant)) if loss == "balanced" else 1.0
    assert push[0] == pytest.approx(weight * 2.0 * sigma * (wanted - found), abs=1e-15)
    assert curvature[0] == pytest.approx(weight * 4.0 * sigma**2 * found * (1.0 - found), abs=1e-15)
    assert found.tolist() == pytest.approx([1 / (1 + math.exp(-2 * sigma * score)) for score in forest.score(TRAIN).tolist()])


def grouped(grades):
    """Rows that one feature parts into three groups, and nothing else tells apart."""
    group = np.arange(len(grades)) % 3
    return rk.read(group[:, None].astype(np.float32), grades=grades, group=[12] * (len(grades) // 12)), group


@pytest.mark.parametrize("sigma", [1.0, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_that_nothing_tells_apart_get_their_mean(loss, sigma):
    """At the optimum Σ(P̄ − P) is 0 over all rows that share a leaf for good."""
    data, group = grouped(TRAIN.grades[:180])
    forest = rk.MART(trees=60, rate=1.0, leaves=3, min_rows=1, loss=loss, sigma=sigma).fit(data)
    wanted = targets(loss, data)
    relevant = wanted.mean()
    weight = np.where(wanted > 0, 0.5 / relevant, 0.5 / (1 - relevant)) if loss == "balanced" else np.ones(len(wanted))
    means = [np.average(wanted[group == g], weights=weight[group == g]) for g in range(3)]
    assert forest.probabilities(data) == pytest.approx(np.asarray(means)[group], abs=1e-6)
    start = forest.truncate(0).probabilities(data)
    assert start == pytest.approx(np.full(data.rows, 0.5 if loss == "balanced" else relevant))


def test_mcrank_gives_the_probability_of_each_grade():
    forest = rk.McRank(trees=4, leaves=4, min_rows=5).fit(TRAIN)
    found = forest.probabilities(OTHER)
    assert found.shape == (OTHER.rows, len(forest.grades))
    assert found.sum(axis=1) == pytest.approx(np.ones(OTHER.rows))
    assert found @ forest.grades == pytest.approx(forest.score(OTHER))
    push, curvature = (np.empty((len(forest.grades), TRAIN.rows)) for _ in range(2))
    Multiclass(TRAIN).gradients(forest.outputs_of(TRAIN), push, curvature)
    actual = (TRAIN.grades[:, None] == forest.grades).astype(float)
    assert np.abs(actual - forest.probabilities(TRAIN) - push.T).max() < 1e-15


def test_grades_that_nothing_tells_apart_get_their_shares():
    data, group = grouped(TRAIN.grades[:180])
    forest = rk.McRank(trees=200, rate=1.0, leaves=3, min_rows=1).fit(data)
    shares = [[np.mean(data.grades[group == g] == grade) for grade in forest.grades] for g in range(3)]
    assert forest.probabilities(data) == pytest.approx(np.asarray(shares)[group], abs=1e-4)


@pytest.mark.parametrize("learner", [rk.MART(**SMALL, loss="binary", sigma=0.7), rk.McRank(**SMALL)], ids=repr)
def test_a_saved_forest_gives_the_same(learner, tmp_path):
    forest = learner.fit(TRAIN)
    forest.save(tmp_path / "model")
    assert rk.load(tmp_path / "model").probabilities(OTHER).tobytes() == forest.probabilities(OTHER).tobytes()
    assert forest.probabilities(OTHER.features).tobytes() == forest.probabilities(OTHER).tobytes()


def test_the_last_training_decides():
    base = rk.MART(**SMALL).fit(TRAIN)
    further = rk.MART(**SMALL, loss="binary").fit(TRAIN, base=base)
    assert further.probabilities(OTHER) == pytest.approx(1 / (1 + np.exp(-2 * further.score(OTHER))))
    with refused(rk.ArgumentError, value=("LambdaMART", None)):
        rk.LambdaMART.plain(**SMALL).fit(TRAIN, base=further).probabilities(OTHER)


def test_other_forests_are_refused():
    for learner, value in (
        (rk.MART(**SMALL), ("MART", "squared")),
        (rk.LambdaMART.plain(**SMALL), ("LambdaMART", None)),
        (rk.RankNetTrees(**SMALL), ("RankNetTrees", None)),
    ):
        with refused(rk.ArgumentError, value=value):
            learner.fit(TRAIN).probabilities(OTHER)
    with refused(rk.ArgumentError, value=(None, None)):
        replace(rk.MART(**SMALL, loss="binary").fit(TRAIN), settings={}).probabilities(OTHER)
