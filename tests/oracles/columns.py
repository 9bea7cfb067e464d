"""Columns of features for the tests of bins: values that are hard to part, and features of every kind."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from rankinite.trees._state import WIDTH
from rankinite.trees.bins import Codes

LARGEST = np.finfo(np.float32).max
SPECIAL = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1e-45,
    -1e-45,
    3e-45,
    1.1754944e-38,
    LARGEST,
    -LARGEST,
    1.0,
    1.0000001,
    2.0,
]
VALUES = st.one_of(st.sampled_from(SPECIAL), st.integers(-3, 3).map(float), st.floats(width=32))
COLUMNS = st.lists(VALUES, min_size=1, max_size=60)


def column(values):
    return np.asarray(values, np.float32)[:, None]


def threshold_of(bins, feature, code):
    return bins.thresholds(np.asarray([feature]), np.asarray([code]))[0]


def edges_of(bins, feature=0):
    return bins.edges[bins.starts[feature] : bins.starts[feature + 1]]


def by_feature(codes: Codes):
    """(rows, features), found by the rule of the layout."""
    rows = [[codes.blocks[f // WIDTH, row, f % WIDTH] for f in range(codes.features)] for row in range(codes.rows)]
    return np.asarray(rows, np.uint8).reshape(codes.rows, codes.features)


def mixed(rows, seed=0):
    """21 features of every kind: continuous, skewed, few values, one heavy value, missing, infinite, constant."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 21)).astype(np.float32)
    features[:, 1] = np.exp(3 * features[:, 1])
    features[:, 2] = np.floor(3 * features[:, 2])
    features[random.random(rows) < 0.7, 3] = 0
    features[random.random(rows) < 0.2, 4] = np.nan
    features[random.random(rows) < 0.1, 5] = np.inf
    features[random.random(rows) < 0.1, 6] = -np.inf
    features[:, 7] = 4
    features[:, 8] = np.nan
    features[:, 20] = np.round(features[:, 20], 2)
    return features
