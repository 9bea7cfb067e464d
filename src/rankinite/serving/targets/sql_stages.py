"""SQLStages: a ranker as steps of one SQL statement, each of which adds columns to those of the step before.

Trees are added to a column from left to right, some at a time, in the order of ours, so that every bit of the sum is ours.
Databases stay quick and within their limits because no expression is long: SQLite takes 1000 nested operations, and DuckDB's
optimiser takes a time that grows with the square of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.data.categories import Vocabulary
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.categories import Vocabularies
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability
from rankinite.serving.targets.sql_columns import Column
from rankinite.serving.targets.sql_text import HIGHEST, LOWEST, cases, literal, quoted_name, weighted_sum
from rankinite.trees.structure import LEAF, Trees

TABLE, KEY, SCORE = "features", "id", "score"
"""The table that is read, the column that identifies its rows, and the column of scores."""
MOST_TREES, MOST_LEAVES = 64, 1000
"""Of one step."""
MOST_COLUMNS = 2000
"""Of one step, where SQLite was not compiled otherwise."""
IDENTIFIER = re.compile(r'"(?:[^"]|"")*"')


@dataclass
class SQLStages:
    """The steps so far: for each its new columns and their expressions."""

    names: tuple[str, ...]
    missing: ServedMissing
    categories: Vocabularies = field(default_factory=dict[str, Vocabulary])
    steps: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    numbers: int = 0

    def __post_init__(self) -> None:
        self.taken = {plain(name) for name in self.names}
        self.columns = {name: Column(name, self.missing, self.categories.get(name)) for name in self.names}

    def text(self, flat: Flat) -> str:
        """The whole statement, which begins with WITH, so that a query of features can be put before it."""
        final = {quoted_name(KEY): quoted_name(KEY), quoted_name(SCORE): self.of_flat(flat)}
        steps, wanted = list[str](), _names_in(final.values())
        for number in reversed(range(len(self.steps))):
            new = self.steps[number]
            carried = sorted(wanted - set(new) - {quoted_name(KEY)})
            check_columns(len(carried) + len(new) + 1)
            steps.append(_step(number + 1, [quoted_name(KEY), *carried, *(f"{text} AS {name}" for name, text in new.items())]))
            wanted = {*carried, *_names_in(new.values())}
        check_columns(len(self.names) + 1)
        columns = [
            f"f.{quoted_name(KEY)} AS {quoted_name(KEY)}",
            *(f"{self.columns[name].read()} AS {quoted_name(name)}" for name in self.names),
        ]
        first = f"stage_0 AS MATERIALIZED (\nSELECT {_lines(columns)}\nFROM {quoted_name(TABLE)} AS f)"
        last = _lines([f"{text} AS {name}" for name, text in final.items()])
        return "WITH\n" + ",\n".join([first, *reversed(steps)]) + f"\nSELECT {last}\nFROM stage_{len(self.steps)}\n"

    # ---- sums -----------------------------------------------------------------------------------------------------------

    def of_flat(self, flat: Flat) -> str:
        """The column of a sum."""
        columns = [(term.weight, self.of_leaf(term.leaf)) for term in flat.terms]
        if flat.start == 0.0 and len(columns) == 1 and columns[0][0] == 1.0:
            return columns[0][1]
        summands = [name if weight == 1.0 else f"{literal(weight)} * {name}" for weight, name in columns]
        if not any(isinstance(term.leaf, Feature) for term in flat.terms):
            return self._column("sum", " + ".join([literal(flat.start), *summands]))
        total = literal(flat.start)  # a missing feature is the lowest number, which must not become lower
        for summand in summands:
            product = self._column("product", summand)
            total = self._column("sum", f"{total} + {self._bounded(product)}")
            total = self._bounded(total)
        return total

    def _bounded(self, column: str) -> str:
        text = f"CASE WHEN {column} < {LOWEST} THEN {LOWEST} WHEN {column} > {HIGHEST} THEN {HIGHEST} ELSE {column} END"
        return self._column("bounded", text)

    def of_leaf(self, leaf: Leaf) -> str:
        """The column of a summand."""
        match leaf:
            case Forest():
                return self._sum_of_trees(leaf, 0) if leaf.grades is None else self._mean_grade(leaf, leaf.grades)
            case Linear():
                columns = [quoted_name(name) if weight else None for name, weight in leaf.by_feature().items()]
                inputs = self._scaled(leaf, columns, leaf.centre_of_features, None)
                return self._column("linear", weighted_sum(leaf.bias, leaf.weights, inputs))
            case Net():
                used = zip(leaf.feature_names, leaf.scale.tolist(), strict=True)
                return self._net(leaf, [quoted_name(name) if scale else None for name, scale in used])
            case Feature():
                x = f"{'-' if leaf.ascending else ''}{quoted_name(str(leaf.feature))}"
                return self._column("feature", f"CASE WHEN {x} > {LOWEST} THEN {x} ELSE {LOWEST} END")
            case Probability():
                return self._probability(self.of_flat(leaf.inner))
            case NetOfSums():
                return self._net(leaf.top, [self.of_flat(flat) for flat in leaf.inputs])

    # ---- trees ----------------------------------------------------------------------------------------------------------

    def _sum_of_trees(self, forest: Forest, output: int) -> str:
        """The start and the trees of one output, in order."""
        total = literal(float(forest.start[output]))
        numbers = range(output, len(forest), forest.outputs)
        trees, columns = forest.trees, [self.columns.get(name) for name in forest.feature_names]

        def condition(node: int, left: bool) -> str:
            column = columns[trees.feature[node]]
            assert column is not None  # only features that no node asks for are left out
            return column.condition(trees, node, left=left)

        for group in _groups(trees, numbers):
            texts = (cases(trees, tree, condition) for tree in group)
            total = self._column("sum", "\n+ ".join([total, *texts]))
        return total if numbers else self._column("sum", total)

    def _mean_grade(self, forest: Forest, grades: Floats) -> str:
        """The mean grade under the probabilities that the sums stand for."""
        sums = [self._sum_of_trees(forest, output) for output in range(forest.outputs)]
        whens = [f"WHEN {' AND '.join(f'{one} >= {other}' for other in sums if other != one)} THEN {one}" for one in sums[:-1]]
        largest = self._column("largest", f"CASE {' '.join(whens)} ELSE {sums[-1]} END" if whens else sums[-1])
        shares = self._columns("share", [f"exp({one} - {largest})" for one in sums])
        weighted = [f"{share} * {literal(grade)}" for share, grade in zip(shares, grades.tolist(), strict=True)]
        return self._column("mean_grade", f"({' + '.join(weighted)}) / ({' + '.join(shares)})")

    # ---- weights --------------------------------------------------------------------------------------------------------

    def _scaled(self, leaf: Linear | Net, columns: list[str | None], centre: Floats, scale: Floats | None) -> list[str | None]:
        """Inputs: (value − centre) · scale, and 0 for a missing value where it counts as the mean; None for those not used."""
        found = list[str | None]()
        for number, column in enumerate(columns):
            text = f"({column} - {literal(float(centre[number]))})"
            text = text if scale is None else f"{text} * {literal(float(scale[number]))}"
            mean = leaf.nan == "mean" and self.missing == "nan"
            found.append(None if column is None else f"COALESCE({text}, 0e0)" if mean else text)
        return found

    def _net(self, net: Net, columns: list[str | None]) -> str:
        """The inputs in one step, and every layer in one."""
        texts = self._scaled(net, columns, net.centre, net.scale)
        made = iter(self._columns("input", [text for text in texts if text is not None]))
        inputs: list[str | None] = [None if text is None else next(made) for text in texts]
        for weights, biases in net.layers()[:-1]:
            sums = [weighted_sum(bias, row, inputs) for row, bias in zip(weights, biases.tolist(), strict=True)]
            inputs = [*self._columns("unit", [f"tanh({text})" for text in sums])]
        (weights,), biases = net.layers()[-1]
        return self._column("net", weighted_sum(float(biases[0]), weights, inputs))

    def _probability(self, column: str) -> str:
        """1/(1 + exp(−2 column)), without overflow."""
        size = f"abs(2e0 * {column})"
        small = self._column("small", f"exp(CASE WHEN {size} < 7e2 THEN -{size} ELSE -7e2 END)")
        text = f"CASE WHEN {column} >= 0e0 THEN 1e0 / (1e0 + {small}) ELSE {small} / (1e0 + {small}) END"
        return self._column("probability", text)

    # ---- steps ----------------------------------------------------------------------------------------------------------

    def _column(self, kind: str, text: str) -> str:
        return self._columns(kind, [text])[0]

    def _columns(self, kind: str, texts: list[str]) -> list[str]:
        """New columns in a step of their own; gives their names, which no feature has."""
        made = dict[str, str]()
        for text in texts:
            self.numbers += 1
            name = f"{kind}_{self.numbers}"
            while name in self.taken:
                name += "_"
            made[quoted_name(name)] = text
        if made:
            self.steps.append(made)
        return list(made)


def check_columns(columns: int) -> None:
    """Refuse a step with more columns than SQLite takes."""
    if columns > MOST_COLUMNS:
        raise too_large(f"a step with {columns:,} columns", columns, f"{MOST_COLUMNS:,}")


def too_large(what: str, value: int, most: str) -> ArgumentError:
    """The refusal of what is beyond SQLite's limits."""
    return ArgumentError(
        f"it needs {what}",
        value=value,
        rule=f"SQLite takes {most}",
        remedy="Distil it into a smaller ranker (rankinite distil), or export to c or onnx",
    )


def plain(name: str) -> str:
    """A name without the difference of capitals, as databases compare names."""
    return "".join(character.lower() if character.isascii() else character for character in name)


def _groups(trees: Trees, numbers: range) -> list[list[int]]:
    """Numbers of trees that are added in one step."""
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(trees.feature == LEAF)))[trees.offsets]
    groups, leaves = list[list[int]](), MOST_LEAVES
    for tree in numbers:
        if leaves >= MOST_LEAVES or len(groups[-1]) == MOST_TREES:
            groups.append([])
            leaves = 0
        groups[-1].append(tree)
        leaves += int(ends[tree + 1] - ends[tree])
    return groups


def _names_in(texts: Iterable[str]) -> set[str]:
    """The quoted names in expressions."""
    return set(IDENTIFIER.findall(" ".join(texts)))


def _step(number: int, columns: list[str]) -> str:
    return f"stage_{number} AS MATERIALIZED (\nSELECT {_lines(columns)}\nFROM stage_{number - 1})"


def _lines(columns: list[str]) -> str:
    return ",\n".join(columns)
