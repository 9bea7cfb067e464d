"""Small sums over the members of a group, between two barriers; nothing happens where there is but one member."""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import kernel
from rankinite.engine.reducer import MAX, SUM, combine
from rankinite.trees._scan_kernels import largest_of, sum_of
from rankinite.trees._state import Growth, Workspace

FAILED = 3
"""The place in the plan that says whether a member did not answer."""


@kernel
def combine_largest(growth: Growth, work: Workspace, worker: int, workers: int) -> bool:
    """Make the partial maxima those of all members; False where one did not answer. Floats from 0 on rise with their bits."""
    if growth.reducer == 0:
        return True
    if worker == 0:
        largest = np.empty(2)
        for k in range(2):
            largest[k] = largest_of(work.partial[k], workers)
        work.plan[FAILED] = not combine(growth.reducer, MAX, largest.view(np.int64))
        work.partial[0, 0], work.partial[1, 0] = largest[0], largest[1]
        for other in range(1, workers):
            work.partial[0, other], work.partial[1, other] = 0.0, 0.0
    wait(work.sync, workers)
    return work.plan[FAILED] == 0


@kernel
def combine_counts(growth: Growth, work: Workspace, first: int, worker: int, workers: int) -> bool:
    """Make two of the workers' sums, ``first`` and the one after it, those of all members; False where one did not answer."""
    if growth.reducer == 0:
        return True
    if worker == 0:
        sums = np.empty(2, np.int64)
        sums[0], sums[1] = sum_of(work.counts[first], workers), sum_of(work.counts[first + 1], workers)
        work.plan[FAILED] = not combine(growth.reducer, SUM, sums)
        for k in range(2):
            work.counts[first + k] = 0
            work.counts[first + k, 0] = sums[k]
    wait(work.sync, workers)
    return work.plan[FAILED] == 0
