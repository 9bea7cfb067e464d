"""What is drawn at random for a tree or a node is drawn fairly, and follows the seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.growing import NEAR, Node, grow_one, rows_of, small_rows
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import LEAF


def test_random_thresholds_lie_within_the_node_and_follow_the_seed():
    matrix, push, curvature = small_rows(1, rows=200, features=4, levels=100, missing=0.0)
    shape = TreeSettings(leaves=15, min_rows=5, thresholds="random")
    first = grow_one(shape, matrix, push, curvature)[0]
    masks = rows_of(first, matrix)
    for node in np.flatnonzero(first.feature != LEAF):
        column = matrix[masks[node], first.feature[node]]
        assert column.min() <= first.threshold[node] < column.max()
    again = grow_one(shape, matrix, push, curvature)[0]
    assert first.threshold.tobytes() == again.threshold.tobytes()
    thresholds = {grow_one(replace(shape, seed=seed), matrix, push, curvature)[0].threshold.tobytes() for seed in range(5)}
    assert len(thresholds) == 5
    others = {grow_one(shape, matrix, push, curvature, number=number)[0].threshold.tobytes() for number in range(5)}
    assert len(others) == 5


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_rows_and_queries_are_drawn_in_the_share_asked_for(share):
    rows, queries = 4000, 400
    matrix, push, curvature = small_rows(3, rows=rows)
    random = np.random.default_rng(0)
    keys = random.integers(0, 1 << 63, rows).astype(np.uint64)
    query_keys = np.repeat(random.integers(0, 1 << 63, queries).astype(np.uint64), rows // queries)

    drawn = grow_one(TreeSettings(row_share=share), matrix, push, curvature, keys=keys)[1]
    assert abs(drawn.sum() - share * rows) < 5 * np.sqrt(rows * share * (1 - share))
    by_query = grow_one(TreeSettings(query_share=share), matrix, push, curvature, keys=keys, query_keys=query_keys)[1]
    per_query = by_query.reshape(queries, -1).sum(axis=1)
    assert set(per_query.tolist()) == {0, rows // queries}  # all of a query or nothing
    assert abs((per_query > 0).sum() - share * queries) < 5 * np.sqrt(queries * share * (1 - share))
    both = TreeSettings(query_share=share, row_share=0.5)
    drawn_both = grow_one(both, matrix, push, curvature, keys=keys, query_keys=query_keys)[1]
    assert not (drawn_both & ~by_query).any()
    assert abs(drawn_both.sum() - 0.5 * by_query.sum()) < 5 * np.sqrt(by_query.sum() * 0.25)

    other = grow_one(TreeSettings(row_share=share, seed=1), matrix, push, curvature, keys=keys)[1]
    later = grow_one(TreeSettings(row_share=share), matrix, push, curvature, keys=keys, number=1)[1]
    expected = share**2 * rows  # draws of other seeds and other trees are independent
    for one in (other, later):
        assert abs((one & drawn).sum() - expected) < 5 * np.sqrt(expected)


def test_features_that_are_not_drawn_are_not_used():
    matrix, push, curvature = small_rows(4, rows=300, features=40)
    used = [set(), set()]
    for number in range(30):
        for kind, shape in enumerate(
            (TreeSettings(feature_share=0.1, min_rows=2), TreeSettings(node_feature_share=0.1, min_rows=2))
        ):
            tree = grow_one(shape, matrix, push, curvature, number=number)[0]
            features = set(tree.feature[tree.feature != LEAF].tolist())
            used[kind] |= features
            assert len(features) <= 4 or kind == 1
    assert len(used[0]) > 30
    assert len(used[1]) == 40


def test_a_tree_drawn_feature_by_feature_finds_the_best_of_its_own():
    """With one feature of many drawn for the tree, the root's gain is the best that feature has."""
    matrix, push, curvature = small_rows(6, rows=60, features=8)
    for number in range(8):
        shape = TreeSettings(feature_share=0.125, leaves=2, min_rows=1)
        tree = grow_one(shape, matrix, push, curvature, number=number)[0]
        column = matrix[:, [tree.feature[0]]]
        assert tree.gain[0] == pytest.approx(Node(column, push, curvature, shape).best_gain(np.ones(60, bool)), rel=NEAR)
