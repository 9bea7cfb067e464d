"""Whichever way rows walk down trees, they end in the leaves that walking by hand ends in, and sums have the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.trees import (
    is_symmetric,
    leaf_value,
    random_forest,
    random_matrix,
    random_trees,
    scores,
    symmetric_tree,
    symmetric_trees,
)
from rankinite.models.forest import Forest
from rankinite.trees import _walk_kernels, walk
from rankinite.trees.structure import LEAF, Trees, float32_below, join, sets_of
from rankinite.trees.walk import FEW_TREES, SHORTEST_RUN, PackedTrees, SymmetricTrees, add_runs, add_trees, depths_of, walks_of

KINDS = {
    "any": lambda random, trees, features: random_trees(random, trees, features, most=12),
    "symmetric": symmetric_trees,
    "mixed": lambda random, trees, features: join(
        [
            random_trees(random, trees // 3, features, most=6),
            symmetric_trees(random, trees - trees // 3, features),
            random_trees(random, 2, features),
        ]
    ),
}
"""Ways to draw trees."""


def sums_by_hand(trees: Trees, matrix: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Shape (outputs, rows): every tree's value added in order."""
    rows = matrix.astype(np.float64).tolist()
    sums = np.repeat(start[:, None], len(rows), axis=1)
    for tree in range(len(trees)):
        for place, row in enumerate(rows):
            sums[tree % len(start), place] += leaf_value(trees, tree, row)
    return sums


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(list(KINDS)),
    trees=st.sampled_from([0, 1, 5, 17, FEW_TREES, 60]),
    features=st.integers(0, 4),
    rows=st.sampled_from([0, 1, 7, 35, 56, 70, 150]),
    outputs=st.sampled_from([1, 1, 3]),
    precision=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=60, deadline=None)
def test_all_ways_give_the_same_bits(seed, kind, trees, features, rows, outputs, precision):
    random = np.random.default_rng(seed)
    drawn = KINDS[kind](random, trees, features)
    matrix, start = random_matrix(seed, rows, features, precision), random.normal(size=outputs)
    expected = sums_by_hand(drawn, matrix, start).tobytes()
    walks = walks_of(drawn)
    laid_out, cut_up, as_they_are = (np.repeat(start[:, None], rows, axis=1) for _ in range(3))
    add_runs(walks.runs, matrix, laid_out)
    assert laid_out.tobytes() == expected
    middle = len(drawn) // 3  # in parts: many trees are laid out, few are not
    add_trees(walks, matrix, 0, middle, cut_up)
    add_trees(walks, matrix, middle, len(drawn), cut_up)
    assert cut_up.tobytes() == expected
    for tree in range(len(drawn)):
        add_trees(walks, matrix, tree, tree + 1, as_they_are)
    assert as_they_are.tobytes() == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_threads_change_nothing(kind, precision, monkeypatch):
    trees = KINDS[kind](np.random.default_rng(1), 40, 5)
    forest = Forest(trees, tuple("abcde"))
    matrix = random_matrix(1, 333, 5, precision)
    monkeypatch.setattr(walk, "SMALLEST", 64)  # so that even these few rows are worth threads
    found = set()
    for threads in (1, 2, 3, 8):
        with rk.threads(threads):
            found |= {forest.score(matrix).tobytes(), forest.scorer()(matrix).tobytes()}
    assert found == {np.asarray(scores(forest, matrix)).tobytes()}


def test_columns_in_another_order_are_found():
    names = [f"f{number}" for number in range(4)]
    for draw in KINDS.values():
        forest = Forest(draw(np.random.default_rng(2), 60, 4), tuple(names))
        matrix = random_matrix(2, 40, 4)
        expected = scores(forest, matrix)
        more = np.hstack((np.ones((40, 1), np.float32), matrix[:, ::-1]))
        data = rk.read(more, grades=np.zeros(40), group=[40], infinite="keep").rename_features(["extra", *reversed(names)])
        assert forest.score(data).tolist() == expected
        assert forest.scorer(["extra", *reversed(names)])(more).tolist() == expected


def test_many_trees_at_a_stage_add_up_to_the_same():
    forest = random_forest(5, trees=90, features=3)
    matrix = random_matrix(5, 40, 3)
    for rounds, stage in zip((40, 80, 90), forest.staged_scores(matrix, every=40), strict=True):
        assert stage.tolist() == scores(forest.truncate(rounds), matrix)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_categories_beyond_the_largest_of_a_set_are_not_in_it(precision):
    """Sets lie one behind the other, 32 codes in a word: 32 must not be looked up in the word of the next set."""
    arrays = {name: np.asarray([0, 0, 0]) for name in ("threshold", "missing_left", "rows", "curvature", "gain")}
    arrays |= {"feature": np.asarray([0, LEAF, LEAF]), "left": np.asarray([1, 0, 0]), "right": np.asarray([2, 0, 0])}
    sets = [[5, 31], [0, 1, 32], [63]]
    trees = join(
        [
            Trees(**arrays, value=np.asarray([0.0, 10.0**place, 0.0]), offsets=np.asarray([0, 3]), **sets_of([codes, [], []]))
            for place, codes in enumerate(sets)
        ]
    )
    categories = [-1, 0, 1, 5, 31, 32, 33, 63, 64, 65, 1 << 20]
    scores_by_hand = [float(sum(10**place for place, codes in enumerate(sets) if code in codes)) for code in categories]
    found = np.zeros((1, len(categories)))
    add_trees(walks_of(trees), np.asarray(categories, precision)[:, None], 0, 3, found)
    assert found[0].tolist() == scores_by_hand


# ---- symmetric trees ------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_symmetric_trees_are_recognised(seed):
    random = np.random.default_rng(seed)
    trees = join([symmetric_trees(random, 6, 2), random_trees(random, 6, 2, most=4), symmetric_trees(random, 3, 2)])
    walks = walks_of(trees)
    depths = depths_of(walks.nodes, walks.numbers, walks.offsets)
    assert (depths >= 0).tolist() == [is_symmetric(trees, tree) for tree in range(len(trees))]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("threshold", lambda value: np.nextafter(value, np.inf)),
        ("missing_left", np.logical_not),
        ("feature", lambda value: 1 - value),
    ],
)
def test_one_node_that_asks_otherwise_makes_a_tree_ordinary(name, change):
    tree = symmetric_tree(np.random.default_rng(3), 2, 3)
    changed = getattr(tree, name).copy()
    lowest = int(np.flatnonzero(tree.feature != LEAF)[-1])
    changed[lowest] = change(changed[lowest])
    walks = [walks_of(one) for one in (tree, replace(tree, **{name: changed}))]
    assert [depths_of(one.nodes, one.numbers, one.offsets).tolist() for one in walks] == [[3], [-1]]


@pytest.mark.parametrize(
    ("trees", "kinds"),
    [
        ([20], [SymmetricTrees]),
        ([0, 9], [PackedTrees]),
        ([3, 5], [PackedTrees]),
        ([SHORTEST_RUN, 5], [SymmetricTrees, PackedTrees]),
        ([SHORTEST_RUN - 1, 5, 30, 2, 3], [PackedTrees, SymmetricTrees, PackedTrees]),
        ([], []),
    ],
)
def test_runs_of_symmetric_trees_are_long(trees, kinds):
    """``trees``: how many are symmetric, then how many are not, and so on."""
    random = np.random.default_rng(4)
    lop_sided = random_trees(random, 1, 3, most=1)
    while is_symmetric(lop_sided, 0):
        lop_sided = random_trees(random, 1, 3, most=5)
    parts = [join([lop_sided] * n) if k % 2 else symmetric_trees(random, n, 3) for k, n in enumerate(trees)]
    runs = walks_of(join(parts)).runs
    assert [type(run) for run in runs] == kinds
    assert [run.first for run in runs] + [sum(trees)] == [0, *(run.last for run in runs)]


@given(st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False))
def test_thresholds_for_float32_are_the_next_lower_ones(number):
    low = float32_below(np.asarray([number]))[0]
    assert low.dtype == np.float32
    assert float(low) <= number
    with np.errstate(over="ignore"):
        assert low == np.inf or float(np.nextafter(low, np.float32(np.inf))) > number


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_values_next_to_a_threshold_go_where_they_belong(precision):
    random = np.random.default_rng(6)
    thresholds = [0.1, -0.1, 1 / 3, 1e-60, -1e-60, 3.5e38, -3.5e38, 0.0, 1e300, -1e300, float(np.float32(0.7))]
    trees = [replace(one, threshold=np.full(3, t)) for t in thresholds for one in [symmetric_tree(random, 1, 1)]]
    forest = Forest(join(trees * 4), ("a",))
    limits = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    with np.errstate(over="ignore"):
        near = np.asarray(thresholds).astype(precision)
        sides = [np.nextafter(near, precision(np.inf)), np.nextafter(near, precision(-np.inf))]
    values = np.concatenate([near, *sides, limits])
    matrix = values.astype(precision)[:, None]
    assert isinstance(walks_of(forest.trees).runs[0], SymmetricTrees)
    assert forest.score(matrix).tolist() == scores(forest, matrix)
    assert [forest.score(row[None]).item() for row in matrix] == scores(forest, matrix)


def test_kernels_are_compiled_once_for_each_precision():
    random = np.random.default_rng(7)
    for kind, kernel in (("any", _walk_kernels.add_packed), ("symmetric", _walk_kernels.add_symmetric)):
        forest = Forest(KINDS[kind](random, 40, 3), tuple("abc"))
        for precision in (np.float32, np.float64):
            matrix = random_matrix(7, 50, 3, precision)
            read_only = matrix.copy()
            read_only.flags.writeable = False
            for given_matrix in (matrix, read_only, matrix[:1], matrix[:0]):
                forest.score(given_matrix)
                forest.scorer()(given_matrix)
                forest.scorer(["c", "b", "a"])(given_matrix)
        assert len(kernel.overloads) <= 2
