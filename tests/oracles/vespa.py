"""Vespa's ranking expressions, one document at a time: a small recursive-descent parser that computes while it reads.

Numbers are Python's floats. A comparison with NaN is false. ``compiled_forest`` does what Vespa does with large forests: it
keeps thresholds and leaves as float32, and adds the trees from the last to the first.
"""

from __future__ import annotations

import json
import math
import re

import numpy as np

WORDS = re.compile(r"\s*([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z_0-9]*|[<>=!]=|.)", re.DOTALL)


def blocks(profile, word):
    """The blocks ``word NAME() { … }`` of a profile, by name: what stands between their brackets."""
    found = {}
    for match in re.finditer(rf"^ +{word}( \w+)?(?:\(\))? \{{", profile, flags=re.MULTILINE):
        depth, place = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(profile[place], 0)
            place += 1
        found[(match[1] or "").strip()] = profile[match.end() : place - 1]
    return found


def expression_of(block):
    """The expression within a block."""
    inner = re.search(r"expression\s*(?:\{(.*)\}|:([^\n]*))", block, flags=re.DOTALL)
    return inner[1] or inner[2]


class Reader:
    """The value of an expression for one document; ``value_of`` gives that of a name."""

    def __init__(self, text, value_of):
        self.words = [word for word in WORDS.findall(text) if word.strip()]
        self.at, self.value_of = 0, value_of

    def next_is(self, *words):
        """Read the next word if it is one of these."""
        if self.at < len(self.words) and self.words[self.at] in words:
            self.at += 1
            return self.words[self.at - 1]
        return None

    def expect(self, word):
        assert self.next_is(word), (word, self.words[self.at - 3 : self.at + 3])

    def whole(self):
        value = self.comparison()
        assert self.at == len(self.words)
        return value

    def comparison(self):
        left = self.sum()
        while sign := self.next_is("<", "<=", ">", ">=", "=="):
            right = self.sum()
            left = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "==": left == right}[sign]
        if self.next_is("in"):
            self.expect("[")
            members = [self.sum()]
            while self.next_is(","):
                members.append(self.sum())
            self.expect("]")
            return left in members
        return left

    def sum(self):
        total = self.product()
        while sign := self.next_is("+", "-"):
            total = total + self.product() if sign == "+" else total - self.product()
        return total

    def product(self):
        total = self.value()
        while sign := self.next_is("*", "/"):
            total = total * self.value() if sign == "*" else total / self.value()
        return total

    def value(self):
        if self.next_is("-"):
            return -self.value()
        if self.next_is("!"):
            return not self.value()
        if self.next_is("("):
            inner = self.comparison()
            self.expect(")")
            return inner
        word = self.words[self.at]
        self.at += 1
        if word[0].isdigit():
            return float(word)
        if not self.next_is("("):
            return self.value_of(word)
        arguments = [self.comparison()]
        while self.next_is(","):
            arguments.append(self.comparison())
        self.expect(")")
        return CALLS[word](*arguments)


def _exp(number):
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


CALLS = {
    "if": lambda condition, yes, no: yes if condition else no,
    "isNan": lambda number: 1.0 if math.isnan(number) else 0.0,
    "max": max,
    "min": min,
    "exp": _exp,
    "tanh": math.tanh,
}


def document_score(functions, ranked, given):
    """The score of a document whose features are given by the names of their functions."""
    known = dict(given)

    def value_of(name):
        if name not in known:
            known[name] = float(Reader(functions[name], value_of).whole())
        return known[name]

    return float(Reader(ranked, value_of).whole())


def scores_of(profile, features, names, matrix):
    """The scores of rows by the profile's second phase; ``features``: the JSON that says which function each feature is."""
    functions = {name: expression_of(block) for name, block in blocks(profile, "function").items()}
    ranked = expression_of(blocks(profile, "second-phase")[""])
    function_of = {entry["name"]: entry["function"] for entry in json.loads(features)}
    inputs = [function_of[name] for name in names]
    return np.asarray([document_score(functions, ranked, dict(zip(inputs, map(float, row), strict=True))) for row in matrix])


def compiled_forest(text, given):
    """A bare sum of trees as Vespa's compiled forests compute it; fails on anything else."""
    trees = [Tree(part).node() for part in text.split(" +\n")]
    return sum(leaf(tree, given) for tree in reversed(trees))


class Tree:
    """A tree of ``if(f < c, …)``, ``if(!(f >= c), …)`` and ``if(f in […], …)``, and of nothing else."""

    def __init__(self, text):
        self.words = [word for word in WORDS.findall(text) if word.strip()]

    def take(self, *words):
        found = [self.words.pop(0) for _ in words]
        assert all(word in (None, one) for word, one in zip(words, found, strict=True)), found
        return found

    def number(self):
        sign = -1.0 if self.words[0] == "-" else 1.0
        if sign < 0:
            self.take("-")
        with np.errstate(over="ignore"):
            return np.float32(sign * float(self.take(None)[0]))

    def members(self):
        """The numbers of a list, which stay float64."""
        self.take("in", "[")
        found = [float(self.take(None)[0])]
        while self.take(None) == [","]:
            found.append(float(self.take(None)[0]))
        return found

    def node(self):
        if self.words[0] != "if":
            return self.number()
        self.take("if", "(")
        inverted = self.words[0] == "!"
        if inverted:
            self.take("!", "(")
        [name] = self.take(None)
        if self.words[0] == "in" and not inverted:
            bound = self.members()
        else:
            self.take(">=" if inverted else "<")
            bound = self.number()
        if inverted:
            self.take(")")
        self.take(",")
        left = self.node()
        self.take(",")
        right = self.node()
        self.take(")")
        return name, bound, inverted, left, right


def leaf(node, given):
    while isinstance(node, tuple):
        name, bound, inverted, left, right = node
        value = given[name]
        if isinstance(bound, list):
            node = left if value in bound else right
            continue
        node = (right if value >= bound else left) if inverted else (left if value < bound else right)
    return float(node)
