"""How far the target's rows are from the background's: laws of what is seen, with the background's data and without."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.adapting import shuffled
from rankinite.adapt.shift import ROWS, TREES, seen_shift, told_apart
from rankinite.data.preferences import Preferences
from rankinite.errors import DataError

SHIFT = importlib.import_module("rankinite.adapt.shift")
SHIFTS = (0.0, 0.1, 0.2, 0.5, 0.9)


def world(shift, **settings):
    return rk.World(features=6, documents=10, shift=shift, **settings)


def source(queries=100, **settings):
    return rk.synthesise(queries, world=world(0.0, **settings))


def alike(queries=60, **settings):
    """Other queries of the background's own domain."""
    return rk.synthesise(queries, world=world(0.0, **settings), part="valid")


def far(shift=0.9, queries=60, **settings):
    return rk.synthesise(queries, world=world(shift, **settings), domain=1)


@pytest.fixture(scope="module")
def forest():
    return rk.LambdaMART.plain(trees=20, leaves=6, min_rows=5).fit(source())


@pytest.fixture(scope="module")
def linear():
    return rk.LambdaRank(hidden=(), epochs=3).fit(source())


# ---- with the background's data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_halves_of_a_domain_are_not_told_apart_and_far_domains_are(seed):
    first, second = rk.split(source(160, seed=seed), (0.5, 0.5), seed=seed)
    assert told_apart(first, second, seed) == pytest.approx(0.5, abs=0.06)
    assert told_apart(first, far(seed=seed), seed) > 0.95
    assert seen_shift(rk.Feature(0), first, second, seed) < 0.12
    assert seen_shift(rk.Feature(0), first, far(seed=seed), seed) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_what_is_seen_grows_with_the_shift(seed):
    seen = [seen_shift(rk.Feature(0), source(seed=seed), far(shift, seed=seed), 0) for shift in SHIFTS]
    assert seen == sorted(seen)
    assert seen[0] < 0.1 < seen[1] < seen[-1] <= 1.0


class Scorer:
    """In place of the learner: scores every row by one feature, and keeps what was learnt from and scored."""

    def __init__(self, column):
        self.column, self.learnt, self.scored = column, [], []

    def plain(self, **_settings):
        return self

    def fit(self, data, **_settings):
        self.learnt.append(data)
        return self

    def score(self, data):
        self.scored.append(data)
        return np.round(data.features[:, self.column], 1).astype(float)  # with ties


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 9), st.integers(2, 9), st.integers(0, 5))
def test_it_is_the_share_of_pairs_that_are_told_apart_on_queries_held_out(seed, before, after, column):
    """Oracle: all pairs of a background row and a target row of a part, one by one; equal scores count half."""
    ours, theirs = source(before, seed=seed), far(0.3, after, seed=seed)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SHIFT, "MART", scorer := Scorer(column))
        found = told_apart(ours, theirs, seed)
    total = 0.0
    for held_before, held_after in zip(scorer.scored[::2], scorer.scored[1::2], strict=True):
        one, other = (np.round(held.features[:, column], 1) for held in (held_before, held_after))
        pairs = [0.5 * (float(low) == float(high)) + (float(low) < float(high)) for low in one for high in other]
        total += np.mean(pairs) * len(other)
    assert found == pytest.approx(total / theirs.rows)
    for domain, held in ((ours, scorer.scored[::2]), (theirs, scorer.scored[1::2])):
        assert sorted(qid for part in held for qid in part.qids.tolist()) == sorted(domain.qids.tolist())
        assert all(part.rows == 10 * part.queries for part in held)  # whole queries
    for number, learnt in enumerate(scorer.learnt):
        rows = {row.tobytes() for part in scorer.scored[2 * number : 2 * number + 2] for row in part.features}
        assert not rows & {row.tobytes() for row in learnt.features}
        assert set(learnt.grades.tolist()) == {0.0, 1.0}  # which domain a row is of


def test_neither_the_order_of_queries_nor_of_rows_matters():
    ours, theirs = source(30), far(0.2, 20)
    turned = [shuffled(data, seed)[0] for seed, data in enumerate((ours, theirs))]
    assert told_apart(*turned, 3) == told_apart(ours, theirs, 3)


def test_neither_grades_nor_weights_nor_preferences_nor_positions_count():
    ours, theirs = source(30), far(0.2, 20)
    expected = told_apart(ours, theirs, 0)
    weighted = replace(ours, weights=np.linspace(0.0, 3.0, 30))
    preferring = replace(theirs, preferences=Preferences(np.asarray([0, 11]), np.asarray([1, 10]), np.asarray([0.9, 0.6])))
    shown = replace(ours, positions=np.tile(np.arange(1, 11), 30), grades=np.zeros(ours.rows, np.float32))
    for one, other in ((weighted, preferring), (shown, theirs), (weighted, replace(theirs, batches=["a"] * 20))):
        assert told_apart(one, other, 0) == expected


def of_queries(queries, seed, documents=20):
    """Features that are the same for all documents of a query."""
    random = np.random.default_rng(seed)
    features = np.repeat(random.normal(size=(queries, 4)), documents, axis=0)
    grades = random.integers(0, 3, queries * documents)
    return rk.read(features, grades=grades, qid=np.repeat([f"{seed} {place}" for place in range(queries)], documents))


def test_features_of_queries_do_not_feign_a_shift():
    """Rows of a query held out would be told by those of the same query that were learnt from."""
    ours, theirs = of_queries(60, 1), of_queries(40, 2)
    found = [told_apart(ours, theirs, seed) for seed in range(5)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.1)


def test_what_chance_makes_of_features_of_queries_is_taken_off():
    """On average over targets next to nothing is left of the distance at which a shift is 1 − 1/e."""
    many = of_queries(2000, 3)  # what a background remembers does not say how many queries its rows are of
    regression = rk.MART.plain(trees=10, leaves=6, min_rows=5).fit(many)
    centre = many.features.mean(axis=0)
    linear = rk.Linear(many.feature_names, np.ones(4), centre=centre)
    targets = [of_queries(40, seed) for seed in range(4, 44)]
    leaves = [SHIFT._leaf_distance(regression, list(range(10)), target) for target in targets]
    centres = [SHIFT._centre_distance(linear, centre, target) for target in targets]
    for distances, scale in ((leaves, SHIFT.OCCUPANCY), (centres, SHIFT.CENTRES)):
        assert abs(np.mean(distances)) < 0.25 * scale


@pytest.mark.parametrize(("before", "after"), [(1, 20), (20, 1), (1, 1), (2, 2)])
def test_one_query_tells_nothing_and_two_are_enough_to_look(before, after):
    found = told_apart(source(before), far(0.9, after), 0)
    assert found == 0.5 if min(before, after) < 2 else 0.0 <= found <= 1.0


def test_features_that_never_vary_tell_nothing():
    data = rk.read(np.ones((40, 3)), grades=[0, 1] * 20, group=[4] * 10)
    assert told_apart(data, data, 0) == 0.5


def test_of_many_rows_some_queries_are_looked_at_and_never_too_few(monkeypatch):
    monkeypatch.setattr(SHIFT, "MART", scorer := Scorer(0))
    many = rk.read(np.random.default_rng(0).normal(size=(4 * ROWS, 2)), grades=[0, 1] * 2 * ROWS, group=[20] * (ROWS // 5))
    told_apart(many, source(10).select_features([0, 1]), 0)
    rows = sum(part.rows for part in scorer.scored[::2])
    assert rows == pytest.approx(ROWS, rel=0.02)
    for queries in (1, 2, 4):  # of which a share would leave none
        large = rk.read(np.zeros((queries * 3 * ROWS, 2)), grades=[0] * (queries * 3 * ROWS), group=[3 * ROWS] * queries)
        assert told_apart(large, source(10).select_features([0, 1]), 0) >= 0.0


def test_categories_and_missing_values_are_features_like_others():
    settings = {"categories": (8,)}
    assert told_apart(source(**settings), alike(**settings), 0) == pytest.approx(0.5, abs=0.08)
    assert told_apart(source(**settings), far(**settings), 0) > 0.9
    data, other = source(), alike()
    holes = replace(other, features=np.where(np.arange(6) == 2, np.nan, other.features).astype(np.float32))
    assert told_apart(data, other, 0) < 0.6
    assert told_apart(data, holes, 0) > 0.95  # that a value is missing tells more than any value
    trained = rk.LambdaMART.plain(trees=10, leaves=6, min_rows=5).fit(source(**settings))
    assert seen_shift(trained, None, alike(**settings), 0) < 0.2
    assert seen_shift(trained, None, far(**settings), 0) > 0.8
    assert 0.0 <= seen_shift(rk.LambdaMART.plain(trees=5, leaves=4).fit(data), None, holes, 0) <= 1.0


def test_data_that_cannot_be_joined_leave_what_the_background_remembers():
    """A feature that is a category in one and a number in the other."""
    ours, theirs = source(categories=(8,)), far(0.2, categories=(8,))
    trained = rk.LambdaMART.plain(trees=10, leaves=6, min_rows=5).fit(ours)
    assert seen_shift(trained, replace(ours, categories={}), theirs, 0) == seen_shift(trained, None, theirs, 0)


# ---- without ------------------------------------------------------------------------------------------------------------


def test_without_data_leaves_and_centres_see_the_same(forest, linear):
    """The distance of each is brought to the classifier's scale."""
    for shift in SHIFTS:
        expected = seen_shift(rk.Feature(0), source(), far(shift), 0)
        for ranker in (forest, linear):
            assert seen_shift(ranker, None, far(shift), 0) == pytest.approx(expected, abs=0.3)
    for ranker in (forest, linear):
        assert seen_shift(ranker, None, alike(), 0) < 0.15
        assert seen_shift(ranker, None, far(), 0) > 0.9


@pytest.mark.parametrize("queries", [1, 2, 5])
def test_few_queries_give_a_number_without_data_too(forest, linear, queries):
    for ranker in (forest, linear):
        for target in (alike(queries), far(0.9, queries)):
            assert 0.0 <= seen_shift(ranker, None, target, 0) <= 1.0


def test_neither_the_order_of_queries_nor_of_rows_matters_to_what_is_remembered(forest, linear):
    theirs = far(0.2, 20)
    turned = shuffled(theirs, 1)[0]
    for ranker in (forest, linear):
        assert seen_shift(ranker, None, turned, 0) == pytest.approx(seen_shift(ranker, None, theirs, 0), rel=1e-9)


def test_leaf_shares_are_compared_tree_by_tree(forest):
    """Oracle: one tree of two leaves, whose shares are counted by hand; many queries leave nothing to chance."""
    stump = rk.LambdaMART.plain(trees=1, leaves=2, min_rows=5).fit(source())
    tree = stump.trees
    random = np.random.default_rng(0)
    features = np.zeros((40_000, 6), np.float32)
    column, threshold = int(tree.feature[0]), float(tree.threshold[0])
    left = random.random(40_000) < 0.9
    features[:, column] = np.where(left, threshold - 1.0, threshold + 1.0)
    data = rk.Dataset.from_rows(features, np.zeros(40_000), np.arange(40_000).astype(str), source().feature_names)
    before = tree.rows[tree.left[0]] / tree.rows[0]
    away = abs(before - left.mean())  # in both leaves; half their sum
    chance = np.sqrt(2.0 / np.pi * (before * (1.0 - before) / tree.rows[0] + left.mean() * (1.0 - left.mean()) / 40_000))
    assert seen_shift(stump, None, data, 0) == pytest.approx(1.0 - np.exp(-(away - chance) / SHIFT.OCCUPANCY), abs=0.01)


def test_what_a_blend_remembers_is_what_its_first_part_does_that_remembers_anything(forest, linear):
    theirs = far(0.2)
    assert seen_shift(0.5 * forest + 0.5 * linear, None, theirs, 0) == seen_shift(forest, None, theirs, 0)
    assert seen_shift(rk.Feature(0) + 0.5 * linear + forest, None, theirs, 0) == seen_shift(linear, None, theirs, 0)


def test_what_remembers_nothing_sees_nothing(forest):
    theirs = far()
    imported = replace(forest, trees=replace(forest.trees, rows=np.zeros_like(forest.trees.rows)))
    plain = rk.Linear(theirs.feature_names, np.ones(6))
    for ranker in (rk.Feature(0), imported, plain, rk.Feature(0) + imported):
        assert seen_shift(ranker, None, theirs, 0) is None


def test_trees_that_do_not_know_their_rows_are_passed_over(forest):
    """A forest from elsewhere that was trained further here."""
    theirs, trees = far(0.2), forest.trees
    unknown = np.where(np.arange(len(trees.rows)) < trees.offsets[10], 0, trees.rows)
    partly = replace(forest, trees=replace(trees, rows=unknown))
    later = replace(forest, trees=trees.take(10, 20))
    assert seen_shift(partly, None, theirs, 0) == seen_shift(later, None, theirs, 0)
    assert TREES >= 20


def test_only_the_first_trees_count(forest, monkeypatch):
    monkeypatch.setattr(SHIFT, "TREES", 5)
    theirs = far(0.2)
    assert seen_shift(forest, None, theirs, 0) == seen_shift(forest.truncate(5), None, theirs, 0)


def test_other_errors_than_that_nothing_varies_are_not_hidden(monkeypatch):
    """Data with other features cannot be told apart at all."""
    with pytest.raises(DataError):
        told_apart(source(10), far(0.9, 10).select_features([0, 1]), 0)
