"""Averages, Powell's search and stacking."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from refusals import refused

WORLD = rk.World(features=5, documents=8, terms=3, noise=0.5, seed=2)
DATA, OTHER = (rk.synthesise(80, part=part, world=WORLD) for part in ("train", "test"))
RANKERS = [rk.Feature(0), rk.Feature(1), rk.Feature(2)]
SCALES = ["all", "query", "rank"]


def value(scores, measure="ndcg@10", data=DATA) -> float:
    return rk.evaluate(scores, data, measure)[measure].mean


def scaled_slowly(scores: np.ndarray, data: rk.Dataset, scale: str) -> np.ndarray:
    if scale == "all":
        return (scores - scores.mean()) / scores.std()
    groups = pd.Series(scores).groupby(data.query_of_row())
    if scale == "query":
        return ((scores - groups.transform("mean")) / groups.transform("std", ddof=0)).fillna(0.0).to_numpy()
    size = groups.transform("size")
    return ((groups.rank(method="average") - 1) / (size - 1)).to_numpy()


@pytest.mark.parametrize("scale", SCALES)
def test_an_average_is_the_mean_of_scaled_scores(scale, tmp_path):
    found = rk.combine.average(RANKERS, DATA, scale=scale)
    expected = np.mean([scaled_slowly(ranker.score(DATA), DATA, scale) for ranker in RANKERS], axis=0)
    assert found.ranker.score(DATA) == pytest.approx(expected, abs=1e-12)
    assert found.value == value(found.ranker)
    found.ranker.save(tmp_path / "mean.rankinite")
    again = rk.load(tmp_path / "mean.rankinite")
    assert (again.score(OTHER) == found.ranker.score(OTHER)).all()
    weighted = rk.combine.average(RANKERS, DATA, scale=scale, weights=[2, 1, 1])
    assert weighted.weights == (0.5, 0.25, 0.25)


@pytest.mark.parametrize("scale", ["query", "rank"])
def test_scores_within_queries_need_the_queries(scale):
    ranker = rk.combine.average(RANKERS, DATA, scale=scale).ranker
    order = np.random.default_rng(0).permutation(OTHER.rows)
    qid = OTHER.query_of_row()[order]
    assert ranker.score(OTHER.features[order], qid=qid) == pytest.approx(ranker.score(OTHER)[order], abs=1e-12)
    with refused(rk.DataError, value="ndarray") as caught:
        ranker.score(OTHER.features)
    assert "qid" in caught.value.remedy
    with refused(rk.DataError, value=(OTHER.rows - 1,)):
        ranker.score(OTHER.features, qid=qid[1:])
    stack = rk.Stack((rk.Normalised(RANKERS[0], scale),), rk.Linear(("1",), [2.0]))
    assert stack.score(OTHER.features[order], qid=qid) == pytest.approx(stack.score(OTHER)[order], abs=1e-12)


def test_equal_scores_of_a_query_are_all_alike():
    data = rk.read(np.array([[1.0], [1.0], [5.0]]), grades=[0, 1, 2], qid=[1, 1, 2])
    assert rk.Normalised(rk.Feature(0), "query").score(data).tolist() == [0.0, 0.0, 0.0]
    assert rk.Normalised(rk.Feature(0), "rank").score(data).tolist() == [0.5, 0.5, 0.0]


def test_powell_is_never_below_its_start():
    found = rk.combine.powell(RANKERS, DATA)
    start = np.mean([ranker.score(DATA) / ranker.score(DATA).std() for ranker in RANKERS], axis=0)
    assert found.value >= value(start) - 1e-12
    assert found.value == value(found.ranker)
    assert found.value >= max(found.alone)


def test_linear_stacking_is_linear_lambdarank_from_the_average():
    found = rk.combine.stacked(RANKERS, DATA)
    features = np.column_stack([ranker.score(DATA) for ranker in RANKERS]).astype(np.float32)
    stacked = dataclasses.replace(DATA, features=features, feature_names=("1", "2", "3"))
    average = rk.Linear(("1", "2", "3"), 1.0 / (3 * features.std(axis=0, dtype=float)))
    trained = rk.LambdaRank(hidden=(), rate=0.003).fit(stacked, base=average)
    assert isinstance(found.ranker, rk.Blend)
    assert found.ranker.score(DATA) - trained.score(stacked) == pytest.approx(
        np.full(DATA.rows, found.ranker.score(DATA)[0] - trained.score(stacked)[0]), abs=1e-5
    )
    assert found.value >= rk.combine.average(RANKERS, DATA).value - 1e-12  # no training is a choice too


def test_a_net_over_scores_is_a_stack(tmp_path):
    found = rk.combine.stacked(RANKERS, DATA, hidden=(4,), valid=OTHER)
    assert isinstance(found.ranker, rk.Stack)
    scores = np.column_stack([ranker.score(OTHER) for ranker in RANKERS])
    assert (found.ranker.score(OTHER) == found.ranker.top.score(scores)).all()
    found.ranker.save(tmp_path / "stack.rankinite")
    assert (rk.load(tmp_path / "stack.rankinite").score(OTHER) == found.ranker.score(OTHER)).all()
    assert found.weights == ()
    assert "–" in str(found)
    small = rk.combine.stacked(RANKERS, DATA, learner=rk.LambdaRank(hidden=(2,), epochs=2, measure="err"))
    assert small.ranker.top.hidden == (2,)


REFUSED = {
    "scale": (
        lambda: rk.combine.average(RANKERS, DATA, scale="median"),
        {"owner": "average", "setting": "scale", "value": "median"},
    ),
    "two weights": (lambda: rk.combine.average(RANKERS, DATA, weights=[1, 1]), {"setting": "weights", "value": [1, 1]}),
    "no sum": (lambda: rk.combine.average(RANKERS, DATA, weights=[1, -1, 0]), {"setting": "weights", "value": [1, -1, 0]}),
    "constant": (
        lambda: rk.combine.average([RANKERS[0], 0.0 * RANKERS[1]], DATA),
        {"place": "ranker 2", "value": 0.0},
    ),
    "most": (lambda: rk.combine.powell(RANKERS, DATA, most=0), {"owner": "powell", "setting": "most", "value": 0}),
    "measure": (lambda: rk.combine.stacked(RANKERS, DATA, "p@5"), {"value": "p@5"}),
    "no ranker": (lambda: rk.Normalised(3), {"value": 3}),
    "spread": (lambda: rk.Normalised(RANKERS[0], spread=0.0), {"setting": "spread", "value": 0.0}),
    "centre": (lambda: rk.Normalised(RANKERS[0], centre=np.inf), {"setting": "centre", "value": np.inf}),
    "top": (lambda: rk.Stack((RANKERS[0],), rk.Linear(("1", "2"), [1.0, 1.0])), {"owner": "Stack", "setting": "top"}),
    "no part": (lambda: rk.Stack((3,), rk.Linear(("1",), [1.0])), {"value": 3}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_combined_is_refused(case):
    call, fields = REFUSED[case]
    with refused(rk.RankiniteError, **fields):
        call()


HOLES = rk.read(np.array([[1, 2], [np.nan, 3], [2, 1], [3, 2.5]]), grades=[1, 0, 1, 2], qid=[1, 1, 2, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda: rk.combine.exact(rk.Feature(0), rk.Feature(1), HOLES, normalise=True),
        lambda: rk.combine.average([rk.Feature(0), rk.Feature(1)], HOLES),
        lambda: rk.combine.powell([rk.Feature(0), rk.Feature(1)], HOLES),
        lambda: rk.combine.stacked([rk.Feature(0), rk.Feature(1)], HOLES),
    ],
)
def test_scores_without_a_scale_are_refused_with_a_remedy(call):
    with refused(rk.DataError) as caught:
        call()
    assert caught.value.place.startswith(f"ranker 1 on {HOLES.source}")


def test_missing_values_are_last_within_their_query():
    assert rk.Normalised(rk.Feature(0), "query").score(HOLES).tolist() == [1.0, -1.0, -1.0, 1.0]
    assert rk.Normalised(rk.Feature(0), "rank").score(HOLES).tolist() == [1.0, 0.0, 0.0, 1.0]


def test_huge_scores_stay_finite():
    scores = rk.Normalised(rk.Feature(1), "all", 0.0, 5e-324).score(HOLES)
    assert np.isfinite(scores).all()
    assert np.isfinite(rk.Normalised(1e298 * rk.Feature(1), "query").score(HOLES)).all()


def test_a_stack_of_other_features_refuses_an_array():
    first, second = rk.Linear(("a", "b"), [1.0, 1.0]), rk.Linear(("b", "c"), [1.0, 1.0])
    with refused(rk.DataError, place="stack"):
        rk.Stack((first, second), rk.Linear(("1", "2"), [1.0, 1.0])).score(np.zeros((2, 2)))


def test_what_weighs_nothing_is_left_out():
    found = rk.combine.exact(RANKERS[2], 2.0 * RANKERS[2], DATA)
    assert found.weights == (1.0, 0.0)
    assert len(found.ranker.parts) == 1
    assert (found.ranker.score(OTHER) == RANKERS[2].score(OTHER)).all()
