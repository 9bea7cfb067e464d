"""Roles of the columns of a table: query, grade, document, weight, batch, position, features."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankinite.data.grades import GradeMap
from rankinite.data.io.column_flaws import (
    Flaw,
    SortedColumns,
    Words,
    all_at_once,
    column_flaws,
    several_grades,
    text_grades,
    text_weights,
)
from rankinite.data.io.column_names import USUAL_NAMES
from rankinite.data.io.column_types import holds_text, is_category, is_numeric
from rankinite.data.io.name_patterns import absent_names, parted, resolved
from rankinite.errors import DataError, listed, quoted

_INDEX = "__index_level_"
"""What pandas calls an unnamed index in Arrow and Parquet."""


@dataclass(frozen=True)
class CategoryColumns:
    """The columns of a table that are categories."""

    names: tuple[str, ...] = ()
    """All of them, in order."""
    asked: frozenset[str] = frozenset()
    """Those that someone called categories; the others are categories by their type."""
    written: bool = False
    """Whether the cells are those of a text file, whose types are only inferred, and where an empty cell is missing."""


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they mean."""

    named: Mapping[str, str]
    """Role (a key of :data:`USUAL_NAMES`) → column, for the roles the table fills."""
    features: tuple[str, ...]
    """The feature columns, in order."""
    categories: CategoryColumns = field(default_factory=CategoryColumns)
    """Which of the features are categories."""
    grade_map: GradeMap | None = None
    """What the words or numbers of the grade column stand for."""

    def columns(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys((*self.features, *self.named.values())))


@dataclass(frozen=True)
class ColumnSettings:
    """What is known of the columns of a table before their roles are found."""

    wanted: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Role → the column that the caller names."""
    passed: Collection[str] = ()
    """Roles whose values the caller passes as an array."""
    grouped: bool = False
    """Whether the size of each query is known."""
    graded: bool = True
    """Whether there must be grades."""
    features: Sequence[str] | None = None
    """The features that are asked for, or patterns of their names; all other columns if None."""
    ignore: Collection[str] = ()
    """Columns to leave out, or patterns of their names."""
    known_features: Collection[str] = ()
    """Columns that are not taken for anything but features."""
    guess: bool = True
    """Whether further roles are found by their usual names, and an unnamed index is no feature; our own files state theirs."""
    categories: Collection[str] = ()
    """Features that are categories."""
    stated_categories: Collection[str] = ()
    """Columns that are categories where they are features."""
    texts_are_categories: bool = True
    """Whether all features that hold text are categories."""
    written: bool = False
    """Whether the table is a text file."""
    grade_map: GradeMap | None = None
    """What the words of the grade column stand for."""
    words: Words | None = None
    """Gives words that a column holds, for messages."""
    note: Callable[[str], None] | None = None
    """Told of a column that is left out as row numbers."""
    in_memory: bool = False
    """Whether the table is a frame in memory, whose index nobody takes for a column."""


def assign_roles(types: Mapping[str, Any], source: str, asked: ColumnSettings) -> Roles:
    """Find the column of each role, and the features: all other columns, or the ones asked for.

    ``types`` maps each column to its Arrow type.
    """
    every, wanted = list(types), asked.wanted
    ignored = _present(every, asked, source)
    taken = {*parted(asked.features or (), every), *ignored, *asked.known_features}
    named = {role: column for role in USUAL_NAMES if (column := wanted.get(role)) is not None}
    if asked.guess:
        named = name_roles(every, wanted=wanted, passed=asked.passed, taken=taken)
    used = {*named.values(), *ignored}
    free = [name for name in every if name not in used and not (asked.guess and is_row_number(name))]
    chosen = free if asked.features is None else _chosen(asked.features, every, free, source)
    called = frozenset((*asked.categories, *(name for name in asked.stated_categories if name in chosen)))
    texts = asked.texts_are_categories
    names = tuple(name for name in chosen if name in called or (texts and is_category(types[name])))
    flaws = _role_flaws(types, named, asked, taken)
    known = {*named, *asked.passed, *(("qid",) if asked.grouped else ()), *(() if asked.graded else ("grades",))}
    usable = [name for name in names if is_category(types[name])]  # numbers are usable anyway
    words = None if asked.grade_map else asked.words
    others, hints = column_flaws(SortedColumns(types, free, chosen, known, usable, asked.features is not None, words))
    if flaws or others:
        raise all_at_once([*flaws, *others], hints, source)
    _check_are_features(asked.categories, chosen, source)
    if asked.guess and asked.features is None and asked.note is not None:
        left_out = [name for name in every if name not in used and is_row_number(name)]
        _note_row_numbers([name for name in left_out if not (asked.in_memory and name.startswith(_INDEX))], asked.note)
    return Roles(named, tuple(chosen), CategoryColumns(names, called, asked.written), asked.grade_map)


def _present(every: Sequence[str], asked: ColumnSettings, source: str) -> list[str]:
    """The columns to leave out; refuses names that no column has, all at once."""
    ignored, absent = resolved(asked.ignore, every)
    known = frozenset(every)
    absent += [one for one in (*_columns(asked.wanted), *asked.categories) if one not in known]
    absent += [] if asked.features is None else resolved(asked.features, every)[1]
    if absent:
        raise absent_names(list(dict.fromkeys(absent)), every, source)
    return ignored


def _chosen(features: Sequence[str], every: Sequence[str], free: Sequence[str], source: str) -> list[str]:
    """The features asked for; patterns mean columns without a role."""
    chosen, absent = resolved(features, every, among=free)
    if absent:
        raise absent_names(absent, free, source)
    return chosen


def _note_row_numbers(left_out: Sequence[str], note: Callable[[str], None]) -> None:
    """Tell that columns are left out as the row numbers that pandas writes."""
    if left_out:
        what = "its first column, which has no name," if left_out[0] == "" else f"column {quoted(left_out[0])}"
        keep = f"; `rename={ {left_out[0]: 'row'}!r}` would keep it" if left_out[0] else ""
        note(f"{what} is left out, as it is where pandas writes its row numbers{keep}")


def _role_flaws(
    types: Mapping[str, Any], named: Mapping[str, str], asked: ColumnSettings, taken: Collection[str]
) -> list[Flaw]:
    """Several columns that could be the grade, and columns of grades and weights that hold something else than numbers."""
    flaws: list[Flaw] = []
    if asked.guess and "grades" not in asked.passed and asked.wanted.get("grades") is None:
        candidates = _grade_candidates(list(types), {*taken, *_columns(asked.wanted)})
        flaws += [several_grades(candidates)] if len(candidates) > 1 else []
    grades, weight = named.get("grades"), named.get("weight")
    if grades is not None and not is_numeric(types[grades]) and not (asked.grade_map and holds_text(types[grades])):
        words = asked.words(grades) if asked.words is not None and holds_text(types[grades]) else ()
        flaws.append(text_grades(grades, types[grades], words))
    if weight is not None and not is_numeric(types[weight]):
        flaws.append(text_weights(weight, types[weight]))
    return flaws


def _check_are_features(categories: Collection[str], features: Collection[str], source: str) -> None:
    surplus = [name for name in categories if name not in features]
    if surplus:
        raise DataError(
            f"column {listed(surplus)} is called a category, but is not a feature",
            place=source,
            value=surplus,
            rule="Only features are categories: columns that are chosen, not left out, and neither the query nor the grade",
            remedy="Leave it out of `categories`",
        )


def name_roles(
    columns: Sequence[str], *, wanted: Mapping[str, str | None], passed: Collection[str], taken: Collection[str]
) -> dict[str, str]:
    """The column of each role: the one wanted, else, unless its values are passed, one of a usual name that is not taken."""
    named: dict[str, str] = {}
    for role, usual in USUAL_NAMES.items():
        column = wanted.get(role)
        if column is None and role not in passed:
            others = {*taken, *named.values(), *_columns(wanted)}
            free = [name for name in columns if name not in others]
            matches = _grade_candidates(columns, others) if role == "grades" else _usual_columns(usual, free)
            column = matches[0] if matches else None
        if column is not None:
            named[role] = column
    return named


def _columns(wanted: Mapping[str, str | None]) -> list[str]:
    """The columns that are wanted; an empty name counts, though few columns have one."""
    return [column for column in wanted.values() if column is not None]


def is_row_number(name: str) -> bool:
    """Whether this is what pandas calls an unnamed index: in Arrow and Parquet, in the CSV it writes, and in CSV it read."""
    return name.startswith(_INDEX) or name in ("", "Unnamed: 0")


def _usual_columns(usual: Sequence[str], columns: Sequence[str]) -> list[str]:
    return [column for name in usual for column in columns if column.lower() == name]


def _grade_candidates(columns: Sequence[str], taken: Collection[str]) -> list[str]:
    """The columns that are called as grades are; with several, one would become a feature that gives the answer away."""
    matches = _usual_columns(USUAL_NAMES["grades"], [column for column in columns if column not in taken])
    longer = [column for column in matches if len(column) > 1]  # a bare "y" beside a label is a feature like any other
    return longer if len(matches) > 1 else matches
