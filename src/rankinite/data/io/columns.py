"""Which column of a table means what: query, grade, document, weight, batch, features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankinite.data.io.column_names import meaning_of, query_columns
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
    grouped: bool = False,
    features: Sequence[str] | None = None,
    ignore: Collection[str] = (),
    guess: bool = True,
) -> Roles:
    """Find the column of each role, and the features: all other columns, or the ones asked for.

    ``types`` maps each column to its Arrow type, ``wanted`` a role to the column the caller names, ``given`` holds the
    roles whose values the caller passes as an array; ``grouped`` says that the size of each query is known. ``guess``: roles
    that nobody names are found by their usual names, and an unnamed index is no feature; our own files say what they hold.
    """
    absent = [column for column in (*_columns(wanted), *(features or ()), *ignore) if column not in types]
    if absent:
        raise DataError(f"{source}: there is no column {listed(absent)}. The columns are {listed(types)}.")
    named = {role: column for role in USUAL_NAMES if (column := wanted.get(role)) is not None}
    if guess:
        named = name_roles(list(types), source=source, wanted=wanted, given=given, taken={*(features or ()), *ignore})
    used = {*named.values(), *ignore}
    free = [name for name in types if name not in used and not (guess and is_row_number(name))]
    chosen = free if features is None else list(features)
    known = {*named, *given, *(("qid",) if grouped else ())}
    problems = _problems(types, free, chosen, known, asked=features is not None)
    if problems:  # all at once
        raise DataError(f"{source}: {' '.join([problems[0], *(text[0].upper() + text[1:] for text in problems[1:])])}")
    for role, what in (("grades", "grade"), ("weight", "weight")):
        if role in named and not is_numeric(types[named[role]]):
            raise DataError(
                f"{source}: the {what} column {named[role]!r} holds {types[named[role]]}. It must hold numbers; "
                f"name another column with {role}=…, or convert it first."
            )
    return Roles(named, tuple(chosen))


def name_roles(
    columns: Sequence[str], *, source: str, wanted: Mapping[str, str | None], given: Collection[str], taken: Collection[str]
) -> dict[str, str]:
    """The column of each role: the one wanted, else, unless its values are given, one of a usual name that is not taken."""
    named: dict[str, str] = {}
    for role, usual in USUAL_NAMES.items():
        column = wanted.get(role)
        if column is None and role not in given:
            others = {*taken, *named.values(), *_columns(wanted)}
            column = _usual_column(role, usual, [name for name in columns if name not in others], source)
        if column is not None:
            named[role] = column
    return named


def repeated_names(names: Iterable[str]) -> list[str]:
    """The names that appear more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def is_numeric(kind: Any) -> bool:
    """Whether a column of this Arrow type can be a feature; an all-empty column is one whose values are all missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return is_numeric(kind.value_type)
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(check(kind) for check in checks)


def _columns(wanted: Mapping[str, str | None]) -> list[str]:
    """The columns that are wanted; an empty name is a name too, though seldom that of a column."""
    return [column for column in wanted.values() if column is not None]


def _problems(
    types: Mapping[str, Any], free: Sequence[str], features: Sequence[str], known: Collection[str], *, asked: bool
) -> list[str]:
    """Sentences on roles that nothing fills, and on features that are no numbers.

    ``free`` columns have no role; ``known`` roles are filled; ``asked``: the features were asked for by name.
    """
    texts = {name: kind for name, kind in types.items() if not is_numeric(kind)}
    queries = [] if "qid" in known else query_columns(free, texts)
    found = [] if "qid" in known else [_absent_role("query", "qid", types, queries)]
    found += [] if "grades" in known else [_absent_role("grade", "grades", types, [])]
    held = {name: texts[name] for name in features if name in texts and name not in queries[:1]}
    return found + ([_text_columns(held, known, asked=asked)] if held else [])


def _absent_role(what: str, role: str, types: Mapping[str, Any], candidates: Sequence[str]) -> str:
    """A sentence for a role that no column has, with the columns that may be meant."""
    absent = f"there is no {what} column: none is called {', '.join(USUAL_NAMES[role])}."
    other = " (or give the rows of each query with group=…)" if role == "qid" else ""
    if not candidates:
        return f"{absent} The columns are {listed(types)}. Name the right one with {role}='…'{other}."
    others = f", as {'does' if len(candidates) == 2 else 'do'} {listed(candidates[1:])}" if len(candidates) > 1 else ""
    return f"{absent} Pass {role}={candidates[0]!r}, which looks like one{others}{other}."


def _text_columns(texts: Mapping[str, Any], known: Collection[str], *, asked: bool) -> str:
    """A sentence for columns that cannot be features, with what each may be instead; ``asked``: they were asked for."""
    kinds = {str(kind) for kind in texts.values()}
    if len(texts) == 1:
        held = f"column {listed(texts)} holds {kinds.pop()}, not numbers"
    elif len(kinds) == 1:
        held = f"columns {', '.join(map(repr, texts))} hold {kinds.pop()}, not numbers"
    else:
        held = f"columns {', '.join(f'{name!r} ({kind})' for name, kind in texts.items())} hold no numbers"
    rule = f"{held}. Features must be numeric or boolean;"
    if asked:
        return f"{rule} convert {'it' if len(texts) == 1 else 'them'}, or choose others with features=[…]."
    documents = [] if "doc_id" in known else [name for name in texts if meaning_of(name) == "document"][:1]
    others = [name for name in texts if name not in documents]
    advice = [f"pass doc_id={name!r}, which looks like the documents' ids" for name in documents]
    if others:
        which = "the rest" if documents else "it" if len(others) == 1 else "them"
        advice.append(f"leave {which} out with ignore=[{', '.join(map(repr, others))}]")
    return f"{rule} {', and '.join(advice)}, or choose the features with features=[…]."


def is_row_number(name: str) -> bool:
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
