"""Joining: several data sets as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import recode, union
from rankinite.data.dataset import Dataset, origin_of
from rankinite.data.grouping import TEXT, as_text, distinct
from rankinite.data.preferences import Preferences
from rankinite.engine.kernel import Indices, Strings
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.plurals import counted


def concat(parts: Iterable[Dataset], *, prefixes: Sequence[str] | None = None) -> Dataset:
    """One data set from several with the same features; ``prefixes`` keep equal qids of different parts apart.

    Categories have the vocabularies of all parts together.

    Where only some parts have them, documents without ids get empty ones, queries without weights the weight 1, and
    queries without a batch an empty one. Judged data and data without grades are not joined: either grades would be lost, or
    rows that nobody judged would count as bad ones. Nor are data with positions and data without.
    """
    parts = list(parts)
    if not parts:
        raise ArgumentError("is empty", owner="concat", setting="parts", value=[], remedy="Give at least one data set")
    if prefixes is not None and len(prefixes) != len(parts):
        raise ArgumentError(
            f"does not fit {len(parts)} data sets",
            owner="concat",
            setting="prefixes",
            value=prefixes,
            remedy="Give one prefix per data set, or none",
        )
    first = parts[0]
    for part in parts[1:]:
        _check_joinable(first, part)
    categories = {name: union(part.categories[name] for part in parts) for name in first.categories}
    parts = [recode(part, categories) for part in parts]
    prefixes = prefixes or [""] * len(parts)
    qids = np.concatenate([np.strings.add(as_text([prefix]), part.qids) for prefix, part in zip(prefixes, parts, strict=True)])
    _check_qids(qids, parts)
    starts = np.cumsum([0, *(part.rows for part in parts)])
    return Dataset(
        features=np.concatenate([part.features for part in parts]),
        grades=np.concatenate([part.grades for part in parts]),
        offsets=np.concatenate([[0], *(part.offsets[1:] + start for part, start in zip(parts, starts[:-1], strict=True))]),
        qids=qids,
        feature_names=first.feature_names,
        doc_ids=_joined([part.doc_ids for part in parts], [np.full(part.rows, "", TEXT) for part in parts]),
        weights=_joined([part.weights for part in parts], [np.ones(part.queries) for part in parts]),
        batches=_joined([part.batches for part in parts], [np.full(part.queries, "", TEXT) for part in parts]),
        input_row=_input_rows(parts, starts),
        preferences=Preferences.concat([part.preferences for part in parts], starts[:-1]),
        source=" + ".join(part.source for part in parts),
        judged=first.judged,
        positions=_joined([part.positions for part in parts], [np.ones(part.rows, np.int32) for part in parts]),
        categories=categories,
    )


def rejoin(first: Dataset, second: Dataset) -> Dataset:
    """The queries of both, called by the source of the first: as a selection where both are selections of one data set.

    As such, processes that have the whole need only be told which queries it has.
    """
    origins = origin_of(first), origin_of(second)
    if origins[0] is None or origins[1] is None or origins[0][0] is not origins[1][0]:
        return replace(concat([first, second]), source=first.source)
    whole, queries = origins[0]
    return whole.select_queries(np.concatenate((queries, origins[1][1])))


def _check_qids(qids: Strings, parts: Sequence[Dataset]) -> None:
    names, counts = distinct(qids)
    if len(names) < len(qids):
        repeated = str(names[counts > 1][0])
        raise DataError(
            f"query {quoted(repeated)} appears in more than one of them",
            place=" + ".join(part.source for part in parts),
            value=repeated,
            rule="Query ids must differ",
            remedy="Pass prefixes=('a:', 'b:', …) to keep them apart",
            shell_remedy="Rename the queries of one of them",
        )


def _input_rows(parts: Sequence[Dataset], starts: Indices) -> Indices | None:
    """The row numbers in the sources put one after the other, each without the rows that were dropped or not chosen."""
    if not any(part.regrouped for part in parts):
        return None
    orders = [np.argsort(part.to_input_order(np.arange(part.rows))) for part in parts]
    return np.concatenate([order + start for order, start in zip(orders, starts[:-1], strict=True)])


def check_same_features(first: Dataset, second: Dataset) -> None:
    """Refuse two data sets whose features differ in number or name."""
    a, b = first.feature_names, second.feature_names
    if len(a) != len(b):
        raise DataError(
            f"it has {counted(len(b), 'feature')}, but {first.source} has {len(a)}",
            place=second.source,
            value=len(b),
            rule="They must be the same",
            remedy="Read the second with like=first, or choose the common ones with select_features",
            shell_remedy="Give data with the same features",
        )
    for position, (name, other) in enumerate(zip(a, b, strict=True)):
        if name != other:
            raise DataError(
                f"feature {position} is {quoted(other)}, but {quoted(name)} in {first.source}",
                place=second.source,
                value=other,
                rule="The features must be the same in the same order",
                remedy="Use select_features or rename_features",
                shell_remedy="Give data with the same features",
            )


def _check_joinable(first: Dataset, second: Dataset) -> None:
    check_same_features(first, second)
    odd = sorted(first.categories.keys() ^ second.categories.keys())
    if odd:
        here, there = ("a category", "a number") if odd[0] in second.categories else ("a number", "a category")
        raise DataError(
            f"feature {quoted(odd[0])} is {here}, but {there} in {first.source}",
            place=second.source,
            value=odd[0],
            rule="The same features must be categories",
            remedy=f"Read both with `categories={[odd[0]]!r}`, or the second with like=first",
            shell_remedy=f"Read both with `categories={[odd[0]]!r}`",
        )
    if first.judged != second.judged:
        graded, bare = (first, second) if first.judged else (second, first)
        raise DataError(
            f"its rows have no grades, but those of {graded.source} have",
            place=bare.source,
            value=False,
            rule="All rows of a data set have grades, or none",
            remedy="Leave them out of the other too, with without_grades()",
            shell_remedy="Give data that are all judged, or not at all",
        )
    if (first.positions is None) != (second.positions is None):
        shown, bare = (first, second) if second.positions is None else (second, first)
        raise DataError(
            f"its rows have no positions, but those of {shown.source} have",
            place=bare.source,
            value=None,
            rule="All rows of a data set have positions, or none",
            remedy="Leave them out of the other too, with with_positions(None)",
            shell_remedy="Give data that all have positions, or none",
        )


def _joined(arrays: Sequence[npt.NDArray[Any] | None], defaults: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
    if all(array is None for array in arrays):
        return None
    return np.concatenate([default if array is None else array for array, default in zip(arrays, defaults, strict=True)])
