"""Folds and splits by query: seeded shares, k folds, LETOR's rotating folds, folds by a batch column.

Seeded splits depend on the set of qids and the seed alone, not on the order of the queries in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import distinct
from rankinite.data.identity import feature_keys, query_keys
from rankinite.data.joining import concat
from rankinite.engine.kernel import Flags, Indices, Strings
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.plurals import counted
from rankinite.seeds import generator


class Fold(NamedTuple):
    """One division of the data."""

    train: Dataset
    valid: Dataset
    test: Dataset


class Holdout(NamedTuple):
    """Some queries held out, and all others."""

    rest: Dataset
    held: Dataset
    rows: Indices
    """Which rows of the whole are held out."""


def split(data: Dataset, shares: Sequence[float] = (0.6, 0.2, 0.2), *, seed: int = 0) -> tuple[Dataset, ...]:
    """Disjoint parts with these shares of the queries; shares that add up to less than 1 leave queries out.

    >>> train, valid, test = split(data)                                                   # doctest: +SKIP
    """
    given: Any = shares
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        raise ArgumentError(
            "is not a list of shares",
            owner="split",
            setting="shares",
            value=given,
            remedy="Give the share of each part, as in (0.8, 0.2)",
        )
    if not len(shares) or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
        raise ArgumentError(
            "must be positive and add up to at most 1",
            owner="split",
            setting="shares",
            value=tuple(shares),
            remedy="(0.6, 0.2, 0.2) is usual",
        )
    shuffled = _shuffled_queries(data, seed)
    bounds = np.floor(np.cumsum((0.0, *shares)) * data.queries + 0.5).astype(np.int64)
    parts = [shuffled[first:last] for first, last in pairwise(bounds.tolist())]
    for share, part in zip(shares, parts, strict=True):
        if not len(part):
            raise ArgumentError(
                f"leaves the share {share:g} without a query, as there are {data.queries}",
                owner="split",
                place=data.source,
                setting="shares",
                value=tuple(shares),
                remedy="Make it larger",
            )
    return tuple(_in_source_order(data, part) for part in parts)


def k_folds(data: Dataset, k: int, *, seed: int = 0) -> list[Fold]:
    """Fold i tests on part i of k, validates on the next part and trains on the others; each query is tested once."""
    _check_count(k, data.queries, owner="k_folds", setting="k", place=data.source)
    parts = np.array_split(_shuffled_queries(data, seed), k)
    folds: list[Fold] = []
    for number in range(k):
        rest = [parts[other] for other in range(k) if other not in (number, (number + 1) % k)]
        chosen = (np.concatenate(rest), parts[(number + 1) % k], parts[number])
        folds.append(Fold(*(_in_source_order(data, part) for part in chosen)))
    return folds


def holdouts(data: Dataset, k: int, *, queries: Indices | None = None, seed: int = 0) -> list[Holdout]:
    """Queries in k disjoint parts, each held out once. ``queries``: only these are held out; the others always stay."""
    dealt = _shuffled_queries(data, seed)
    if queries is not None:
        dealt = dealt[np.isin(dealt, queries)]
    if not 2 <= k <= len(dealt):
        raise ArgumentError(
            f"{counted(len(dealt), 'query')} cannot be held out in {counted(k, 'part')}",
            place=data.source,
            value=k,
            rule="There must be at least 2 parts, each of at least one query",
        )
    return [_holdout(data, np.isin(np.arange(data.queries), held)) for held in np.array_split(dealt, k)]


def holdouts_by_content(data: Dataset, k: int, *, seed: int = 0) -> list[Holdout]:
    """As :func:`holdouts`, but queries of the same documents, such as the sessions of a click log, are held out together."""
    groups = np.unique(query_keys(feature_keys(data), data), return_inverse=True)[1]
    if groups.max(initial=0) + 1 < k:
        return holdouts(data, k, seed=seed)
    part_of_group = generator(seed).permutation(groups.max() + 1) % k
    return [_holdout(data, part_of_group[groups] == part) for part in range(k)]


def held_out_batches(data: Dataset) -> list[Holdout]:
    """The batches of the data, each held out once."""
    names = _batches(data)
    if len(names) < 2:
        raise DataError(
            f"its queries are all of the batch {quoted(str(names[0]))}" if len(names) else "it has no queries",
            place=data.source,
            value=len(names),
            rule="To hold one out there must be two",
            remedy="Give a number of `folds`",
        )
    return [_holdout(data, data.batches == name) for name in names]


def rotating_folds(parts: Sequence[Dataset]) -> list[Fold]:
    """LETOR's folds: of n parts, fold k trains on n − 2 from part k on, validates on the next and tests on the last.

    Parts are counted round, so each is tested once. Their qids must differ.
    """
    _check_count(len(parts), sum(part.queries for part in parts), owner="rotating_folds")
    folds: list[Fold] = []
    for first in range(len(parts)):
        turned = [*parts[first:], *parts[:first]]
        folds.append(Fold(concat(turned[:-2]), turned[-2], turned[-1]))
    return folds


def batch_folds(data: Dataset) -> list[Fold]:
    """Rotating folds whose parts are the data's batches, in sorted order."""
    names = _batches(data)
    _check_count(len(names), data.queries, owner="batch_folds", place=data.source)
    return rotating_folds([data.select_queries(np.flatnonzero(data.batches == name)) for name in names])


def batch_holdouts(data: Dataset, *, valid: float = 0.1, seed: int = 0) -> list[Fold]:
    """Folds that test each batch once and train on all others, but for a share of their queries that validates."""
    folds: list[Fold] = []
    for batch in _batches(data):
        held = data.batches == batch
        train, stop = split(data.select_queries(np.flatnonzero(~held)), (1.0 - valid, valid), seed=seed)
        folds.append(Fold(train, stop, data.select_queries(np.flatnonzero(held))))
    return folds


def _holdout(data: Dataset, held: Flags) -> Holdout:
    rows = np.flatnonzero(np.repeat(held, np.diff(data.offsets)))
    return Holdout(data.select_queries(~held), data.select_queries(held), rows)


def _batches(data: Dataset) -> Strings:
    if data.batches is None:
        raise DataError(
            "its queries have no batches", place=data.source, remedy="Read it with `batch='…'`, the column that names them"
        )
    return distinct(data.batches)[0]


def _shuffled_queries(data: Dataset, seed: int) -> Indices:
    by_name = np.argsort(data.qids, kind="stable")  # sorted first, so that the order in the file does not matter
    return by_name[generator(seed).permutation(data.queries)]


def _in_source_order(data: Dataset, queries: Indices) -> Dataset:
    return data.select_queries(np.sort(queries))


def _check_count(count: int, queries: int, *, owner: str, setting: str = "", place: str = "") -> None:
    if not 3 <= count <= queries:
        raise ArgumentError(
            f"does not divide {counted(queries, 'query')} into folds"
            if setting
            else f"{counted(count, 'part')} of {counted(queries, 'query')} make no folds",
            owner=owner,
            place=place,
            setting=setting,
            value=count,
            rule="Training, validation and test need at least 3 parts, each of at least one query",
        )
