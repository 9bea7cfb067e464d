"""Renaming: other names for columns and features, which count from then on in every setting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.column_types import repeated_names
from rankinite.data.io.letor._messages import LARGEST_INDEX
from rankinite.data.io.name_patterns import absent_names
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.engine.kernel import FEATURE
from rankinite.errors import ArgumentError, DataError, quoted

if TYPE_CHECKING:
    from rankinite.data.io.tables import LazyTable, Piece

Names: TypeAlias = Mapping[str, str] | AnyPath
"""Old name → new name, or a file of such names."""


def renaming_of(names: Names | None, *, zero_based: bool = False) -> Mapping[str, str]:
    """Old name → new name; ``zero_based``: a file of names alone begins with that of feature 0."""
    if names is None:
        return {}
    if isinstance(names, str | PathLike):
        return read_names(names, first=0 if zero_based else 1)
    return checked_renaming(((str(old), str(new), "") for old, new in names.items()))


def joined_renaming(pairs: Iterable[tuple[str, str]], file: AnyPath | None, *, zero_based: bool = False) -> Mapping[str, str]:
    """The names that pairs of old and new ones give, and those of a file."""
    more = {} if file is None else read_names(file, first=0 if zero_based else 1)
    return checked_renaming((old, new, "") for old, new in (*pairs, *more.items()))


def read_names(path: AnyPath, *, first: int = 1) -> Mapping[str, str]:
    """A file of names: lines of the old name, a tab and the new one, or ``old=new``; or new names alone.

    The latter are those of the features in order, the first of which is called ``first``, as in LETOR files.
    """
    lines = list(read_lines(path))
    if not lines:
        raise DataError("there are no names", place=path, value=0, remedy="Write one per line, as in old=new")
    separator = next((one for one in ("\t", "=") if all(one in line.text for line in lines)), None)
    if separator is None:
        odd = next((line for line in lines if "\t" in line.text), None)
        if odd is not None:
            raise DataError(
                f"{quoted(odd.text)} has a tab, but other lines have none",
                place=odd.place,
                value=odd.text,
                rule="Every line gives an old name, a tab and a new one, or all lines give the names of the features in order",
            )
        return checked_renaming((str(number), line.text, line.place) for number, line in enumerate(lines, first))
    pairs = ((line.text.partition(separator), line.place) for line in lines)
    return checked_renaming((old.strip(), new.strip(), place) for (old, _, new), place in pairs)


def checked_renaming(pairs: Iterable[tuple[str, str, str]]) -> Mapping[str, str]:
    """Old names, new names and their places as a mapping; refuses a name that is empty or given twice."""
    found: dict[str, str] = {}
    for old, new, place in pairs:
        twice = old if old in found else new if new in found.values() else None
        if not old or not new or twice is not None:
            raise ArgumentError(
                f"{quoted(f'{old}={new}')} has an empty name" if twice is None else f"{quoted(twice)} is named twice",
                place=place or "renaming",
                value=f"{old}={new}",
                rule="Every old name gets one new name, and new names differ, as in old=new",
            )
        found[old] = new
    return found


def new_names(names: Sequence[str], renaming: Mapping[str, str], place: str) -> tuple[str, ...]:
    """The names after renaming. An old name may be missing where its new one is there already."""
    known = frozenset(names)
    absent = [old for old, new in renaming.items() if old not in known and new not in known]
    if absent:
        raise absent_names(absent, names, place)
    renamed = tuple(renaming.get(name, name) for name in names)
    double = repeated_names(renamed)
    if double:
        raise DataError(
            f"two columns would be called {quoted(double[0])}",
            place=place,
            value=double[0],
            rule="Column names must differ",
            remedy="Rename the other one too, with `rename=…`",
        )
    return renamed


def renamed_table(table: LazyTable, renaming: Mapping[str, str]) -> LazyTable:
    """The table with other names for its columns."""
    if not renaming:
        return table
    names = new_names(list(table.types), renaming, table.source)
    old_name = dict(zip(names, table.types, strict=True))
    called = {old: new for new, old in old_name.items()}
    block = table.block
    return replace(
        table,
        types=dict(zip(names, table.types.values(), strict=True)),
        pieces=[piece._replace(load=partial(_renamed_batches, piece, old_name)) for piece in table.pieces],
        roles={role: called[column] for role, column in table.roles.items()},
        block=None if block is None else block._replace(names=tuple(called[name] for name in block.names)),
        categories=tuple(called[name] for name in table.categories),
    )


def _renamed_batches(piece: Piece, old_name: Mapping[str, str], columns: Sequence[str]) -> Iterator[Any]:
    for batch in piece.load([old_name[column] for column in columns]):
        yield batch.rename_columns(list(columns))


def old_names(names: Sequence[str], renaming: Mapping[str, str]) -> list[str]:
    """What columns are called in the file that are called ``names`` after renaming."""
    before = {new: old for old, new in renaming.items()}
    return [before.get(name, name) for name in names]


def renamed_data(data: Dataset, renaming: Mapping[str, str]) -> Dataset:
    """Data whose features are known by position with other names for them."""
    if not renaming:
        return data
    return data.rename_features(new_names(data.feature_names, renaming, data.source))


def widened(data: Dataset, renaming: Mapping[str, str], like: Sequence[str], *, absent: float, base: int) -> Dataset:
    """Rows of LETOR files with the features behind their last one that are renamed, or that ``like`` has.

    Lines need not mention features that are 0 in all rows. ``absent``: their value; ``base``: the number of the first.
    """
    width = width_named(renaming, like, base=base) if renaming else 0
    have = len(data.feature_names)
    if width <= have:
        return data
    features = np.full((data.rows, width), absent, FEATURE)
    features[:, :have] = data.features
    return replace(data, features=features, feature_names=tuple(str(base + number) for number in range(width)))


def width_named(renaming: Mapping[str, str], like: Sequence[str], *, base: int) -> int:
    """How many features a LETOR file has at least, to have all that are renamed or in ``like``."""
    named = (*renaming, *old_names(like, renaming))
    numbers = [int(name) for name in named if name.isascii() and name.isdecimal() and len(name) < 8]
    return max((number for number in numbers if number < LARGEST_INDEX), default=base - 1) - base + 1
