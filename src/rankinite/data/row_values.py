"""RowValues: values of regrouped rows that know their order, so that nobody takes them for values in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Indices
from rankinite.errors import DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


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
        found = result.view(type(self))
        found.input_row = order
        return found

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
