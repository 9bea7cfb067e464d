"""Training for a function gives what training for the measure it repeats gives, from Python and compiled alike."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import shuffled
from oracles.function_measures import ERR, NDCG, NUMBA_ERR, NUMBA_NDCG, PAIRS, ndcg
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.shared_fits import TUNING, SharedFits, Task
from rankinite.gradients.lambdas import Lambdas
from rankinite.learners import training_checks
from rankinite.learners.joint_training import check_joint
from refusals import refused

WORLD = rk.World(features=6, documents=16, noise=0.3)
TRAIN, VALID = rk.synthesise(30, world=WORLD), rk.synthesise(20, part="valid", world=WORLD)
QUICK = rk.LambdaMART.plain(trees=8, leaves=6, min_rows=5, train_history=False)
TOP = rk.FunctionMeasure("top-grade", lambda grades: float(grades[0]), cutoff=1)
TOLD = pytest.mark.filterwarnings("ignore:.* is a Python function")
EACH = pytest.mark.parametrize(("measure", "peer"), PAIRS, ids=["Python ndcg", "Numba ndcg", "Python err", "Numba err"])


def file_bytes(ranker, path):
    ranker.save(path)
    return path.read_bytes()


@TOLD
@EACH
@pytest.mark.parametrize("normalise", [False, True])
def test_the_forest_is_that_of_the_measure_it_repeats(measure, peer, normalise):
    learner = replace(QUICK, normalise=normalise)
    mine, theirs = (replace(learner, measure=one).fit(TRAIN) for one in (measure, peer))
    assert mine.trees.feature.tobytes() == theirs.trees.feature.tobytes()
    assert mine.trees.threshold.tobytes() == theirs.trees.threshold.tobytes()
    np.testing.assert_allclose(mine.score(TRAIN), theirs.score(TRAIN), atol=1e-9)


@TOLD
@EACH
def test_pushes_are_those_of_the_measure_it_repeats(measure, peer):
    """With ties, on queries of one grade, and from scores too far apart for the short way to sigmoids."""
    rng = np.random.default_rng(0)
    grades = TRAIN.grades.copy()
    grades[TRAIN.offsets[3] : TRAIN.offsets[4]] = 0.0
    data = replace(TRAIN, grades=grades).with_weights(np.linspace(0.0, 2.0, TRAIN.queries))
    for scores in (np.zeros(data.rows), rng.normal(size=data.rows).round(), 1e4 * rng.normal(size=data.rows)):
        found = []
        for one in (measure, peer):
            push, curvature = np.empty((1, data.rows)), np.empty((1, data.rows))
            Lambdas(data, one, truncation=7).gradients(scores[None], push, curvature)
            found.append(np.concatenate([push, curvature]))
        np.testing.assert_allclose(*found, atol=1e-12)


@TOLD
@pytest.mark.parametrize("measure", [TOP, NUMBA_NDCG], ids=["python", "numba"])
def test_threads_and_the_order_of_rows_change_no_byte(measure, tmp_path):
    big = rk.World(features=4, documents=140, noise=0.3)  # rows enough to be divided
    data = rk.synthesise(130, world=big)
    learner = replace(QUICK, measure=measure, trees=2, truncation=2)
    found = set()
    for count in (1, 2):
        with rk.threads(count):
            found.add(file_bytes(learner.fit(data), tmp_path / f"{count}"))
    assert len(found) == 1
    expected = replace(QUICK, measure=measure).fit(TRAIN)
    assert replace(QUICK, measure=measure).fit(shuffled(TRAIN)[0]).trees.value.tobytes() == expected.trees.value.tobytes()


@TOLD
def test_it_stops_early_where_the_measure_it_repeats_does():
    learner = replace(QUICK, trees=30, rate=0.6, patience=4)
    mine, theirs = (replace(learner, measure=one).fit(TRAIN, VALID).history for one in (NUMBA_NDCG, rk.NDCG(5)))
    assert (mine.best, mine.stopped, mine.measure) == (theirs.best, theirs.stopped, "my-ndcg")
    np.testing.assert_allclose(mine.valid, theirs.valid, atol=0.02)  # ties: random orders against the exact expectation


@TOLD
@pytest.mark.parametrize(
    "learner",
    [rk.LambdaRank(hidden=(), epochs=3, rate=0.01), rk.LambdaBoost(rounds=5), replace(QUICK, debias="additive")],
    ids=["LambdaRank", "LambdaBoost", "debiased"],
)
def test_every_learner_of_lambdas_trains_for_it(learner):
    data = TRAIN
    if getattr(learner, "debias", None):
        data = replace(TRAIN, positions=np.tile(np.arange(1, 17, dtype=np.int32), TRAIN.queries))
    scores = [replace(learner, measure=one).fit(data).score(data) for one in (NUMBA_ERR, ERR, rk.ERR())]
    np.testing.assert_allclose(scores[0], scores[2], atol=1e-9)
    np.testing.assert_allclose(scores[1], scores[2], atol=1e-9)


@TOLD
def test_a_query_on_which_it_is_undefined_teaches_nothing():
    def first_two_differ(grades):
        return np.nan if grades.max() < 3 else grades[0]

    measure = rk.FunctionMeasure("picky", first_two_differ)
    defined = np.flatnonzero(np.maximum.reduceat(TRAIN.grades, TRAIN.offsets[:-1]) >= 3)
    assert 0 < len(defined) < TRAIN.queries
    push, curvature = np.empty((1, TRAIN.rows)), np.empty((1, TRAIN.rows))
    Lambdas(TRAIN, measure).gradients(np.zeros((1, TRAIN.rows)), push, curvature)
    pushed = np.add.reduceat(np.abs(push[0]), TRAIN.offsets[:-1]) > 0
    assert not pushed[np.setdiff1d(np.arange(TRAIN.queries), defined)].any()
    assert pushed[defined].any()
    with refused(rk.DataError, place=TRAIN.source, value="never"):
        replace(QUICK, measure=rk.FunctionMeasure("never", lambda grades: np.nan)).fit(TRAIN)


def test_what_goes_wrong_in_a_function_is_reported():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with refused(rk.MeasureError, place="none", value=None):
            replace(QUICK, measure=rk.FunctionMeasure("none", lambda grades: None)).fit(TRAIN)
        with pytest.raises(ZeroDivisionError):
            replace(QUICK, measure=rk.FunctionMeasure("zero", lambda grades: 1 / int(grades[0] * 0))).fit(TRAIN)
        falling = rk.FunctionMeasure("falling", lambda grades: np.nan if (grades[1:] > grades[:-1]).any() else grades[0])
        with refused(rk.MeasureError, place=f"{TRAIN.source}, query '{TRAIN.qids[0]}'"):
            begin = rk.Blend(((1.0, Grades()),))
            replace(QUICK, measure=falling).fit(TRAIN, base=begin)


class Grades:
    """Scores in the order of grades."""

    feature_names = TRAIN.feature_names

    def score(self, features, qid=None):
        return features.grades.astype(float)


# ---- cost -------------------------------------------------------------------------------------------------------------


def test_the_cost_of_a_python_function_is_said_once(monkeypatch):
    monkeypatch.setattr(training_checks, "_noted_calls", {})
    learner = replace(QUICK, trees=1, measure=rk.FunctionMeasure("top", lambda grades: float(grades[0])))
    with pytest.warns(UserWarning, match=f"top is a Python function.* {learner.measure.calls(TRAIN.grades, TRAIN.offsets):,} "):
        learner.fit(TRAIN)
    learner.fit(VALID)  # warnings are errors: of so many calls it was said
    many = rk.synthesise(60, world=rk.World(features=6, documents=60, noise=0.3))
    with pytest.warns(UserWarning, match="cutoff=10"):
        learner.fit(many)  # of ten times as many it was not
    replace(QUICK, trees=1, measure=NUMBA_NDCG).fit(many)


# ---- what a model keeps of it -----------------------------------------------------------------------------------------


@TOLD
def test_a_model_keeps_its_name_and_a_hash_of_its_code(tmp_path):
    forest = replace(QUICK, measure=NDCG).fit(TRAIN)
    forest.save(tmp_path / "m")
    loaded = rk.load(tmp_path / "m")
    assert loaded.settings["measure"] == "my-ndcg"
    assert set(loaded.settings["function_code"]) == {"measure"}
    assert loaded.settings == forest.settings
    assert "function_code" not in replace(QUICK, measure="ndcg@5").fit(TRAIN).settings
    watched = replace(QUICK, watch=NDCG).settings()["function_code"]
    assert watched == {"watch": loaded.settings["function_code"]["measure"]}
    with refused(rk.ArgumentError, value="my-ndcg"):
        rk.adapt.trada(loaded, VALID)
    adapted = rk.adapt.trada(loaded, VALID, measure=NUMBA_NDCG)
    np.testing.assert_allclose(adapted.score(VALID), rk.adapt.trada(loaded, VALID, measure="ndcg@5").score(VALID), atol=1e-9)


def test_a_forest_of_a_function_is_tuned_by_the_measure_that_chooses():
    background = replace(QUICK, measure=NUMBA_NDCG).fit(TRAIN)
    work = SharedFits(Task({"background": background}, VALID, rk.NDCG(5)), Trada())
    tuned = Trada(measure="ndcg@5").adapt_tuned(background, VALID, folds=TUNING)
    assert work.tuned.trees.value.tobytes() == tuned.trees.value.tobytes()


def test_a_checkpoint_of_another_function_of_the_same_name_is_refused(tmp_path):
    changed = rk.FunctionMeasure("my-ndcg", NUMBA_ERR.function)
    replace(QUICK, measure=NUMBA_NDCG).fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "c", every=4)])
    with refused(rk.DataError, place="c", value=["function_code"]):
        replace(QUICK, measure=changed, trees=10).fit(TRAIN, callbacks=[rk.Checkpoint(tmp_path / "c", every=4)])


# ---- where only measures made of parts will do ------------------------------------------------------------------------


@TOLD
def test_it_goes_where_measures_are_climbed_and_is_refused_where_rankers_are_combined_exactly():
    first = replace(QUICK, measure=NUMBA_NDCG).fit(TRAIN)
    second = rk.Feature(TRAIN.feature_names[0])
    assert rk.combine.powell({"a": first, "b": second}, VALID, NUMBA_NDCG).value > 0
    assert rk.combine.stacked({"a": first, "b": second}, VALID, NUMBA_NDCG).value > 0
    mine, theirs = (rk.adapt.smart(first, VALID, measure=one, folds=2, learner=QUICK) for one in (NUMBA_NDCG, "ndcg@5"))
    np.testing.assert_allclose(mine.score(VALID), theirs.score(VALID), atol=1e-6)
    for call in (
        lambda: rk.combine.exact(first, second, VALID, NUMBA_NDCG),
        lambda: rk.adapt.interpolate(first, VALID, measure=NUMBA_NDCG),
        lambda: rk.adapt.choose(first, VALID, measure=NUMBA_NDCG),
        lambda: replace(QUICK, measure=NUMBA_NDCG, step="exact").fit(TRAIN),
    ):
        with refused(rk.MeasureError, value="my-ndcg"):
            call()


def test_members_on_other_machines_are_not_given_functions(tmp_path):
    data = rk.bin(TRAIN, tmp_path / "bins")
    for learner, setting in ((replace(QUICK, measure=NDCG), "measure"), (rk.CustomTrees(loss=ndcg), "loss")):
        with refused(rk.ArgumentError, setting=setting):
            check_joint(learner, data, None)
