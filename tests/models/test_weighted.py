"""Nets and linear rankers made by hand are checked like those from files."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from refusals import refused


@pytest.mark.parametrize(
    "make",
    [
        lambda: Linear(("a",), ["x"]),
        lambda: Linear(("a", "b"), [[1.0], [1.0, 2.0]]),
        lambda: Linear(("a",), [1.0, 2.0]),
        lambda: Linear(("a",), [np.nan]),
        lambda: Linear(("a",), [1.0], np.inf),
        lambda: Linear(("a",), [1.0], None),
        lambda: Linear(("a",), [1.0], "x"),
        lambda: Linear(("a", "a"), [1.0, 2.0]),
        lambda: Linear((), []),
        lambda: Linear(("a",), [1.0], settings=None),
        lambda: Net(("a",), None, np.zeros(10), [0.0], [1.0]),
        lambda: Net(("a",), (3.0,), np.zeros(10), [0.0], [1.0]),
        lambda: Net(("a",), (3,), np.zeros(9), [0.0], [1.0]),
        lambda: Net(("a",), (3,), None, [0.0], [1.0]),
        lambda: Net(("a",), (3,), np.zeros(10), [0.0], [1.0], nan="zero"),
        lambda: Net(("a",), (3,), np.zeros(10), [0.0], [1.0]).with_weights(np.zeros(3)),
    ],
)
def test_parts_that_do_not_make_a_ranker_are_refused(make):
    with refused(rk.RankiniteError):
        make()
