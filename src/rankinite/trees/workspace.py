"""Workspace: the memory that serves all trees of a forest, and the weights of rows as whole numbers."""

from __future__ import annotations

import math

import numpy as np

from rankinite.engine.barriers import shared
from rankinite.engine.kernel import Floats
from rankinite.engine.over_members import exact_sum, gathered, is_any, total
from rankinite.engine.reducer import Members
from rankinite.trees._histogram_kernels import AHEAD
from rankinite.trees._member_grow_kernels import HEAD
from rankinite.trees._state import BINS, LOW, WIDTH, Short, Workspace


def quantised_weights(weights: Floats | None, members: Members | None) -> tuple[Short, float]:
    """Weights as whole numbers whose sum fits the low bits of a cell, and what one unit is worth; (empty, 1) where all are 1.

    The unit is a power of two that follows from an exact sum, so it depends on no order, nor on who has which rows, and weights
    such as 1, 2 and ½ are not rounded.
    """
    if weights is None or not is_any(members, (weights != 1.0).any()):  # all members have weights, or none
        return np.empty(0, np.int32), 1.0
    exponent = math.frexp(float(gathered(members, weights.max(initial=0.0, keepdims=True)).max()))[1]
    shares = np.ldexp(weights, -exponent)  # in [0, 1]: sums of huge weights would overflow
    bits = math.frexp(((1 << LOW) - total(members, len(weights))) / exact_sum(members, shares.tolist()))[1] - 1
    return np.floor(np.ldexp(shares, bits) + 0.5).astype(np.int32), math.ldexp(1.0, exponent - bits)


def workspace(
    rows: int, features: int, leaves: int, workers: int, weights: Short, *, drawn: bool, together: bool, symmetric: bool
) -> Workspace:
    """Memory for trees of so many leaves. ``drawn``: rows are drawn at nodes; ``together``: other members have rows too."""
    nodes, blocks = 2 * leaves, -(-features // WIDTH)
    sent = leaves // 2 if symmetric else 1 + drawn  # histograms in a message
    message = max(HEAD, 3 * leaves) + max(1, sent) * features * BINS if together else 0
    return Workspace(
        order=np.zeros((2, rows + AHEAD), np.int32),
        cells=np.empty((2, rows), np.int64),
        curvature=np.empty(rows, np.int32),
        weights=weights,
        goes_left=np.empty(rows, np.uint8),
        drawn_order=np.zeros(rows + AHEAD if drawn else 0, np.int32),
        drawn_cells=np.empty(rows if drawn else 0, np.int64),
        histograms=np.empty((leaves + together, blocks * WIDTH * BINS), np.int64),  # members need a spare one
        gains=np.empty((nodes, features)),
        codes=np.empty((nodes, features), np.int64),
        exact=np.empty((nodes, features), np.bool_),
        allowed=np.empty((nodes, features), np.bool_),
        counts=np.zeros((4, workers), np.int64),
        partial=np.zeros((2, workers)),
        limits=np.zeros((2, BINS), np.int64),
        level_gains=np.zeros((workers, 2, BINS)),
        left=np.zeros((workers, BINS + 16), np.int64),
        terms=np.zeros((workers, BINS + 16)),
        sums=np.zeros((workers, BINS + 16), np.int64),
        places=np.zeros((workers, BINS + 16), np.int64),
        tables=np.zeros((workers, BINS + 64), np.uint8),
        plan=np.zeros(4, np.int64),
        message=np.zeros(message, np.int64),
        scales=np.ones(2),
        sync=shared(),
    )
