"""The kernels around the pair loop, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from rankinite.gradients._pair_kernels import SPREAD, fill_odds


@pytest.mark.parametrize("sigma", [0.25, 1.0, 3.0])
def test_odds_are_exponentials(sigma):
    keys = np.sort(np.random.default_rng(1).uniform(-SPREAD, 0.0, 5000))[::-1] / sigma + 7.0
    keys[1:9] = keys[0]
    odds = np.empty_like(keys)
    fill_odds(keys, sigma, odds)
    np.testing.assert_allclose(odds, np.exp(sigma * (keys - keys[0])), rtol=5e-16, atol=0.0)
    assert (odds[:9] == 1.0).all()
    assert (np.diff(odds) <= 0.0).all()
