"""float32 neighbours of thresholds, and decimals that are read back to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankinite.serving.float32 import above32, floor32, shortest

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e38, max_value=1e38)
SINGLES = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(NUMBERS, SINGLES)
def test_every_float32_decides_alike(threshold, x):
    value = np.float32(x)
    assert (float(value) <= threshold) == (value <= floor32(threshold)) == (value < above32(threshold))


@given(NUMBERS)
def test_the_threshold_and_its_neighbours_decide_alike(threshold):
    near = np.float32(threshold)
    for value in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
        assert (float(value) <= threshold) == (value <= floor32(threshold)) == (value < above32(threshold))


@given(SINGLES)
def test_a_float32_is_read_back_from_its_shortest_decimal(x):
    text = shortest(np.float32(x))
    assert np.float32(text) == np.float32(x)
    assert "." in text or "e" in text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float64_is_read_back_from_its_shortest_decimal(x):
    assert float(shortest(np.float64(x))) == x
