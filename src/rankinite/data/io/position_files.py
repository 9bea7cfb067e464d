"""Positions at which documents were shown: checked as numbers, and read from files with one per line, as LightGBM has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.engine.kernel import Positions
from rankinite.errors import DataError, quoted
from rankinite.plurals import counted

POSITION_FILE = ".position"
"""What LightGBM adds to the name of a file for that of its positions."""
MOST = 2**31 - 1
RULE = "Positions are whole numbers from 1 on, 1 for the document shown first, and every row has one"
REMEDY = "Number the shown documents of each query 1, 2, 3, …; leave rows out that were not shown"


def as_positions(values: npt.NDArray[Any], place: Callable[[int], str]) -> Positions:
    """Numbers as positions; ``place`` names the place of a row for messages."""
    numbers = _numbers(values, place)
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((numbers >= 1) & (numbers <= MOST) & (numbers == np.floor(numbers))))
    if len(bad):
        raise _bad_position(numbers[bad[0]].item(), place(int(bad[0])))
    return numbers.astype(np.int32)


def _numbers(values: npt.NDArray[Any], place: Callable[[int], str]) -> npt.NDArray[Any]:
    if values.dtype.kind in "iuf":
        return values
    found: list[float] = []
    for row, value in enumerate(values.tolist()):
        try:
            found.append(float("nan" if value is None or isinstance(value, bool) else value))
        except (TypeError, ValueError) as problem:
            raise _bad_position(value, place(row)) from problem
    return np.asarray(found)


def _bad_position(value: Any, place: str) -> DataError:
    if value is None or value != value:  # noqa: PLR0124 - NaN alone differs from itself
        return DataError("the position is missing", place=place, value=value, rule=RULE, remedy=REMEDY)
    shown = f"{value:g}" if isinstance(value, float) else quoted(value)
    return DataError(f"the position is {shown}", place=place, value=value, rule=RULE, remedy=REMEDY)


def read_positions(path: AnyPath) -> Positions:
    """A file with the position of one row on each line.

    LightGBM takes any names there; here they must be numbers, as estimates start at position 1 and go on in this order.
    """
    lines = list(read_lines(path))
    texts = np.asarray([line.text for line in lines], object)
    return as_positions(texts, lambda row: lines[row].place)


def with_positions(data: Dataset, paths: Sequence[Path], chosen: Any) -> Dataset:
    """Data of files without named columns, with their positions.

    ``chosen``: the positions, one per row of the source, or a file of them; if None, those of the files beside the data.
    """
    found, where = _found(paths, chosen)
    if found is None:
        return data
    if found.shape != (data.input_rows,):
        count = len(found) if found.ndim == 1 else found.shape
        what = counted(count, "position") if isinstance(count, int) else f"positions of shape {count}"
        raise DataError(
            f"it has {what}, but the data have {counted(data.input_rows, 'row')}",
            place=where,
            value=count,
            rule=RULE,
            remedy="Give one position per row, in the order of the rows; or remove the file if it belongs to other data",
        )
    return data.with_positions(data.from_input_order(found))


def _found(paths: Sequence[Path], chosen: Any) -> tuple[npt.NDArray[Any] | None, str]:
    if isinstance(chosen, str | PathLike):
        return read_positions(chosen), str(chosen)
    if chosen is not None:
        array = np.asarray(chosen)
        return (as_positions(array, lambda row: f"positions, row {row}") if array.ndim == 1 else array), "positions"
    files = position_files(paths)
    parts = [read_positions(file) for file in files]
    return (np.concatenate(parts) if parts else None), " + ".join(map(str, files))


def position_files(paths: Sequence[AnyPath]) -> list[Path]:
    """The files of positions beside data files; refuses positions of some of these files only."""
    beside = [Path(f"{path}{POSITION_FILE}") for path in paths]
    there = [file for file in beside if file.is_file()]
    if there and len(there) < len(beside):
        absent = next(file for file in beside if file not in there)
        raise DataError(
            f"this file of positions is missing, but there is {there[0]}",
            place=absent,
            value=str(absent),
            rule=RULE,
            remedy="Give each of the data files its positions, or remove the others",
        )
    return there


def write_positions(data: Dataset, path: Path) -> None:
    """Write the positions beside a file that has no room for them; refuses to leave those of other data there."""
    beside = Path(f"{path}{POSITION_FILE}")
    if data.positions is not None:
        with write_atomically(beside) as handle:
            handle.write("".join(f"{position}\n" for position in data.positions.tolist()).encode())
    elif beside.exists():
        raise DataError(
            "this file would be taken for the positions of these rows, which have none",
            place=beside,
            value=str(beside),
            remedy="Remove it, or choose another name",
        )
