"""Scales of grades: when those of two data sets are taken to be the same."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.grade_scales import check_scales
from refusals import refused


def graded(*queries: list[float]) -> rk.Dataset:
    sizes = [len(query) for query in queries]
    return rk.read(np.zeros((sum(sizes), 1)), grades=np.concatenate(queries), group=sizes)


WIDE = graded(*[[0, 1, 2, 4], [0, 3, 0, 0]] * 50)
"""0–4; every query has a grade above 1, every second one the highest."""


@pytest.mark.parametrize("queries", [1, 5, 200])
def test_other_scales_are_refused_both_ways(queries):
    binary = graded(*[[0, 1, 0]] * queries)
    for pair in ((WIDE, binary), (binary, WIDE)):
        with refused(rk.DataError, place=pair[0].source, value=100) as caught:
            check_scales(*pair)
        assert "map_grades" in caught.value.remedy
        check_scales(*pair, same_scale=True)
    check_scales(WIDE.map_grades({0: 0, 1: 0, 2: 1, 3: 1, 4: 1}), binary)


def test_few_queries_may_miss_the_top_grade_by_chance():
    """Half of the wide queries have a 4: six queries are all without with chance 1/64, seven with 1/128."""
    check_scales(WIDE, graded(*[[0, 3, 1]] * 6))
    with refused(rk.DataError, value=50):
        check_scales(WIDE, graded(*[[0, 3, 1]] * 7))


def test_grades_missing_in_between_say_nothing():
    check_scales(WIDE, graded(*[[0, 4]] * 500))
    check_scales(graded(*[[0, 0.5, 1]] * 9), graded(*[[0, 1]] * 9))


def test_the_lowest_grade_counts_as_the_highest_does():
    with refused(rk.DataError, value=100):
        check_scales(WIDE, graded(*[[1, 2, 4]] * 30))
    with refused(rk.DataError, value=20):
        check_scales(graded(*[[0, 2, 4], [1, 4]] * 20), graded(*[[1, 2, 4]] * 30))
    check_scales(graded(*[[0, 2, 4], [1, 4]] * 20), graded(*[[1, 2, 4]] * 3))
