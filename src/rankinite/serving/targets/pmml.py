"""PMMLDocument: PMML 4.4, a sum of regression trees in one XML file, which PMML4S, JPMML and others evaluate.

Splits ask ``lessOrEqual`` in double; a missing value goes to the ``defaultChild``. Leaves are added in double. The standard
has no order for that; PMML4S adds from the first tree on, which is what the twin does. The start is in the leaves of the first
tree. Categories are given by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

import numpy as np

from rankinite.data.categories import Vocabulary
from rankinite.engine.kernel import Reals
from rankinite.installed import versions
from rankinite.models.normalised import LARGEST
from rankinite.serving.category_words import check_words
from rankinite.serving.flattening import Flat
from rankinite.serving.names import check_model_name
from rankinite.serving.node_table import sum_in_order, table_of_nested
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.onnx import no_features
from rankinite.serving.targets.pmml_categories import (
    AS_MISSING,
    data_field,
    listed_words,
    members_asked,
    questions,
    read_as_words,
)
from rankinite.serving.targets.tree_limits import check_depth
from rankinite.trees.structure import LEAF, Trees

FILE = "model.pmml"
XML_TEXT = "[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+"
"""What XML can hold."""
XML_RULE = "XML holds no control characters, and names must not be empty"
MOST_LEVELS = 300
"""Levels of a tree: PMML4S, whose stack Java limits, fails on some hundreds more."""
NAMESPACE = "http://www.dmg.org/PMML-4_4"


class PMMLDocument(Target):
    """A document for PMML's programs, such as pypmml: forests only."""

    name = "pmml"
    title = "PMML 4.4, trees only, for PMML4S, JPMML and others"
    categories = "names"
    feature_names = XML_TEXT

    def check(self, flat: Flat) -> None:
        """Refuse all but forests, and those without features."""
        super().check(flat)
        if not flat.names:
            raise no_features(flat)

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse a name of the model, and of a category, that XML cannot hold, and trees too deep for a parser."""
        check_words(plan.categories, "PMML", f"({XML_TEXT})?", "XML holds no control characters")
        check_model_name(plan.name, XML_TEXT, XML_RULE)
        check_depth(plan.trees, MOST_LEVELS)

    def write(self, plan: ExportPlan) -> Files:
        """The document."""
        return {FILE: "".join(f"{line}\n" for line in _document(plan)).encode()}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The document read again, and its trees added in order."""
        document = ET.fromstring(files[FILE])  # noqa: S314 - it was written here
        place = {name: number for number, name in enumerate(plan.names)}
        roots = [tree.find(_tag("Node")) for tree in document.iter(_tag("TreeModel"))]
        words = listed_words(document, _tag(""))
        table = table_of_nested(roots, lambda node: _node(node, place, words), np.float64)

        def computed(matrix: Reals) -> Reals:
            rows = read_as_words(matrix, plan.names, plan.categories, words)
            return sum_in_order(table.leaf_values(rows, np.less_equal))

        return computed

    def companions(self, plan: ExportPlan) -> Files:
        """A program that has pypmml score the sample."""
        return {"check.py": CHECK.encode()}


CHECK = '''"""Scores of the sample by pypmml: run this, then: rankinite check . --scores served.txt"""

import csv
import json
import os

from pypmml import Model

with open("sample.csv", encoding="utf-8", newline="") as file:
    head, *lines = csv.reader(file)
categories = {}
if os.path.exists("categories.json"):
    with open("categories.json", encoding="utf-8") as file:
        categories = json.load(file)["categories"]
kinds = [str if name in categories else float for name in head]
rows = [[kind(value) if value else None for kind, value in zip(kinds, line)] for line in lines]
# As JSON with all digits: of a data frame, pypmml keeps ten digits behind the point.
with open("model.pmml", encoding="utf-8") as file:
    found = json.loads(Model.fromString(file.read()).predict(json.dumps({"columns": head, "data": rows})))
with open("served.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{score!r}\\n" for [score] in found["data"])
'''


def _document(plan: ExportPlan) -> Iterator[str]:
    trees, fields = plan.trees_with_start, [quoteattr(name) for name in plan.names]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<PMML xmlns="{NAMESPACE}" version="4.4">'
    yield f'<Header><Application name="rankinite" version="{versions().get("rankinite", "")}"/></Header>'
    yield f'<DataDictionary numberOfFields="{len(fields)}">'
    words = [plan.categories.get(name) for name in plan.names]
    for field, own in zip(fields, words, strict=True):
        number = f'<DataField name={field} optype="continuous" dataType="double"/>'
        yield number if own is None else data_field(field, own)
    yield "</DataDictionary>"
    yield f'<MiningModel modelName={quoteattr(plan.name)} functionName="regression">'
    yield _schema(fields, words, range(len(fields)))
    output = next(name for name in ("score", *(f"score_{number}" for number in range(len(fields)))) if name not in plan.names)
    field = f'<OutputField name="{output}" optype="continuous" dataType="double" feature="predictedValue"/>'
    yield f"<Output>{field}</Output>"
    yield '<Segmentation multipleModelMethod="sum">'
    for number in range(len(trees)):
        yield f'<Segment id="{number + 1}"><True/>'
        yield from _tree(trees.take(number, number + 1), fields, words)
        yield "</Segment>"
    yield "</Segmentation>"
    yield "</MiningModel>"
    yield "</PMML>"


def _schema(fields: list[str], words: list[Vocabulary | None], used: Iterable[int]) -> str:
    inside = (f"<MiningField name={fields[number]}{'' if words[number] is None else AS_MISSING}/>" for number in used)
    return f"<MiningSchema>{''.join(inside)}</MiningSchema>"


def _tree(tree: Trees, fields: list[str], words: list[Vocabulary | None]) -> Iterator[str]:
    """One tree; nodes are numbered as ours are, and written depth first."""
    used = np.unique(tree.feature[tree.feature != LEAF]).tolist() or [0]  # a schema has at least one field
    yield (
        '<TreeModel functionName="regression" missingValueStrategy="defaultChild" splitCharacteristic="binarySplit">'
        + _schema(fields, words, used)
    )
    waiting: list[tuple[int, str] | None] = [(0, "<True/>")]
    while waiting:
        found = waiting.pop()
        if found is None:
            yield "</Node>"
            continue
        node, asked = found
        if tree.feature[node] == LEAF:
            yield f'<Node id="{node}" score="{float(tree.value[node])!r}">{asked}</Node>'
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        yield f'<Node id="{node}" defaultChild="{left if tree.missing_left[node] else right}">{asked}'
        field, own = fields[tree.feature[node]], words[tree.feature[node]]
        first, second = _questions(tree, node, field) if own is None else questions(tree, node, field, own)
        waiting += [None, second, first]
    yield "</TreeModel>"


def _questions(tree: Trees, node: int, field: str) -> list[tuple[int, str]]:
    """The children of a node with what is asked of a number on the left and on the right."""
    below, above, threshold = _question(float(tree.threshold[node]))
    return [
        (int(child), f'<SimplePredicate field={field} operator="{operator}" value="{threshold!r}"/>')
        for child, operator in ((tree.left[node], below), (tree.right[node], above))
    ]


def _question(threshold: float) -> tuple[str, str, float]:
    """What is asked on the left and on the right, and of which number; PMML has no word for infinity."""
    if threshold == -np.inf:
        return "lessThan", "greaterOrEqual", -LARGEST
    return "lessOrEqual", "greaterThan", min(threshold, LARGEST)


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def _node(node: Any, place: Mapping[str, int], words: Mapping[str, Vocabulary]) -> dict[str, Any]:
    """A node of the document for the table: its left child is the one with the predicate that is asked first."""
    inside: list[Any] = node.findall(_tag("Node"))
    if not inside:
        return {"value": float(node.get("score"))}
    left, right = inside
    children = {"missing_left": node.get("defaultChild") == left.get("id"), "left": left, "right": right}
    if asked := members_asked(left, _tag(""), words):
        assert right.find(_tag("True")) is not None
        return {"feature": place[asked[0]], "members": asked[1], **children}
    predicate = left.find(_tag("SimplePredicate"))
    return {"feature": place[predicate.get("field")], "threshold": _limit(predicate), **children}


def _limit(predicate: Any) -> float:
    """The largest value for which a predicate holds."""
    number = float(predicate.get("value"))
    with np.errstate(over="ignore"):  # below the lowest is −infinity
        return float(np.nextafter(number, -np.inf)) if predicate.get("operator") == "lessThan" else number
