"""Grouping: the rows of a query brought together, and values of such rows that know their order.

:func:`group_runs` finds the order in which the rows of each query are adjacent. Values, one per row, such as scores, are then
ambiguous: those that know their order (:class:`RowValues`) are taken, a plain array is refused (:func:`check_order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Indices, Strings
from rankinite.errors import DataError, quoted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

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


# ---- values of one per row -------------------------------------------------------------------------------------------


class RowValues(np.ndarray[Any, np.dtype[Any]]):
    """Values in the order of the rows of regrouped data: scores, or the result of ``from_input_order`` or ``in_row_order``.

    Arithmetic keeps the order unless a plain array takes part; slices, copies and everything else are plain arrays again. So is
    the array itself once it is sorted, or parts of it are replaced by those of another.
    """

    input_row: Indices | None = None
    """The source row of each value; None: not known, as for a plain array."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **settings: Any) -> Any:
        known = method == "__call__" and all(order_of(one) is self.input_row for one in inputs if np.ndim(one))
        order = self.input_row if known else None
        settings = {name: _plain(value) for name, value in settings.items()}
        if out:
            settings["out"] = tuple(map(_plain, out))
        result: Any = getattr(ufunc, method)(*map(_plain, inputs), **settings)
        for one in out:
            if isinstance(one, RowValues):
                one.input_row = order
        if out:
            return out[0] if len(out) == 1 else out
        if not isinstance(result, np.ndarray) or result.shape != self.shape:
            return result
        values = result.view(type(self))
        values.input_row = order
        return values

    def __setitem__(self, key: Any, value: Any) -> None:
        if np.ndim(value) and order_of(value) is not self.input_row:
            self.input_row = None
        super().__setitem__(key, value)

    def sort(self, *args: Any, **settings: Any) -> None:
        """Sort the values in place; they are in no known order then."""
        self.input_row = None
        super().sort(*args, **settings)

    def __repr__(self) -> str:
        hint = "" if self.input_row is None else "  # data.to_input_order(…) gives them in the order of the source"
        return repr(_plain(self)) + hint


def with_order(values: npt.NDArray[Any], input_row: Indices | None) -> npt.NDArray[Any]:
    """The values, known to be those of these source rows; as they are if None."""
    if input_row is None:
        return values
    known = values.view(RowValues)
    known.input_row = input_row
    return known


def order_of(values: object) -> Indices | None:
    """The source row of each value; None for a plain array."""
    return values.input_row if isinstance(values, RowValues) else None


def check_order(values: object, data: Dataset, place: object = "") -> None:
    """Refuse values, one per row, in the order of other rows, and plain arrays where the rows have two orders."""
    known, rows = order_of(values), data.input_row
    fits = not data.regrouped if known is None else (rows is not None and np.array_equal(known, rows))
    if fits:
        return
    if known is None:
        problem, rule = "the rows were regrouped by query, and a plain array does not say in which order its values are", ""
        remedy = (
            "Pass data.from_input_order(values) if they are in the order of the source, or data.in_row_order(values) if "
            "they are in that of data.features"
        )
    else:
        problem, rule = "these values are in the order of other rows", f"They must be in the order of {data.source}"
        remedy = (
            "If they are for other rows of the same source, pass data.from_input_order(other.to_input_order(values)), where "
            "other has these rows"
        )
    where = f"{place}: {data.source}" if place else data.source
    raise DataError(problem, place=where, value=type(values).__name__, rule=rule, remedy=remedy)


def _plain(values: Any) -> Any:
    return values.view(np.ndarray) if isinstance(values, RowValues) else values
