"""Random orders of the target's documents: what a ranker reaches that knows nothing, and how much that varies."""

from __future__ import annotations

import numpy as np

from rankinite.adapt.held_out import judged_queries
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.evaluation.evaluate import evaluate
from rankinite.measures.base import Measure, sign_of
from rankinite.seeds import generator

ORDERS = 100
"""How many are drawn."""


def random_orders(data: Dataset, measure: Measure, seed: int) -> Floats:
    """The measure of random orders on the judged queries, higher being better, shape (orders, queries)."""
    random, judged = generator(seed), judged_queries(data, measure)
    scores = (data.in_row_order(random.random(data.rows)) for _ in range(ORDERS))
    drawn = (evaluate(one, data, measure)[measure].per_query[judged] for one in scores)
    return sign_of(measure) * np.asarray(list(drawn))
