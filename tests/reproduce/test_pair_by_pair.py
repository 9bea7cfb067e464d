"""Section 2.1 of paper 002 compares two ways to take the same step: pair by pair, and factored."""

from __future__ import annotations

import numpy as np
import pytest

from rankinite.data.synthetic import World, synthesise
from rankinite.reproduce.paper_002.section_2_1 import EPOCHS, NetAtWork


@pytest.mark.slow
def test_tiny_steps_pair_by_pair_add_up_to_the_factored_one():
    """Steps too small to change the scores: their sum is the one step of the query, but for the scores' change."""
    data = synthesise(5, world=World(features=8, documents=12, noise=0.3))
    moves = {}
    for name, epoch in EPOCHS.items():
        net = NetAtWork(data, rate=1e-8)
        before = net.weights.copy()
        net.climb(np.arange(1), epoch)
        moves[name] = net.weights - before
    assert np.abs(moves["factored"]).max() > 0.0
    np.testing.assert_allclose(moves["pair by pair"], moves["factored"], atol=1e-4 * np.abs(moves["factored"]).max())
