"""The sizes that rounding is relative to: never below the score, and large where large numbers cancel."""

from __future__ import annotations

import numpy as np
import pytest

from rankinite.models.linear import Linear
from rankinite.serving.flattening import flatten
from rankinite.serving.reference_scores import flat_scores
from rankinite.serving.rounding import VANISHING, summed_sizes
from serving.every_kind import NAMES, one_by_one

KINDS = one_by_one(3)


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_score_is_larger_than_what_it_is_added_up_from(kind):
    flat = flatten(KINDS[kind], probabilities=True)
    matrix = np.random.default_rng(0).normal(size=(200, len(NAMES))) * 10.0
    scores, sizes = np.abs(flat_scores(flat, matrix, NAMES)), summed_sizes(flat, matrix, NAMES)
    assert (scores <= sizes * (1.0 + 1e-12)).all()


def test_large_numbers_that_cancel_count():
    flat = flatten(Linear(("a", "b"), [1e9, -1e9], 0.5))
    matrix = np.asarray([[3.0, 3.0]])
    assert flat_scores(flat, matrix, ("a", "b")).tolist() == [0.5]
    assert summed_sizes(flat, matrix, ("a", "b")) >= 6e9


def test_the_lowest_score_of_a_missing_feature_does_not_hide_differences():
    flat = flatten(KINDS["blend of all"])
    matrix = np.full((1, len(NAMES)), np.nan)
    assert np.abs(flat_scores(flat, matrix, NAMES)) > VANISHING
    assert summed_sizes(flat, matrix, NAMES) < 1e6
