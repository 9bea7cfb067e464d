"""The learning curve: fewer target queries to train on, the same queries to judge by."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, target, with_one_grade
from oracles.choices import verdict_for
from rankinite.adapt.held_out import holdouts_of
from rankinite.adapt.learning_curve import LEAST, SHARES, LearningCurve, _some, learning_curve
from rankinite.adapt.methods.catalogue import AdaptationMethod
from rankinite.adapt.shared_fits import SharedFits, Task
from rankinite.adapt.trials import average_trial, try_method
from rankinite.evaluation.evaluate import evaluate
from rankinite.models.linear import Linear

NDCG = rk.NDCG(10)


def fitted(power):
    def fit(work):
        data = work.task.target
        return Linear(data.feature_names, np.sign(weights := data.grades @ data.features) * np.abs(weights) ** power)

    return fit


FITS = {
    "background": ("baseline", lambda work: work.background),
    "target": ("baseline", fitted(1.0)),
    "lambdaboost": ("linear", fitted(2.0)),
    "smart": ("added trees", fitted(0.0)),
}


def case(queries, chosen, valid=None, silent=()):
    """A task with its groundwork, its trials, and the learning curve of the method chosen."""
    data = with_one_grade(target(queries), list(silent))
    work = SharedFits(Task({"web": background()}, data, NDCG, valid))
    parts = holdouts_of(data, NDCG, 5, 0)
    works = [*(work.on(part.rest) for part in parts), work]
    methods = [AdaptationMethod(name, "for a test", kind, fit, 1.0) for name, (kind, fit) in FITS.items()]
    trials = [try_method(method, works, parts, lambda _: None) for method in methods]
    known = {trial.method.name: trial for trial in [*trials, average_trial(trials, parts)]}
    return work, parts, known, learning_curve(work, known, verdict_for(chosen))


def test_sizes_are_shares_of_what_is_left_when_a_part_is_held_out():
    for queries, sizes in ((3, (2,)), (6, (5,)), (12, (4, 9)), (41, (4, 8, 16, 32))):
        *_, curve = case(queries, "smart")
        assert curve.sizes == sizes
    assert SHARES == (0.125, 0.25, 0.5)
    assert LEAST == 4


@pytest.mark.parametrize("chosen", ["target", "smart", "average"])
def test_values_are_those_of_rankers_fitted_to_that_many_queries(chosen):
    work, _, known, curve = case(20, chosen, silent=(3, 11))
    assert list(curve.values) == ["background", "target", *([chosen] if chosen != "target" else [])]
    for name, values in curve.values.items():
        assert values.shape == (len(curve.sizes), 18)
        whole = evaluate(known[name].unseen, work.task.target, [NDCG])[NDCG].per_query
        assert values[-1].tobytes() == np.delete(whole, [3, 11]).tobytes()
    assert (curve.values["background"] == curve.values["background"][-1]).all()
    assert not np.array_equal(curve.values["target"][0], curve.values["target"][-1])


def test_smaller_samples_lie_in_larger_ones_and_hold_judged_queries_alone():
    seen = {}

    def fit(work):
        qids = work.task.target.qids
        seen.setdefault(len(qids), []).append(set(qids.tolist()))
        return rk.Feature(0)

    work, parts, known, _ = case(20, "smart", silent=(3,))
    known["smart"] = replace(known["smart"], method=replace(known["smart"].method, fit=fit))
    with rk.threads(1):
        curve = learning_curve(work, known, verdict_for("smart"))
    assert list(seen) == list(curve.sizes[:-1]) == [4, 8]
    for small, large, part in zip(seen[4], seen[8], parts, strict=True):
        assert small < large <= set(part.rest.qids.tolist()) - {work.task.target.qids[3]}


def test_the_average_at_fewer_queries_is_that_of_its_parts():
    work, parts, known, curve = case(20, "average")
    data = work.task.target
    for place, size in enumerate(curve.sizes[:-1]):
        scores = np.zeros(data.rows)
        for part in parts:
            fewer = work.on(_some(part.rest, size, work.task))
            rankers = [known[name].method.fit(fewer) for name in ("lambdaboost", "smart")]
            scores[part.rows] = sum(one.score(part.held) / one.score(fewer.task.target).std() for one in rankers)
        values = evaluate(scores, data, [NDCG])[NDCG].per_query
        assert curve.values["average"][place] == pytest.approx(values)


def test_validation_data_allow_for_two_judged_queries():
    *_, curve = case(2, "smart", valid=target(4))
    assert curve.sizes == (1,)


def test_gains_are_over_the_background_and_are_printed():
    values = {"background": np.asarray([[0.5, 0.7], [0.5, 0.7]]), "smart": np.asarray([[0.4, 0.8], [0.7, 0.9]])}
    curve = LearningCurve(NDCG, (4, 8), values)
    (small, gain, interval), (large, more, certain) = curve.gains("smart")
    assert (small, large) == (4, 8)
    assert (gain, more) == pytest.approx((0.0, 0.2))
    assert interval[0] == pytest.approx(-interval[1])
    assert certain == pytest.approx((0.2, 0.2))
    text = curve.grid().text()
    assert "0.8000 (+0.2000, +0.2000 to +0.2000)" in text
    assert "ndcg@10 on unseen target queries" in text
    rows = curve.to_pandas().set_index(["method", "queries"])
    assert rows.loc[("smart", 8), ["mean", "gain", "low", "high"]].tolist() == pytest.approx([0.8, 0.2, 0.2, 0.2])
    assert rows.loc["background", "gain"].tolist() == [0.0, 0.0]


def test_json_has_neither_nan_nor_infinity():
    one = LearningCurve(rk.DCG(10), (4,), {"background": np.asarray([[0.5]]), "smart": np.asarray([[0.75]])})
    found = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert found == {
        "measure": "dcg@10",
        "queries": [4],
        "means": {"background": [0.5], "smart": [0.75]},
        "gains": {"smart": [{"gain": 0.25, "low": None, "high": None}]},
    }
    assert "+0.2500" in one.grid().text()
