"""Rankings against a stable sort, and what ``rank`` refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rankinite as rk
from refusals import refused


@pytest.mark.parametrize("sizes", [[1], [23, 24, 25], [255, 256, 257], [600, 1, 48, 49]])
def test_queries_of_any_length_are_ranked_as_by_a_stable_sort(sizes):
    """Short ones are ranked by counting, longer ones by merging runs."""
    random = np.random.default_rng(sum(sizes))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    scores = random.integers(-20, 20, offsets[-1]).astype(float)
    scores[random.random(offsets[-1]) < 0.1] = -np.inf
    grades = random.permutation(offsets[-1]).astype(np.float32)  # each its own: they tell which document is where
    in_order, marked = (rk.rank(scores, grades, offsets, ties=ties) for ties in ("order", "expected"))
    for query, (a, b) in enumerate(pairwise(offsets)):
        order = np.argsort(-scores[a:b], kind="stable")
        ranked = scores[a:b][order]
        returned = int((ranked > -np.inf).sum())
        assert np.array_equal(in_order.grades[a:b], grades[a:b][order])
        assert not in_order.tied[a:b].any()
        assert np.array_equal(marked.tied[a:b], np.concatenate(([False], ranked[1:] == ranked[:-1])))
        assert marked.returned[query] == returned
        for place in range(a + 1, b):  # in a block by falling grade, so that not even rounding depends on the order of rows
            assert not marked.tied[place] or marked.grades[place - 1] > marked.grades[place]
        assert marked.one_grade[query] == (b - a == 1)


def test_the_documents_of_a_query_have_one_grade_or_several():
    ranking = rk.rank(np.zeros(7), [2, 2, 2, 2, 1, 0, 0], [0, 3, 5, 7])
    assert ranking.one_grade.tolist() == [True, False, True]
    assert (ranking.queries, ranking.longest) == (3, 3)


@pytest.mark.parametrize("offsets", [[], [1, 2], [0, 1], [0, 0, 2], [0, 3], [[0, 2]]])
def test_offsets_that_do_not_fit_are_refused(offsets):
    with refused(rk.DataError, place="rank", value=np.shape(offsets)):
        rk.rank([1.0, 2.0], [0, 1], offsets)


def test_arrays_that_do_not_fit_are_refused():
    with refused(rk.DataError, place="rank", value=(2,)):
        rk.rank([[1.0], [2.0]], [[0], [1]], [0, 2])
    for scores in ([1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        with refused(rk.DataError, place="rank", value=np.shape(scores)):
            rk.rank(scores, [0, 1], [0, 2])


@pytest.mark.parametrize(("row", "query"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_a_score_that_is_no_number_is_named_with_its_query(row, query):
    scores = np.arange(4.0)
    scores[row] = np.nan
    with refused(rk.DataError, place=f"rank: row {row} (query number {query})", value=row):
        rk.rank(scores, np.zeros(4), [0, 2, 4])
