"""Exponential gains end at a stated grade, in evaluation and in training; the error names the place and the remedies."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from copy import copy

import numpy as np
import pytest
import xgboost

import rankinite as rk
from rankinite.learners.ranknet import RankNet
from rankinite.measures import CONVENTIONS
from rankinite.measures.base import GradeError
from rankinite.measures.gains import HIGHEST_EXPONENTIAL
from refusals import refused

MEASURES = ["ndcg@10", "dcg@5", "avendcg"]
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(60, 3))


def graded(highest, other=1.0):
    """Twelve queries of five documents; row 17, in query 103, has the highest grade."""
    grades = np.where(FEATURES[:, 0] > 0, other, 0.0)
    grades[17] = highest
    return rk.read(FEATURES, grades=grades, qid=[100 + row // 5 for row in range(60)])


@contextmanager
def beyond(measure, highest):
    with refused(GradeError, place=", row 17 (query '103')", value=float(highest)) as caught:
        yield
    assert caught.value.place.startswith(measure)
    assert all(way_out in caught.value.remedy for way_out in ("gains=linear", "watch", "table", "map_grades"))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("highest", [31.5, 32, 100, 1024])
def test_grades_beyond_are_refused_in_evaluation(measure, highest):
    with beyond(measure, highest):
        rk.evaluate(rk.Feature(0), graded(highest), measure)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("highest", [4, 30.75, HIGHEST_EXPONENTIAL])
def test_grades_up_to_it_have_their_gain(measure, highest):
    """Among documents without gain, one of any grade is worth its gain at its rank."""
    data = graded(highest, other=0.0)
    first = rk.evaluate(data.grades, data, measure)[measure].per_query[3]
    assert first == pytest.approx(2.0**highest - 1.0 if measure == "dcg@5" else 1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_other_gains_know_no_such_limit(measure):
    data = graded(100)
    rk.evaluate(rk.Feature(0), data, f"{measure}:gains=linear")
    rk.evaluate(rk.Feature(0), data.map_grades({0: 0, 1: 1, 100: 2}), measure)
    steps = "/".join(str(float(g)) for g in range(101))
    assert rk.evaluate(rk.Feature(0), data, f"{measure}:gains={steps}").results[0].mean == pytest.approx(
        rk.evaluate(rk.Feature(0), data, f"{measure}:gains=linear").results[0].mean
    )


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_other_tools_keep_their_gains(convention):
    if convention in ("trec", "sklearn"):  # linear ones
        rk.evaluate(rk.Feature(0), graded(100), "ndcg@10", convention=convention, ties="order")
    else:
        with beyond("ndcg@10", 100):
            rk.evaluate(rk.Feature(0), graded(100), "ndcg@10", convention=convention)


def test_it_is_the_highest_of_xgboost():
    def trained(highest):
        data = graded(highest)
        matrix = xgboost.DMatrix(data.features, data.grades, qid=data.query_of_row())
        return xgboost.train({"objective": "rank:ndcg", "nthread": 1}, matrix, 1)

    trained(HIGHEST_EXPONENTIAL)
    with pytest.raises(xgboost.core.XGBoostError, match="lesser than or equal to 31"):
        trained(HIGHEST_EXPONENTIAL + 1)


LEARNERS = {
    "LambdaMART": rk.LambdaMART.plain(trees=2, leaves=3, min_rows=3),
    "LambdaRank": rk.LambdaRank(hidden=(2,), epochs=2),
    "LambdaBoost": rk.LambdaBoost(rounds=2),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_what_climbs_such_gains_refuses_to_train(name):
    with beyond("ndcg@10", 32):
        LEARNERS[name].fit(graded(32))
    LEARNERS[name].fit(graded(31))
    linear = type(LEARNERS[name])(**{**vars(LEARNERS[name]), "measure": "ndcg@10:gains=linear"})
    assert np.isfinite(linear.fit(graded(100)).score(graded(100))).all()


OTHERS = {
    "MART": rk.MART(trees=2, leaves=3, min_rows=3),
    "RankNetTrees": rk.RankNetTrees(trees=2, leaves=3, min_rows=3),
    "McRank": rk.McRank(trees=2, leaves=3, min_rows=3),
    "RankNet": RankNet(hidden=(2,), epochs=2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_needs_no_gains_trains_on_any_grades(name):
    learner, data = OTHERS[name], graded(100)
    trained = learner.fit(data)
    assert not len(trained.history.train)  # ndcg@10, which nobody asked for, is undefined for them
    with beyond("ndcg@10", 100):
        learner.fit(data, data, allow_overlap=True)  # but something must decide on validation data
    watching = type(learner)(**{**vars(learner), "watch": "ndcg@10:gains=linear"})
    assert len(watching.fit(data, data, allow_overlap=True).history.valid) == 3
    with beyond("ndcg@5", 100):
        type(learner)(**{**vars(learner), "watch": "ndcg@5"}).fit(data)


def test_combining_refuses_them_too():
    with beyond("ndcg@10", 100):
        rk.combine.exact(rk.Feature(0), rk.Feature(1), data=graded(100), measure="ndcg@10")
    with beyond("ndcg@10", 100):
        rk.combine.average([rk.Feature(0), rk.Feature(1)], graded(100))


@pytest.mark.parametrize("measure", ["err", "ndcg:gains=0/1/3"])
def test_other_grades_without_a_worth_are_named_with_their_place(measure):
    with refused(GradeError, place=", row 17 (query '103')", value=9.0) as caught:
        rk.evaluate(rk.Feature(0), graded(9), measure)
    assert caught.value.place.startswith(f"{measure}: ")
    with refused(GradeError, place=caught.value.place, value=9.0):
        rk.LambdaMART.plain(measure=measure, min_rows=3).fit(graded(9))


@pytest.mark.parametrize("row", [0, 14, 15, 19, 20, 59])
def test_the_query_of_a_grade_without_a_worth_is_that_of_its_row(row):
    grades = np.ones(60)
    grades[row] = 9
    data = rk.read(FEATURES, grades=grades, qid=[100 + row // 5 for row in range(60)])
    with refused(GradeError, place=f", row {row} (query '{100 + row // 5}')", value=9.0):
        rk.evaluate(rk.Feature(0), data, "err")


def test_grades_below_a_scale_are_to_be_mapped():
    for grades, remedy in (([-1, 1], "Map the grades to grades from 0 on"), ([0, 5], "Use err:max_grade=5, or map the grades")):
        with refused(GradeError) as caught:
            rk.ERR().per_query(rk.rank([1.0, 2.0], grades, [0, 2]))
        assert caught.value.remedy == remedy


def test_the_error_of_a_grade_is_copied_moved_and_pickled_whole():
    with pytest.raises(GradeError) as caught:
        rk.evaluate(rk.Feature(0), graded(9), "err")
    error = caught.value
    for other in (copy(error), pickle.loads(pickle.dumps(error)), error.at("a ranker")):
        assert type(other) is GradeError
        assert (other.value, other.problem, other.rule, other.remedy) == (9.0, error.problem, error.rule, error.remedy)
    assert error.at("a ranker").place == f"a ranker: {error.place}"
