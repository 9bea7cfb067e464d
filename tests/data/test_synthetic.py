"""Artificial worlds: their shares, their independence of size and threads, and what the shift does."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from oracles.datasets import contents
from rankinite.data._kernels import polynomial_values
from rankinite.data.dataset import Dataset
from rankinite.data.synthetic import BLOCK, EFFECTS, WEB_SHARES, World, category_effects, category_features, synthesise
from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError
from refusals import refused

SMALL = World(features=8, documents=5, terms=4)


def same(a: Dataset, b: Dataset) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("features", "grades", "offsets", "qids"))


def test_the_size_does_not_change_the_world() -> None:
    many = synthesise(2 * BLOCK + 3, world=SMALL)
    for queries in (1, BLOCK, BLOCK + 7):
        assert same(synthesise(queries, world=SMALL), many.select_queries(np.arange(queries)))
    noisy = World(features=8, documents=5, terms=4, noise=0.3)
    assert same(synthesise(9, world=noisy), synthesise(BLOCK + 9, world=noisy).select_queries(np.arange(9)))


def test_threads_do_not_change_the_bytes() -> None:
    with threads(1):
        one = synthesise(3 * BLOCK, world=SMALL)
    with threads(3):
        three = synthesise(3 * BLOCK, world=SMALL)
    assert same(one, three)


def test_features_are_uniform_and_grades_have_the_shares_of_the_web() -> None:
    for world, domain in ((World(), 0), (World(noise=0.5), 0), (World(shift=0.7), 1)):
        data = synthesise(1000, domain=domain, world=world)
        shares = np.bincount(data.grades.astype(int), minlength=5) / data.rows
        assert shares == pytest.approx(WEB_SHARES, abs=0.01)
        if domain == 0:
            assert (np.abs(data.features) <= 1).all()
            assert data.features.mean(axis=0) == pytest.approx(np.zeros(50), abs=0.02)
            assert data.features.var(axis=0) == pytest.approx(np.full(50, 1 / 3), abs=0.01)


def test_parts_and_domains_are_different_draws_with_different_qids() -> None:
    drawn = [synthesise(20, part=part, domain=domain, world=SMALL) for domain in (0, 1) for part in ("train", "valid", "test")]
    assert len({qid for data in drawn for qid in data.qids.tolist()}) == 6 * 20
    assert len({tuple(row) for data in drawn for row in data.features.tolist()}) == 6 * 100
    assert all(qid.isdecimal() for data in drawn for qid in data.qids.tolist())
    assert not same(drawn[0], synthesise(20, world=World(features=8, documents=5, terms=4, seed=1)))


def test_noise_changes_grades_alone() -> None:
    clear = synthesise(200, world=SMALL)
    agreement = []
    for noise in (0.1, 1.0):
        noisy = synthesise(200, world=World(features=8, documents=5, terms=4, noise=noise))
        assert (noisy.features == clear.features).all()
        agreement.append((noisy.grades == clear.grades).mean())
    assert 0.2 < agreement[1] < agreement[0] < 1


def products(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, *(x * np.roll(x, step, axis=1) for step in range(1, 5))], axis=1)


def grades_by(world: World, domain: int, data: Dataset) -> np.ndarray:
    """A linear stand-in for the domain's taste: least-squares grades on features and their products, learnt on its own data."""
    learnt = synthesise(800, domain=domain, world=world)
    features = products(learnt.features.astype(np.float64))
    weights, *_ = np.linalg.lstsq(features, learnt.grades - learnt.grades.mean(), rcond=None)
    return products(data.features.astype(np.float64)) @ weights


def test_domains_move_apart_as_the_shift_grows() -> None:
    agreement = []
    for shift in (0.0, 0.5, 1.0):
        world = World(features=8, documents=5, terms=4, shift=shift)
        target = synthesise(400, part="test", domain=1, world=world)
        agreement.append(np.corrcoef(grades_by(world, 0, target), target.grades)[0, 1])
    assert agreement[0] > agreement[1] + 0.05 > agreement[2] + 0.1
    assert abs(agreement[2]) < 0.35


def test_without_shift_the_domains_are_one_world() -> None:
    world = World(features=8, documents=5, terms=4, shift=0.0)
    zero, one = synthesise(400, world=world), synthesise(400, domain=1, world=world)
    assert one.features.min() >= -1
    assert one.features.max() <= 1
    assert np.corrcoef(grades_by(world, 0, one), one.grades)[0, 1] == pytest.approx(
        np.corrcoef(grades_by(world, 0, zero), zero.grades)[0, 1], abs=0.05
    )


def top_grade(data: Dataset, scores: np.ndarray) -> float:
    """The mean grade of the five documents of each query that stand highest."""
    queries = data.queries
    top = np.argsort(-scores.reshape(queries, -1), axis=1)[:, :5]
    return float(np.take_along_axis(data.grades.reshape(queries, -1), top, axis=1).mean())


def test_trees_learn_what_a_line_cannot_and_a_line_what_chance_cannot() -> None:
    world = World(features=10, documents=20, terms=5)
    train, test = synthesise(400, world=world), synthesise(200, part="test", world=world)
    line = Ridge().fit(train.features, train.grades)
    trees = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(train.features, train.grades)
    chance, linear, boosted, best = (
        top_grade(test, scores)
        for scores in (
            np.random.default_rng(0).random(test.rows),
            line.predict(test.features),
            trees.predict(test.features),
            test.grades,
        )
    )
    assert chance + 0.3 < linear
    assert linear + 0.15 < boosted < best


def test_domain_0_is_the_same_whatever_the_shift() -> None:
    assert same(synthesise(5, world=World(shift=0.0)), synthesise(5, world=World(shift=1.0)))


def test_documents_have_ids_when_asked() -> None:
    data = synthesise(3, world=SMALL, doc_ids=True)
    assert data.doc_ids.tolist()[:6] == ["1-0", "1-1", "1-2", "1-3", "1-4", "2-0"]
    assert len(contents(data)) == 3


def test_polynomials_are_sums_of_products() -> None:
    random = np.random.default_rng(0)
    inputs = random.random((5, 4)).astype(np.float32)
    factors = np.asarray([[0, -1, -1], [1, 2, -1], [3, 3, 0]])
    out = np.empty(5)
    polynomial_values(inputs, factors, np.asarray([2.0, -1.0, 0.5]), out)
    for (a, b, c, d), value in zip(inputs.astype(np.float64), out, strict=True):
        assert value == pytest.approx(2 * a - b * c + 0.5 * d * d * a)


@pytest.mark.parametrize(
    ("make", "setting", "value"),
    [
        (lambda: World(features=2), "features", 2),
        (lambda: World(shift=1.5), "shift", 1.5),
        (lambda: World(noise=-1), "noise", -1),
        (lambda: World(grade_shares=(0.5, 0.6)), "grade_shares", (0.5, 0.6)),
        (lambda: synthesise(0), "queries", 0),
        (lambda: synthesise(1, domain=-1), "domain", -1),
        (lambda: synthesise(1, part="dev"), "part", "dev"),
    ],
)
def test_impossible_worlds_are_refused(make: object, setting: str, value: object) -> None:
    with refused(ArgumentError, setting=setting, value=value):
        make()  # type: ignore[operator]


# ---- categories -------------------------------------------------------------------------------------------------------

LEVELS = World(features=8, documents=5, terms=4, categories=(6, 300))


def names_of(data: Dataset, feature: str) -> list[str]:
    names = data.categories[feature].names
    return [names[int(code)] for code in data.features[:, data.feature_index(feature)].tolist()]


def test_categories_come_on_top_of_the_same_numbers() -> None:
    plain, data = synthesise(BLOCK + 3, world=SMALL), synthesise(BLOCK + 3, world=LEVELS)
    assert data.feature_names == (*plain.feature_names, "brand", "shop")
    assert data.features[:, :8].tobytes() == plain.features.tobytes()
    assert data.categories["brand"].names == tuple(f"brand_{level:04}" for level in range(6))
    few = synthesise(9, world=LEVELS)
    for feature in ("brand", "shop"):
        assert names_of(few, feature) == names_of(data, feature)[: few.rows]
    assert few.grades.tolist() == data.grades[: few.rows].tolist()
    with threads(2):
        assert synthesise(BLOCK + 3, world=LEVELS).features.tobytes() == data.features.tobytes()


def test_categories_leave_the_shares_of_grades_as_they_are() -> None:
    for domain in (0, 1):
        data = synthesise(1000, domain=domain, world=World(features=8, documents=50, terms=4, categories=(20, 500), noise=0.3))
        shares = np.bincount(data.grades.astype(int), minlength=5) / data.rows
        assert np.abs(shares - WEB_SHARES).max() < 0.01


def test_levels_are_uneven_and_mean_the_same_in_all_parts() -> None:
    world = World(features=4, documents=50, terms=2, categories=(30,))
    train, test = (synthesise(800, part=part, world=world) for part in ("train", "test"))
    counts = np.bincount(train.features[:, -1].astype(int))
    assert np.sort(counts)[-1] > 4 * np.median(counts)
    mean = [
        np.bincount(data.features[:, -1].astype(int), data.grades) / np.bincount(data.features[:, -1].astype(int))
        for data in (train, test)
    ]
    assert train.categories == test.categories
    assert np.corrcoef(*mean)[0, 1] > 0.95
    assert mean[0].std() > 0.3  # of grades 0 to 4


def test_effects_move_with_the_domain() -> None:
    effects = [
        category_effects((500,), 4, shift, domain, partial(LEVELS.stream, EFFECTS))[0].main
        for shift, domain in ((0.0, 0), (0.6, 1), (1.0, 1))
    ]
    assert 0.65 < np.corrcoef(effects[0], effects[1])[0, 1] < 0.95
    assert abs(np.corrcoef(effects[0], effects[2])[0, 1]) < 0.2


@pytest.mark.parametrize("levels", [(1,), (200, 0), (2.5,), (2**24 + 1,)])
def test_numbers_of_levels_are_checked(levels: tuple[int, ...]) -> None:
    with refused(ArgumentError, owner="World", setting="categories", value=levels):
        World(categories=levels)


def test_many_categorical_features_have_names_of_their_own() -> None:
    names = list(category_features((2,) * 14))
    assert len(set(names)) == 14
    assert names[6] == "brand2"
    assert category_features((20_000,))["brand"].names[-1] == "brand_19999"
