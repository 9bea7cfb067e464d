"""Every ratio of two rankers' weights: never below the better ranker, whichever is called the first, at any scale."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles import sweep as oracle
from refusals import refused


@dataclass(frozen=True, slots=True)
class Regret(rk.DCG):
    """A measure that is better when it is lower."""

    higher_is_better = False


WORLD = rk.World(features=5, documents=8, terms=3, noise=0.5, seed=2)
DATA, OTHER = (rk.synthesise(60, part=part, world=WORLD) for part in ("train", "test"))
FIRST, SECOND, THIRD = rk.Feature(0), rk.Feature(1), rk.Feature(2)
KINDS = (rk.NDCG, rk.DCG, rk.ERR, rk.AP, rk.RR, rk.Precision, rk.Recall, Regret)
MEASURES = [kind(cutoff) for kind in KINDS for cutoff in (2, 10)]
SETTINGS = [{}, {"form": "convex"}, {"normalise": False}, {"form": "convex", "normalise": False}]

small = st.integers(-3, 3)
judged = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), small, small, small), min_size=3, max_size=12).filter(
    lambda rows: (
        any(a[0] == b[0] and (a[1] > 1) != (b[1] > 1) for a in rows for b in rows)
        and all(len({row[column] for row in rows}) > 1 for column in (2, 3, 4))
    )
)


def dataset(rows) -> rk.Dataset:
    """Data from rows of query, grade and three features."""
    query, grades, *features = np.asarray(rows).T
    return rk.Dataset.from_rows(np.stack(features, axis=1), grades, query.astype(str), ("s", "t", "u"))


def value(scores, measure="ndcg@10", data=DATA) -> float:
    return rk.evaluate(scores, data, measure)[measure].mean


def better(one: float, other: float, measure) -> bool:
    return one >= other if measure.higher_is_better else one <= other


def best(values, measure) -> float:
    return max(values) if measure.higher_is_better else min(values)


# ---- against brute force ------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(judged, st.sampled_from(MEASURES), st.sampled_from(SETTINGS))
def test_the_best_of_all_ratios_is_found_each_ranker_alone_included(rows, measure, how):
    data = dataset(rows)
    s, t = (data.features[:, column].astype(float) for column in (0, 1))
    found = rk.combine.exact(FIRST, SECOND, data, measure, **how)
    slow = [value for _, _, value in oracle.intervals(s, t, data, measure, 0, 1, "convex")]
    assert found.value == pytest.approx(best([*slow, *found.alone], measure), abs=1e-11)
    assert found.value == value(found.ranker, measure, data)
    assert better(found.value, best(found.alone, measure), measure)
    assert found.curve.value_at(found.alpha) == pytest.approx(found.value, abs=1e-11)


@settings(max_examples=40, deadline=None)
@given(judged, st.sampled_from(MEASURES))
def test_many_rankers_are_never_below_the_best_of_them(rows, measure):
    data, rankers = dataset(rows), [FIRST, SECOND, THIRD]
    for found in (
        rk.combine.exact((FIRST, SECOND), THIRD, data, measure),
        rk.combine.greedy(rankers, data, measure),
        rk.combine.cyclic(rankers, data, measure),
        rk.combine.cyclic(rankers, data, measure, weights=[1.0, -1.0, 0.0], rounds=1),
    ):
        assert better(found.value, best(found.alone, measure), measure)
        assert found.value == value(found.ranker, measure, data)


class Known:
    def __init__(self, scores):
        self.scores = scores

    def score(self, data):
        assert data.rows == len(self.scores)
        return self.scores


def test_sums_that_lose_digits_do_not_fall_below_a_ranker_alone():
    """Differences of 1e-9 beside a million: rounding undoes what the lines promise for one seed in ten."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        data = rk.read(np.zeros((30, 1)), grades=random.integers(0, 4, 30), group=np.full(5, 6))
        pair = Known(1e6 + 1e-9 * random.integers(-3, 4, 30)), Known(np.exp(10.0 * random.normal(size=30)))
        one, other = (rk.combine.exact(*rankers, data, "ndcg@3") for rankers in (pair, pair[::-1]))
        assert one.value >= max(one.alone)
        assert one.value == other.value == value(one.ranker, "ndcg@3", data)


# ---- the order of the rankers, and their scale --------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(judged, st.sampled_from(MEASURES), st.sampled_from([*SETTINGS, {"smooth": 0.3}]))
def test_the_order_of_the_rankers_does_not_matter(rows, measure, how):
    data = dataset(rows)
    one = rk.combine.exact(FIRST, SECOND, data, measure, **how)
    other = rk.combine.exact(SECOND, FIRST, data, measure, **how)
    assert one.value == other.value
    x, y = (data.features[:, column] / data.features[:, column].std(dtype=float) for column in (0, 1))
    if (x == y).all():  # whichever is left out, the ranking is the same
        return
    assert one.weights == other.weights[::-1]
    assert one.ranker.score(data).tobytes() == other.ranker.score(data).tobytes()
    if how.get("form") == "convex":
        assert one.alpha == pytest.approx(1.0 - other.alpha, abs=1e-12)
    elif one.alpha in (0.0, math.inf):
        assert {one.alpha, other.alpha} == {0.0, math.inf}
    else:
        assert one.alpha == pytest.approx(1.0 / other.alpha, rel=1e-9)


@pytest.mark.parametrize("folds", [2, 5])
@pytest.mark.parametrize("measure", ["ndcg@10", "err"])
def test_the_order_of_the_rankers_does_not_matter_to_folds(measure, folds):
    one, other = (rk.combine.exact(*pair, DATA, measure, folds=folds) for pair in ((FIRST, SECOND), (SECOND, FIRST)))
    assert one.weights == other.weights[::-1]


def test_of_two_intervals_alike_in_all_the_same_is_taken_whichever_ranker_is_first():
    """Swapping them mirrors the curve; shares of 0.3 and 0.7 are equally good, equally wide and equally near to 0.5."""
    features = np.zeros((8, 2))
    features[::2] = [[2, -3], [-3, 2], [-1, 4], [4, -1]]
    data = rk.read(features, grades=[1, 0] * 4, qid=np.repeat([1, 2, 3, 4], 2))
    one, other = rk.combine.exact(FIRST, SECOND, data, "rr"), rk.combine.exact(SECOND, FIRST, data, "rr")
    assert one.curve.values.tolist() == other.curve.values.tolist() == [0.75, 0.875, 0.75, 0.875, 0.75]
    assert one.weights == other.weights[::-1]
    assert {round(one.curve.place(one.alpha), 12), round(other.curve.place(other.alpha), 12)} == {0.3, 0.7}


@settings(max_examples=100, deadline=None)
@given(judged, st.sampled_from(MEASURES), st.sampled_from([2.0**20, 2.0**-20, 2.0**300]))
def test_the_scale_of_a_ranker_does_not_matter(rows, measure, factor):
    """By powers of two, which change no bit; and a ranker alone has the weight 1."""
    data = dataset(rows)
    one = rk.combine.exact(FIRST, SECOND, data, measure)
    other = rk.combine.exact(FIRST, factor * SECOND, data, measure)
    assert other.alpha == one.alpha
    assert other.value == one.value
    alone = 0.0 in one.weights
    assert other.weights == (one.weights if alone else (one.weights[0], one.weights[1] / factor))


@pytest.mark.parametrize("factor", [1e6, 1e-6])
@pytest.mark.parametrize("measure", ["ndcg@10", "err", "ap:relevant=1"])
def test_a_ranker_on_another_scale_is_weighed_as_well(factor, measure):
    one, other = (rk.combine.exact(FIRST, by * SECOND, DATA, measure) for by in (1.0, factor))
    assert other.alpha == pytest.approx(one.alpha, rel=1e-9)
    assert other.value == one.value > max(one.alone)
    assert (np.argsort(other.ranker.score(OTHER)) == np.argsort(one.ranker.score(OTHER))).all()


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(DATA.queries)
    turned = rk.concat([DATA.select_queries([query]) for query in order])
    assert rk.combine.exact(FIRST, SECOND, turned).weights == rk.combine.exact(FIRST, SECOND, DATA).weights


def test_form_and_normalise_say_how_alpha_is_counted_and_change_nothing_else():
    every = [rk.combine.exact(FIRST, SECOND, DATA, **how) for how in SETTINGS]
    assert len({found.weights for found in every}) == 1
    assert len({found.alpha for found in every}) == 4
    a, b = FIRST.score(DATA), SECOND.score(DATA)
    x, y = a / a.std(), b / b.std()
    summed, convex, raw, raw_convex = (found.alpha for found in every)
    ranking = every[0].ranker.score(DATA)
    for scores in (x + summed * y, (1 - convex) * x + convex * y, a + raw * b, (1 - raw_convex) * a + raw_convex * b):
        assert scores * (ranking.std() / scores.std()) == pytest.approx(ranking, abs=1e-9)


# ---- one ranker alone ---------------------------------------------------------------------------------------------


class Perfect:
    def score(self, data):
        return data.grades.astype(float) / 3.0


class Constant:
    def score(self, data):
        return np.ones(data.rows)


@pytest.mark.parametrize("form", ["sum", "convex"])
def test_a_ranker_that_needs_no_other_comes_back_to_the_bit(form):
    highest = math.inf if form == "sum" else 1.0
    behind, ahead = (rk.combine.exact(*pair, DATA, form=form) for pair in ((SECOND, Perfect()), (Perfect(), SECOND)))
    assert (behind.alpha, behind.weights) == (highest, (0.0, 1.0))
    assert (ahead.alpha, ahead.weights) == (0.0, (1.0, 0.0))
    for found in (behind, ahead):
        assert len(found.ranker.parts) == 1
        assert found.ranker.score(OTHER).tobytes() == Perfect().score(OTHER).tobytes()
        assert found.value == found.curve.value_at(found.alpha) == 1.0


def test_a_ranker_of_one_score_is_left_out():
    assert rk.combine.exact(FIRST, Constant(), DATA).weights == (1.0, 0.0)
    assert rk.combine.exact(Constant(), FIRST, DATA).weights == (0.0, 1.0)
    assert rk.combine.greedy([Constant(), FIRST, Constant()], DATA).weights == (0.0, 1.0, 0.0)


def test_an_infinite_weight_is_valid_json_and_readable():
    pair = rk.combine.exact(SECOND, Perfect(), DATA)
    tree = rk.combine.exact((SECOND, Perfect()), FIRST, DATA)
    for found in (pair, tree):
        known = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        alpha = known["alpha"] if found is pair else known["steps"][0]["alpha"]
        assert float(alpha) == math.inf
    assert "α = ∞" in str(tree)


# ---- an explicit range --------------------------------------------------------------------------------------------


def test_a_range_is_of_scores_as_they_are_and_leaves_out_the_second_ranker_alone():
    found = rk.combine.exact(SECOND, Perfect(), DATA, range=(0.0, 1.0))
    assert 0.0 <= found.alpha <= 1.0
    assert found.value < 1.0
    assert found.weights == (1.0, found.alpha)
    divided = rk.combine.exact(SECOND, Perfect(), DATA, range=(0.0, 1.0), normalise=True)
    spreads = [np.std(ranker.score(DATA)) for ranker in (SECOND, Perfect())]
    assert divided.weights == pytest.approx((1.0 / spreads[0], divided.alpha / spreads[1]))


# ---- the curve ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [(FIRST, SECOND), (SECOND, FIRST)], ids=["ahead", "behind"])
@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_the_curve_is_what_the_evaluator_says(how, pair):
    found = rk.combine.exact(*pair, DATA, **how)
    curve, convex = found.curve, how.get("form") == "convex"
    a, b = (ranker.score(DATA) for ranker in pair)
    if how.get("normalise", True):
        a, b = a / a.std(), b / b.std()
    shares = np.random.default_rng(1).uniform(size=40)
    for alpha in shares if convex else shares / (1.0 - shares):
        expected = value((1.0 - alpha) * a + alpha * b if convex else a + alpha * b)
        assert curve.value_at(alpha) == pytest.approx(expected, abs=1e-12)
    assert (curve.value_at(0.0), curve.value_at(1.0 if convex else math.inf)) == found.alone == (curve.at_zero, curve.at_end)
    assert curve.best() == pytest.approx((found.alpha, found.value), abs=1e-12)
    assert (curve.edges[0], curve.edges[-1]) == (0.0, 1.0 if convex else math.inf)
    assert (np.diff(curve.edges) > 0.0).all()
    middles = (curve.edges[1:-2] + curve.edges[2:-1]) / 2
    assert [curve.value_at(alpha) for alpha in middles] == curve.values[1:-1].tolist()
    for outside in (-0.1, math.nan, *([1.1] if convex else [])):
        with refused(rk.ArgumentError, **({} if math.isnan(outside) else {"value": outside})):
            curve.value_at(outside)
    assert "RatioCurve of ndcg@10" in repr(curve)


def test_windows_of_smoothing_are_shares():
    curve = rk.combine.exact(FIRST, SECOND, DATA).curve
    smooth = rk.combine.exact(FIRST, SECOND, DATA, smooth=0.3)
    assert smooth.alpha == curve.smoothed(0.3).best()[0]
    shares = np.linspace(0.0, 1.0, 40_001)
    values = np.asarray([curve.value_at(share / (1.0 - share)) for share in shares[1:-1]])
    for alpha in (0.5, smooth.alpha, 2.0):
        edges = curve.edges
        number = int(edges.searchsorted(alpha)) - 1
        ends = edges[number : number + 2] / (1.0 + edges[number : number + 2])
        inside = np.abs(shares[1:-1] - ends.mean()) <= 0.15
        assert curve.smoothed(0.3).value_at(alpha) == pytest.approx(values[inside].mean(), abs=5e-4)


def test_the_picture_has_shares_and_names_alpha():
    mpl.use("Agg")
    found = rk.combine.exact(SECOND, Perfect(), DATA)
    axes = found.plot()
    line, best_alpha = axes.get_lines()
    assert line.get_xdata().min() == 0.0
    assert line.get_xdata().max() == 1.0
    assert best_alpha.get_xydata().tolist() == [[1.0, 1.0]]
    assert "α = ∞" in best_alpha.get_label()
    smoothed = rk.combine.exact(FIRST, SECOND, DATA, smooth=0.05).plot().get_lines()
    assert len(smoothed) == 3
    assert 0.0 < smoothed[2].get_xdata()[0] < 1.0
