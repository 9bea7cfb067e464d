"""Twin of an exported C file: its tables and the calls between its functions, evaluated by NumPy as C evaluates them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats, Reals
from rankinite.serving.node_table import NodeTable, node_sets, sum_in_order
from rankinite.serving.target import Twin
from rankinite.serving.targets import c_set_templates as set_templates
from rankinite.serving.targets import c_templates as templates
from rankinite.serving.targets.c_set_twin import SetTables
from rankinite.trees.structure import LEAF

NUMBER = r"-?(?:0x[0-9a-f.]+p[+-]\d+|INFINITY)"
CALL = r"    (\w+)\(rows, count, stride, "
LARGEST = 700.0
SERIES = [1.0 / math.factorial(k) for k in range(13, 1, -1)]


def twin_of(source: str) -> Twin:
    """The scores of rows by the function that ``…_score`` calls."""
    reader = SourceReader(source)
    entry = re.search(r"^double (\w+)_score\(.*?^    (\w+)\(row, 1, 0, &score\);$", source, flags=re.MULTILINE | re.DOTALL)
    assert entry is not None
    prefix, whole = entry.groups()
    assert f"    {whole}(rows + first * stride, count - first" in source  # many rows go the same way
    reader.prefix = prefix
    return reader.part(whole)


class SourceReader:
    """A source file, taken apart."""

    def __init__(self, source: str) -> None:
        self.prefix = ""
        self._source = source
        flags = re.MULTILINE | re.DOTALL
        self._tables = dict(re.findall(r"^static const [\w ]+ (\w+)\[\d+\] = \{\n(.*?)\n\};$", source, flags))
        self._bodies = dict(re.findall(r"^static void (\w+)\(const double \*rows.*?\n\{\n(.*?)^\}$", source, flags))

    def part(self, name: str) -> Twin:
        """What a function computes."""
        kind, _, number = name.removeprefix(f"{self.prefix}_").rpartition("_")
        readers: dict[str, Callable[[str, str], Twin]] = {
            "sum": self._sum,
            "forest": self._forest,
            "mean_grade": self._mean_grade,
            "net": self._net,
            "net_of_sums": self._net_of_sums,
            "feature": self._feature,
            "probability": self._probability,
        }
        return readers[kind](number, self._bodies[name])

    def _known(self, *helpers: str) -> None:
        """Make sure that functions which are computed here are in the file, word for word."""
        for helper in helpers:
            texts = (templates.helper_text(templates.for_rows(helper, "double", ""), hidden=hidden) for hidden in (True, False))
            assert any(text.replace("NAME_", f"{self.prefix}_") in self._source for text in texts), helper

    def _sum(self, number: str, body: str) -> Twin:
        self._known(templates.BOUNDED)
        start = _numbers(re.findall(rf"scores\[i\] = ({NUMBER});", body))[0]
        parts = [self.part(name) for name in re.findall(rf"{CALL}part\);", body)]
        added = rf"scores\[i\] = {self.prefix}_bounded\(scores\[i\] \+ {self.prefix}_bounded\(({NUMBER}) \* part\[i\]\)\);"
        weights = _numbers(re.findall(added, body))

        def score(matrix: Reals) -> Reals:
            total = np.full(len(matrix), start)
            for weight, part in zip(weights, parts, strict=True):
                with np.errstate(over="ignore"):
                    total = bounded(total + bounded(weight * part(matrix)))
            return total

        return score

    def _forest(self, number: str, body: str) -> Twin:
        start = _numbers(re.findall(rf"scores\[i\] = ({NUMBER});", body))[0]
        if "_nodes_" not in body:
            return lambda matrix: np.full(len(matrix), start)
        leaf_values = self._trees(number, body)
        return lambda matrix: sum_in_order(leaf_values(matrix), start)

    def _mean_grade(self, number: str, body: str) -> Twin:
        self._known(templates.EXPONENTIAL, templates.MEAN_GRADE)
        starts, grades = self._numbers("start", number), self._numbers("grades", number)
        leaf_values = self._trees(number, body) if "_nodes_" in body else None

        def score(matrix: Reals) -> Reals:
            values = np.zeros((len(matrix), 0)) if leaf_values is None else leaf_values(matrix)
            per = values.shape[1] // len(starts)
            sums = [sum_in_order(values[:, k * per : (k + 1) * per], start) for k, start in enumerate(starts.tolist())]
            total, weighted = np.zeros(len(matrix)), np.zeros(len(matrix))
            largest = np.max(sums, axis=0)
            for grade, of_grade in zip(grades.tolist(), sums, strict=True):
                share = exponential(np.maximum(of_grade - largest, -LARGEST))
                total += share
                weighted += share * grade
            return weighted / total

        return score

    def _net(self, number: str, body: str) -> Twin:
        columns = self._numbers("columns", number).astype(np.int64)
        assert f"rows[i * stride + {self.prefix}_columns_{number}[k]]" in body
        layers = self._layers(number, body)
        return lambda matrix: layers(matrix[:, columns])

    def _net_of_sums(self, number: str, body: str) -> Twin:
        inputs = [self.part(name) for name in re.findall(rf"{CALL}sums \+ \d+\);", body)]
        layers = self._layers(number, body)
        return lambda matrix: layers(np.column_stack([part(matrix) for part in inputs]))

    def _layers(self, number: str, body: str) -> Twin:
        sizes = self._numbers("sizes", number).astype(np.int64).tolist()
        self._known(templates.LAYERS, *((templates.EXPONENTIAL, templates.TANH) if len(sizes) > 2 else ()))
        weights, centre, scale = (self._numbers(name, number) for name in ("weights", "centre", "scale"))
        before, after = body.split(f"{self.prefix}_centre_{number}[k]")
        missing = "x = isnan(x) ? 0.0 : x;"

        def score(inputs: Reals) -> Reals:
            rows = np.where(np.isnan(inputs), 0.0, inputs) if missing in before else inputs
            units = (rows - centre) * scale
            units = np.where(np.isnan(units), 0.0, units) if missing in after else units
            return forward(sizes, weights, units)

        return score

    def _feature(self, number: str, body: str) -> Twin:
        column = int(re.findall(r"rows\[i \* stride \+ (\d+)\]", body)[0])

        def score(matrix: Reals) -> Reals:
            values = matrix[:, column].astype(np.float64)
            if "isnan(x) ? 0.0 : x" in body:
                values = np.where(np.isnan(values), 0.0, values)
            values = -values if "x = -x;" in body else values
            lowest = np.finfo(np.float64).min
            return np.where(values > lowest, values, lowest)

        return score

    def _probability(self, number: str, body: str) -> Twin:
        self._known(templates.EXPONENTIAL, templates.SIGMOID)
        inner = self.part(re.findall(rf"{CALL}scores\);", body)[0])

        def score(matrix: Reals) -> Reals:
            doubled = 2.0 * inner(matrix)
            small = exponential(-np.minimum(np.abs(doubled), LARGEST))
            return np.where(doubled >= 0.0, 1.0 / (1.0 + small), small / (1.0 + small))

        return score

    # ---- tables ---------------------------------------------------------------------------------------------------------

    def _numbers(self, name: str, number: str) -> Floats:
        return _numbers(self._tables[f"{self.prefix}_{name}_{number}"].replace("\n", "").split(","))

    def _trees(self, number: str, body: str) -> Twin:
        """The values of rows in every tree, from the tables of nodes and, where there are any, of sets."""
        has_sets = f"{self.prefix}_walk_sets(" in body
        self._known(templates.NODE, templates.COPY, set_templates.WALK_SETS if has_sets else templates.WALK)
        cells = re.findall(rf"\{{({NUMBER}),(\d+),(\d+)\}}", self._tables[f"{self.prefix}_nodes_{number}"])
        thresholds, slots, left = (list(column) for column in zip(*cells, strict=True))
        slot, children, columns = np.asarray(slots, np.int64), np.asarray(left, np.int64), self._numbers("columns", number)
        to_right, count = map(int, re.findall(rf"_copy\({self.prefix}_columns_{number}, (\d+), (\d+), rows", body)[0])
        leaf = children == np.arange(len(children))
        assert (slot[leaf] == count).all()
        sets = self._sets(number, body, count + 1) if has_sets else None
        asked = np.concatenate((columns[:count], [LEAF], [] if sets is None else sets.columns))
        table = NodeTable(
            feature=np.where(leaf, LEAF, asked[slot]).astype(np.int32),
            threshold=_numbers(thresholds),
            missing_left=slot >= to_right,
            left=children,
            right=children + 1,
            value=self._numbers("values", number),
            roots=self._numbers("roots", number).astype(np.int64),
            sets=node_sets([] if sets is None else sets.members(slot, _numbers(thresholds))),
        )
        return table.leaf_values if sets is None else lambda matrix: table.leaf_values(sets.grouped(matrix))

    def _sets(self, number: str, body: str, numbers: int) -> SetTables:
        """The sets of a forest whose groups are in the slots from ``numbers`` on."""
        self._known(set_templates.CATEGORY, set_templates.COPY_GROUPS, set_templates.NEXT)
        categories = self._tables[f"{self.prefix}_categories_{number}"]
        count, prefix = categories.count("{"), self.prefix
        assert f"{prefix}_copy_groups({prefix}_categories_{number}, {count}, {prefix}_groups_{number}, rows" in body
        assert f"room + {numbers}, " in body
        assert f"some, {prefix}_sets_{number}, {numbers}, " in body
        return SetTables(categories, self._numbers("groups", number), self._numbers("sets", number), numbers)


def _numbers(texts: list[str]) -> Floats:
    return np.asarray(
        [float.fromhex(text.replace("INFINITY", "inf")) if "x" in text or "I" in text else float(text) for text in texts]
    )


def bounded(x: Floats) -> Floats:
    """Numbers between the lowest and the highest double."""
    largest = np.finfo(np.float64).max
    return np.clip(x, -largest, largest)


# ---- functions of the templates ---------------------------------------------------------------------------------------


def exponential(x: Floats) -> Floats:
    """exp(x) for |x| ≤ LARGEST, step by step as in the source."""
    whole = 1.5 * 2.0**52
    shifted = x * float.fromhex("0x1.71547652b82fep+0") + whole
    n = shifted - whole
    r = (x - n * float.fromhex("0x1.62e42feep-1")) - n * float.fromhex("0x1.a39ef35793c76p-33")
    total = np.full_like(r, SERIES[0])
    for factor in SERIES[1:]:
        total = total * r + factor
    bits: npt.NDArray[Any] = (shifted.view(np.uint64) + np.uint64(1023)) << np.uint64(52)
    return (1.0 + (r + r * r * total)) * bits.view(np.float64)


def forward(sizes: list[int], weights: Floats, units: Floats) -> Floats:
    """The scores of a net; products are added in fours."""
    place = 0
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        biases = place + inputs * outputs
        above = np.empty((len(units), outputs))
        for unit in range(outputs):
            products = units * weights[place + unit * inputs : place + (unit + 1) * inputs]
            total = np.full(len(units), weights[biases + unit])
            fours = inputs // 4 * 4
            for k in range(0, fours, 4):
                total += (products[:, k] + products[:, k + 1]) + (products[:, k + 2] + products[:, k + 3])
            for k in range(fours, inputs):
                total += products[:, k]
            above[:, unit] = total
        units = above if layer == len(sizes) - 2 else hyperbolic_tangent(above)
        place = biases + outputs
    return units[:, 0]


def hyperbolic_tangent(x: Floats) -> Floats:
    """tanh(x) as in the source."""
    small = exponential(-2.0 * np.minimum(np.abs(x), 20.0))
    value = (1.0 - small) / (1.0 + small)
    return np.where(x >= 0.0, value, -value)
