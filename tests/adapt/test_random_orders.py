"""Random orders: the measure's own mean and variance over all orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.random_orders import ORDERS, random_orders


@pytest.mark.parametrize("measure", [rk.NDCG(10), rk.ERR(), rk.PairwiseErrors()])
def test_they_have_the_mean_and_the_variance_of_all_orders(measure):
    """Oracle: every order of four documents."""
    grades = [2, 1, 0, 0]
    one = rk.read(np.zeros((4, 1)), grades=grades, group=[4])
    every = [rk.evaluate(np.asarray(order, float), one, measure)[measure].mean for order in permutations(range(4))]
    data = rk.read(np.zeros((4 * 60, 1)), grades=grades * 60, group=[4] * 60)
    found = random_orders(data, measure, 0)
    assert found.shape == (ORDERS, 60)
    side = 1.0 if measure.higher_is_better else -1.0
    assert side * found.mean() == pytest.approx(np.mean(every), abs=4 * np.std(every) / np.sqrt(found.size))
    assert found.std() == pytest.approx(np.std(every), rel=0.05)


def test_the_same_seed_draws_the_same():
    data = rk.synthesise(5, world=rk.World(features=3, documents=8))
    first, again, other = (random_orders(data, rk.NDCG(10), seed) for seed in (0, 0, 1))
    assert first.tobytes() == again.tobytes() != other.tobytes()
