"""Contributions of features to sums of trees: their definition over all sets of features, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.contributions import forest_contributions
from oracles.trees import random_forest, random_matrix, symmetric_trees
from rankinite.trees import contributions as module
from rankinite.trees.contributions import quadrature
from rankinite.trees.structure import Trees

NAMES = tuple(f"f{number}" for number in range(40))


def chain(depth: int, features: int, seed: int = 0) -> rk.Forest:
    """A tree whose every node has a leaf on one side: paths longer than any table."""
    random = np.random.default_rng(seed)
    nodes, inner = 2 * depth + 1, np.arange(2 * depth + 1) % 2 == 0
    inner[-1] = False
    left, right = np.where(inner, np.arange(nodes) + 1, 0), np.where(inner, np.arange(nodes) + 2, 0)
    trees = Trees(
        feature=np.where(inner, np.arange(nodes) // 2 % features, -1),
        threshold=np.where(inner, np.round(random.normal(size=nodes), 1), 0.0),
        missing_left=inner & (random.random(nodes) < 0.5),
        left=left,
        right=right,
        value=random.normal(size=nodes),
        rows=random.integers(1, 99, nodes),
        curvature=np.zeros(nodes),
        gain=np.zeros(nodes),
        offsets=[0, nodes],
    )
    return rk.Forest(trees, NAMES[:features])


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 14))
@settings(max_examples=25, deadline=None)
def test_values_are_those_of_the_definition(seed, features, leaves):
    forest = random_forest(seed, trees=3, features=features, most=leaves)
    matrix = random_matrix(seed, 3, features)
    np.testing.assert_allclose(forest.contributions(matrix).values, forest_contributions(forest, matrix), atol=1e-9, rtol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_symmetric_trees_are_trees_like_others(dtype):
    forest = rk.Forest(symmetric_trees(np.random.default_rng(0), 6, 5, 5), NAMES[:5])
    matrix = random_matrix(1, 40, 5, dtype)
    found = forest.contributions(matrix)
    np.testing.assert_allclose(found.values[:4], forest_contributions(forest, matrix[:4]), atol=1e-9, rtol=0)


def test_nodes_without_rows_let_half_go_each_way():
    forest = random_forest(3, trees=2, features=3)
    rows = forest.trees.rows.copy()
    rows[1:] = np.where(np.arange(1, len(rows)) % 2, 0, rows[1:])
    rows[forest.trees.offsets[:-1]] = 7
    forest = replace(forest, trees=replace(forest.trees, rows=rows))
    matrix = random_matrix(0, 4, 3)
    np.testing.assert_allclose(forest.contributions(matrix).values, forest_contributions(forest, matrix), atol=1e-9, rtol=0)


def test_a_tree_that_knows_no_rows_is_split_by_curvature():
    forest = random_forest(4, trees=3, features=3)
    forest = replace(forest, trees=replace(forest.trees, rows=np.zeros_like(forest.trees.rows)))
    matrix = random_matrix(0, 4, 3)
    np.testing.assert_allclose(forest.contributions(matrix).values, forest_contributions(forest, matrix), atol=1e-9, rtol=0)


@pytest.mark.parametrize(("depth", "features"), [(8, 3), (12, 11), (70, 40)])
def test_long_paths_add_up_too(depth, features):
    forest = chain(depth, features)
    matrix = random_matrix(depth, 600, features)
    np.testing.assert_allclose(forest.contributions(matrix).scores, forest.score(matrix), atol=1e-9, rtol=0)


def test_a_long_path_has_the_values_of_the_definition():
    forest = chain(13, 10)
    matrix = random_matrix(0, 2, 10)
    np.testing.assert_allclose(forest.contributions(matrix).values, forest_contributions(forest, matrix), atol=1e-9, rtol=0)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_values_add_up_to_the_score_less_the_mean(seed):
    forest = random_forest(seed, trees=20, features=6, most=40)
    matrix = random_matrix(seed, 700, 6)
    found = forest.contributions(matrix)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), forest.score(matrix), atol=1e-9, rtol=0)


def test_a_feature_that_no_split_uses_adds_nothing():
    forest = random_forest(0, trees=10, features=4)
    unused = replace(forest, feature_names=(*forest.feature_names, "unused"))
    assert not unused.contributions(random_matrix(0, 50, 5)).values[:, 4].any()


def test_features_that_do_the_same_get_the_same():
    """Two features with the same splits, counts and values at all nodes: a tree on one, then the same tree on the other."""
    forest = random_forest(5, trees=6, features=3)
    other = replace(forest.trees, feature=np.where(forest.trees.feature == 0, 3, forest.trees.feature))
    twins = rk.Forest(module_join(forest.trees, other), NAMES[:4])
    matrix = random_matrix(2, 60, 4)
    matrix[:, 3] = matrix[:, 0]
    values = twins.contributions(matrix).values
    np.testing.assert_allclose(values[:, 0], values[:, 3], atol=1e-12, rtol=0)


def module_join(*parts: Trees) -> Trees:
    from rankinite.trees.structure import join

    return join(parts)


@pytest.mark.parametrize("shape", ["random", "symmetric", "chain"])
def test_neither_threads_nor_the_rows_beside_change_a_bit(shape, monkeypatch):
    trees = {
        "random": lambda: random_forest(1, trees=30, features=8, most=31),
        "symmetric": lambda: rk.Forest(symmetric_trees(np.random.default_rng(0), 10, 8, 6), NAMES[:8]),
        "chain": lambda: chain(20, 8),
    }
    forest, matrix = trees[shape](), random_matrix(0, 1500, 8)
    with rk.threads(1):
        alone = forest.contributions(matrix).values
    with rk.threads(2):
        assert np.array_equal(forest.contributions(matrix).values, alone)
    assert np.array_equal(forest.contributions(matrix[:3]).values, alone[:3])
    assert np.array_equal(forest.contributions(matrix[::-1]).values, alone[::-1])
    monkeypatch.setattr(module, "ROOM", 1)
    monkeypatch.setattr(module, "BATCH", 50)
    assert np.array_equal(forest.contributions(matrix).values, alone)


def test_no_rows_and_no_trees():
    forest = random_forest(0, trees=3, features=2)
    assert forest.contributions(np.zeros((0, 2), np.float32)).values.shape == (0, 2)
    empty = forest.truncate(0)
    assert empty.contributions(random_matrix(0, 5, 2)).base == empty.start[0]


@pytest.mark.parametrize("points", [1, 2, 5, 20, 40])
def test_quadrature_is_exact_up_to_its_degree(points):
    rule = quadrature(points)
    for degree in range(2 * points):
        integral = np.sum(rule.weights[points] * rule.points[points] ** degree)
        assert integral == pytest.approx(1 / (degree + 1), rel=1e-13)
