"""The curve of a measure over the weight of a second ranker: equal to brute force, and never below any grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles import sweep as oracle
from rankinite.evaluation.scorers import row_place
from rankinite.measures.base import factored_measures
from rankinite.sweep import sweep as module
from rankinite.sweep.sweep import Sweep
from refusals import refused

CUTOFFS = (1, 3, 10, None)
MEASURES = [kind(cutoff) for kind in (rk.NDCG, rk.DCG, rk.ERR, rk.AP, rk.RR, rk.Precision, rk.Recall) for cutoff in CUTOFFS]
ODD = [
    rk.DCG(4, short="zero"),
    rk.NDCG(2, gains=(-1.0, 0.0, 2.0, 5.0), discount="letor"),
    rk.DCG(3, gains=(-1.0, 0.0, 2.0, 5.0)),
    rk.AP(2, relevant=2, of="reachable"),
    rk.Precision(3, of="returned"),
    rk.Success(2),
    rk.Rprec(relevant=2),
    rk.F1(2),
    rk.F1(),
    rk.RBP(3, p=0.5),
    rk.QMeasure(2),
    rk.QMeasure(beta=0.5),
    rk.Bpref(relevant=2),
    rk.AUC(),
    rk.Judged(1),
]
FORMS = ("sum", "convex")
RANGES = ((0, 5), (0, 1), (-2, 1.5), (-3, -0.25), (0.1, 5), (-1, 0))
PRIORS = (0.3704, 0.2855, 0.2714, 0.0523, 0.0204)

small = st.integers(-3, 3)
judged = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), small, small), min_size=3, max_size=12).filter(
    lambda rows: any(a[0] == b[0] and (a[1] > 1) != (b[1] > 1) for a in rows for b in rows)
)


def dataset(rows):
    """Data, and the two rankers' scores, from rows of query, grade, s and t."""
    query, grades, s, t = np.asarray(rows).T
    data = rk.Dataset.from_rows(np.stack((s, t), axis=1), grades, query.astype(str), ("s", "t"))
    return data, data.features[:, 0].astype(float), data.features[:, 1].astype(float)


def normal(queries, documents, seed=0):
    random = np.random.default_rng(seed)
    rows = queries * documents
    data = rk.read(np.zeros((rows, 1)), grades=random.choice(5, rows, p=PRIORS), group=np.full(queries, documents))
    return data, random.normal(size=rows), random.normal(size=rows)


def at(s, t, alpha, form):
    return s + alpha * t if form == "sum" else (1 - alpha) * s + alpha * t


# ---- against brute force ------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(judged, st.sampled_from(MEASURES + ODD), st.sampled_from(FORMS), st.sampled_from(RANGES))
def test_the_curve_is_brute_force_over_all_intervals(rows, measure, form, ends):
    """Scores are small whole numbers: many documents tie, many lines are parallel, many meet in one point."""
    data, s, t = dataset(rows)
    curve = Sweep(data, measure).curve(s, t, *ends, form=form)
    slow = oracle.intervals(s, t, data, measure, *ends, form)
    for left, right, value in slow:
        assert curve.value_at(float((left + right) / 2)) == pytest.approx(value, abs=1e-12)
    assert (curve.edges[0], curve.edges[-1]) == ends
    assert (np.diff(curve.edges) > 1e-12).all()
    for found in curve.edges[:-1]:
        assert min(abs(float(left) - found) for left, _, _ in slow) < 1e-15

    candidates = [value for _, _, value in slow]
    if ends[0] <= 0 <= ends[1]:
        candidates.append(oracle.value(s, t, data, measure, 0, form))
    alpha, best = curve.best()
    assert best == pytest.approx(max(candidates), abs=1e-11)
    assert best == pytest.approx(oracle.value(s, t, data, measure, alpha, form), abs=1e-11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_curve_is_the_value_of_the_evaluator(measure, form):
    """At random weights, which are never on a crossing; a third of the documents share their line with another."""
    data, s, t = normal(20, 30, seed=3)
    twins = np.arange(0, data.rows - 1, 6)
    s[twins], t[twins] = s[twins + 1], t[twins + 1]
    curve = Sweep(data, measure).curve(s, t, -2, 3, form=form)
    for alpha in np.random.default_rng(4).uniform(-2, 3, 20):
        expected = rk.evaluate(at(s, t, alpha, form), data, measure)[measure].mean
        assert curve.value_at(alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("form", "high"), [("sum", 5.0), ("convex", 1.0)])
def test_never_below_any_grid(form, high):
    """Ten queries of fifty documents, against 1,001 points and both sides of every crossing."""
    data, s, t = normal(10, 50, seed=5)
    curve = Sweep(data, rk.NDCG(10)).curve(s, t, 0, high, form=form)
    alpha, best = curve.best()
    assert best == pytest.approx(rk.evaluate(at(s, t, alpha, form), data, "ndcg@10")["ndcg@10"].mean, abs=1e-12)
    points = np.concatenate((np.linspace(0, high, 1001), curve.edges[1:-1] - 1e-9, curve.edges[1:-1] + 1e-9))
    for point in points:
        found = rk.evaluate(at(s, t, point, form), data, "ndcg@10")["ndcg@10"].mean
        assert found <= best + 1e-12
        if np.abs(curve.edges - point).min() > 1e-11:
            assert found == pytest.approx(curve.value_at(point), abs=1e-12)


@pytest.mark.parametrize("measure", [rk.NDCG(10), rk.ERR(), rk.AP(3), rk.RR()], ids=str)
def test_between_all_crossings_the_curve_is_the_value_of_the_evaluator(measure):
    """Ten queries of a hundred documents again, between all crossings of all pairs in a small range."""
    data, s, t = normal(10, 100, seed=6)
    curve = Sweep(data, measure).curve(s, t, 0.5, 0.52)
    i, j = (np.arange(data.rows).reshape(10, 100)[:, half].ravel() for half in np.triu_indices(100, 1))
    found = -(s[i] - s[j]) / (t[i] - t[j])
    edges = np.sort(found[(found > 0.5) & (found < 0.52)])
    assert len(edges) > 100
    assert np.diff(curve.values).all()
    for alpha in ((edges[1:] + edges[:-1]) / 2)[np.diff(edges) > 1e-10]:
        assert curve.value_at(alpha) == pytest.approx(rk.evaluate(s + alpha * t, data, measure)[measure].mean, abs=1e-12)


def test_lines_that_meet_only_but_for_rounding():
    """Thousands of lines through what would be one point, were tenths exact: the sweep ends, and is right on both sides."""
    random = np.random.default_rng(7)
    data = rk.read(np.zeros((300, 1)), grades=random.integers(0, 3, 300), group=[300])
    t = random.normal(size=300)
    s = -0.3 * t + 0.1
    for measure in (rk.NDCG(10), rk.AP()):
        curve = Sweep(data, measure).curve(s, t, -1, 1)
        for alpha in (-0.9, 0.299, 0.301, 0.9):
            expected = rk.evaluate(s + alpha * t, data, measure)[measure].mean
            assert curve.value_at(alpha) == pytest.approx(expected, abs=1e-12)


def test_sums_do_not_drift():
    """A measure a thousand times as large on one query leaves all digits of the mean in place."""
    data, s, t = normal(300, 40, seed=8)
    grades = data.grades.copy()
    grades[:40] += 10
    data = rk.read(np.zeros((data.rows, 1)), grades=grades, group=np.full(300, 40))
    curve = Sweep(data, rk.DCG()).curve(s, t, -20, 20)
    assert len(curve.values) > 20_000
    for alpha in (-19.999, 0.001, 19.999):
        expected = rk.evaluate(s + alpha * t, data, "dcg")["dcg"].mean
        assert curve.value_at(alpha) == pytest.approx(expected, rel=1e-13)


# ---- what must not matter -----------------------------------------------------------------------------------------


def assert_same(one, other):
    assert one.edges.tobytes() == other.edges.tobytes()
    assert one.values.tobytes() == other.values.tobytes()
    assert one.at_zero == other.at_zero


def test_the_number_of_threads_does_not_matter():
    data, s, t = normal(600, 60, seed=9)
    t = np.round(t, 1)
    sweep = Sweep(data, rk.NDCG(10))
    curves = []
    for count in (1, 2, 3):
        with rk.threads(count):
            curves.append(sweep.curve(s, t, -0.5, 2))
    assert len(curves[0].values) > 10_000
    assert_same(curves[0], curves[1])
    assert_same(curves[0], curves[2])


@settings(max_examples=60, deadline=None)
@given(judged, st.sampled_from(MEASURES), st.sampled_from(FORMS), st.sampled_from(RANGES), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, measure, form, ends, random):
    scaled = [(query, grade, s / 7, t / 3) for query, grade, s, t in rows]
    shuffled = scaled.copy()
    random.shuffle(shuffled)
    curves = []
    for order in (scaled, shuffled):
        data, s, t = dataset(order)
        curves.append(Sweep(data, measure).curve(s, t, *ends, form=form))
    assert_same(*curves)


def test_little_room_does_not_matter(monkeypatch):
    data, s, t = normal(30, 40, seed=10)
    sweep = Sweep(data, rk.AP())
    roomy = sweep.curve(s, t, 0, 5)
    monkeypatch.setattr(module, "ROOM", 7)
    assert_same(roomy, sweep.curve(s, t, 0, 5))


def test_a_sweep_serves_many_pairs():
    data, s, t = normal(20, 20, seed=11)
    sweep = Sweep(data, "ndcg@5")
    sweep.curve(t, s, 0, 1)
    assert_same(sweep.curve(s, t, 0, 5), Sweep(data, rk.NDCG(5)).curve(s, t, 0, 5))


# ---- what counts, and what is refused -----------------------------------------------------------------------------


def test_nothing_to_choose_is_one_interval():
    data, s, _ = normal(3, 5)
    for t in (np.zeros(data.rows), np.repeat([1.0, 2.0, 3.0], 5)):
        curve = Sweep(data, "ndcg").curve(s, t, 0.5, 5)
        assert curve.edges.tolist() == [0.5, 5.0]
        assert curve.values[0] == pytest.approx(rk.evaluate(s, data, "ndcg")["ndcg"].mean, abs=1e-14)
    flat = Sweep(data, "ndcg").curve(np.zeros(data.rows), np.ones(data.rows), -1, 1)
    assert flat.values[0] == pytest.approx(rk.evaluate(np.zeros(data.rows), data, "ndcg")["ndcg"].mean, abs=1e-14)
    assert flat.best() == (0.0, pytest.approx(flat.values[0], abs=1e-14))


def test_at_zero_the_first_ranker_stands_alone():
    """All documents tie at α = 0, and either sign orders them: 0 counts as the evaluator counts ties."""
    data = rk.read(np.zeros((3, 1)), grades=[1, 0, 1], group=[3])
    s, t = np.zeros(3), np.asarray([2.0, 3.0, 1.0])
    curve = Sweep(data, "rr").curve(s, t, -1, 1)
    tied = rk.evaluate(s, data, "rr")["rr"].mean
    assert curve.edges.tolist() == [-1, 0, 1]
    assert curve.values.tolist() == [1.0, 0.5]
    assert curve.at_zero == tied == pytest.approx(5 / 6)
    assert curve.best() == (-0.5, 1.0)
    assert Sweep(data, "rr").curve(s, t, 0, 1).best() == (0.0, tied)
    assert Sweep(data, "rr").curve(s, t, 0.1, 1).at_zero is None


def test_a_tie_at_zero_may_be_better_than_both_sides():
    data = rk.read(np.zeros((3, 1)), grades=[1, 1, 2], group=[3])
    curve = Sweep(data, "ndcg@1").curve(np.zeros(3), np.asarray([-1.0, 1, 0]), -2, 2)
    assert curve.values.tolist() == [pytest.approx(1 / 3)] * 2
    assert curve.best() == (0.0, pytest.approx(5 / 9))


@pytest.mark.parametrize("tilt", [0.0, 1e-15])
def test_the_best_weight_is_never_where_several_documents_meet(tilt):
    """All three meet in the middle of the range, and tie there; on both sides the best one is on top."""
    data = rk.read(np.zeros((3, 1)), grades=[1, 0, 1], group=[3])
    for order in ([0, 1, 2], [2, 1, 0], [0, 2, 1]):
        s, t = np.asarray([3.0, 0, -3 + tilt])[order], np.asarray([-1.0, 0, 1])[order]
        graded = rk.read(np.zeros((3, 1)), grades=data.grades[order], group=[3])
        for measure in ("ndcg@1", "rr", "rr@1"):
            curve = Sweep(graded, measure).curve(s, t, 1, 5)
            assert curve.edges.tolist() == pytest.approx([1, 3, 5])
            assert curve.values.tolist() == [1.0, 1.0]
            assert curve.best() == (pytest.approx(2), 1.0)


def test_queries_of_one_grade_are_left_out():
    data = rk.read(np.zeros((4, 1)), grades=[1, 1, 0, 2], group=[2, 2])
    s, t = np.asarray([1.0, 2, 1, 0]), np.asarray([1.0, 0, 0, 1])
    assert Sweep(data, "ndcg").curve(s, t, 0, 5).edges.tolist() == [0, 1, 5]


@dataclass(frozen=True)
class Loss(rk.NDCG):
    """A measure of someone else's, to be made small."""

    higher_is_better = False


def test_errors_are_made_small():
    data, s, t = normal(10, 20, seed=12)
    curve = Sweep(data, Loss(5)).curve(s, t, 0.1, 5)
    assert curve.best()[1] == curve.values.min() < curve.values.max()


@pytest.mark.parametrize("measure", ["avendcg", "pairwise-errors", rk.FunctionMeasure("top", lambda grades: grades[0])])
def test_measures_that_cannot_be_swept_are_refused(measure):
    data, _, _ = normal(2, 5)
    with refused(rk.MeasureError, value="avendcg@10" if measure == "avendcg" else str(measure)) as caught:
        Sweep(data, measure)
    assert ", ".join(factored_measures()) in caught.value.rule


def test_bad_input_is_refused():
    data, s, t = normal(2, 5)
    sweep = Sweep(data, "ndcg")
    for low, high in ((1, 1), (2, 1), (0, np.inf), (np.nan, 1), (None, 1)):
        with refused(rk.ArgumentError) as caught:
            sweep.curve(s, t, low, high)
        assert repr(caught.value.value) == repr((low, high))
    with refused(rk.ArgumentError, setting="form", value="product"):
        sweep.curve(s, t, 0, 1, form="product")
    with refused(rk.DataError, place="the second ranker", value=(9,)):
        sweep.curve(s, t[1:], 0, 1)
    t[3] = -np.inf
    with refused(rk.DataError, place=f"the second ranker: {row_place(data, 3)}", value=-np.inf):
        sweep.curve(s, t, 0, 1)
    t[3] = np.nan
    with refused(rk.DataError, place=f"the second ranker: {row_place(data, 3)}", value=1):
        sweep.curve(s, t, 0, 1)
    flat = rk.read(np.zeros((4, 1)), grades=[1, 1, 2, 2], group=[2, 2])
    with refused(rk.DataError, place=flat.source, value=2):
        Sweep(flat, "ndcg")
    with refused(rk.MeasureError, value="ndgc"):
        Sweep(data, "ndgc")
