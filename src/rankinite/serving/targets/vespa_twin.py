"""Vespa's twin: a rank profile's functions, parsed and computed in float64 for many rows at once.

Vespa's own order of adding depends on how it compiles a forest, so bits are predicted up to rounding. Comparisons with NaN are
false, and ``isNan`` is 1 or 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from rankinite.engine.kernel import Reals

Node: TypeAlias = tuple[Any, ...]
"""("number", value), ("name", name), or the name of an operation and its arguments."""
TOKENS = re.compile(r"\s*(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|<=|>=|==|[-+*/(),!<>\[\]])")
FUNCTION = re.compile(r"function (\w+)\(\) \{[^\n]*\n +expression \{\n(.*?)\n +\}\n +\}", re.DOTALL)
RANKED = re.compile(r"second-phase \{\n.*?expression \{\n(.*?)\n +\}\n +\}", re.DOTALL)


def _sum(*parts: Any) -> Any:
    """Parts added from left to right."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _contained(value: Any, *members: Any) -> Any:
    """Where a value is one of some numbers."""
    return np.isin(value, members)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "*": np.multiply,
    "/": np.divide,
    "<": np.less,
    ">=": np.greater_equal,
    "==": np.equal,
    "in": _contained,
    "!": np.logical_not,
    "negative": np.negative,
    "if": np.where,
    "isNan": np.isnan,
    "max": np.fmax,
    "min": np.fmin,
    "exp": np.exp,
    "tanh": np.tanh,
}


def vespa_twin(profile: str, columns: Mapping[str, int]) -> Callable[[Reals], Reals]:
    """The scores of the second phase; ``columns``: the functions whose values are given, and where."""
    functions = {name: parse(text) for name, text in FUNCTION.findall(profile) if name not in columns}
    found = RANKED.search(profile)
    assert found is not None
    ranked = parse(found[1])

    def score(matrix: Reals) -> Reals:
        known = {name: matrix[:, column].astype(np.float64) for name, column in columns.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            return np.broadcast_to(_value(ranked, functions, known), len(matrix)).astype(np.float64)

    return score


def _value(node: Node, functions: Mapping[str, Node], known: dict[str, Any]) -> Any:
    """The value of an expression for all rows; functions are computed once."""
    kind, *arguments = node
    if kind == "number":
        return arguments[0]
    if kind == "name":
        name = arguments[0]
        if name not in known:
            known[name] = _value(functions[name], functions, known)
        return known[name]
    return OPERATIONS[kind](*[_value(argument, functions, known) for argument in arguments])


def parse(text: str) -> Node:
    """An expression as nodes."""
    tokens = TOKENS.findall(text)
    assert "".join(tokens) == re.sub(r"\s+", "", text), "there is something in the expression that is no token"
    parser = _Parser(tokens)
    node = parser.comparison()
    assert parser.place == len(tokens), "an expression goes on"
    return node


class _Parser:
    """Recursive descent; each operator takes what is left of it as a whole."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.place = [*tokens, ""], 0

    def take(self, wanted: str = "") -> str:
        """The next token."""
        token = self.tokens[self.place]
        assert not wanted or token == wanted, f"{token!r} instead of {wanted!r}"
        self.place += 1
        return token

    def comparison(self) -> Node:
        """Sums, compared."""
        left = self.level(("+", "-"), lambda: self.level(("*", "/"), self.single))
        while self.tokens[self.place] in ("<", ">=", "=="):
            left = (self.take(), left, self.level(("+", "-"), lambda: self.level(("*", "/"), self.single)))
        if self.tokens[self.place] == "in":
            self.place += 1
            self.take("[")
            return ("in", left, *self.arguments("]"))
        return left

    def level(self, operators: tuple[str, ...], inner: Callable[[], Node]) -> Node:
        """Operands with operators of one rank between them."""
        parts = [inner()]
        while self.tokens[self.place] in operators:
            operator = self.take()
            parts.append(("negative", inner()) if operator == "-" else inner())
            if operator in "*/":
                parts = [(operator, *parts)]
        return parts[0] if len(parts) == 1 else ("sum", *parts)

    def single(self) -> Node:
        """A number, a name, a call, something in brackets, or one of these with a sign."""
        word = self.take()
        if word in ("-", "!"):
            return ("negative" if word == "-" else "!", self.single())
        if word == "(":
            inner = self.comparison()
            self.take(")")
            return inner
        if word[:1].isdigit():
            return ("number", np.float64(word))
        if self.tokens[self.place] != "(":
            return ("name", word)
        self.take("(")
        return (word, *self.arguments(")"))

    def arguments(self, end: str) -> list[Node]:
        """Expressions with commas between them."""
        found = [self.comparison()]
        while self.tokens[self.place] == ",":
            self.place += 1
            found.append(self.comparison())
        self.take(end)
        return found
