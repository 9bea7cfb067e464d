"""Orders of tied documents: all that differ, or random ones where there are too many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import SCORE, Flags, Floats


def orders_of(grades: Floats, tied: Flags, most: int, cutoff: int | None = None) -> Floats:
    """The grades of a query in the orders it may have, one per row, each as likely as any other.

    ``tied``: where a document may come before the one above it. These are all orders that differ, if they are at most ``most``;
    else so many random ones (seeded: the same every time). Neither depends on the order in which tied documents are given.
    Documents that tie below the ``cutoff`` stay as they are.
    """
    starts = np.flatnonzero(~tied).tolist()
    blocks = [
        (start, end)
        for start, end in zip(starts, [*starts[1:], len(grades)], strict=True)
        if (cutoff is None or start < cutoff) and (grades[start:end] != grades[start]).any()
    ]
    number = 1
    for start, end in blocks:
        number = min(number * _arrangements(grades[start:end], most), most + 1)
    orders = grades[None].copy() if number <= most else np.repeat(grades[None], most, axis=0)
    rng = np.random.default_rng(0)
    for start, end in blocks:
        block = np.sort(grades[start:end])
        if number > most:
            orders[:, start:end] = rng.permuted(np.repeat(block[None], most, axis=0), axis=1)
        else:
            arranged = np.asarray(list(_arranged(*np.unique(block, return_counts=True))), SCORE)
            before = len(orders)
            orders = np.repeat(orders, len(arranged), axis=0)
            orders[:, start:end] = np.tile(arranged, (before, 1))
    return orders


def _arrangements(block: Floats, most: int) -> int:
    """In how many ways the grades of a block can be ordered that look different; ``most`` + 1 where there are more."""
    number, free = 1, len(block)
    for count in np.unique(block, return_counts=True)[1].tolist():
        if min(count, free - count) > 0 and free > most:
            return most + 1
        number, free = number * comb(free, count), free - count
        if number > most:
            return most + 1
    return number


def _arranged(values: Floats, counts: npt.NDArray[np.intp]) -> Iterator[Floats]:
    """All orders that look different, of each value so many."""
    size = int(counts.sum())
    if len(values) == 1:
        yield np.full(size, values[0])
        return
    for places in combinations(range(size), int(counts[0])):
        order = np.empty(size, SCORE)
        chosen = np.zeros(size, np.bool_)
        chosen[list(places)] = True
        for rest in _arranged(values[1:], counts[1:]):
            order[chosen], order[~chosen] = values[0], rest
            yield order.copy()
