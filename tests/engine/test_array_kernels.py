"""Copies and sorts inside kernels do what NumPy does."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.engine._array_kernels import copy_into, sort_falling

NUMBERS = st.lists(st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 3.0]), max_size=60)


@settings(deadline=None)  # the first example compiles
@given(NUMBERS)
def test_sorting_falls_and_keeps_all_values(values):
    found = np.asarray(values, float)
    sort_falling(found)
    np.testing.assert_array_equal(found, np.sort(np.asarray(values, float))[::-1])


@settings(deadline=None)
@given(NUMBERS, st.integers(0, 5))
def test_copying_leaves_the_rest_alone(values, more):
    out = np.full(len(values) + more, 7.0)
    copy_into(np.asarray(values, float), out)
    np.testing.assert_array_equal(out, [*values, *[7.0] * more])
