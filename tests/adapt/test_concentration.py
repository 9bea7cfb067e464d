"""Which queries carry a gain, against every choice of queries to leave out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.adapt.choice import FEW_CARRIERS, MOST_OF_GAIN, concentration

GAINS = st.lists(st.integers(-20, 20) | st.integers(-2, 60), min_size=1, max_size=9)


@settings(max_examples=300, deadline=None)
@given(GAINS)
def test_the_fewest_queries_without_which_less_than_half_is_left(listed):
    """Oracle: leave out every one query, then every two."""
    gains = {f"q{place}": own / 100.0 for place, own in enumerate(listed)}
    found = concentration(gains)
    mean = np.mean(list(gains.values()))
    for count in range(1, min(FEW_CARRIERS, len(gains) - 1) + 1):
        rests = {
            left_out: np.mean([own for qid, own in gains.items() if qid not in left_out])
            for left_out in combinations(gains, count)
        }
        least = min(rests.values())
        if mean > 0 and least < (1.0 - MOST_OF_GAIN) * mean - 1e-9:
            assert len(found.queries) == count
            assert rests[tuple(sorted(found.queries))] == pytest.approx(least) == pytest.approx(found.rest)
            kept = sum(own for qid, own in gains.items() if qid not in found.queries)
            assert found.share == pytest.approx(1.0 - kept / sum(gains.values()))
            assert found.share > MOST_OF_GAIN
            assert found.gain == pytest.approx(mean)
            return
        if mean > 0 and least <= (1.0 - MOST_OF_GAIN) * mean + 1e-9:
            return  # too close to call
    assert found is None


def test_equal_gains_are_carried_by_none():
    for queries in range(1, 6):
        assert concentration({str(query): 0.1 for query in range(queries)}) is None


def test_of_equal_gains_the_first_name_is_taken():
    assert concentration({"b": 1.0, "a": 1.0, "c": 0.0, "d": 0.0}).queries == ("a", "b")


def test_a_loss_is_carried_by_none():
    assert concentration({"a": 0.5, "b": -0.6}) is None
    assert concentration({"a": 0.5, "b": -0.5}) is None
