"""What lies exactly at a limit, and which of equals wins: numbers are halves and wholes, so that nothing is rounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.growing import grow_one
from rankinite.data.categories import Vocabulary
from rankinite.trees import growth
from rankinite.trees._node_kernels import draw_features
from rankinite.trees._split_kernels import sort_codes
from rankinite.trees.bins import CategoryCounts, category_codes
from rankinite.trees.settings import MOST_LEVELS, TreeSettings
from rankinite.trees.structure import LEAF, Trees
from refusals import refused

SHAPES = ("best-first", "symmetric")
CRITERIA = ("newton", "mse")


def grown(columns, push, curvature=1.0, **wanted) -> Trees:
    """One tree over the columns given; every row has this curvature."""
    matrix = np.asarray(columns, np.float32).T
    push = np.asarray(push, float)
    return grow_one(TreeSettings(**{"min_rows": 1, **wanted}), matrix, push, np.full(len(push), curvature))[0]


# ---- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_leaf_may_have_as_few_rows_as_asked_for_and_no_fewer(criterion):
    columns, push = [[0, 0, 0, 1, 1, 1]], [1, 1, 1, -1, -1, -1]
    assert grown(columns, push, min_rows=3, criterion=criterion).rows.tolist() == [6, 3, 3]
    assert grown(columns, push, min_rows=4, criterion=criterion).rows.tolist() == [6]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_node_of_twice_as_many_rows_as_a_leaf_needs_may_be_split(criterion):
    columns, push = [[0, 0, 1, 1, 2, 2, 3, 3]], [5, 5, 3, 3, -3, -3, -5, -5]
    assert sorted(grown(columns, push, min_rows=2, criterion=criterion).rows.tolist()) == [2, 2, 2, 2, 4, 4, 8]
    uneven = grown([[0, 0, 1, 1, 2, 2, 2]], [5, 5, 4, 4, -5, -5, -5], min_rows=2, criterion=criterion)
    assert sorted(uneven.rows.tolist()) == [2, 2, 3, 4, 7]  # its sibling is too small


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_leaf_may_have_as_little_curvature_as_asked_for_and_no_less(criterion):
    columns, push = [[0, 0, 0, 1, 1, 1]], [1, 1, 1, -1, -1, -1]
    for least, rows in ((1.5, [6, 3, 3]), (float(np.nextafter(1.5, 2.0)), [6])):
        assert grown(columns, push, 0.5, min_curvature=least, criterion=criterion).rows.tolist() == rows


@pytest.mark.parametrize("limit", [{"min_rows": 3}, {"min_curvature": 1.5}])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_where_the_best_cut_leaves_too_little_the_one_exactly_at_the_limit_is_taken(criterion, limit):
    columns, push = [[0, 1, 1, 2, 2, 2, 3]], [9, 1, 1, -1, -1, -1, -1]
    tree = grown(columns, push, 0.5, leaves=2, criterion=criterion, **limit)
    assert (tree.threshold[0], tree.rows.tolist()) == (1.5, [7, 3, 4])
    tree = grown([[-value for value in columns[0]]], push, 0.5, leaves=2, criterion=criterion, **limit)
    assert (tree.threshold[0], tree.rows.tolist()) == (-1.5, [7, 4, 3])


@pytest.mark.parametrize("limit", ["rows", "curvature"])
def test_in_a_symmetric_tree_a_child_at_the_limit_has_a_value_of_its_own(limit):
    columns, push = [[0, 0, 1, 1, 1]], [1, 1, -1, -1, -1]
    for least, value in ((2, 1.0), (3, -0.2)):
        wanted = {"min_rows": least} if limit == "rows" else {"min_curvature": float(least), "criterion": "mse"}
        tree = grown(columns, push, shape="symmetric", depth=1, **wanted)
        if limit == "rows":
            assert tree.value.tolist() == pytest.approx([-0.2, value, -1.0])
        else:
            assert tree.value[tree.left[0]] == pytest.approx(value)


@pytest.mark.parametrize("shape", SHAPES)
def test_trees_have_the_leaves_and_levels_asked_for(shape):
    rows = np.arange(64)
    push = np.random.default_rng(1).integers(-9, 9, 64)
    for leaves in (2, 4, 8):
        tree = grown([rows], push, leaves=leaves, shape=shape)
        assert (tree.feature == LEAF).sum() == leaves
    for depth in (1, 2, 3):
        tree = grown([rows], push, leaves=64, depth=depth, shape=shape)
        assert (tree.feature == LEAF).sum() == 1 << depth


# ---- equals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("wanted", [{}, {"thresholds": "random"}, {"min_rows": 2}], ids=str)
def test_of_features_with_equal_gains_the_first_wins(shape, criterion, wanted):
    column = np.asarray([0, 0, 1, 1])
    constant = np.zeros(4)
    columns = [constant, column, column, *([constant] * 66), column, -column]  # also in another block of codes
    tree = grown(columns, [1, 1, -1, -1], leaves=2, shape=shape, criterion=criterion, **wanted)
    assert tree.feature.tolist() == [1, LEAF, LEAF]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_of_thresholds_with_equal_gains_the_lowest_wins(shape, criterion):
    tree = grown([[0, 1, 2]], [1, 0, -1], leaves=2, shape=shape, criterion=criterion)
    assert tree.threshold[0] == 0.5


@pytest.mark.parametrize("criterion", CRITERIA)
def test_of_thresholds_with_equal_gains_within_the_limits_the_lowest_wins(criterion):
    """The best cuts leave a single row on a side; of the others two are equal."""
    limit = {"min_rows": 2} if criterion == "newton" else {"min_curvature": 2.0}
    tree = grown([[0, 1, 2, 2, 3, 4]], [9, 0, 0, 0, 0, -9], leaves=2, criterion=criterion, **limit)
    assert (tree.threshold[0], tree.rows.tolist()) == (1.5, [6, 2, 4])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("thresholds", ["best", "random"])
def test_missing_values_that_may_go_either_way_go_right(shape, thresholds):
    tree = grown([[0, 1, np.nan]], [1, -1, 0], leaves=2, shape=shape, thresholds=thresholds)
    assert not tree.missing_left[0]


def test_of_leaves_with_equal_gains_the_first_is_split():
    tree = grown([[0, 0, 1, 1], [0, 1, 0, 1]], [9, 7, -7, -9], leaves=3)
    assert tree.feature.tolist() == [0, 1, LEAF, LEAF, LEAF]


@pytest.mark.parametrize("wanted", [{}, {"shape": "symmetric"}, {"min_rows": 2}], ids=str)
def test_between_sides_of_equal_weight_a_value_missing_for_the_first_time_goes_left_but_at_a_level_right(wanted):
    """A level of a symmetric tree has no one heavier side."""
    tree = grown([[0, 0, 1, 1]], [1, 1, -1, -1], leaves=2, **wanted)
    assert tree.missing_left[0] == ("shape" not in wanted)


def test_between_sides_of_equal_rows_within_the_limits_it_goes_left_too():
    tree = grown([[0, 1, 1, 2, 2, 3]], [9, 1, 1, -1, -1, -1], leaves=2, min_rows=3)
    assert tree.rows.tolist() == [6, 3, 3]
    assert tree.missing_left[0]


# ---- categories -----------------------------------------------------------------------------------------------------


def with_category(codes, grades) -> rk.Dataset:
    names = tuple(f"v{number}" for number in range(int(np.nanmax(codes)) + 1))
    return rk.Dataset(
        features=np.asarray(codes, np.float32)[:, None],
        grades=np.asarray(grades, np.float32),
        offsets=np.asarray([0, len(codes)]),
        qids=np.asarray(["q"]),
        feature_names=("c",),
        categories={"c": Vocabulary(names)},
    )


def category_tree(codes, grades, **wanted) -> Trees:
    options = {"trees": 1, "leaves": 2, "min_rows": 1, "category_rows": 1, "category_smooth": 0.0, "rate": 1.0, **wanted}
    return rk.MART(**options).fit(with_category(codes, grades)).trees


@pytest.mark.parametrize("shape", SHAPES)
def test_of_two_sides_of_equal_weight_the_set_is_the_one_that_scores_lower(shape):
    for codes in ([0, 0, 1, 1], [1, 1, 0, 0]):
        tree = category_tree(codes, [0, 0, 1, 1], shape=shape)
        assert tree.set_of(0) == [codes[0]]
    light = category_tree([0, 0, 0, 1], [0, 0, 0, 1], shape=shape)
    assert light.set_of(0) == [1]


def test_missing_values_that_may_go_with_either_side_of_a_category_go_with_the_one_that_scores_higher():
    assert category_tree([0, 1, np.nan], [0, 4, 2]).set_of(0) == [0]


@pytest.mark.parametrize(("least", "left"), [(1, [0]), (3, [0, 1]), (4, [0, 1, 4])])
@pytest.mark.parametrize("limit", ["rows", "curvature"])
def test_the_sides_of_a_category_may_be_as_small_as_asked_for(least, left, limit):
    """By falling means the order begins with 0, 1, 4: the best set has a single row, the next best three, then four."""
    codes, grades = [0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5], [30, 6, 6, 0, 0, 0, 0, 0, 2, 0, 0]
    wanted = {"min_rows": least} if limit == "rows" else {"min_curvature": float(least), "criterion": "mse"}
    tree = category_tree(codes, grades, **wanted)
    assert tree.set_of(0) == left
    assert tree.rows.tolist() == [11, least, 11 - least]


def test_a_category_with_as_many_rows_as_asked_for_is_told_apart():
    codes, grades = [0] * 3 + [1] * 3 + [2] * 2, [0] * 3 + [4] * 3 + [9] * 2
    tree = category_tree(codes, grades, leaves=9, category_rows=3)
    assert {code for node in range(len(tree.feature)) for code in tree.set_of(node)} <= {0, 1}
    assert tree.feature[0] != LEAF


@given(st.lists(st.integers(-3, 3).map(float), max_size=120))
@settings(max_examples=60, deadline=None)
def test_codes_are_sorted_by_their_means_and_equal_ones_by_code(means):
    keys, codes = np.asarray(means), np.random.default_rng(len(means)).permutation(len(means))
    wanted = codes[np.lexsort((codes, keys))].tolist()
    sort_codes(keys.copy(), codes, len(means))
    assert codes.tolist() == wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_four_categories_at_most_are_tried_one_against_the_rest_and_without_smoothing(shape):
    codes, grades = [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3], [30, 6, 6, 6, 0, 0, 0, 5, 5, 5, 5]
    gains = [category_tree(codes, grades, shape=shape, category_smooth=smooth).gain[0] for smooth in (0.0, 100.0)]
    assert gains[0] == gains[1]
    five = [category_tree([*codes, 4], [*grades, 9], shape=shape, category_smooth=smooth).gain[0] for smooth in (0.0, 1.0)]
    assert five[0] > five[1]


def test_within_the_limits_too_four_categories_are_tried_one_against_the_rest():
    """The best, 0, has a single row; 2 and 3 together would gain more than 2 alone."""
    codes, grades = [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3], [30, 6, 6, 6, 0, 0, 0, 5, 5, 5, 5]
    assert category_tree(codes, grades).set_of(0) == [0]
    assert category_tree(codes, grades, min_rows=2).set_of(0) == [2]


def test_as_many_categories_as_codes_have_one_each_and_one_more_shares():
    for categories, codes in ((6, 6), (7, 6)):
        rows, worth = np.arange(1, categories + 1) ** 2, np.arange(categories)
        found = category_codes(CategoryCounts(rows, worth, 9), least=1, most=6)
        assert len(set(found.tolist())) <= codes
        assert (len(set(found.tolist())) == categories) == (categories == 6)


# ---- draws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_a_random_threshold_always_parts_what_can_be_parted(shape):
    for seed in range(12):
        tree = grown([[0, 0, 1, 1]], [1, 1, -1, -1], leaves=2, shape=shape, thresholds="random", seed=seed)
        assert tree.threshold[0] == 0.5


@given(st.lists(st.booleans(), min_size=1, max_size=40).filter(any), st.floats(0.01, 1.0), st.integers(0, 2**63))
@settings(max_examples=60, deadline=None)
@np.errstate(over="ignore")
def test_as_many_features_are_drawn_as_the_share_asks_for_rounded_up(used, share, seed):
    allowed, flags = np.zeros(len(used), bool), np.asarray(used)
    draw_features(flags, share, np.uint64(seed), allowed)
    assert allowed.sum() == np.ceil(share * flags.sum())
    assert not (allowed & ~flags).any()


def test_a_tree_draws_its_share_of_the_features_and_at_least_one():
    rows = np.random.default_rng(2).integers(0, 9, (6, 60))
    push = np.random.default_rng(3).integers(-9, 9, 60)
    for share, most in ((0.5, 3), (0.01, 1)):
        trees = [grown(rows, push, leaves=30, feature_share=share, seed=seed) for seed in range(5)]
        counts = [len(set(tree.feature.tolist()) - {LEAF}) for tree in trees]
        assert max(counts) == most


# ---- rows that a forest has room for -------------------------------------------------------------------------------


def test_beyond_the_rows_that_cells_are_precise_for_training_warns_and_says_what_to_do(monkeypatch):
    data = rk.synthesise(20, world=rk.World(features=5, documents=10))
    learner = rk.LambdaMART.plain(trees=2, leaves=4, min_rows=2)
    monkeypatch.setattr(growth, "PRECISE", 200)
    learner.fit(data)  # warnings are errors in tests: there is none
    monkeypatch.setattr(growth, "PRECISE", 100)
    with pytest.warns(UserWarning, match=r"200 rows: beyond 100 in a tree.*query_share=0\.5"):
        learner.fit(data)
    replace(learner, query_share=0.5).fit(data)


def test_as_many_rows_as_a_cell_can_count_are_too_many(monkeypatch):
    monkeypatch.setattr(growth, "LOW", 6)
    learner = rk.LambdaMART.plain(trees=1, leaves=4, min_rows=2)
    learner.fit(rk.synthesise(7, world=rk.World(features=5, documents=9)))
    with refused(rk.DataError, value=64):
        learner.fit(rk.synthesise(8, world=rk.World(features=5, documents=8)))


def test_a_symmetric_tree_may_have_a_million_leaves_and_no_more():
    assert TreeSettings(shape="symmetric", leaves=(2 << MOST_LEVELS) - 1).levels() == MOST_LEVELS
    with refused(rk.ArgumentError, setting="leaves", value=2 << MOST_LEVELS):
        TreeSettings(shape="symmetric", leaves=2 << MOST_LEVELS)
