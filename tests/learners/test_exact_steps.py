"""Exact weights in boosting: the best there are, over the trees as they are, and repeatable."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.gradients.lambdas import Lambdas
from refusals import refused

WORLD = rk.World(features=6, documents=10, terms=4, noise=0.3, seed=5)
TRAIN, VALID = (rk.synthesise(80, part=part, world=WORLD) for part in ("train", "valid"))
SMALL = {"trees": 6, "leaves": 5, "min_rows": 5, "normalise": False}
STEPS = ["exact", "newton-exact", "leaves"]


def value(scores, data=TRAIN, measure="ndcg@10") -> float:
    return rk.evaluate(scores, data, measure)[measure].mean


def tree_scores(forest: rk.Forest, number: int, data: rk.Dataset) -> np.ndarray:
    single = rk.Forest(trees=forest.trees.take(number, number + 1), feature_names=forest.feature_names)
    return single.score(data)


@pytest.mark.parametrize("step", ["exact", "newton-exact"])
@pytest.mark.parametrize("where", ["train", "valid"])
def test_every_tree_has_the_best_weight_of_a_grid(step, where):
    data = TRAIN if where == "train" else VALID
    forest = rk.LambdaMART.plain(**SMALL, rate=0.5, step=step, step_data=where, patience=None).fit(TRAIN, VALID)
    whole = rk.LambdaMART.plain(**SMALL, rate=0.5, step=step, step_data=where, patience=None).fit(TRAIN, VALID)
    assert len(whole.history.steps) == 6
    scores = np.zeros(data.rows)
    for number in range(forest.rounds):
        weight, said = forest.history.steps[number], tree_scores(forest, number, data)
        plain = said / (0.5 * weight)  # without the rate and the weight
        best = value(scores + weight * plain, data)
        for other in np.linspace(0.1, 5.0, 99) + 1e-7:
            assert value(scores + other * plain, data) <= best + 1e-9
        scores += said


def test_leaves_of_exact_trees_are_the_mean_push():
    forest = rk.LambdaMART.plain(**SMALL, rate=0.5, step="exact").fit(TRAIN)
    objective = Lambdas(TRAIN, rk.NDCG(10))
    scores = np.zeros((1, TRAIN.rows))
    push, curvature = np.empty_like(scores), np.empty_like(scores)
    for number in range(3):
        objective.gradients(scores, push, curvature)
        said = tree_scores(forest, number, TRAIN)
        for leaf in np.unique(said):
            mean = push[0][said == leaf].mean()
            assert leaf == pytest.approx(0.5 * forest.history.steps[number] * mean, rel=1e-4, abs=1e-9)
        scores[0] += said


def test_newton_leaves_only_change_their_weight():
    plain = rk.LambdaMART.plain(**SMALL, rate=0.5).fit(TRAIN)
    weighted = rk.LambdaMART.plain(**SMALL, rate=0.5, step="newton-exact").fit(TRAIN)
    first = tree_scores(plain, 0, TRAIN), tree_scores(weighted, 0, TRAIN)
    assert first[1] == pytest.approx(weighted.history.steps[0] * first[0], rel=1e-12)


def test_weights_of_leaves_are_each_the_best_given_the_others_so_far():
    """The first tree: leaves in the order of their nodes, those behind still with weight 1."""
    plain = rk.LambdaMART.plain(**{**SMALL, "trees": 1}, rate=1.0).fit(TRAIN)
    weighted = rk.LambdaMART.plain(**{**SMALL, "trees": 1}, rate=1.0, step="leaves").fit(TRAIN)
    trees = plain.trees
    said, changed = tree_scores(plain, 0, TRAIN), tree_scores(weighted, 0, TRAIN)
    total = said.copy()
    for node in np.flatnonzero(trees.feature < 0):
        inside = said == trees.value[node]
        weight = changed[inside][0] / trees.value[node]
        best = value(np.where(inside, changed, total))
        for other in np.linspace(0.1, 5.0, 50) + 1e-7:
            assert value(np.where(inside, other * trees.value[node], total)) <= best + 1e-9
        total[inside] = changed[inside]
        assert 0.1 <= weight <= 5.0


@pytest.mark.parametrize("settings", [{}, {"step": "newton-exact"}, {"step": "exact"}])
def test_the_training_measure_never_falls_where_weight_0_is_a_choice(settings):
    learner = rk.LambdaMART.plain(**SMALL, rate=1.0, step_low=0.0, reoptimise=1, **{"step": "newton-exact", **settings})
    values = learner.fit(TRAIN).history.train
    assert (np.diff(values) >= -1e-12).all()
    assert values[-1] > values[0]


def test_reoptimising_only_changes_weights_and_pays():
    plain = rk.LambdaMART.plain(**SMALL, rate=0.3).fit(TRAIN)
    again = rk.LambdaMART.plain(**SMALL, rate=0.3, reoptimise=6).fit(TRAIN)
    for number in range(6):
        before, after = tree_scores(plain, number, TRAIN), tree_scores(again, number, TRAIN)
        ratio = after[before != 0] / before[before != 0]
        assert ratio == pytest.approx(np.full(len(ratio), ratio[0]))
    assert again.history.train[-1] >= plain.history.train[-1]
    assert again.history.train[-1] == value(again)
    assert len(again.history.steps) == 0  # no weights were looked for when the trees were grown


@pytest.mark.parametrize("learner", [rk.MART, rk.RankNetTrees])
def test_other_losses_climb_the_watched_measure(learner):
    forest = learner(trees=5, leaves=5, min_rows=5, step="exact", watch="err").fit(TRAIN)
    assert len(forest.history.steps) == 5
    assert forest.history.measure == "err"


@pytest.mark.parametrize("step", STEPS)
def test_threads_and_files_agree(step, tmp_path):
    learner = rk.LambdaMART.plain(**SMALL, step=step, reoptimise=2)
    with rk.threads(1):
        learner.fit(TRAIN, VALID).save(tmp_path / "one")
    forest = learner.fit(TRAIN, VALID)
    forest.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (rk.load(tmp_path / "one").history.steps == forest.history.steps).all()


@pytest.mark.parametrize("settings", [{"step": "exact"}, {"step": "leaves", "step_data": "valid"}, {"reoptimise": 2}])
def test_a_run_goes_on_from_its_checkpoint(settings, tmp_path):
    learner = rk.LambdaMART.plain(**SMALL, patience=None, **settings)
    learner.fit(TRAIN, VALID).save(tmp_path / "whole")

    def stop(progress):
        return progress.round == 4

    keep = rk.Checkpoint(tmp_path / "check", every=2)
    learner.fit(TRAIN, VALID, callbacks=[keep, stop])
    learner.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(tmp_path / "check", every=2)]).save(tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


@pytest.mark.parametrize(
    ("at_fault", "settings"),
    [
        ("step", {"step": "long"}),
        ("step_data", {"step_data": "test"}),
        ("step_low", {"step_low": 2.0, "step_high": 1.0}),
        ("step_high", {"step_high": np.inf}),
        ("reoptimise", {"reoptimise": -1}),
        ("step", {"step": "exact", "monotone": ("+1",)}),
        ("step", {"step": "newton-exact", "step_low": -1.0, "monotone": ("+1",)}),
    ],
)
def test_settings_out_of_bounds_are_refused(at_fault, settings):
    with refused(rk.ArgumentError, owner="LambdaMART", setting=at_fault, value=settings[at_fault]):
        rk.LambdaMART.plain(**settings)


def test_weights_need_the_data_they_are_chosen_on():
    with refused(rk.ArgumentError, setting="step_data", value="valid"):
        rk.LambdaMART.plain(**SMALL, step="exact", step_data="valid").fit(TRAIN)
    with refused(rk.MeasureError, value="balanced-error"):
        rk.LambdaMART.plain(**SMALL, step="exact", watch="balanced-error").fit(TRAIN)
