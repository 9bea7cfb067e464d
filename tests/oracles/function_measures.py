"""NDCG and ERR as a user would write them: functions of the grades in rank order, which Numba compiles as they are."""

from __future__ import annotations

import numba
import numpy as np

import rankinite as rk

CUTOFF = 5


def ndcg(grades):
    value, ideal, place = 0.0, 0.0, 0
    for rank in range(min(CUTOFF, len(grades))):
        value += (2.0 ** grades[rank] - 1.0) / np.log2(rank + 2.0)
    for level in (4.0, 3.0, 2.0, 1.0):
        for grade in grades:
            if grade == level and place < CUTOFF:
                ideal += (2.0**level - 1.0) / np.log2(place + 2.0)
                place += 1
    return value / ideal if ideal > 0.0 else np.nan


def err(grades):
    value, reached = 0.0, 1.0
    for rank in range(len(grades)):
        content = (2.0 ** grades[rank] - 1.0) / 16.0
        value += reached * content / (rank + 1.0)
        reached *= 1.0 - content
    return value


NDCG, NUMBA_NDCG = (rk.FunctionMeasure("my-ndcg", function, cutoff=CUTOFF) for function in (ndcg, numba.njit(ndcg)))
ERR, NUMBA_ERR = (rk.FunctionMeasure("my-err", function) for function in (err, numba.njit(err)))
PAIRS = [(NDCG, rk.NDCG(CUTOFF)), (NUMBA_NDCG, rk.NDCG(CUTOFF)), (ERR, rk.ERR()), (NUMBA_ERR, rk.ERR())]
"""Each as a measure of Python and one of Numba, beside the measure that it should equal."""
