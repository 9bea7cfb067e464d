"""Every measure against its definition, averaged over all orders of tied documents."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles import measures as slow
from oracles.measures import DEFINITIONS
from rankinite.measures import _kernels, _ranking_kernels
from rankinite.measures.base import Measure
from rankinite.measures.data_grades import sees_unjudged
from refusals import refused

SEEING_UNJUDGED = [(measure, oracle) for measure, oracle in DEFINITIONS if sees_unjudged(measure)]
QUERY = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=7)


def value(measure: Measure, scores, grades, ties="expected"):
    grades = np.asarray(grades, np.float32)
    return measure.per_query(rk.rank(scores, grades, np.asarray([0, len(grades)]), ties=ties))[0]


@pytest.mark.parametrize(("measure", "oracle"), DEFINITIONS, ids=lambda p: str(p) if isinstance(p, Measure) else "")
@settings(max_examples=60, deadline=None)
@given(query=QUERY)
def test_expected_is_the_mean_over_all_orders(measure, oracle, query):
    scores, grades = zip(*query, strict=True)
    every = slow.over_orders(oracle, scores, grades)
    expected = value(measure, scores, grades)
    if every[0] is None:
        assert np.isnan(expected)
    else:
        assert expected == pytest.approx(np.mean(every), abs=1e-12)


@pytest.mark.parametrize(("measure", "oracle"), SEEING_UNJUDGED, ids=lambda p: str(p) if isinstance(p, Measure) else "")
@settings(max_examples=60, deadline=None)
@given(query=st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 3)), min_size=1, max_size=7))
def test_documents_that_nobody_judged_have_a_negative_grade(measure, oracle, query):
    scores, grades = zip(*query, strict=True)
    every = slow.over_orders(oracle, scores, grades)
    expected = value(measure, scores, grades)
    assert np.isnan(expected) if every[0] is None else expected == pytest.approx(np.mean(every), abs=1e-12)
    for ties, extreme in (("lowest", min), ("highest", max)):
        assert every[0] is None or value(measure, scores, grades, ties) == pytest.approx(extreme(every), abs=1e-12)


@pytest.mark.parametrize(("measure", "oracle"), DEFINITIONS, ids=lambda p: str(p) if isinstance(p, Measure) else "")
@settings(max_examples=30, deadline=None)
@given(query=QUERY)
def test_lowest_and_highest_are_the_extremes_over_all_orders(measure, oracle, query):
    scores, grades = zip(*query, strict=True)
    every = slow.over_orders(oracle, scores, grades)
    if every[0] is None:
        return
    worst_first, best_first = (value(measure, scores, grades, ties) for ties in ("lowest", "highest"))
    low, high = (worst_first, best_first) if measure.higher_is_better else (best_first, worst_first)
    assert low == pytest.approx(min(every), abs=1e-12)
    assert high == pytest.approx(max(every), abs=1e-12)


@pytest.mark.parametrize("measure", [*(measure for measure, _ in DEFINITIONS), rk.BalancedError(1.5)], ids=str)
@settings(max_examples=30, deadline=None)
@given(
    query=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60),
    random=st.randoms(use_true_random=False),
)
def test_row_order_never_changes_a_bit(measure, query, random):
    query = [*query, (0, 0), (1, 4)]  # balanced error needs both kinds
    shuffled = random.sample(query, len(query))
    first = value(measure, *zip(*query, strict=True))
    second = value(measure, *zip(*shuffled, strict=True))
    assert np.array_equal(first, second, equal_nan=True)


@settings(max_examples=60, deadline=None)
@given(query=st.lists(st.tuples(st.sampled_from([-np.inf, 0.0, 1.0]), st.integers(0, 4)), min_size=1, max_size=7))
def test_documents_that_are_not_returned_earn_nothing_but_are_missed(query):
    scores, grades = zip(*query, strict=True)
    kept = [(s, g) for s, g in query if s > -np.inf]
    for measure, oracle in [
        (rk.NDCG(5), lambda o: slow.ndcg(o, 5, judged=grades)),
        (rk.AP(), lambda o: slow.ap(o, judged=grades)),
        (rk.RR(), lambda o: slow.rr(o, judged=grades)),
        (rk.Recall(3), lambda o: slow.recall(o, 3, judged=grades)),
        (rk.ERR(), slow.err),
        (rk.Precision(2), lambda o: slow.precision(o, 2)),
        (rk.Success(2), lambda o: slow.success(o, 2, judged=grades)),
        (rk.Rprec(), lambda o: slow.r_precision(o, judged=grades)),
        (rk.F1(2), lambda o: slow.f1(o, 2, judged=grades)),
        (rk.F1(), lambda o: slow.f1(o, judged=grades)),
        (rk.RBP(), slow.rbp),
        (rk.QMeasure(), lambda o: slow.q_measure(o, judged=grades)),
        (rk.QMeasure(2), lambda o: slow.q_measure(o, 2, judged=grades)),
        (rk.Bpref(), lambda o: slow.bpref(o, judged=grades)),
        (rk.AUC(relevant=2), lambda o: slow.auc(o, 2, judged=grades)),
        (rk.Judged(3), lambda o: slow.judged_share(o, 3)),
    ]:
        every = slow.over_orders(oracle, *zip(*kept, strict=True)) if kept else [oracle([])]
        expected = value(measure, scores, grades)
        assert np.isnan(expected) if every[0] is None else expected == pytest.approx(np.mean(every), abs=1e-12), measure


def test_long_blocks_of_ties_agree_with_a_simulation():
    rng = np.random.default_rng(7)
    grades = rng.choice(5, 300, p=[0.5, 0.3, 0.1, 0.07, 0.03]).astype(np.float32)
    scores = np.repeat([2.0, 1.0, 0.0], 100)
    for measure, oracle in [(rk.ERR(), slow.err), (rk.AP(), slow.ap), (rk.RR(relevant=4), lambda g: slow.rr(g, relevant=4))]:
        drawn = []
        for _ in range(400):
            keys = rng.random(300)
            drawn.append(oracle(grades[np.lexsort((keys, -scores))].tolist()))
        error = np.std(drawn) / np.sqrt(len(drawn))
        assert abs(value(measure, scores, grades) - np.mean(drawn)) < 5 * error, measure


def test_many_queries_equal_one_at_a_time_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 120, 900)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    grades = rng.integers(0, 5, offsets[-1]).astype(np.float32)
    scores = rng.integers(0, 40, offsets[-1]).astype(float)
    for measure in {type(measure): measure for measure, _ in DEFINITIONS}.values():
        alone = [value(measure, scores[a:b], grades[a:b]) for a, b in itertools.pairwise(offsets)]
        for count in (1, 2, 3):
            with rk.threads(count):
                together = measure.per_query(rk.rank(scores, grades, offsets))
            assert np.array_equal(together, alone, equal_nan=True), measure


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="there is nothing to compile")
def test_a_kernel_is_compiled_once_for_data_sets_and_for_arrays():
    """Numba's disk cache breaks when one kernel has very many variants, and every variant costs a second or two."""
    grades, offsets = np.asarray([0, 2, 1], np.float32), np.asarray([0, 3])
    data = rk.read(np.zeros((3, 1)), grades=grades, group=[3])
    for measure, _ in DEFINITIONS:
        rk.evaluate([1.0, 2.0, 2.0], data, measure)
        measure.per_query(rk.rank([1.0, 2.0, 2.0], grades, offsets))
    assert len(_ranking_kernels.rank_queries.signatures) == 1
    assert len(_kernels.measure_each.signatures) == 2  # grades are float32, relevance float64


def test_kernels_may_first_be_needed_by_several_threads_at_once():
    code = (
        "import numpy as np, rankinite as rk\n"
        "grades = np.arange(40_000, dtype=np.float32) % 4\n"
        "data = rk.read(np.zeros((40_000, 1)), grades=grades, group=[10] * 4_000)\n"
        "print(rk.evaluate(grades, data, ['ndcg', 'err', 'ap', 'rr'])['ap'].mean)\n"
    )
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert float(done.stdout) == 1.0


def test_balanced_error_is_the_error_of_the_whole():
    """A score at the threshold is not above it, and a grade at the lowest relevant one is relevant."""
    grades = np.asarray([0, 1, 0, 2, 0, 0], np.float32)
    scores = np.asarray([1.0, 1.0, -1.0, -2.0, 3.0, -1.0])
    ranking = rk.rank(scores, grades, np.asarray([0, 2, 6]))
    for threshold, relevant, false_positives, negatives, false_negatives, positives in (
        (0, 1, 2, 4, 1, 2),
        (1, 1, 1, 4, 2, 2),
        (-1, 1, 2, 4, 1, 2),
        (-1, 2, 3, 5, 1, 1),
    ):
        error = rk.BalancedError(threshold, relevant).per_query(ranking).mean()
        assert error == pytest.approx(false_positives / (2 * negatives) + false_negatives / (2 * positives))


def test_balanced_error_needs_both_sides():
    for grades, positives in (([1, 1], 2), ([0, 0], 0)):
        with refused(rk.MeasureError, place="balanced-error", value=positives):
            rk.BalancedError().per_query(rk.rank([0.0, 1.0], grades, [0, 2]))
