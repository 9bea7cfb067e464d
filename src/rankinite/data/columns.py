"""Which column of a table means what: query, grade, document, weight, batch, features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankinite.errors import DataError, listed

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "query", "queryid", "q_id", "srch_id"),
    "grades": ("grade", "label", "relevance", "rel", "relevance_label", "target", "y"),
    "doc_id": ("doc_id", "docid", "document_id", "docno", "did"),
    "weight": ("weight",),
    "batch": ("batch", "fold"),
}
"""Column names by which each role is recognised when the caller names none; upper and lower case are the same."""


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they mean."""

    named: Mapping[str, str]
    """Role (a key of :data:`USUAL_NAMES`) → column, for the roles the table fills."""
    features: tuple[str, ...]
    """The feature columns, in order."""


def assign_roles(
    types: Mapping[str, Any],
    *,
    source: str,
    wanted: Mapping[str, str | None],
    given: Collection[str] = (),
    features: Sequence[str] | None = None,
    ignore: Collection[str] = (),
) -> Roles:
    """Find the column of each role, and the features: all other columns, or the ones asked for.

    ``types`` maps each column to its Arrow type, ``wanted`` a role to the column the caller names, ``given`` holds the
    roles whose values the caller passes as an array.
    """
    absent = [column for column in (*filter(None, wanted.values()), *(features or ()), *ignore) if column not in types]
    if absent:
        raise DataError(f"{source}: there is no column {listed(absent)}. The columns are {listed(types)}.")
    named = name_roles(list(types), source=source, wanted=wanted, given=given, taken={*(features or ()), *ignore})
    if features is None:
        features = [name for name in types if not (name in named.values() or name in ignore or _is_row_number(name))]
    for name in features:
        if not is_numeric(types[name]):
            raise DataError(
                f"{source}: column {name!r} holds {types[name]}, not numbers. Features must be numeric or boolean; leave it "
                f"out with ignore=[{name!r}], or choose the features with features=[…]."
            )
    for role, what in (("grades", "grade"), ("weight", "weight")):
        if role in named and not is_numeric(types[named[role]]):
            raise DataError(
                f"{source}: the {what} column {named[role]!r} holds {types[named[role]]}. It must hold numbers; "
                f"name another column with {role}=…, or convert it first."
            )
    return Roles(named, tuple(features))


def name_roles(
    columns: Sequence[str], *, source: str, wanted: Mapping[str, str | None], given: Collection[str], taken: Collection[str]
) -> dict[str, str]:
    """The column of each role: the one wanted, else, unless its values are given, one of a usual name that is not taken."""
    named: dict[str, str] = {}
    for role, usual in USUAL_NAMES.items():
        column = wanted.get(role)
        if column is None and role not in given:
            others = {*taken, *named.values(), *filter(None, wanted.values())}
            column = _usual_column(role, usual, [name for name in columns if name not in others], source)
        if column is not None:
            named[role] = column
    return named


def is_numeric(kind: Any) -> bool:
    """Whether a column of this Arrow type can be a feature; an all-empty column is one whose values are all missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_numeric(kind.value_type)
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(check(kind) for check in checks)


def _is_row_number(name: str) -> bool:
    """Whether this is what pandas calls an unnamed index: in Arrow and Parquet, in the CSV it writes, and in CSV it read."""
    return name.startswith("__index_level_") or name in ("", "Unnamed: 0")


def _usual_column(role: str, usual: Sequence[str], columns: Sequence[str], source: str) -> str | None:
    matches = [column for name in usual for column in columns if column.lower() == name]
    if role == "grades" and len(matches) > 1:
        matches = [column for column in matches if len(column) > 1]  # a bare "y" beside a label is a feature like any other
    if role == "grades" and len(matches) > 1:  # the one not chosen would become a feature that gives the answer away
        raise DataError(
            f"{source}: {listed(matches)} could each be the grade. Name the right one with grades=… and leave the others out "
            "with ignore=[…]."
        )
    return matches[0] if matches else None
