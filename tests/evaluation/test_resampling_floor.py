"""P-values that resampling cannot tell from zero are only known to be smaller than a floor."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.evaluation.compare import Comparison, compare


def separated(queries: int) -> Comparison:
    """Systems each of which is better than the next on every query."""
    grades = np.tile([3.0, 2.0, 1.0, 0.0], queries)
    qids = np.repeat([f"q{i}" for i in range(queries)], 4)
    data = Dataset.from_rows(np.zeros((len(grades), 1)), grades, qids, ("f",))
    orders = {"best": [3, 2, 1, 0], "good": [2, 3, 1, 0], "poor": [0, 1, 3, 2], "worst": [0, 1, 2, 3]}
    return compare({name: np.tile(order, queries) for name, order in orders.items()}, data, "ndcg", resamples=999)


def test_at_the_floor_of_the_resampling_p_is_smaller_than_the_floor_corrected() -> None:
    found = separated(40)
    for pair in found.pairs:
        for p in (pair.randomisation, pair.bootstrap):
            assert (p.raw, p.floor) == (1 / 1000, 1 / 1000)
            assert (p.holm, p.holm_floor) == (6 / 1000, 6 / 1000)
            assert (p.raw_text, p.holm_text) == ("< 0.0010", "< 0.0060")
        assert (pair.t.floor, pair.t.holm_floor) == (0.0, 0.0)
        assert pair.record()["p_randomisation_holm_floor"] == pair.randomisation.holm_floor
    assert all(row[6:8] == ("< 0.0010", "< 0.0060") for row in found.pairs_grid().rows)
    assert found.pair("poor", "best", "ndcg").randomisation == found.pair("best", "poor", "ndcg").randomisation


def test_exact_p_values_have_no_floor() -> None:
    found = separated(5)
    for pair in found.pairs:
        assert (pair.randomisation.raw, pair.randomisation.floor, pair.randomisation.holm_floor) == (2 / 32, 0.0, 0.0)
        assert (pair.randomisation.raw_text, pair.randomisation.holm_text) == ("0.0625", "0.3750")
