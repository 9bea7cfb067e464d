"""Categories: splits are the best sets, whoever looks at the rows in whatever order; models know them by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from math import factorial

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.categories import Vocabulary
from rankinite.models.files.container import model_bytes
from rankinite.trees._state import MISSING
from rankinite.trees.bins import CategoryCounts, category_codes
from rankinite.trees.structure import LEAF
from refusals import refused

NAMES = tuple("abcdefghij")


def made(categories: int, *, rows: int = 240, seed: int = 0, missing: bool = False) -> rk.Dataset:
    """A number and a category that both matter, the second also by what the first is."""
    random = np.random.default_rng(seed)
    number, code = random.normal(size=rows), random.integers(categories, size=rows).astype(np.float32)
    effect = np.random.default_rng(7).normal(size=(2, categories))
    worth = number + effect[0][code.astype(int)] + effect[1][code.astype(int)] * (number > 0) + random.normal(0, 0.5, rows)
    if missing:
        code[random.random(rows) < 0.1] = np.nan
    return rk.Dataset(
        features=np.column_stack((number, code)).astype(np.float32),
        grades=np.clip(np.round(worth) + 2, 0, 4).astype(np.float32),
        offsets=np.arange(0, rows + 1, 12),
        qids=np.asarray([f"{seed}:{query}" for query in range(rows // 12)]),
        feature_names=("x", "c"),
        categories={"c": Vocabulary(tuple(f"v{k:03d}" for k in range(categories)))},
    )


def turned(data: rk.Dataset) -> rk.Dataset:
    """The same queries, and the same rows in each, in the opposite order."""
    order = np.concatenate([np.arange(data.offsets[q], data.offsets[q + 1])[::-1] for q in range(data.queries)][::-1])
    return replace(data, features=data.features[order], grades=data.grades[order], qids=data.qids[::-1])


def gain_of(left, grades):
    centred = grades - grades.mean()
    sides = [centred[left], centred[~left]]
    return sum(side.sum() ** 2 / len(side) for side in sides if len(side))


@pytest.mark.parametrize("categories", [3, 4, 5, 7])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("shape", ["best-first", "symmetric"])
def test_the_first_split_is_the_best_of_all_sets(categories, seed, shape):
    """One against the rest for up to four categories; beyond, the best of all subsets."""
    data = made(categories, seed=seed).select_features(["c"])
    learner = rk.MART(trees=1, leaves=2, min_rows=1, category_smooth=0.0, category_rows=1, rate=1.0, shape=shape)
    tree = learner.fit(data).trees
    sizes = [1] if categories <= 4 else range(1, categories)
    sets = chain.from_iterable(combinations(range(categories), size) for size in sizes)
    code, grades = data.features[:, 0], data.grades.astype(float)
    best = max(gain_of(np.isin(code, chosen), grades) for chosen in sets)
    assert gain_of(np.isin(code, tree.set_of(0)), grades) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("shape", ["best-first", "symmetric"])
@pytest.mark.parametrize("more", [{}, {"row_share": 0.6}, {"thresholds": "random"}, {"criterion": "mse", "min_curvature": 0.5}])
def test_neither_threads_nor_the_order_of_rows_change_a_byte(shape, more):
    data = made(20, missing=True)
    learner = rk.LambdaMART.plain(trees=4, leaves=8, min_rows=3, shape=shape, **more)
    with rk.threads(1):
        first = learner.fit(data)
    assert first.trees.has_sets
    with rk.threads(3):
        assert model_bytes(learner.fit(data).stored()) == model_bytes(first.stored())
    assert model_bytes(learner.fit(turned(data)).stored()) == model_bytes(first.stored())


@pytest.mark.parametrize("shape", ["best-first", "symmetric"])
def test_training_scores_are_those_of_the_forest(shape):
    """What training adds up by codes is what scoring by categories gives: the history's last measure is that of the model."""
    data, valid = made(30, missing=True), made(30, seed=5, missing=True)
    forest = rk.LambdaMART.plain(trees=12, leaves=8, min_rows=3, shape=shape, row_share=0.7).fit(data, valid)
    assert forest.history.valid[forest.rounds] == rk.evaluate(forest, valid, "ndcg@10")[rk.NDCG(10)].mean


def test_categories_are_matched_by_name_not_by_code():
    data = made(10)
    forest = rk.LambdaMART.plain(trees=5, leaves=6, min_rows=3).fit(data)
    names = data.categories["c"].names
    more = Vocabulary(tuple(sorted((*names, "a new one", "zzz"))))
    features = data.features.copy()
    features[:, 1] = [more.places[names[int(code)]] for code in data.features[:, 1]]
    other = replace(data, features=features, categories={"c": more})
    assert np.array_equal(forest.score(other), forest.score(data))
    assert np.array_equal(forest.score(data.features), forest.score(data))  # plain numbers are the model's codes


def test_what_is_missing_and_what_was_never_seen_go_the_same_way():
    data = made(10, missing=True)
    forest = rk.LambdaMART.plain(trees=5, leaves=6, min_rows=3).fit(data)
    rows = np.repeat(np.asarray([[0.3, np.nan]], np.float32), 4, axis=0)
    rows[1:, 1] = [10, 99, -1]
    assert len(set(forest.score(rows).tolist())) == 1
    assert not forest.trees.missing_left[forest.trees.set_sizes > 0].any()


def test_whole_numbers_are_named_by_their_value():
    data = made(6)
    numbers = Vocabulary(("3", "7", "11", "400", "5000", "60000"), numeric=True)
    forest = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3).fit(replace(data, categories={"c": numbers}))
    values = data.features.astype(np.float64)
    values[:, 1] = np.asarray([3, 7, 11, 400, 5000, 60000])[data.features[:, 1].astype(int)]
    assert np.array_equal(forest.score(values), forest.score(replace(data, categories={"c": numbers})))


def test_a_model_file_holds_sets_and_vocabularies(tmp_path):
    data = made(10)
    forest = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3).fit(data)
    forest.save(tmp_path / "m.rankinite")
    again = rk.load(tmp_path / "m.rankinite")
    assert model_bytes(again.stored()) == model_bytes(forest.stored())
    assert again.categories == dict(data.categories)
    assert np.array_equal(again.score(data), forest.score(data))
    assert b'\\"format\\":2' in model_bytes(forest.stored())
    plain = rk.LambdaMART.plain(trees=3, leaves=4).fit(data.select_features(["x"]))
    assert b'\\"format\\":1' in model_bytes(plain.stored())


def test_more_categories_than_codes_share_them_by_worth():
    random = np.random.default_rng(3)
    rows = random.integers(1, 60, 1000)
    worth = (random.normal(size=1000) * 1000 * rows).astype(np.int64)
    codes = category_codes(CategoryCounts(rows, worth, int(1e9 * rows.sum())), least=5, most=MISSING)
    assert (codes[rows < 5] == MISSING).all()
    kept = rows >= 5
    assert set(codes[kept]) == set(range(len(set(codes[kept]))))
    assert len(set(codes[kept])) <= MISSING
    shares = np.bincount(codes[kept], weights=rows[kept])
    assert shares.max() <= rows[kept].sum() / MISSING + rows.max()


def test_a_forest_of_very_many_categories_scores_each_by_its_name():
    data = made(700, rows=12_000)
    learner = rk.LambdaMART.plain(trees=4, leaves=8, category_rows=3)
    forest = learner.fit(data)
    assert forest.trees.set_codes.max() > MISSING
    assert model_bytes(learner.fit(turned(data)).stored()) == model_bytes(forest.stored())
    assert forest.history.train[forest.rounds] == rk.evaluate(forest, data, "ndcg@10")[rk.NDCG(10)].mean


def test_boosting_goes_on_from_a_forest_with_another_vocabulary():
    data, other = made(8), made(12, seed=2)
    base = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3).fit(data)
    both = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=3).fit(other, base=base)
    assert isinstance(both, rk.Forest)
    assert len(both) == 6
    assert len(both.categories["c"]) == 12
    assert np.array_equal(both.truncate(3).score(data), base.score(data))


@pytest.mark.parametrize("settings", [{}, {"splits": True}, {"trim": True}])
def test_trada_keeps_sets_and_tunes_values(settings):
    data, target = made(10), made(10, rows=60, seed=4)
    forest = rk.LambdaMART.plain(trees=5, leaves=8, min_rows=3).fit(data)
    tuned = rk.adapt.trada(forest, target, beta=10, **settings)
    assert not np.array_equal(tuned.score(target), forest.score(target))
    if settings.get("trim"):
        assert set(map(tuple, (tuned.trees.set_of(n) for n in range(len(tuned.trees.feature))))) <= set(
            map(tuple, (forest.trees.set_of(n) for n in range(len(forest.trees.feature))))
        )
        return
    assert np.array_equal(tuned.trees.set_codes, forest.trees.set_codes)
    same = rk.adapt.trada(forest, target, beta=0, **settings)
    assert np.array_equal(same.score(target), forest.score(target))


def expectation(tree, row, known, node=0):
    """What a tree adds to a row of which only some features are known, by the counts of its nodes."""
    if tree.feature[node] == LEAF:
        return tree.value[node]
    left, right, x = int(tree.left[node]), int(tree.right[node]), row[tree.feature[node]]
    if tree.feature[node] in known:
        inside = x in tree.set_of(node) if tree.set_of(node) else x <= tree.threshold[node]
        return expectation(tree, row, known, left if inside or (np.isnan(x) and tree.missing_left[node]) else right)
    share = tree.rows[left] / (tree.rows[left] + tree.rows[right])
    return share * expectation(tree, row, known, left) + (1 - share) * expectation(tree, row, known, right)


def test_contributions_are_shapley_values_over_the_features():
    data = made(10)
    data = replace(
        data,
        features=np.column_stack((data.features, data.features[::-1, :1])),
        feature_names=("x", "c", "y"),
    )
    forest = rk.LambdaMART.plain(trees=3, leaves=8, min_rows=3).fit(data)
    found = forest.contributions(data)
    trees = [forest.trees.take(t, t + 1) for t in range(3)]
    for r in (0, 17, 101):
        row = data.features[r].astype(float)
        for f in range(3):
            others = [g for g in range(3) if g != f]
            total = 0.0
            for known in chain.from_iterable(combinations(others, n) for n in range(3)):
                weight = factorial(len(known)) * factorial(2 - len(known)) / factorial(3)
                total += weight * sum(expectation(t, row, {*known, f}) - expectation(t, row, set(known)) for t in trees)
            assert found.values[r, f] == pytest.approx(total, abs=1e-9)


def test_text_and_picture_name_the_categories():
    data = made(10)
    forest = rk.LambdaMART.plain(trees=2, leaves=6, min_rows=3).fit(data)
    assert "c in {v0" in forest.text()
    tree = int(np.searchsorted(forest.trees.offsets, np.flatnonzero(forest.trees.set_sizes)[0], side="right")) - 1
    axes = forest.plot_tree(tree)
    assert any(text.get_text().startswith("c: v0") for text in axes.texts)


def test_what_cannot_take_categories_says_so():
    data = made(10)
    forest = rk.LambdaMART.plain(trees=2, leaves=4, min_rows=3).fit(data)
    with refused(rk.DataError, setting="monotone", value="+c"):
        rk.LambdaMART.plain(trees=2, monotone="+c").fit(data)
    for learner in (rk.LambdaRank(), rk.LambdaBoost()):
        with refused(rk.DataError, value="c"):
            learner.fit(data)
    numbers = rk.LambdaMART.plain(trees=2).fit(replace(data, categories={}))
    with refused(rk.DataError, value="c"):
        numbers.score(data)
    with refused(rk.DataError, value="c"):
        rk.LambdaMART.plain(trees=2).fit(replace(data, categories={}), made(10, seed=3))
    assert next(offer for offer in rk.targets(forest) if offer.target == "es-ltr").exactness is None
