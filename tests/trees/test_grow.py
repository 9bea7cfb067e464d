"""Trees are those that looking at every cut of every leaf would grow, and keep every limit; what is drawn is drawn fairly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.growing import NEAR, UNIT, Node, grow_one, leaves_of, rows_of, small_rows
from rankinite.engine.parallel import Team
from rankinite.trees import _growth_kernels
from rankinite.trees._row_kernels import draw_tree_rows
from rankinite.trees.bins import fit_bins
from rankinite.trees.growth import Grower
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import LEAF

SHAPES = st.builds(
    TreeSettings,
    leaves=st.sampled_from([2, 5, 12]),
    depth=st.sampled_from([None, None, 1, 3]),
    min_rows=st.sampled_from([1, 1, 3, 8]),
    min_curvature=st.sampled_from([0.0, 0.0, 1.5]),
    l2=st.sampled_from([0.0, 0.5]),
    criterion=st.sampled_from(["newton", "mse"]),
    monotone=st.sampled_from([(), (), ("+f0",), ("-f1", "+f2")]),
)


def check_nodes(tree, drawn, node: Node):
    """Counts, curvatures and values of all nodes are those of their rows, within bounds; limits hold in every leaf."""
    masks = [mask & drawn for mask in rows_of(tree, node.features)]
    bounds = {0: (-np.inf, np.inf)}
    for number, mask in enumerate(masks):
        low, high = bounds[number]
        assert tree.rows[number] == mask.sum()
        assert tree.curvature[number] == pytest.approx(node.curvature[mask].sum(), abs=UNIT)
        assert tree.value[number] == pytest.approx(np.clip(node.value(mask), low, high), rel=NEAR, abs=NEAR)
        if number:
            assert mask.sum() >= node.settings.min_rows
            assert tree.curvature[number] >= node.settings.min_curvature - UNIT
        if tree.feature[number] != LEAF:
            left, right = int(tree.left[number]), int(tree.right[number])
            assert tree.rows[left] + tree.rows[right] == tree.rows[number]
            bounds[left] = bounds[right] = (low, high)
            sign = node.signs[tree.feature[number]]
            if sign:
                lower, upper = (left, right) if sign > 0 else (right, left)
                steps = [float(np.clip(node.value(masks[child]), low, high)) for child in (lower, upper)]
                middle = sum(steps) / 2 if steps[0] <= steps[1] else float(tree.value[number])
                bounds[lower], bounds[upper] = (low, middle), (middle, high)
    return masks


def check_best_first(tree, masks, node: Node):
    """Each split gains as much as any legal cut of any leaf there was, and growth went on while there was one."""
    limit = node.settings.depth or 99
    parents = [number for number in np.argsort(tree.left, kind="stable").tolist() if tree.feature[number] != LEAF]
    depth = {0: 0}
    surely = [node.best_gain(mask, UNIT) for mask in masks]
    possibly = [node.best_gain(mask, -UNIT) for mask in masks]
    leaves = {0}
    for parent in parents:
        rivals = [surely[leaf] for leaf in leaves if depth[leaf] < limit]
        gain = node.gain(masks[parent], masks[tree.left[parent]])
        assert tree.gain[parent] == pytest.approx(gain, rel=NEAR, abs=NEAR)
        assert gain >= max(rivals) * (1 - NEAR) - NEAR
        assert gain <= possibly[parent] * (1 + NEAR) + NEAR
        leaves = (leaves - {parent}) | {int(tree.left[parent]), int(tree.right[parent])}
        depth[int(tree.left[parent])] = depth[int(tree.right[parent])] = depth[parent] + 1
    assert max(depth.values()) <= limit
    assert len(leaves) <= node.settings.leaves
    if len(leaves) < node.settings.leaves:
        assert all(surely[leaf] <= NEAR for leaf in leaves if depth[leaf] < limit)


@given(st.integers(0, 10**6), SHAPES)
@settings(max_examples=120, deadline=None)
def test_trees_are_those_of_looking_at_every_cut(seed, shape):
    # A cut between rows that weigh nothing is not looked at. Its mirror image is, which a constraint may forbid.
    matrix, push, curvature = small_rows(seed, weightless=0.0 if shape.monotone else 0.2)
    tree, drawn = grow_one(shape, matrix, push, curvature)
    node = Node(matrix, push, curvature, shape)
    check_best_first(tree, check_nodes(tree, drawn, node), node)


@given(st.integers(0, 10**6), SHAPES)
@settings(max_examples=120, deadline=None)
def test_rows_count_as_often_as_they_weigh(seed, shape):
    matrix, push, curvature = small_rows(seed, weightless=0.0)
    # Constraints and cuts between rows that weigh nothing: see above.
    weights = np.random.default_rng(seed).choice([1.0, 0.3, 2.5, 7.0] if shape.monotone else [1.0, 0.3, 2.5, 0.0], len(push))
    tree, drawn = grow_one(shape, matrix, weights * push, weights * curvature, weights=weights)
    node = Node(matrix, weights * push, weights * curvature, shape, weights)
    check_best_first(tree, check_nodes(tree, drawn, node), node)


@given(st.integers(0, 10**6), st.sampled_from(["newton", "mse"]), st.sampled_from(["best-first", "symmetric"]))
@settings(max_examples=60, deadline=None)
def test_weights_have_no_unit_and_weights_of_one_are_none(seed, criterion, kind):
    matrix, push, curvature = small_rows(seed, weightless=0.0)
    shape = TreeSettings(leaves=8, min_rows=3, criterion=criterion, shape=kind)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(push))
    plain, _ = grow_one(shape, matrix, push, curvature)
    ones, _ = grow_one(shape, matrix, push, curvature, weights=np.ones(len(push)))
    assert [array.tobytes() for array in vars(plain).values()] == [array.tobytes() for array in vars(ones).values()]
    trees = [
        grow_one(shape, matrix, c * weights * push, c * weights * curvature, weights=c * weights)[0] for c in (1.0, 2.0**-70)
    ]
    for name in ("feature", "threshold", "value", "rows"):
        assert getattr(trees[0], name).tobytes() == getattr(trees[1], name).tobytes()
    assert trees[1].gain == pytest.approx(trees[0].gain * 2.0**-70, rel=1e-12)


@pytest.mark.parametrize("kind", ["best-first", "symmetric"])
@pytest.mark.parametrize("criterion", ["newton", "mse"])
def test_the_mean_push_of_a_node_counts_weights(criterion, kind):
    matrix, push, curvature = small_rows(3, weightless=0.0)
    shape = TreeSettings(leaves=16, min_rows=1, criterion=criterion, shape=kind)
    for weights in (None, np.random.default_rng(3).choice([0.0, 1.0, 2.5], len(push))):
        counts = np.ones(len(push)) if weights is None else weights
        with Team() as team:
            bins = fit_bins(matrix, most=255, sample=1000)
            grower = Grower(shape, bins, bins.code(matrix), shape.signs(["f0", "f1", "f2"]), team, None, None, weights)
            grown = grower.grow(counts * push, counts * curvature, 0)
            means, tree = grower.means(grown), grower.trees_of(grown, grown.values())
        for mean, mask in zip(means.tolist(), rows_of(tree, matrix), strict=True):
            total = counts[mask].sum()
            assert mean == pytest.approx((counts * push)[mask].sum() / total if total else 0.0, abs=1e-6)


@given(st.integers(0, 10**6), SHAPES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_limits_hold_and_nodes_know_their_rows_whatever_is_drawn(seed, shape, extremely_random):
    random = np.random.default_rng(seed)
    matrix, push, curvature = small_rows(seed, rows=150, features=20)
    shape = replace(
        shape,
        monotone=(),
        thresholds="random" if extremely_random else "best",
        row_share=random.choice([1.0, 0.6]).item(),
        node_row_share=random.choice([1.0, 0.5]).item(),
        node_feature_share=random.choice([1.0, 0.3]).item(),
        feature_share=random.choice([1.0, 0.5]).item(),
        seed=seed,
    )
    keys = random.integers(0, 1 << 63, len(push)).astype(np.uint64)
    tree, drawn = grow_one(shape, matrix, push, curvature, keys=keys)
    check_nodes(tree, drawn, Node(matrix, push, curvature, shape))
    assert drawn.all() == (shape.row_share == 1.0)


def test_rows_that_weigh_nothing_go_where_the_tree_sends_them():
    """Missing values that no histogram shows, because their rows have neither push nor curvature."""
    matrix = np.asarray([[value, 0.0] for value in [1, 1, 1, 1, 1, 1, 2, 2]] + [[np.nan, 0.0]] * 3, np.float32)
    push = np.asarray([-1.0] * 6 + [1.0] * 2 + [0.0] * 3)
    curvature = np.asarray([1.0] * 8 + [0.0] * 3)
    for shape in ("best-first", "symmetric"):
        tree, _ = grow_one(TreeSettings(leaves=2, min_rows=1, shape=shape), matrix, push, curvature)
        assert [mask.sum() for mask in rows_of(tree, matrix)] == tree.rows.tolist()
        assert sorted(tree.value[1:].tolist()) == pytest.approx([-1.0, 1.0])


def test_a_value_missing_for_the_first_time_goes_with_the_heavier_side():
    matrix = np.asarray([[value] for value in [1, 1, 1, 2, 2, 2, 2, 2]], np.float32)
    push = np.where(matrix[:, 0] == 1, 1.0, -1.0)
    for column, heavy_left in ((matrix, False), (-matrix, True)):
        for min_rows in (1, 3):
            tree, _ = grow_one(TreeSettings(leaves=2, min_rows=min_rows), column, push, np.ones(8))
            assert bool(tree.missing_left[0]) == heavy_left


def test_the_score_is_monotone_in_the_features_asked_for():
    random = np.random.default_rng(5)
    world = rk.World(features=4, documents=15, seed=2)
    data = rk.synthesise(30, world=world)
    for shape, criterion in (("best-first", "newton"), ("best-first", "mse"), ("symmetric", "newton")):
        learner = rk.LambdaMART.plain(trees=25, leaves=8, min_rows=2, monotone=("+1", "-2"), shape=shape, criterion=criterion)
        forest, free = learner.fit(data), replace(learner, monotone=()).fit(data)
        rises = {name: [] for name in ("forest", "free")}
        for column, sign in ((0, 1), (1, -1)):
            matrix = np.repeat(random.uniform(-1, 1, (40, 4)), 60, axis=0)
            matrix[:, column] = np.tile(np.linspace(-1, 1, 60), 40)
            for name, one in (("forest", forest), ("free", free)):
                rises[name] += (sign * np.diff(one.score(matrix).reshape(40, 60), axis=1)).ravel().tolist()
        assert min(rises["forest"]) >= -1e-12
        assert max(rises["forest"]) > 0.01
        assert min(rises["free"]) < -0.01  # without the constraint the data say otherwise


def test_an_empty_side_does_not_bound_its_sibling():
    """The second level of a symmetric tree asks f0 of rows that all go left: the empty side has no value of its own."""
    matrix = np.asarray([[0, 0], [1, 0], [0, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    push = np.asarray([1.0, 3.0, 1.0, 3.0, 9.0, 9.0])
    shape = TreeSettings(leaves=4, min_rows=1, shape="symmetric", monotone=("+f0",))
    tree, _ = grow_one(shape, matrix, push, np.ones(6))
    assert [tree.value[leaf] for leaf in leaves_of(tree, matrix)] == pytest.approx(push.tolist())


def test_tiny_and_huge_pushes_make_the_same_tree():
    """Quantising follows the scale of what it is given, down to where floats end."""
    matrix, push, curvature = small_rows(7, rows=100)
    expected = grow_one(TreeSettings(min_rows=2), matrix, push, curvature)[0]
    for exponent in (-900, -300, 300, 900):
        scale = 2.0**exponent
        tree = grow_one(TreeSettings(min_rows=2), matrix, push * scale, curvature * scale)[0]
        assert tree.threshold.tobytes() == expected.threshold.tobytes()
        assert tree.value.tolist() == pytest.approx(expected.value.tolist(), rel=NEAR)
    beyond = grow_one(TreeSettings(min_rows=2), matrix, push * 2.0**-1060, curvature * 2.0**-1060)[0]
    assert beyond.feature.tolist() == [LEAF]
    assert np.isfinite(beyond.value).all()


def test_nothing_to_gain_makes_a_single_leaf():
    matrix, push, curvature = small_rows(8)
    for one, g, h in (
        (np.ones_like(matrix), push, curvature),  # constant features
        (np.full_like(matrix, np.nan), push, curvature),  # nothing but missing values
        (matrix, np.zeros_like(push), curvature),
        (matrix, push, np.zeros_like(curvature)),
        (matrix, 2.0 * curvature, curvature),  # every row agrees already
    ):
        for shape in ("best-first", "symmetric"):
            tree = grow_one(TreeSettings(min_rows=1, shape=shape), one, g, h)[0]
            assert tree.feature.tolist() == [LEAF]
    assert tree.value[0] == pytest.approx(2.0)


def test_the_grower_is_compiled_once():
    """Every mix of settings must use the same compiled kernels: a second variant costs a minute."""
    matrix, push, curvature = small_rows(9, rows=60)
    keys = np.arange(60, dtype=np.uint64)
    for shape in (TreeSettings(), TreeSettings(row_share=0.8), TreeSettings(shape="symmetric"), TreeSettings(query_share=0.9)):
        grow_one(shape, matrix, push, curvature, keys=keys if shape.draws else None, query_keys=keys if shape.draws else None)
    grown = (_growth_kernels.grow_best_first_tree, _growth_kernels.grow_symmetric_tree)
    for kernel in (*grown, _growth_kernels.add_by_codes, draw_tree_rows):
        assert len(kernel.signatures) == 1
