"""Twin of an exported SQL statement: its steps parsed, and computed by NumPy as a database computes them.

NULL is NaN here, and None among texts. A comparison with NULL is not true, which is all that CASE and OR ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from rankinite.engine.kernel import Reals
from rankinite.serving.categories import Vocabularies, names_of_codes
from rankinite.serving.target import Twin

Row: TypeAlias = Mapping[str, Any]
"""Columns by name."""
Expression: TypeAlias = Callable[[Row], Any]
TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[0-9][0-9.]*(?:e[+-]?[0-9]+)?|[A-Za-z_]\w*|<=|>=|[-+*/<>(),.]""")
COMPARISONS: dict[str, Any] = {"<=": np.less_equal, ">": np.greater, "<": np.less, ">=": np.greater_equal}
OPERATIONS: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "OR": np.logical_or, "AND": np.logical_and,
}  # fmt: skip
FUNCTIONS: dict[str, Any] = {"exp": np.exp, "tanh": np.tanh, "abs": np.abs}


def twin_of(statement: str, names: tuple[str, ...], score: str, categories: Vocabularies) -> Twin:
    """The scores of rows × names; the table has categories by name."""
    *steps, last = StatementParser(TOKEN.findall(statement)).steps()

    def computed(matrix: Reals) -> Reals:
        row: dict[str, Any] = {name: matrix[:, column].astype(np.float64) for column, name in enumerate(names)}
        for name, vocabulary in categories.items():
            row[name] = np.asarray([*names_of_codes(row[name], vocabulary), None], object)[:-1]  # never an array of texts
        with np.errstate(all="ignore"):
            for step in steps:
                row = {name: expression(row) for name, expression in step.items() if name != "id"}
            return np.broadcast_to(last[score](row), len(matrix)).astype(np.float64)

    return computed


class StatementParser:
    """Reads the part of SQL that the writer uses: WITH … SELECT, and expressions of numbers and columns."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._place = [*tokens, ""], 0

    def steps(self) -> list[dict[str, Expression]]:
        """The columns of each step; every step reads the one before it."""
        self._expect("WITH")
        steps, source = list[dict[str, Expression]](), '"features"'
        while not steps or self._take(","):
            name = self._next()
            self._expect("AS", "MATERIALIZED", "(")
            steps.append(self._select(source))
            self._expect(")")
            source = name
        steps.append(self._select(source))
        self._expect("")
        return steps

    def _select(self, source: str) -> dict[str, Expression]:
        self._expect("SELECT")
        columns = dict[str, Expression]()
        while not columns or self._take(","):
            name = _unquoted(self._tokens[self._place])
            expression = self._sum()
            columns[_unquoted(self._next()) if self._take("AS") else name] = expression
        self._expect("FROM", source)
        if source == '"features"':
            self._expect("AS", "f")
        return columns

    # ---- conditions -----------------------------------------------------------------------------------------------------

    def _condition(self) -> Expression:
        return self._from_left(("OR", "AND"), self._comparison)

    def _comparison(self) -> Expression:
        left = self._sum()
        if self._take("IS"):
            negated = self._take("NOT")
            self._expect("NULL")
            return lambda row: _missing(left(row)) != negated
        compare, right = COMPARISONS[self._next()], self._sum()
        return lambda row: compare(left(row), right(row))

    # ---- numbers --------------------------------------------------------------------------------------------------------

    def _sum(self) -> Expression:
        return self._from_left(("+", "-"), lambda: self._from_left(("*", "/"), self._signed))

    def _from_left(self, words: tuple[str, str], part: Callable[[], Expression]) -> Expression:
        parts = [("+", part())]
        while (word := self._tokens[self._place]) in words:
            self._place += 1
            parts.append((word, part()))
        return parts[0][1] if len(parts) == 1 else _folded(parts)

    def _signed(self) -> Expression:
        if self._take("-"):
            inner = self._signed()
            return lambda row: -inner(row)
        return self._primary()

    def _primary(self) -> Expression:
        word = self._next()
        if word[0].isdigit():
            number = np.float64(float(word))
            return lambda _: number
        if word[0] == "'":
            text = _constant(word[1:-1].replace("''", "'"))
            return lambda _: text
        if word[0] == '"':
            name = _unquoted(word)
            return lambda row: row[name]
        if word == "f":
            self._expect(".")
            return self._primary()
        if word == "CASE":
            return self._case()
        if word in {"CAST", "COALESCE", "instr", *FUNCTIONS}:
            return self._call(word)
        assert word == "(", word
        inner = self._sum()
        if self._take("COLLATE"):  # texts are compared letter by letter here anyway
            self._expect('"BINARY"')
        self._expect(")")
        return inner

    def _call(self, word: str) -> Expression:
        self._expect("(")
        inner = self._sum()
        if word == "CAST":
            self._expect("AS")
            self._expect(*(("VARCHAR",) if self._tokens[self._place] == "VARCHAR" else ("DOUBLE", "PRECISION")), ")")
            return inner
        if word in {"COALESCE", "instr"}:
            self._expect(",")
            other, joined = self._sum(), _coalesced if word == "COALESCE" else _places
            self._expect(")")
            return lambda row: joined(inner(row), other(row))
        self._expect(")")
        function = FUNCTIONS[word]
        return lambda row: function(inner(row))

    def _case(self) -> Expression:
        whens = list[tuple[Expression, Expression]]()
        subject = None if self._tokens[self._place] == "WHEN" else self._sum()
        while self._take("WHEN"):
            condition = self._condition() if subject is None else _equal(subject, self._sum())
            self._expect("THEN")
            whens.append((condition, self._sum()))
        otherwise: Expression = self._sum() if self._take("ELSE") else lambda _: _constant(None)
        self._expect("END")

        def chosen(row: Row) -> Any:
            value = otherwise(row)
            for condition, result in reversed(whens):
                value = np.where(condition(row), result(row), value)
            return value

        return chosen

    # ---- tokens ---------------------------------------------------------------------------------------------------------

    def _next(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]

    def _take(self, word: str) -> bool:
        found = self._tokens[self._place] == word
        self._place += found
        return found

    def _expect(self, *words: str) -> None:
        for word in words:
            found = self._next()
            assert found == word, f"{found!r} instead of {word!r}"


def _folded(parts: list[tuple[str, Expression]]) -> Expression:
    """Operations from left to right."""
    (_, first), *others = parts

    def computed(row: Row) -> Any:
        total = first(row)
        for word, part in others:
            total = OPERATIONS[word](total, part(row))
        return total

    return computed


def _constant(text: str | None) -> Any:
    """A text, or NULL among texts."""
    return np.asarray(text, object)


def _equal(left: Expression, right: Expression) -> Expression:
    return lambda row: left(row) == right(row)


def _places(texts: Any, parts: Any) -> Any:
    """Where each part begins in a text, counted from 1; 0: nowhere."""
    whole: str = texts.item()
    return np.asarray([np.nan if part is None else whole.find(part) + 1.0 for part in parts])


def _missing(value: Any) -> Any:
    """Where there is NULL."""
    return value == _constant(None) if value.dtype == object else np.isnan(value)


def _coalesced(value: Any, other: Any) -> Any:
    return np.where(np.isnan(value), other, value)


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text
