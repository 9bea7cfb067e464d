"""Grouping: the rows of a query brought together without losing the order they came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Indices, Strings
from rankinite.errors import DataError, quoted

TEXT = np.dtypes.StringDType()


def as_text(values: Sequence[str] | npt.NDArray[Any]) -> Strings:
    """Names as an array of variable-width text; numbers become their shortest decimal form."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.asarray([str(value) for value in array.tolist()], dtype=TEXT)
    return array.astype(TEXT, copy=False)


def distinct(texts: Strings) -> tuple[Strings, Indices]:
    """The different texts in order, and how often each occurs.

    Texts are sorted with ``kind="stable"`` wherever it may be: NumPy's default sort of variable-width text ends the process on
    some orders, such as two sorted runs one after the other. ``np.unique`` sorts in that way only where it is asked for places.
    """
    names, _, counts = np.unique(texts, return_index=True, return_counts=True)
    return names, counts


def group_runs(run_qids: Sequence[str], run_lengths: Indices) -> tuple[Strings, Indices, Indices | None]:
    """Group rows that come as runs of one query id each.

    Returns the distinct qids in order of first appearance, the query offsets, and the permutation that makes
    each query's rows adjacent (``None`` when they already are). The permutation is stable.
    """
    numbers: dict[str, int] = {}
    query_of_run = np.asarray([numbers.setdefault(qid, len(numbers)) for qid in run_qids], dtype=np.int64)
    sizes = np.bincount(query_of_run, weights=run_lengths, minlength=len(numbers)).astype(np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    qids = np.asarray(list(numbers), dtype=TEXT)
    if len(numbers) == len(run_qids):
        return qids, offsets, None
    return qids, offsets, np.argsort(np.repeat(query_of_run, run_lengths), kind="stable")


def group_rows(qids: npt.NDArray[Any]) -> tuple[Strings, Indices, Indices | None]:
    """Group rows by one query id per row; see :func:`group_runs`."""
    starts = np.concatenate(([0], np.flatnonzero(qids[1:] != qids[:-1]) + 1)) if len(qids) else np.zeros(0, np.int64)
    lengths = np.diff(np.concatenate((starts, [len(qids)]))).astype(np.int64)
    return group_runs([str(qid) for qid in qids[starts].tolist()], lengths)


def one_per_query(
    values: npt.NDArray[Any] | None, offsets: Indices, qids: Strings, what: str, source: str
) -> npt.NDArray[Any] | None:
    """One value per query from one per row, grouped; refused where the rows of a query differ. ``what``: its name."""
    if values is None:
        return None
    starts = offsets[:-1]
    differs = np.flatnonzero(values != np.repeat(values[starts], np.diff(offsets)))
    if len(differs):
        query = int(np.searchsorted(offsets, differs[0], side="right")) - 1
        first, other = values[[starts[query], differs[0]]].tolist()
        raise DataError(
            f"its rows have different values of {what} ({quoted(first)} and {quoted(other)})",
            place=f"{source}, query {quoted(str(qids[query]))}",
            value=(first, other),
            rule=f"The {what} belongs to the whole query",
            remedy="Give all its rows the same",
        )
    return values[starts]
