"""Flaws of tables: all that is wrong with the columns, in one error with what each column may be instead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from rankinite.data.grades import texts_on_words
from rankinite.data.io.column_names import NAMED_LIKE, USUAL_NAMES, Meaning, grade_columns, meaning_of, query_columns
from rankinite.data.io.column_types import holds_text, is_numeric, kind_of
from rankinite.data.io.delimiters import likely_delimiter
from rankinite.errors import DataError, listed, quoted

Answers = Mapping[str, "str | list[str]"]
"""Setting → the column, or the columns, that it should name."""


Words = Callable[[str], Iterable[str]]
"""Gives some of the words that a column of text holds."""


class Flaw(NamedTuple):
    """One thing that is wrong with a table."""

    problem: str
    value: tuple[str, ...]
    """The role that no column has, or the columns that cannot be what they are taken for."""
    rule: str
    remedy: str
    shell_remedy: str = ""
    """The remedy at the command line where that differs in more than the spelling of settings."""
    answers: Answers = MappingProxyType({})
    """The settings that the remedy proposes, where they are clear."""

    def line(self, *, in_shell: bool) -> str:
        """Problem and remedy as one entry of a list."""
        remedy = self.shell_remedy if in_shell and self.shell_remedy else self.remedy
        return f"\n- {_capital(self.problem)}. {remedy}."


def all_at_once(flaws: Sequence[Flaw], hints: Sequence[Flaw], source: str) -> DataError:
    """One error for all flaws, so that they can be mended in one go; ``hints``: what else is likely to be meant otherwise."""
    value = [name for flaw in flaws for name in flaw.value]
    if len(flaws) == 1 and not hints:
        one = flaws[0]
        return DataError(
            one.problem, place=source, value=value, rule=one.rule, remedy=one.remedy, shell_remedy=one.shell_remedy
        )
    every = [*flaws, *hints]
    rules = [f"{rule}." for rule in dict.fromkeys(flaw.rule for flaw in flaws) if rule]

    def remedy(*, in_shell: bool) -> str:
        lines = [flaw.line(in_shell=in_shell) for flaw in every]
        return f"{_together(every, ' ' if in_shell else ', ')}{''.join(lines)}\n{' '.join(rules)}".rstrip()

    problem = f"{len(every)} things about its columns must be settled first"
    return DataError(problem, place=source, value=value, remedy=remedy(in_shell=False), shell_remedy=remedy(in_shell=True))


def _together(flaws: Sequence[Flaw], between: str) -> str:
    """The settings that the flaws ask for, as far as they are clear, to be copied."""
    answers: dict[str, str | list[str]] = {}
    for setting, columns in (pair for flaw in flaws for pair in flaw.answers.items()):
        known = answers.get(setting, [])
        answers[setting] = [*known, *columns] if isinstance(columns, list) and isinstance(known, list) else columns
    settings = between.join(f"`{setting}={columns!r}`" for setting, columns in answers.items())
    if not settings:
        return ""
    return f"{'Most' if any(not flaw.answers for flaw in flaws) else 'All'} is settled by {settings}:"


_OTHERWISE = {
    "qid": " (or give the number of rows of each query with `group=…`)",
    "grades": " (or pass `unjudged='keep'` if nobody judged the rows)",
}


def absent_role(what: str, role: str, types: Mapping[str, Any], candidates: Sequence[str]) -> Flaw:
    """The flaw of a role that no column has, with the columns that may be meant."""
    problem = f"there is no {what} column: none is called {', '.join(USUAL_NAMES[role])}"
    other = _OTHERWISE[role]
    if candidates:
        others = f", as {'does' if len(candidates) == 2 else 'do'} {listed(candidates[1:])}" if len(candidates) > 1 else ""
        remedy = f"Pass `{role}={candidates[0]!r}`, which looks like one{others}{other}"
        return Flaw(problem, (role,), "", remedy, answers={role: candidates[0]})
    rule, delimiter = f"The columns are {listed(types)}", likely_delimiter(list(types))
    if delimiter is not None:
        cut = f"If the file is not cut where it should be, pass `delimiter={delimiter!r}`"
        return Flaw(problem, (role,), rule, cut)
    return Flaw(problem, (role,), rule, f"Name the right column with `{role}='…'`{other}")


def several_grades(matches: Sequence[str]) -> Flaw:
    """The flaw of a table in which several columns could be the grade: the others would give the answer away."""
    example = f"`grades={matches[0]!r}` and `ignore={list(matches[1:])!r}`"
    remedy = f"Name the right one and leave the others out, as in {example}"
    return Flaw(f"{listed(matches)} could each be the grade", tuple(matches), "", remedy)


def text_grades(column: str, kind: Any, words: Iterable[str]) -> Flaw:
    """The flaw of a grade column that is no numbers; ``words``: what it holds, if it is text."""
    if not holds_text(kind):
        rule, remedy = "It must hold numbers", "Name another column with `grades=…`, or convert it first"
        return Flaw(f"the grade column {quoted(column)} holds {kind_of(kind)}", (column,), rule, remedy)
    problem, rule, remedy, shell_remedy = texts_on_words(words, f"the grade column {quoted(column)}")
    return Flaw(problem, (column,), rule, remedy, shell_remedy)


def text_weights(column: str, kind: Any) -> Flaw:
    """The flaw of a weight column that is no numbers."""
    return Flaw(
        f"the weight column {quoted(column)} holds {kind_of(kind)}",
        (column,),
        "Weights must be numbers",
        f"Name another column with `weight=…`, convert it first, or leave it out with `ignore={[column]!r}`",
        answers={"ignore": [column]},
    )


def unusable_columns(types: Mapping[str, Any], known: Collection[str], *, asked: bool) -> list[Flaw]:
    """The flaws of features that are neither numbers nor categories, one for each type; ``asked``: they were asked for."""
    groups: dict[str, list[str]] = {}
    for name, kind in types.items():
        groups.setdefault(kind_of(kind), []).append(name)
    return [_unusable(names, kind, known, asked=asked) for kind, names in groups.items()]


def _unusable(names: Sequence[str], kind: str, known: Collection[str], *, asked: bool) -> Flaw:
    one, rule = len(names) == 1, "Features must be numbers, booleans or text"
    problem = f"column {quoted(names[0])} holds {kind}" if one else f"columns {', '.join(map(repr, names))} hold {kind}"
    if asked:
        remedy = f"Convert {'it' if one else 'them'}, or choose others with `features=…`"
        return Flaw(problem, tuple(names), rule, remedy)
    documents = [] if "doc_id" in known else [name for name in names if meaning_of(name) == "document"][:1]
    others = [name for name in names if name not in documents]
    advice = [f"pass `doc_id={name!r}`, which looks like the ids of the documents" for name in documents]
    if others:
        which = "the rest" if documents else "it" if one else "them"
        advice.append(f"leave {which} out with `ignore={others!r}`, or convert {'it' if one else 'them'} to numbers")
    answers = {**({"doc_id": documents[0]} if documents else {}), **({"ignore": others} if others else {})}
    return Flaw(problem, tuple(names), rule, _capital(", and ".join(advice)), answers=answers)


def unlikely_features(columns: Sequence[str], known: Collection[str]) -> list[Flaw]:
    """What the names of further columns suggest, which would otherwise become features: documents, ids, positions, clicks."""
    groups: dict[Meaning, list[str]] = {}
    for name in columns:
        meaning = meaning_of(name)
        if meaning is not None and meaning != "category":
            groups.setdefault(meaning, []).append(name)
    found: list[Flaw] = []
    for meaning, names in groups.items():
        problem = f"{listed(names)} {'is' if len(names) == 1 else 'are'} {NAMED_LIKE[meaning]}"
        documents = names[:1] if meaning == "document" and "doc_id" not in known else []
        others = [name for name in names if name not in documents]
        parts = [f"pass `doc_id={name!r}`" for name in documents]
        parts += [f"leave {'the rest' if documents else 'it' if len(others) == 1 else 'them'} out with `ignore={others!r}`"]
        answers: dict[str, str | list[str]] = {**({"doc_id": documents[0]} if documents else {}), "ignore": others}
        kept = {setting: value for setting, value in answers.items() if value}
        remedy = f"If {'it is' if len(names) == 1 else 'they are'} no feature, {', and '.join(parts[: len(kept)])}"
        found.append(Flaw(problem, tuple(names), "", remedy, answers=kept))
    return found


class SortedColumns(NamedTuple):
    """What is known of the columns of a table once their roles are found."""

    types: Mapping[str, Any]
    free: Sequence[str]
    """Those without a role."""
    features: Sequence[str]
    known: Collection[str]
    """Roles that are filled."""
    categories: Collection[str]
    """Features that are categories of a usable type."""
    asked: bool
    """Whether the features were asked for by name."""
    words: Words | None
    """Gives words that a column holds; None: columns of grades are mapped anyway."""


def column_flaws(columns: SortedColumns) -> tuple[list[Flaw], list[Flaw]]:
    """Roles that no column has, and features that are neither numbers nor categories; and hints on the others."""
    types, known = columns.types, columns.known
    texts = {name: kind for name, kind in types.items() if not is_numeric(kind)}
    queries = [] if "qid" in known else query_columns(columns.free, texts)
    found = [] if "qid" in known else [absent_role("query", "qid", types, queries)]
    found += [] if "grades" in known else [absent_role("grade", "grades", types, grade_columns(columns.free))]
    proposed = {role: column for flaw in found for role, column in flaw.answers.items()}
    grades = str(proposed.get("grades"))
    if grades in texts and columns.words is not None:
        found.append(text_grades(grades, texts[grades], columns.words(grades) if holds_text(texts[grades]) else ()))
    used = (*queries[:1], *columns.categories)
    bad = {name: texts[name] for name in columns.features if name in texts and name not in used}
    bad.pop(grades, None)
    found += unusable_columns(bad, known, asked=columns.asked)
    others = [name for name in columns.features if name not in bad and name not in proposed.values()]
    return found, [] if columns.asked else unlikely_features(others, {*known, *proposed})


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
