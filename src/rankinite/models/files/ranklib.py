"""RankLib's models: ensembles of trees as forests, linear models as linear rankers.

A file begins with ``## `` and the name of its learner. Trees follow as XML, whose children count by position: a row goes left
when ``x <= threshold`` in float32. RankLib rounds the sum of leaf × weight to float32 at every step; here products are exact
and sums are float64, so scores agree to the last bits of float32. Linear models are a line of ``feature:weight``, where 0 is
the constant. Features are numbers from 1 on, and one that is missing counts as 0. The XML is read here, tag by tag, because a
model has few tags, and so that nothing is expanded or fetched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rankinite.errors import DataError, cut, listed, quoted
from rankinite.models.files.nested_trees import LeafNode, SplitNode, tree_of
from rankinite.models.files.parsed import MOST_UNNAMED, SAVE_AGAIN, java_float, number_words
from rankinite.models.forest import Forest
from rankinite.models.history import MISSING_VALUES
from rankinite.models.linear import Linear
from rankinite.trees.structure import Trees, join

LOSSES = {"LambdaMART": "lambda", "MART": "squared"}
"""RankLib's learner → the loss by which :func:`rankinite.adapt.trada` takes it."""
FORESTS = ("LambdaMART", "MART", "Random Forests")
LINEAR = ("Linear Regression", "Coordinate Ascent")
PARENTS = {"ensemble": ("",), "tree": ("ensemble",), "split": ("tree", "split")}
"""Tag of what has other elements inside → the tags that it may be in."""
_NEXT = re.compile(
    r"\s*(?:<(feature|threshold|output)\s*>([^<]*)</\1\s*>"  # a value
    r'|<(/?)(ensemble|tree|split)((?:\s+\w+\s*=\s*"[^"<]*")*)\s*>)'
)
_WEIGHT = re.compile(r'\sweight\s*=\s*"([^"]*)"')


class _Value(NamedTuple):
    """An element with a text inside."""

    tag: str
    text: str
    offset: int


class _Element(NamedTuple):
    """An element with others inside."""

    tag: str
    attributes: str
    offset: int
    inside: list[Any]


def read_ranklib(content: bytes, all_trees: bool = False) -> Forest | Linear:  # noqa: ARG001 - RankLib cuts at the best itself
    """The ranker of a model that RankLib's ``-save`` wrote."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"this is not text ({cut(error)})", place=f"byte {error.start}", remedy=SAVE_AGAIN) from error
    first, *lines = text.splitlines()
    learner = {name.upper(): name for name in (*FORESTS, *LINEAR)}.get(first.removeprefix("##").strip().upper())
    if learner is None:
        raise DataError(
            f"this RankLib model is by {quoted(first.removeprefix('##').strip())}",
            place="line 1",
            value=first,
            rule=f"Models that can be read are by {listed((*FORESTS, *LINEAR))}",
            remedy="Train one of these, or score with RankLib and give its scores as a file",
        )
    about = dict(_settings(lines))
    if learner in LINEAR:
        return _linear(learner, lines)
    return _forest(learner, lines, about)


def _settings(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the lines at the top say: ``## Learning rate = 0.1``."""
    for line in lines:
        name, equals, value = line.removeprefix("##").partition("=")
        if line.startswith("##") and equals:
            yield name.strip(), value.strip()


# ---- linear models ----------------------------------------------------------------------------------------------------


def _linear(learner: str, lines: Sequence[str]) -> Linear:
    """The first line that is no comment has all weights."""
    numbered = enumerate(lines, 2)
    place, line = next(
        ((f"line {n}", line) for n, line in numbered if line.strip() and not line.startswith("#")), ("line 2", "")
    )
    weights: dict[int, float] = {}
    for word in line.partition("#")[0].split():
        feature, colon, value = word.partition(":")
        number = int(feature) if feature.isascii() and feature.isdecimal() and len(feature) <= 9 else -1
        if not colon or number in weights or number < (learner != "Linear Regression"):
            raise DataError(
                f"{quoted(word)} is not a feature and its weight, or comes twice",
                place=place,
                value=word,
                rule="Weights are written as 3:0.25, and features count from 1; 0 is the constant of a linear regression",
                remedy=SAVE_AGAIN,
            )
        weights[number] = _number(value, place)
    bias = weights.pop(0, 0.0)
    names = _names(weights, place)
    dense = np.zeros(len(names))
    dense[[feature - 1 for feature in weights]] = list(weights.values())
    settings = {"learner": "RankLib", "objective": learner}
    return Linear(feature_names=names, weights=dense, bias=bias, nan="mean", settings=settings)


def _number(text: str, place: str) -> float:
    try:
        [number] = number_words(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{quoted(text)} is not a finite number", place=place, value=text, remedy=SAVE_AGAIN)
    return number


def _names(features: Sequence[int] | dict[int, float], place: str) -> tuple[str, ...]:
    """1, 2, … up to the largest number of a feature; the file does not say how many more the data had."""
    largest = max(features, default=0)
    if not 1 <= largest <= MOST_UNNAMED:
        raise DataError(
            f"the features are numbered up to {largest}" if largest else "there are no features",
            place=place,
            value=largest,
            rule=f"There must be features, with numbers from 1 to {MOST_UNNAMED:,}, because they are kept as a dense matrix",
            remedy="Number the features without gaps, from 1 on",
        )
    return tuple(map(str, range(1, largest + 1)))


# ---- ensembles --------------------------------------------------------------------------------------------------------


def _forest(learner: str, lines: Sequence[str], about: dict[str, str]) -> Forest:
    xml = _Xml("\n".join("" if line.startswith("#") else line for line in ["#", *lines]))
    ensembles = xml.elements()
    if not ensembles or (len(ensembles) > 1 and learner != "Random Forests"):
        raise DataError(
            f"there are {len(ensembles)} ensembles of trees",
            place=xml.place(ensembles[1].offset if ensembles else 0),
            value=len(ensembles),
            rule=f"A model by {learner} has {'several' if learner == 'Random Forests' else 'one'}",
            remedy=SAVE_AGAIN,
        )
    written = list(chain.from_iterable(ensemble.inside for ensemble in ensembles))
    trees = join([xml.tree(tree, len(ensembles)) for tree in written])
    largest = int(trees.feature.max(initial=0)) + 1
    settings: dict[str, Any] = {"learner": "RankLib", "objective": learner, MISSING_VALUES: False}
    settings |= {"loss": LOSSES[learner]} if learner in LOSSES else {}
    rate = java_float(about.get("Learning rate", ""))
    settings |= {"rate": float(str(np.float32(rate)))} if learner in LOSSES and 0.0 < rate <= 1.0 else {}
    return Forest(trees=trees, feature_names=_names([largest], "features"), settings=settings)


class _Xml:
    """The XML of a model, read tag by tag."""

    def __init__(self, text: str) -> None:
        self.text = text

    def place(self, offset: int) -> str:
        """The line of an offset, which counts from the end of the element before."""
        found = re.compile(r"\s*").match(self.text, offset)
        return f"line {self.text.count(chr(10), 0, found.end() if found else offset) + 1}"

    def damaged(self, problem: str, offset: int, value: object) -> DataError:
        """The error for what no model has."""
        return DataError(problem, place=self.place(offset), value=value, remedy=SAVE_AGAIN)

    def elements(self) -> list[_Element]:
        """The elements at the top, each with those inside it."""
        stack, offset = [_Element("", "", 0, [])], 0
        while (found := _NEXT.match(self.text, offset)) is not None:
            name, words, closes, tag, attributes = found.groups()
            holder = stack[-1]
            if name is not None:
                if holder.tag != "split":
                    raise self.damaged(f"<{name}> is in <{holder.tag}>", offset, name)
                holder.inside.append(_Value(name, words, offset))
            elif closes:
                if tag != holder.tag or attributes:
                    raise self.damaged(f"</{tag}> closes <{holder.tag}>", offset, tag)
                stack.pop()
            elif holder.tag not in PARENTS[tag]:
                raise self.damaged(f"<{tag}> is in <{holder.tag}>", offset, tag)
            else:
                stack.append(_Element(tag, attributes, offset, []))
                holder.inside.append(stack[-1])
            offset = found.end()
        rest = self.text[offset : offset + 1000].strip()
        if rest:
            raise self.damaged(f"there is {quoted(rest, 40)} where a tag should be", offset, rest[:40])
        if len(stack) > 1:
            raise self.damaged(f"<{stack[-1].tag}> is not closed: the file is cut off", stack[-1].offset, stack[-1].tag)
        return stack[0].inside

    def tree(self, tree: _Element, ensembles: int) -> Trees:
        """A tree with its weight in its leaves, divided by the number of ensembles, whose mean a random forest is."""
        weight = _WEIGHT.search(tree.attributes)
        factor = self.number("its weight", weight[1] if weight is not None else "", tree.offset)
        if [inside.tag for inside in tree.inside] != ["split"]:
            raise self.damaged(f"a tree has {len(tree.inside)} roots", tree.offset, len(tree.inside))

        def read(split: _Element) -> LeafNode | SplitNode:
            tags = [inside.tag for inside in split.inside]
            if tags == ["output"]:
                return LeafNode(self.number("an output", *split.inside[0][1:]) * factor / ensembles)
            if tags != ["feature", "threshold", "split", "split"]:
                raise self.damaged(f"a split has inside it {listed(tags) or 'nothing'}", split.offset, tags)
            feature, threshold, left, right = split.inside
            number = feature.text.strip()
            if not (number.isascii() and number.isdecimal() and 0 < len(number) <= 9 and 0 < int(number) <= MOST_UNNAMED):
                raise self.damaged(f"{quoted(number)} is not a feature's number from 1 on", feature.offset, number)
            cut_at = self.number("a threshold", *threshold[1:])
            return SplitNode(int(number) - 1, cut_at, cut_at >= 0.0, left, right)

        return tree_of(tree.inside[0], read)

    def number(self, what: str, text: str, offset: int) -> float:
        """A finite float of 32 bits."""
        number = java_float(text)
        if not math.isfinite(number):
            raise self.damaged(f"{what} is {quoted(text.strip())}, not a finite number of 32 bits", offset, text.strip())
        return number
