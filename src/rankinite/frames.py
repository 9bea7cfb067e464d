"""Frames: results as tables of PyArrow, pandas and polars. Each result makes one Arrow table, of which the others are made."""

from __future__ import annotations

import importlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rankinite.errors import ArgumentError

if TYPE_CHECKING:  # libraries that are loaded only where a table is asked for
    import pandas as pd
    import polars as pl

ArrowTable: TypeAlias = Any
"""A table of PyArrow, which ships no types."""
FRAME_KEY = "rankinite"
"""The entry of a pandas frame's ``attrs`` that holds what the schema of the Arrow table states."""
OURS = b"rankinite."
"""How keys begin that we put into the schema of an Arrow table."""


class Tabular(ABC):
    """What can be a data frame."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> ArrowTable:
        """The table of PyArrow."""

    def to_pandas(self) -> pd.DataFrame:
        """The rows of :meth:`to_arrow` as a pandas frame."""
        return pandas_of(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """The rows of :meth:`to_arrow` as a polars frame."""
        return polars_of(self.to_arrow())


class TabularByQuery(ABC):
    """What can be a data frame of means, or one of the values of every query."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self, *, per_query: bool = False) -> ArrowTable:
        """The table of PyArrow."""

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        """The rows of :meth:`to_arrow` as a pandas frame."""
        return pandas_of(self.to_arrow(per_query=per_query))

    def to_polars(self, *, per_query: bool = False) -> pl.DataFrame:
        """The rows of :meth:`to_arrow` as a polars frame."""
        return polars_of(self.to_arrow(per_query=per_query))


def finite(value: float) -> float | None:
    """The value as JSON has it: NaN and infinities are null."""
    return value if math.isfinite(value) else None


def arrow_of(records: Sequence[Mapping[str, Any]]) -> ArrowTable:
    """Records with the same keys as an Arrow table, one row per record; None is missing.

    A column whose values have different types, as settings may, holds them as text.
    """
    import pyarrow as pa

    names = list(records[0]) if records else []
    return pa.table({name: _column([record[name] for record in records]) for name in names})


def _column(values: list[Any]) -> Any:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) <= 1 and kinds <= {int, float, str, bool}):
        return pa.array(values)
    return pa.array([None if value is None else value if isinstance(value, str) else json.dumps(value) for value in values])


def pandas_of(table: ArrowTable) -> pd.DataFrame:
    """An Arrow table as a pandas frame; what its schema states of our data is kept in ``frame.attrs``."""
    _loaded("pandas")
    frame = table.to_pandas()
    stated = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items() if key.startswith(OURS)}
    if stated:
        frame.attrs[FRAME_KEY] = stated
    return frame


def polars_of(table: ArrowTable) -> pl.DataFrame:
    """An Arrow table as a polars frame."""
    return _loaded("polars").from_arrow(table)


def _loaded(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ArgumentError(
            f"this needs {library}, which is not installed",
            value=library,
            remedy=f"Run pip install {library}, or use to_arrow(), which needs nothing more",
        ) from error
