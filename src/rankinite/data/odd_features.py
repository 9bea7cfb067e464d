"""OddFeature: a feature that looks like an id, a position or a click, and may not be meant as a feature.

A ranker learns ids by heart, and positions and clicks are known only after documents have been shown. The signs are names,
where columns have some, and values, which must leave hardly any doubt: what real features may look like is not a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.column_names import NAMED_LIKE, meaning_of
from rankinite.engine.kernel import Features, Flags, Indices
from rankinite.errors import quoted
from rankinite.plurals import counted

_SAMPLE = 1 << 12  # rows that are looked at first: they settle most features
_MOST_NAMES = 20
_LEAST_ROWS = 100  # from which on it is hardly chance that most of them have a category of their own

OWN_CATEGORY = "has a category of its own in more than half of the rows, as an id does"


@dataclass(frozen=True, slots=True)
class OddFeature:
    """A feature that may not be meant as one."""

    name: str
    reason: str
    """What it looks like, and by which sign."""


class _Column(NamedTuple):
    """The values of one feature."""

    values: npt.NDArray[Any]
    """One per row, all whole numbers."""
    offsets: Indices
    """Where each query starts, and the number of rows."""
    order: Indices | None
    """The row's number in the source, where that differs."""
    all_rows: int
    """How many rows the data have, if these are only the first."""
    all_queries: int
    """The same for queries."""


def find_odd_features(data: Dataset) -> tuple[OddFeature, ...]:
    """The features that look like ids, positions or clicks by their names or values, in order."""
    if not data.rows:
        return ()
    queries = max(1, int(np.searchsorted(data.offsets, _SAMPLE, side="right")) - 1)
    sample = data.features[: data.offsets[queries]]
    signs = [sign for sign in SIGNS if sign.enough(data)]
    found: list[OddFeature] = []
    for feature in np.flatnonzero(_are_whole(sample)).tolist():
        name = data.feature_names[feature]
        reason = _reason_of_name(data, feature, name)
        if not reason and name in data.categories:
            reason = OWN_CATEGORY if nearly_one_per_row(data.features[:, feature]) else ""
        elif not reason:
            reason = _reason_of_values(data, feature, queries, signs)
        if reason:
            found.append(OddFeature(name, reason))
    return tuple(found)


def advice(odd: Sequence[OddFeature], *, named_documents: bool) -> str:
    """A sentence on odd features with the remedy, whose settings are between backticks; empty where there are none.

    ``named_documents``: whether the data have ids of documents.
    """
    if not odd:
        return ""
    groups: dict[str, list[str]] = {}
    for feature in odd:
        groups.setdefault(feature.reason, []).append(feature.name)
    reasons = "; ".join(f"{_few(names)} ({reason})" for reason, names in groups.items())
    names, more = [feature.name for feature in odd[:_MOST_NAMES]], " …" if len(odd) > _MOST_NAMES else ""
    ids = [] if named_documents else groups.get(NAMED_LIKE["document"], [])[:1]
    other = "".join(f" If {name} names the documents, give `doc_id={name!r}`." for name in ids)
    return (
        f"{counted(len(odd), 'feature')} may not be meant as such: {reasons}. Ids are learnt by "
        "heart, and positions and clicks are not known when documents are ranked. Leave out what is not a feature with "
        f"`ignore={names!r}`{more}.{other}"
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")


def _are_whole(values: npt.NDArray[Any]) -> Flags:
    """Whether the values that are present are whole numbers, feature by feature."""
    return ((values == np.floor(values)) | np.isnan(values)).all(axis=0)


# ---- names ------------------------------------------------------------------------------------------------------------


def _reason_of_name(data: Dataset, feature: int, name: str) -> str:
    meaning = meaning_of(name)
    if meaning is None:
        return ""
    values = data.features[:, feature]
    different = len(np.unique(values[~np.isnan(values)]))
    if different < 2 or not _are_whole(values):
        return ""
    many = different >= max(20, min(data.rows // 10, 1000))
    if meaning == "category" and (not many or name in data.categories):
        return ""
    if meaning == "query" and not many and not _is_constant_per_query(values, data.offsets):
        return ""  # a group or topic may be one of documents
    return NAMED_LIKE[meaning]


def _is_constant_per_query(values: npt.NDArray[Any], offsets: Indices) -> bool:
    starts = offsets[:-1]
    return bool((np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)).all())


# ---- values -----------------------------------------------------------------------------------------------------------


def _reason_of_values(data: Dataset, feature: int, queries: int, signs: Sequence[Sign]) -> str:
    """The sign that all values agree with; the first ``queries`` rule out most signs."""
    for count in (queries, data.queries):
        rows = int(data.offsets[count])
        values = data.features[:rows, feature]
        if not _are_whole(values) or np.isnan(values).any():
            return ""
        order = None if data.input_row is None else data.input_row[:rows]
        column = _Column(values, data.offsets[: count + 1], order, data.rows, data.queries)
        signs = [sign for sign in signs if sign.holds(column)]
        if not signs:
            return ""
    return signs[0].reason


class Sign(NamedTuple):
    """What the values of an id or a position look like."""

    reason: str
    holds: Callable[[_Column], bool]
    """Whether a column looks like that; if it does, so do its first queries."""
    enough: Callable[[Dataset], bool]
    """Whether there are enough rows for it to be hardly chance."""


def _rises(column: _Column) -> bool:
    values = column.values if column.order is None else column.values[np.argsort(column.order, kind="stable")]
    return bool((values[1:] > values[:-1]).all())


def _counts_documents(column: _Column) -> bool:
    starts = np.repeat(column.offsets[:-1], np.diff(column.offsets))
    rank = np.arange(len(column.values)) - starts
    return bool((column.values == rank + column.values[0]).all() and column.values[0] in (0, 1))


def _numbers_queries(column: _Column) -> bool:
    firsts = column.values[column.offsets[:-1]]
    if not _is_constant_per_query(column.values, column.offsets):
        return False
    # The length of a query can differ in a dozen queries, but is then in no order.
    return len(np.unique(firsts)) == len(firsts) if column.all_queries >= 30 else bool((firsts[1:] > firsts[:-1]).all())


def _numbers_rows(column: _Column) -> bool:
    values = column.values
    dense = float(values.max()) - float(values.min()) < 2.0 * column.all_rows  # lengths may differ in all rows, but lie apart
    return dense and len(np.unique(values)) == len(values)


def _has_rows(data: Dataset) -> bool:
    return data.rows >= 50


def _has_lists(data: Dataset) -> bool:
    return int((np.diff(data.offsets) >= 3).sum()) >= 5


def _has_queries(data: Dataset) -> bool:
    return data.queries >= 10 and data.rows >= 2 * data.queries


SIGNS = (
    Sign("rises from row to row, as a row number does", _rises, _has_rows),
    Sign("counts the documents of each query in the order of the file, as a position does", _counts_documents, _has_lists),
    Sign(
        "has one value in each query and another in every other query, as the id of a query does",
        _numbers_queries,
        _has_queries,
    ),
    Sign("has another whole number in every row, as an id does", _numbers_rows, _has_rows),
)
"""Looked for in this order."""


# ---- categories ---------------------------------------------------------------------------------------------------------


def nearly_one_per_row(codes: Features) -> int:
    """How many categories a column has, if more than half of at least 100 rows have one of their own; else 0."""
    different = len(np.unique(codes[~np.isnan(codes)]))
    return different if is_id_like(different, len(codes)) else 0


def is_id_like(categories: int, rows: int) -> bool:
    """Whether a feature has more categories than half of at least 100 rows."""
    return rows >= _LEAST_ROWS and 2 * categories > rows


def like_ids(source: str, categories: Mapping[str, int], rows: int) -> str:
    """A warning of categories with nearly as many values as there are rows, with settings between backticks."""
    one, names = len(categories) == 1, list(categories)
    counts = ", ".join(f"{quoted(name)} ({count:,} values)" for name, count in categories.items())
    documents = [name for name in names if meaning_of(name) == "document"][:1] or names[:1]
    which = "it names" if one else f"{quoted(documents[0])} names"
    return (
        f"{source}: {counts} in {rows:,} rows {'looks like an id, which says' if one else 'look like ids, which say'} nothing "
        f"about other rows. Leave {'it' if one else 'them'} out with `ignore={names!r}`; if {which} the documents, pass "
        f"`doc_id={documents[0]!r}`."
    )
