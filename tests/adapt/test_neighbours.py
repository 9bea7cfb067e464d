"""kNN augmentation: which background rows join the target, by definition, whatever the order, the blocks and the threads."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import contents
from oracles.neighbours import distances, seeds
from rankinite.adapt.methods.neighbours import Neighbours
from refusals import refused


def drawn(seed: int, queries: int, prefix: str, *, grid: bool = False, features: int = 4) -> rk.Dataset:
    """Judged data with missing values; on a grid many rows have the same direction."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 8, queries)
    values = random.normal(size=(sizes.sum(), features)) if not grid else random.integers(-1, 2, (sizes.sum(), features))
    values = values.astype(np.float32)
    values[random.random(values.shape) < 0.05] = np.nan
    return rk.read(
        values,
        grades=random.integers(0, 3, len(values)),
        qid=[f"{prefix}{query}" for query in np.repeat(np.arange(queries), sizes)],
    )


def shuffled(data: rk.Dataset, seed: int) -> tuple[rk.Dataset, np.ndarray]:
    """The same rows in another order, queries too; and where each now comes from."""
    random = np.random.default_rng(seed)
    order = np.concatenate(
        [random.permutation(np.arange(data.offsets[q], data.offsets[q + 1])) for q in random.permutation(data.queries)]
    )
    qids = np.asarray(data.qids)[data.query_of_row()[order]]
    return rk.read(data.features[order], grades=data.grades[order], qid=qids.tolist()), order


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    grid=st.booleans(),
    share=st.sampled_from([0.3, 0.5, 1.0]),
    seed_rows=st.sampled_from([1, 15, 10_000]),
    nearest=st.integers(1, 5),
    scaling=st.sampled_from(["standard", "none"]),
)
def test_rows_are_chosen_by_the_definition(seed, grid, share, seed_rows, nearest, scaling):
    background, target = drawn(seed, 12, "b", grid=grid), drawn(seed + 1, 8, "t", grid=grid)
    how = Neighbours(share=share, seed_rows=seed_rows, nearest=nearest, scaling=scaling, same_scale=True)
    found = how.distances(background, target)
    expected = distances(background, target, share=share, seed_rows=seed_rows, nearest=nearest, scaled=scaling == "standard")
    assert found.distance == pytest.approx([distance for distance, _ in expected], abs=1e-9)
    assert found.matches.tolist() == [matches for _, matches in expected]


def test_seeds_are_the_queries_of_lowest_entropy():
    target = drawn(3, 30, "t")
    for share, rows in ((0.1, 10_000), (0.5, 10_000), (1.0, 10_000), (1.0, 20), (1.0, 1)):
        assert Neighbours(share=share, seed_rows=rows).seeds(target).tolist() == seeds(target, share, rows)


@pytest.fixture(scope="module")
def pair():
    return drawn(1, 150, "b"), drawn(2, 30, "t")


def test_chosen_rows_stay_in_their_queries_and_in_order(pair):
    background, target = pair
    how = Neighbours(within=0.1)
    chosen, found = how.choose(background, target), how.distances(background, target)
    keep = found.matches & (found.distance <= 0.1)
    assert 0 < keep.sum() < background.rows
    assert contents(chosen) == contents(background.select_rows(keep))


def test_a_wider_limit_never_loses_rows(pair):
    background, target = pair
    before: set[int] = set()
    for within in (0.1, 0.2, 0.5, 1.0, 2.0):
        now = set(Neighbours(within=within).choose(background, target).input_row.tolist())
        assert before <= now
        before = now
    assert len(before) == Neighbours().distances(background, target).matches.sum()


@pytest.mark.parametrize("keep", [0.001, 0.1, 0.37, 1.0])
def test_a_share_of_the_matching_rows_is_kept(pair, keep):
    background, target = pair
    found = Neighbours().distances(background, target)
    matching = int(found.matches.sum())
    assert Neighbours(keep=keep).choose(background, target).rows == int(np.ceil(keep * matching))
    limit = found.limit(keep)
    assert (found.distance[found.matches] <= limit).mean() >= keep > (found.distance[found.matches] < limit).mean()


@pytest.mark.parametrize("block", [1, 7, 100_000])
def test_blocks_and_threads_change_no_bit(pair, block, monkeypatch):
    whole = Neighbours().distances(*pair)
    monkeypatch.setattr(import_module("rankinite.adapt.methods.neighbours"), "BLOCK", block)  # the name is the function too
    for count in (1, 2):
        with rk.threads(count):
            found = Neighbours().distances(*pair)
        assert (found.distance == whole.distance).all()
        assert (found.matches == whole.matches).all()


def test_the_order_of_rows_and_queries_does_not_matter(pair):
    background, target = pair
    found = Neighbours().distances(background, target)
    for seed in range(3):
        moved, order = shuffled(background, seed)
        again = Neighbours().distances(moved, shuffled(target, seed)[0])
        assert (again.distance == found.distance[order]).all()
        assert (again.matches == found.matches[order]).all()


def test_a_row_of_the_target_is_no_distance_from_itself():
    random = np.random.default_rng(0)
    target = rk.read(random.normal(size=(40, 5)), grades=[0, 1, 0, 2] * 10, group=[4] * 10)
    found = Neighbours(share=1.0, nearest=1, within=0.0)
    assert found.choose(target, target).rows == target.rows


def test_a_row_at_the_mean_is_at_right_angles_to_all():
    target = rk.read(np.asarray([[1.0, 2.0], [-1.0, -2.0], [2.0, -1.0], [-2.0, 1.0]]), grades=[0, 1, 1, 0], group=[4])
    background = rk.read(np.zeros((2, 2)), grades=[0, 1], group=[2])
    found = Neighbours().distances(background, target)
    assert found.distance.tolist() == [1.0, 1.0]


# ---- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("share", 0.0),
        ("share", 1.5),
        ("seed_rows", 0),
        ("nearest", 0),
        ("nearest", 2.5),
        ("within", -0.1),
        ("within", 2.1),
        ("within", float("nan")),
        ("keep", 0.0),
        ("keep", 1.1),
        ("scaling", "log"),
        ("same_scale", 1),
    ],
)
def test_settings_outside_their_range_are_refused(setting, value):
    with refused(rk.ArgumentError, owner="Neighbours", setting=setting):
        Neighbours(**{setting: value})


def test_data_that_cannot_be_compared_are_refused(pair):
    background, target = pair
    with refused(rk.DataError, place=target.source, value=target.queries):
        Neighbours(same_scale=True).choose(background, replace(target, grades=np.zeros(target.rows)))
    with refused(rk.DataError, place=background.source, value="4"):
        Neighbours().choose(background.rename_features(["1", "2", "4", "3"]), target)
    with refused(rk.DataError, place=background.source, value=4):
        Neighbours().choose(background, target.select_features([0, 1, 2]))
    with refused(rk.DataError, place=background.source):
        Neighbours().choose(background.map_grades(lambda grades: grades * 2), target)
    with refused(rk.DataError, place=", row 0", value="1"):
        Neighbours().choose(replace(background, features=np.full(background.features.shape, np.inf)), target)
    with refused(rk.DataError, place=target.source, value=4):
        Neighbours().choose(background, replace(target, features=np.zeros(target.features.shape)))
    with refused(rk.DataError, value="ndarray"):
        Neighbours().choose(background.features, target)


def test_limits_within_which_there_is_no_row_are_refused(pair):
    background, target = pair
    closest = Neighbours().distances(background, target).limit(0.0)
    with refused(rk.DataError, place=background.source, value=1e-9) as caught:
        Neighbours(within=1e-9).choose(background, target)
    assert f"{closest:.3g}" in caught.value.remedy
    with refused(rk.DataError, place=background.source, value=3):
        Neighbours(same_scale=True).choose(background.map_grades(lambda grades: grades + 10), target)
