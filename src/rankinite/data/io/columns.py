"""Roles of the columns of a table: query, grade, document, weight, batch, position, features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankinite.data.io.column_names import meaning_of, query_columns
from rankinite.errors import DataError, listed, quoted

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "query", "queryid", "q_id", "srch_id"),
    "grades": ("grade", "label", "relevance", "rel", "relevance_label", "target", "y"),
    "doc_id": ("doc_id", "docid", "document_id", "docno", "did"),
    "weight": ("weight",),
    "batch": ("batch", "fold"),
    "positions": (),  # a column of that name may be a feature, and was one in older models: it must be named
}
"""Column names by which each role is recognised when the caller names none, in upper or lower case."""


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

    def columns(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys((*self.features, *self.named.values())))


def assign_roles(
    types: Mapping[str, Any],
    *,
    source: str,
    wanted: Mapping[str, str | None],
    passed: Collection[str] = (),
    grouped: bool = False,
    graded: bool = True,
    features: Sequence[str] | None = None,
    ignore: Collection[str] = (),
    known_features: Collection[str] = (),
    guess: bool = True,
    categories: Collection[str] = (),
    stated_categories: Collection[str] = (),
    texts_are_categories: bool = True,
    written: bool = False,
) -> Roles:
    """Find the column of each role, and the features: all other columns, or the ones asked for.

    ``types`` maps each column to its Arrow type, ``wanted`` a role to the column the caller names, ``passed`` holds the
    roles whose values the caller passes as an array; ``grouped`` says that the size of each query is known, ``graded`` that
    there must be grades. ``guess``: other roles are found by their usual names, except those of ``known_features``, and an
    unnamed index is not a feature; our own files state their roles instead. ``categories`` names features that are categories,
    as ``stated_categories`` do where they are features; ``texts_are_categories``: so are all features that hold text.
    ``written``: the table is a text file.
    """
    mentioned = (*_columns(wanted), *(features or ()), *ignore, *categories)
    absent = [column for column in mentioned if column not in types]
    if absent:
        raise DataError(
            f"there is no column {listed(absent)}", place=source, value=absent, rule=f"The columns are {listed(types)}"
        )
    named = {role: column for role in USUAL_NAMES if (column := wanted.get(role)) is not None}
    if guess:
        taken = {*(features or ()), *ignore, *known_features}
        named = name_roles(list(types), source=source, wanted=wanted, passed=passed, taken=taken)
    used = {*named.values(), *ignore}
    free = [name for name in types if name not in used and not (guess and is_row_number(name))]
    chosen = free if features is None else list(features)
    known = {*named, *passed, *(("qid",) if grouped else ()), *(() if graded else ("grades",))}
    asked = frozenset((*categories, *(name for name in stated_categories if name in chosen)))
    names = tuple(name for name in chosen if name in asked or (texts_are_categories and is_category(types[name])))
    usable = [name for name in names if is_category(types[name])]  # numbers are usable anyway
    flaws = _flaws(types, free, chosen, known, usable, asked=features is not None)
    if flaws:
        raise _all_at_once(flaws, source)
    _check_are_features(categories, chosen, source)
    _check_numeric(types, named, source)
    return Roles(named, tuple(chosen), CategoryColumns(names, asked, written))


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
    columns: Sequence[str], *, source: str, wanted: Mapping[str, str | None], passed: Collection[str], taken: Collection[str]
) -> dict[str, str]:
    """The column of each role: the one wanted, else, unless its values are passed, one of a usual name that is not taken."""
    named: dict[str, str] = {}
    for role, usual in USUAL_NAMES.items():
        column = wanted.get(role)
        if column is None and role not in passed:
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


def is_text(kind: Any) -> bool:
    """Whether this Arrow type is text."""
    import pyarrow as pa

    return any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def is_category(kind: Any) -> bool:
    """Whether a feature of this Arrow type is a category by itself: text, and dictionaries of text or numbers."""
    import pyarrow as pa

    return is_text(kind) or (pa.types.is_dictionary(kind) and (is_text(kind.value_type) or is_numeric(kind)))


def _columns(wanted: Mapping[str, str | None]) -> list[str]:
    """The columns that are wanted; an empty name counts, though few columns have one."""
    return [column for column in wanted.values() if column is not None]


class _Flaw(NamedTuple):
    """One thing that is wrong with a table."""

    problem: str
    value: tuple[str, ...]
    """The role that no column has, or the columns that cannot be features."""
    rule: str
    remedy: str
    shell_remedy: str


def _all_at_once(flaws: Sequence[_Flaw], source: str) -> DataError:
    """One error for all flaws, so that they can be mended in one go."""
    return DataError(
        _sentences(flaw.problem for flaw in flaws),
        place=source,
        value=[name for flaw in flaws for name in flaw.value],
        rule=_sentences(flaw.rule for flaw in flaws),
        remedy=_sentences(flaw.remedy for flaw in flaws),
        shell_remedy=_sentences(flaw.shell_remedy for flaw in flaws),
    )


def _sentences(texts: Iterable[str]) -> str:
    """Texts, each once, as sentences; the first letter of the first stays as it is."""
    first, *others = [text for text in dict.fromkeys(texts) if text] or [""]
    return ". ".join([first, *(text[0].upper() + text[1:] for text in others)])


def _flaws(
    types: Mapping[str, Any],
    free: Sequence[str],
    features: Sequence[str],
    known: Collection[str],
    categories: Collection[str],
    *,
    asked: bool,
) -> list[_Flaw]:
    """Roles that no column has, and features that are neither numbers nor categories.

    ``free`` columns have no role; ``known`` roles are filled; ``asked``: the features were asked for by name.
    """
    texts = {name: kind for name, kind in types.items() if not is_numeric(kind)}
    queries = [] if "qid" in known else query_columns(free, texts)
    found = [] if "qid" in known else [_absent_role("query", "qid", types, queries)]
    found += [] if "grades" in known else [_absent_role("grade", "grades", types, [])]
    not_numbers = {name: texts[name] for name in features if name in texts and name not in (*queries[:1], *categories)}
    return found + ([_text_columns(not_numbers, known, asked=asked)] if not_numbers else [])


_OTHERWISE = {
    "qid": " (or give the number of rows of each query with `group=…`)",
    "grades": " (or pass `unjudged='keep'` if nobody judged the rows)",
}


def _absent_role(what: str, role: str, types: Mapping[str, Any], candidates: Sequence[str]) -> _Flaw:
    """The flaw of a role that no column has, with the columns that may be meant."""
    problem = f"there is no {what} column: none is called {', '.join(USUAL_NAMES[role])}"
    other = _OTHERWISE[role]
    if not candidates:
        remedy = f"Name the right column with `{role}='…'`{other}"
        return _Flaw(problem, (role,), f"The columns are {listed(types)}", remedy, remedy)
    others = f", as {'does' if len(candidates) == 2 else 'do'} {listed(candidates[1:])}" if len(candidates) > 1 else ""
    remedy = f"Pass `{role}={candidates[0]!r}`, which looks like one{others}{other}"
    return _Flaw(problem, (role,), "", remedy, remedy)


def _text_columns(texts: Mapping[str, Any], known: Collection[str], *, asked: bool) -> _Flaw:
    """The flaw of columns that cannot be features, with what each may be instead; ``asked``: they were asked for."""
    problem, rule = _held(texts), "Features must be numbers, booleans or text"
    if asked:
        convert = f"Convert {'it' if len(texts) == 1 else 'them'}"
        return _Flaw(problem, tuple(texts), rule, f"{convert}, or choose others with features=[…]", convert)
    documents = [] if "doc_id" in known else [name for name in texts if meaning_of(name) == "document"][:1]
    others = [name for name in texts if name not in documents]
    advice = [f"pass `doc_id={name!r}`, which looks like the ids of the documents" for name in documents]
    if others:
        which = "the rest" if documents else "it" if len(others) == 1 else "them"
        advice.append(f"leave {which} out with `ignore={others!r}`")
    remedy = ", and ".join(advice)
    remedy = remedy[0].upper() + remedy[1:]
    return _Flaw(problem, tuple(texts), rule, f"{remedy}, or choose the features with features=[…]", remedy)


def _held(texts: Mapping[str, Any]) -> str:
    """A sentence on the types of columns that do not hold numbers."""
    kinds = {str(kind) for kind in texts.values()}
    if len(texts) == 1:
        return f"column {listed(texts)} holds {kinds.pop()}, not numbers"
    if len(kinds) == 1:
        return f"columns {', '.join(map(repr, texts))} hold {kinds.pop()}, not numbers"
    return f"columns {', '.join(f'{name!r} ({kind})' for name, kind in texts.items())} do not hold numbers"


def _check_numeric(types: Mapping[str, Any], named: Mapping[str, str], source: str) -> None:
    for role, what in (("grades", "grade"), ("weight", "weight")):
        column = named.get(role)
        if column is not None and not is_numeric(types[column]):
            raise DataError(
                f"the {what} column {quoted(column)} holds {types[column]}",
                place=source,
                value=column,
                rule="It must hold numbers",
                remedy=f"Name another column with `{role}=…`, or convert it first",
                shell_remedy="" if role == "grades" else f"Convert it first, or leave it out with `ignore={[column]!r}`",
            )


def is_row_number(name: str) -> bool:
    """Whether this is what pandas calls an unnamed index: in Arrow and Parquet, in the CSV it writes, and in CSV it read."""
    return name.startswith("__index_level_") or name in ("", "Unnamed: 0")


def _usual_column(role: str, usual: Sequence[str], columns: Sequence[str], source: str) -> str | None:
    matches = [column for name in usual for column in columns if column.lower() == name]
    if role == "grades" and len(matches) > 1:
        matches = [column for column in matches if len(column) > 1]  # a bare "y" beside a label is a feature like any other
    if role == "grades" and len(matches) > 1:  # the other would become a feature that gives the answer away
        raise DataError(
            f"{listed(matches)} could each be the grade",
            place=source,
            value=matches,
            remedy="Name the right one with `grades=…` and leave the others out with `ignore=[…]`",
        )
    return matches[0] if matches else None
