"""SourceProgram: the tables and functions of an exported C file, one function for each part of a ranker.

Every part is a function from up to ``BLOCK`` rows to their scores; a sum calls its parts. Tables are ``static const`` and
numbered like the functions that read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Floats
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability
from rankinite.serving.targets import c_set_templates as set_templates
from rankinite.serving.targets import c_templates as templates
from rankinite.serving.targets.c_sets import SetLayout
from rankinite.serving.targets.c_templates import BLOCK, IN_STEP, ROOM
from rankinite.serving.targets.c_trees import TreeLayout, number
from rankinite.trees.structure import LEAF

ON_A_LINE = 4
ARGUMENTS = "const REAL *rows, size_t count, size_t stride, double *scores"
EACH = "    for (size_t i = 0; i < count; i++)\n        "


@dataclass
class SourceProgram:
    """What has been written so far."""

    names: tuple[str, ...]
    """The columns of rows."""
    missing: ServedMissing
    tables: list[str] = field(default_factory=list[str])
    functions: list[str] = field(default_factory=list[str])
    helpers: dict[str, None] = field(default_factory=dict[str, None])
    """The templates that functions need, in order."""
    parts: int = 0

    def add_sum(self, flat: Flat) -> str:
        """The function of a whole sum; gives its name."""
        if flat.start == 0.0 and len(flat.terms) == 1 and flat.terms[0].weight == 1.0:
            return self.add_leaf(flat.terms[0].leaf)
        calls = [(term.weight, self.add_leaf(term.leaf)) for term in flat.terms]
        lines = [f"    double part[{BLOCK}];\n{EACH}scores[i] = {number(flat.start)};\n"]
        self._need(templates.BOUNDED)
        for weight, name in calls:
            lines.append(f"    {name}_AS(rows, count, stride, part);\n{EACH}")
            lines.append(f"scores[i] = NAME_bounded(scores[i] + NAME_bounded({number(weight)} * part[i]));\n")
        return self._function("sum", self._next(), "".join(lines))

    def add_leaf(self, leaf: Leaf) -> str:
        """The function of a summand; gives its name."""
        match leaf:
            case Forest():
                return self._forest(leaf) if leaf.grades is None else self._mean_grade(leaf, leaf.grades)
            case Linear():
                weights = np.append(leaf.weights, leaf.bias)
                return self._net(leaf, weights, (len(leaf.weights), 1), leaf.centre_of_features, np.ones(len(leaf.weights)))
            case Net():
                return self._net(leaf, leaf.weights, (*leaf.frame.sizes.tolist(),), leaf.centre, leaf.scale)
            case Feature():
                return self._feature(leaf)
            case Probability():
                inner = self.add_sum(leaf.inner)
                self._need(templates.EXPONENTIAL, templates.SIGMOID)
                body = f"    {inner}_AS(rows, count, stride, scores);\n{EACH}scores[i] = NAME_sigmoid(2.0 * scores[i]);\n"
                return self._function("probability", self._next(), body)
            case NetOfSums():
                return self._net_of_sums(leaf)

    # ---- trees ----------------------------------------------------------------------------------------------------------

    def _forest(self, forest: Forest) -> str:
        part, start = self._next(), f"{EACH}scores[i] = {number(float(forest.start[0]))};\n"
        if not len(forest):
            return self._function("forest", part, f"    (void)rows, (void)stride;\n{start}")
        copying, walking = self._tree_tables(part, forest, 1)
        body = start + copying + f"        {walking}, scores + first);\n    }}\n"
        return self._function("forest", part, body)

    def _mean_grade(self, forest: Forest, grades: Floats) -> str:
        """The sums of each grade one after the other, and their mean grade."""
        part, outputs = self._next(), forest.outputs
        self._need(templates.EXPONENTIAL, templates.MEAN_GRADE)
        self._table("double", "start", part, map(number, forest.start.tolist()))
        self._table("double", "grades", part, map(number, grades.tolist()))
        each_grade = f"for (size_t k = 0; k < {outputs}; k++)\n"
        first = f"{each_grade}    {EACH}    sums[k * {BLOCK} + i] = NAME_start_{part}[k];\n"
        lines = [f"    double sums[{outputs * BLOCK}];\n    {first}"]
        if len(forest):
            copying, walking = self._tree_tables(part, forest, outputs)
            lines.append(f"{copying}        {each_grade}            {walking}, sums + k * {BLOCK} + first);\n    }}\n")
        else:
            lines.append("    (void)rows, (void)stride;\n")
        lines.append(f"{EACH}scores[i] = NAME_mean_grade(sums + i, NAME_grades_{part}, {outputs});\n")
        return self._function("mean_grade", part, "".join(lines))

    def _tree_tables(self, part: int, forest: Forest, outputs: int) -> tuple[str, str]:
        """Nodes, values, roots and slots; gives the loop that copies rows, and the call of the walk inside it, still open."""
        self._need(templates.NODE, templates.COPY)
        place = {name: column for column, name in enumerate(self.names)}
        sizes = [len(forest.categories.get(name, ())) for name in forest.feature_names]
        layout = TreeLayout(forest.trees, [place.get(name, LEAF) for name in forest.feature_names], sizes)
        trees = -(-(len(layout.roots) // outputs) // IN_STEP) * IN_STEP
        filled = [[*layout.roots[k::outputs], *[layout.empty] * trees][:trees] for k in range(outputs)]
        self._table("struct NAME_node", "nodes", part, layout.nodes)
        self._table("double", "values", part, layout.values)
        self._table("uint32_t", "roots", part, (str(root) for of_output in filled for root in of_output))
        self._table("uint32_t", "columns", part, map(str, layout.columns or [0]))
        slots = len(layout.columns)
        width = slots + 1 + len(layout.sets.categories)
        rows = min(BLOCK, max(1, ROOM // width))
        copying = (
            f"    double room[{rows * width}];\n    for (size_t first = 0; first < count; first += {rows}) {{\n"
            f"        const size_t some = count - first < {rows} ? count - first : {rows};\n"
            f"        NAME_copy_AS(NAME_columns_{part}, {layout.to_right}, {slots}, "
            f"rows + first * stride, some, stride, room, {width});\n"
        )
        of_grade = f" + k * {trees}" if outputs > 1 else ""
        tables = f"NAME_nodes_{part}, NAME_values_{part}, NAME_roots_{part}{of_grade}"
        walking = f"NAME_walk({tables}, {trees}, room, {width}, some"
        if not layout.sets.categories:
            self._need(templates.WALK)
            return copying, walking
        copying += self._set_tables(part, layout.sets, slots + 1, width)
        return copying, f"{walking.replace('NAME_walk(', 'NAME_walk_sets(')}, NAME_sets_{part}, {slots + 1}"

    def _set_tables(self, part: int, sets: SetLayout, numbers: int, width: int) -> str:
        """Categories, their groups, and sets of these; gives the line that copies the groups of rows."""
        self._need(set_templates.CATEGORY, set_templates.COPY_GROUPS, set_templates.NEXT, set_templates.WALK_SETS)
        self._table("struct NAME_category", "categories", part, sets.categories)
        self._table("uint32_t", "groups", part, sets.groups)
        self._table("uint32_t", "sets", part, sets.words)
        return (
            f"        NAME_copy_groups_AS(NAME_categories_{part}, {len(sets.categories)}, NAME_groups_{part}, "
            f"rows + first * stride, some, stride, room + {numbers}, {width});\n"
        )

    # ---- weights --------------------------------------------------------------------------------------------------------

    def _net(self, leaf: Linear | Net, weights: Floats, sizes: tuple[int, ...], centre: Floats, scale: Floats) -> str:
        part = self._next()
        self._net_tables(part, weights, sizes, centre, scale)
        self._table("uint32_t", "columns", part, (str(self.names.index(name)) for name in leaf.feature_names))
        value = f"(double)rows[i * stride + NAME_columns_{part}[k]]"
        return self._function("net", part, self._net_body(part, value, sizes, leaf.nan == "mean"))

    def _net_of_sums(self, leaf: NetOfSums) -> str:
        inputs = [self.add_sum(flat) for flat in leaf.inputs]
        part, sizes = self._next(), tuple(leaf.top.frame.sizes.tolist())
        self._net_tables(part, leaf.top.weights, sizes, leaf.top.centre, leaf.top.scale)
        lines = [f"    double sums[{len(inputs) * BLOCK}];\n"]
        lines += [f"    {name}_AS(rows, count, stride, sums + {k * BLOCK});\n" for k, name in enumerate(inputs)]
        body = self._net_body(part, f"sums[k * {BLOCK} + i]", sizes, leaf.top.nan == "mean")
        return self._function("net_of_sums", part, "".join(lines) + body)

    def _net_tables(self, part: int, weights: Floats, sizes: tuple[int, ...], centre: Floats, scale: Floats) -> None:
        hidden = len(sizes) > 2
        self._need(*((templates.EXPONENTIAL, templates.TANH) if hidden else ()), templates.LAYERS)
        self._table("uint32_t", "sizes", part, map(str, sizes))
        for name, numbers in (("weights", weights), ("centre", centre), ("scale", scale)):
            self._table("double", name, part, map(number, numbers.tolist()))

    def _net_body(self, part: int, value: str, sizes: tuple[int, ...], mean: bool) -> str:
        """A net's inputs, row by row. Where a missing value is neither 0 nor the mean, it makes the score one."""
        lines = [f"    double units[{sum(sizes)}];\n    for (size_t i = 0; i < count; i++) {{\n"]
        lines += [f"        for (size_t k = 0; k < {sizes[0]}; k++) {{\n            double x = {value};\n"]
        if self.missing == "zero":
            lines.append("            x = isnan(x) ? 0.0 : x;\n")
        lines.append(f"            x = (x - NAME_centre_{part}[k]) * NAME_scale_{part}[k];\n")
        if self.missing == "nan" and mean:
            lines.append("            x = isnan(x) ? 0.0 : x;\n")
        lines.append("            units[k] = x;\n        }\n")
        lines.append(
            f"        scores[i] = NAME_layers(NAME_sizes_{part}, {len(sizes) - 1}, NAME_weights_{part}, units);\n    }}\n"
        )
        return "".join(lines)

    def _feature(self, feature: Feature) -> str:
        """A column; missing values rank last, and −inf like them, but not as low as what is not ranked."""
        column = self.names.index(str(feature.feature))
        lines = [f"    for (size_t i = 0; i < count; i++) {{\n        double x = rows[i * stride + {column}];\n"]
        if self.missing == "zero":
            lines.append("        x = isnan(x) ? 0.0 : x;\n")
        if feature.ascending:
            lines.append("        x = -x;\n")
        lines.append("        scores[i] = x > -DBL_MAX ? x : -DBL_MAX;\n    }\n")
        return self._function("feature", self._next(), "".join(lines))

    # ---- text -----------------------------------------------------------------------------------------------------------

    def _next(self) -> int:
        self.parts += 1
        return self.parts

    def _need(self, *helpers: str) -> None:
        self.helpers.update(dict.fromkeys(helpers))

    def _table(self, kind: str, name: str, part: int, texts: Iterable[str]) -> None:
        cells = list(texts)
        lines = (",".join(cells[first : first + ON_A_LINE]) for first in range(0, len(cells), ON_A_LINE))
        self.tables.append(f"static const {kind} NAME_{name}_{part}[{len(cells)}] = {{\n" + ",\n".join(lines) + "\n};\n")

    def _function(self, kind: str, part: int, body: str) -> str:
        name = f"NAME_{kind}_{part}"
        self.functions.append(f"static void {name}_AS({ARGUMENTS})\n{{\n{body}}}\n")
        return name
