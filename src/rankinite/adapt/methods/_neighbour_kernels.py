"""The nearest rows, on plain arrays."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Flags, Floats, Grades, Indices, kernel

STRETCH = 128
"""Seeds passed over at a time."""


@kernel
def some_above(values: Features, limit: np.float32) -> bool:
    """Whether any value is above the limit; a sum of all answers, which is quicker than to stop at the first."""
    count = 0
    for k in range(len(values)):
        count += values[k] > limit
    return count > 0


@kernel
def put_in(value: float, out_highest: Floats) -> None:
    """Put a value among the highest, which fall, if it is one of them."""
    place = len(out_highest)
    while place > 0 and out_highest[place - 1] < value:
        place -= 1
    if place == len(out_highest):
        return
    for later in range(len(out_highest) - 1, place, -1):
        out_highest[later] = out_highest[later - 1]
    out_highest[place] = value


@kernel
def product(first: Floats, second: Floats) -> float:
    """The scalar product of two vectors, summed in their order."""
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


@kernel
def look_around(
    rough: Features,
    rows: Floats,
    seeds: Floats,
    grades: Grades,
    seed_grades: Grades,
    slack: float,
    out_highest: Floats,
    out_seeds: Indices,
    out_exact: Floats,
    out_cosine: Floats,
    out_matches: Flags,
) -> None:
    """Of every row: its cosine with its k-th nearest seed, and whether a seed at least as near has its grade.

    ``rough``: (rows, seeds), cosines that are wrong by less than half of ``slack``; only seeds that they leave in doubt are
    looked at exactly, as the product of ``rows``: (rows, features) and ``seeds``: (seeds, features), whose lengths are 1.
    ``grades``, ``out_cosine`` and ``out_matches`` have one entry a row, ``seed_grades`` one a seed. Room to work in:
    ``out_highest`` for k numbers, ``out_seeds`` and ``out_exact`` for one a seed.
    """
    count, last = len(seeds), len(out_highest) - 1
    for row in range(len(rows)):
        own = rough[row]
        out_highest[:] = -2.0
        for first in range(0, count, STRETCH):
            if some_above(own[first : first + STRETCH], np.float32(out_highest[last])):
                for seed in range(first, min(first + STRETCH, count)):
                    put_in(float(own[seed]), out_highest)
        enough = np.float32(out_highest[last] - slack)
        near = 0
        out_highest[:] = -2.0
        for first in range(0, count, STRETCH):
            if some_above(own[first : first + STRETCH], enough):
                for seed in range(first, min(first + STRETCH, count)):
                    if own[seed] > enough:
                        out_seeds[near], out_exact[near] = seed, product(rows[row], seeds[seed])
                        put_in(out_exact[near], out_highest)
                        near += 1
        out_cosine[row] = out_highest[last]
        out_matches[row] = False
        for k in range(near):
            if out_exact[k] >= out_highest[last] and seed_grades[out_seeds[k]] == grades[row]:
                out_matches[row] = True
