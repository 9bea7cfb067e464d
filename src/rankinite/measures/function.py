"""A measure from a plain Python function, for trying an idea before writing a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import factorial

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.measures.ranking import Ranking


@dataclass(frozen=True, slots=True)
class FunctionMeasure:
    """Any function of one query's grades in rank order.

    >>> top_grade = FunctionMeasure("top-grade", lambda grades: grades[0])

    Where documents tie, the value is the mean over all orders if there are at most ``orders`` of them, else over
    that many random ones (seeded: the same every time). A query for which no document is returned counts 0.
    """

    name: str
    function: Callable[[Floats], float]
    higher_is_better: bool = True
    orders: int = 1000
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The least and the greatest value there can be; confidence intervals end there."""

    pooled = False

    def __str__(self) -> str:
        return self.name

    def per_query(self, ranking: Ranking) -> Floats:
        """The mean of the function over the orders of every query."""
        values = np.empty(ranking.queries, SCORE)
        for query, a in enumerate(ranking.offsets[:-1]):
            returned = a + ranking.returned[query]
            if returned == a:
                values[query] = 0.0
                continue
            starts = [*np.flatnonzero(~ranking.tied[a:returned]).tolist(), int(returned - a)]
            blocks = list(pairwise(starts))
            orders = _orders(ranking.grades[a:returned].astype(SCORE), blocks, self.orders)
            values[query] = np.mean([self.function(grades) for grades in orders])
        return values


def _orders(grades: Floats, blocks: list[tuple[int, int]], most: int) -> Iterator[Floats]:
    count = 1
    for start, end in blocks:
        count = min(count * factorial(min(end - start, 20)), most + 1)
    if count <= most:
        yield from _all_orders(grades, [block for block in blocks if block[1] - block[0] > 1])
        return
    rng = np.random.default_rng(0)
    for _ in range(most):
        drawn = grades.copy()
        for start, end in blocks:
            rng.shuffle(drawn[start:end])
        yield drawn


def _all_orders(grades: Floats, blocks: list[tuple[int, int]]) -> Iterator[Floats]:
    if not blocks:
        yield grades
        return
    start, end = blocks[0]
    for order in permutations(range(start, end)):
        drawn = grades.copy()
        drawn[start:end] = grades[list(order)]
        yield from _all_orders(drawn, blocks[1:])
