"""Symmetric trees ask one question a level: the one that gains most over all nodes of the level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.growing import NEAR, UNIT, Node, grow_one, rows_of
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import LEAF, Trees

SHAPES = st.builds(
    TreeSettings,
    shape=st.just("symmetric"),
    leaves=st.sampled_from([2, 4, 7, 16]),
    depth=st.sampled_from([None, None, 1, 2]),
    min_rows=st.sampled_from([1, 1, 3, 8]),
    min_curvature=st.sampled_from([0.0, 0.0, 1.5]),
    l2=st.sampled_from([0.0, 0.5]),
    criterion=st.sampled_from(["newton", "mse"]),
)


def small_rows(seed, rows=40, features=3):
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 6, (rows, features)).astype(np.float32)
    matrix[random.random(matrix.shape) < 0.2] = np.nan
    return matrix, random.normal(size=rows), random.uniform(0.1, 1.0, rows)


def levels_of(tree: Trees) -> list[list[int]]:
    """The nodes of each level."""
    levels = [[0]]
    while inner := [node for node in levels[-1] if tree.feature[node] != LEAF]:
        assert inner == levels[-1]  # all nodes of a level are split, or none
        levels.append([int(child) for node in inner for child in (tree.left[node], tree.right[node])])
    return levels


def level_gain(node: Node, masks: list[np.ndarray], left: np.ndarray, slack: float) -> float:
    """What a cut of a whole level gains; a node it leaves with too light a side gains nothing."""
    total = 0.0
    for mask in masks:
        sides = (mask & left, mask & ~left)
        if node.settings.criterion == "mse":
            heavy = all(side.sum() >= node.settings.min_rows for side in sides)
        else:
            heavy = all(node.curvature[side].sum() >= max(node.settings.min_curvature + slack, UNIT) for side in sides)
        total += max(0.0, node.gain(mask, left)) if heavy else 0.0
    return total


@given(st.integers(0, 10**6), SHAPES)
@settings(max_examples=80, deadline=None)
def test_each_level_asks_the_question_that_gains_most(seed, shape):
    matrix, push, curvature = small_rows(seed)
    tree, _ = grow_one(shape, matrix, push, curvature)
    node, masks = Node(matrix, push, curvature, shape), rows_of(tree, matrix)
    levels = levels_of(tree)
    assert len(levels) - 1 <= shape.levels()
    for level, nodes in enumerate(levels):
        level_masks = [masks[number] for number in nodes]
        cuts = [left for _, left in node.cuts(np.ones(len(push), bool))]
        surely, possibly = (max(level_gain(node, level_masks, left, slack) for left in cuts) for slack in (UNIT, -UNIT))
        if level == len(levels) - 1:
            assert level == shape.levels() or surely <= NEAR
            continue
        assert len({(tree.feature[n], tree.threshold[n], tree.missing_left[n]) for n in nodes}) == 1
        gain = float(tree.gain[nodes].sum())
        assert surely - NEAR <= gain * (1 + NEAR)
        assert gain <= possibly * (1 + NEAR) + NEAR


@given(st.integers(0, 10**6), SHAPES)
@settings(max_examples=40, deadline=None)
def test_nodes_have_their_own_value_or_their_parents(seed, shape):
    matrix, push, curvature = small_rows(seed)
    tree, _ = grow_one(shape, matrix, push, curvature)
    node, masks = Node(matrix, push, curvature, shape), rows_of(tree, matrix)
    for number in range(len(masks)):
        assert tree.rows[number] == masks[number].sum()
        assert tree.curvature[number] == pytest.approx(curvature[masks[number]].sum(), abs=UNIT)
        if tree.feature[number] == LEAF:
            continue
        for child in (tree.left[number], tree.right[number]):
            total = curvature[masks[child]].sum()
            if masks[child].sum() < shape.min_rows or total < max(shape.min_curvature - UNIT, UNIT):
                assert tree.value[child] == tree.value[number]
            elif total > shape.min_curvature + UNIT:
                assert tree.value[child] == pytest.approx(node.value(masks[child]), rel=NEAR, abs=NEAR)


def test_random_thresholds_and_features_follow_the_seed():
    matrix, push, curvature = small_rows(2, rows=300, features=10)
    shape = TreeSettings(shape="symmetric", leaves=8, min_rows=2, thresholds="random", node_feature_share=0.5)
    trees = [grow_one(replace(shape, seed=seed), matrix, push, curvature)[0] for seed in (0, 0, 1, 2, 3)]
    assert trees[0].threshold.tobytes() == trees[1].threshold.tobytes()
    assert len({(tree.feature.tobytes(), tree.threshold.tobytes()) for tree in trees}) == 4
    for tree in trees:
        levels_of(tree)
        column = matrix[:, tree.feature[0]]
        assert np.nanmin(column) <= tree.threshold[0] < np.nanmax(column)


def test_a_level_draws_its_features_anew():
    matrix, push, curvature = small_rows(3, rows=300, features=30)
    shape = TreeSettings(shape="symmetric", leaves=16, min_rows=2, node_feature_share=0.03)  # one feature a level
    features = [grow_one(shape, matrix, push, curvature, number=number)[0].feature for number in range(30)]
    assert len({int(feature[0]) for feature in features}) > 10
    assert any(feature[0] != feature[1] for feature in features if len(feature) > 3)
