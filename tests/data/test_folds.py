"""Splits cover the queries once, and depend on the qids and the seed alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.datasets import contents, random_dataset
from rankinite.data.folds import batch_folds, holdouts, k_folds, rotating_folds, split
from rankinite.errors import ArgumentError, DataError
from refusals import refused


def qids(data: object) -> set[str]:
    return set(data.qids.tolist())  # type: ignore[attr-defined]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(10, 40))
def test_parts_are_disjoint_and_cover(seed: int, queries: int) -> None:
    data = random_dataset(seed, queries)
    parts = split(data, seed=seed)
    assert sum(part.queries for part in parts) == queries
    assert {qid: said for part in parts for qid, said in contents(part).items()} == contents(data)
    for share, part in zip((0.6, 0.2, 0.2), parts, strict=True):
        assert abs(part.queries - share * queries) <= 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 5))
def test_the_order_of_queries_does_not_matter(seed: int, fold: int) -> None:
    data = random_dataset(seed, 12)
    turned = data.select_queries(np.random.default_rng(seed).permutation(12))
    assert [qids(part) for part in split(data, seed=seed)] == [qids(part) for part in split(turned, seed=seed)]
    a, b = k_folds(data, 6, seed=seed)[fold], k_folds(turned, 6, seed=seed)[fold]
    assert [qids(part) for part in a] == [qids(part) for part in b]


def test_seeds_differ_and_shares_may_leave_queries_out() -> None:
    data = random_dataset(0, 40)
    assert qids(split(data, (0.5,), seed=0)[0]) != qids(split(data, (0.5,), seed=1)[0])
    assert [part.queries for part in split(data, (0.1, 0.25))] == [4, 10]


def test_k_folds_test_each_query_once() -> None:
    data = random_dataset(1, 23)
    folds = k_folds(data, 5)
    assert sorted(qid for fold in folds for qid in fold.test.qids.tolist()) == sorted(data.qids.tolist())
    for number, fold in enumerate(folds):
        assert qids(fold.valid) == qids(folds[(number + 1) % 5].test)
        assert qids(fold.train) | qids(fold.valid) | qids(fold.test) == qids(data)
        assert fold.train.queries + fold.valid.queries + fold.test.queries == data.queries


def test_rotating_folds_are_those_of_letor() -> None:
    data = random_dataset(2, 10)
    parts = [data.select_queries([2 * number, 2 * number + 1]) for number in range(5)]
    folds = rotating_folds(parts)
    letor = [((0, 1, 2), 3, 4), ((1, 2, 3), 4, 0), ((2, 3, 4), 0, 1), ((3, 4, 0), 1, 2), ((4, 0, 1), 2, 3)]
    for fold, (train, valid, test) in zip(folds, letor, strict=True):
        assert fold.train.qids.tolist() == [qid for number in train for qid in parts[number].qids.tolist()]
        assert qids(fold.valid) == qids(parts[valid])
        assert qids(fold.test) == qids(parts[test])


def test_batches_make_the_parts() -> None:
    data = random_dataset(3, 9)
    folds = batch_folds(data)
    assert [set(fold.test.batches.tolist()) for fold in folds] == [{"c"}, {"a"}, {"b"}]
    assert [set(fold.train.batches.tolist()) for fold in folds] == [{"a"}, {"b"}, {"c"}]


def test_impossible_splits_are_refused() -> None:
    data = random_dataset(4)
    for shares in (0.8, "0.8", None):
        with refused(ArgumentError, owner="split", setting="shares", value=shares):
            split(data, shares)
    for shares in ((), (0.5, 0.6), (0.5, 0.0), (-0.1,)):
        with refused(ArgumentError, owner="split", setting="shares", value=shares):
            split(data, shares)
    with refused(ArgumentError, place=data.source, setting="shares", value=(0.9, 0.01)):
        split(data, (0.9, 0.01))
    for k in (2, 8):
        with refused(ArgumentError, owner="k_folds", setting="k", value=k):
            k_folds(data, k)
    with refused(ArgumentError, owner="rotating_folds", value=2):
        rotating_folds([data, data])
    with refused(DataError, place=f"{data.source} + {data.source}", value="q0"):
        rotating_folds([data, data, data, data])
    with refused(DataError, place=data.source) as caught:
        batch_folds(replace(data, batches=None))
    assert "batch=" in caught.value.remedy


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 9), st.booleans())
def test_each_query_dealt_is_held_out_once_and_others_stay(seed: int, k: int, some: bool) -> None:
    data = random_dataset(seed, 20)
    dealt = np.random.default_rng(seed).choice(20, 12, replace=False) if some else np.arange(20)
    parts = holdouts(data, k, queries=dealt if some else None, seed=seed)
    assert len(parts) == k
    assert sorted(qid for part in parts for qid in part.held.qids.tolist()) == sorted(data.qids[dealt].tolist())
    assert {part.held.queries for part in parts} <= {len(dealt) // k, -(-len(dealt) // k)}
    for part in parts:
        assert contents(part.rest) | contents(part.held) == contents(data)
        assert part.rest.queries + part.held.queries == data.queries
        assert data.features[part.rows].tobytes() == part.held.features.tobytes()
        inside = np.isin(data.qids[data.query_of_row()], part.held.qids)
        assert part.rows.tolist() == np.flatnonzero(inside).tolist()


def test_held_out_parts_do_not_depend_on_the_order_of_queries() -> None:
    data = random_dataset(5, 15)
    turned = data.select_queries(np.random.default_rng(1).permutation(15))
    for seed in range(3):
        parts = [[qids(part.held) for part in holdouts(whole, 4, seed=seed)] for whole in (data, turned)]
        assert parts[0] == parts[1]
    assert [qids(part.held) for part in holdouts(data, 4)] != [qids(part.held) for part in holdouts(data, 4, seed=1)]


@pytest.mark.parametrize(("k", "queries"), [(0, None), (1, None), (16, None), (4, [1, 2, 3]), (2, [])])
def test_parts_need_two_of_each(k: int, queries: list[int] | None) -> None:
    dealt = None if queries is None else np.asarray(queries, np.int64)
    with refused(ArgumentError, place="random 0", value=k):
        holdouts(random_dataset(0, 15), k, queries=dealt)
