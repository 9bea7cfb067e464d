"""The learning curve: fewer target queries to train on, the same queries to judge by."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, target, with_one_grade
from rankinite.adapt.decision import Verdict
from rankinite.adapt.held_out import parts_of
from rankinite.adapt.learning_curve import LEAST, SHARES, LearningCurve, _some, learning_curve
from rankinite.adapt.methods.catalogue import Method
from rankinite.adapt.task import Task
from rankinite.adapt.trial import averaged, try_method
from rankinite.evaluation.evaluate import evaluate
from rankinite.models.linear import Linear

NDCG = rk.NDCG(10)


def fitted(power):
    def fit(task):
        data = task.target
        return Linear(data.feature_names, np.sign(weights := data.grades @ data.features) * np.abs(weights) ** power)

    return fit


WAYS = {
    "background": ("baseline", lambda task: task.background),
    "target": ("baseline", fitted(1.0)),
    "lambdaboost": ("linear", fitted(2.0)),
    "smart": ("added trees", fitted(0.0)),
}


def case(queries, chosen, valid=None, silent=()):
    """A task, its trials, and the learning curve of the method chosen."""
    data = with_one_grade(target(queries), list(silent))
    task = Task({"web": background()}, data, NDCG, valid)
    parts = parts_of(data, NDCG, 5, 0)
    tasks = [*(task.on(part.rest) for part in parts), task]
    methods = [Method(name, "for a test", kind, fit, 1.0) for name, (kind, fit) in WAYS.items()]
    trials = [try_method(method, tasks, parts, lambda _: None) for method in methods]
    known = {trial.method.name: trial for trial in [*trials, *averaged(trials, parts)]}
    return task, parts, known, learning_curve(task, known, Verdict(chosen, chosen, chosen, 0.8, 0.9))


def test_sizes_are_shares_of_what_is_left_when_a_part_is_held_out():
    for queries, sizes in ((3, (2,)), (6, (5,)), (12, (4, 9)), (41, (4, 8, 16, 32))):
        *_, curve = case(queries, "smart")
        assert curve.sizes == sizes
    assert SHARES == (0.125, 0.25, 0.5)
    assert LEAST == 4


@pytest.mark.parametrize("chosen", ["target", "smart", "average"])
def test_values_are_those_of_rankers_fitted_to_so_many_queries(chosen):
    task, _, known, curve = case(20, chosen, silent=(3, 11))
    assert list(curve.values) == ["background", "target", *([chosen] if chosen != "target" else [])]
    for name, values in curve.values.items():
        assert values.shape == (len(curve.sizes), 18)
        whole = evaluate(known[name].unseen, task.target, [NDCG])[NDCG].per_query
        assert values[-1].tobytes() == np.delete(whole, [3, 11]).tobytes()
    assert (curve.values["background"] == curve.values["background"][-1]).all()
    assert not np.array_equal(curve.values["target"][0], curve.values["target"][-1])


def test_smaller_samples_lie_in_larger_ones_and_hold_judged_queries_alone():
    seen = {}

    def fit(task):
        seen.setdefault(len(task.target.qids), []).append(set(task.target.qids.tolist()))
        return rk.Feature(0)

    task, parts, known, _ = case(20, "smart", silent=(3,))
    known["smart"] = replace(known["smart"], method=replace(known["smart"].method, fit=fit))
    with rk.threads(1):
        curve = learning_curve(task, known, Verdict("smart", "smart", "smart", 0.8, 0.9))
    assert list(seen) == list(curve.sizes[:-1]) == [4, 8]
    for small, large, part in zip(seen[4], seen[8], parts, strict=True):
        assert small < large <= set(part.rest.qids.tolist()) - {task.target.qids[3]}


def test_the_average_at_fewer_queries_is_that_of_its_parts():
    task, parts, known, curve = case(20, "average")
    for place, size in enumerate(curve.sizes[:-1]):
        scores = np.zeros(task.target.rows)
        for part in parts:
            fewer = task.on(_some(part.rest, size, task))
            rankers = [known[name].method.fit(fewer) for name in ("lambdaboost", "smart")]
            scores[part.rows] = sum(own.score(part.held) / own.score(fewer.target).std() for own in rankers)
        values = evaluate(scores, task.target, [NDCG])[NDCG].per_query
        assert curve.values["average"][place] == pytest.approx(values)


def test_validation_data_allow_for_two_judged_queries():
    *_, curve = case(2, "smart", valid=target(4))
    assert curve.sizes == (1,)


def test_gains_are_over_the_background_and_all_can_be_told():
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


def test_json_has_neither_nan_nor_infinity():
    one = LearningCurve(rk.DCG(10), (4,), {"background": np.asarray([[0.5]]), "smart": np.asarray([[0.75]])})
    told = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert told == {
        "measure": "dcg@10",
        "queries": [4],
        "means": {"background": [0.5], "smart": [0.75]},
        "gains": {"smart": [{"gain": 0.25, "low": None, "high": None}]},
    }
    assert "+0.2500" in one.grid().text()
