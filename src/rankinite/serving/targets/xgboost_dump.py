"""XGBoost dump: trees as ``model/xgboost+json`` of the plugins of Elasticsearch and OpenSearch, an array of nested nodes.

A row goes to ``yes`` when threshold > x in float32; leaves are added up in float32 from 0. The parser refuses keys that it does
not know, so that neither gain nor cover may be there, and asks for ``missing`` at every split, and for children in the order of
``yes`` and ``no``.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import numpy as np

from rankinite.engine.kernel import Flags, Reals
from rankinite.serving.float32 import above32, exact32
from rankinite.serving.node_table import sum_in_order, table_of_nested
from rankinite.serving.target import Twin
from rankinite.serving.targets.tree_limits import depths
from rankinite.trees.structure import LEAF, Trees

MissingRule: TypeAlias = Literal["zero", "right", "direction"]
"""Where a plugin sends a missing feature: where 0 goes, right at every split, or where the split's ``missing`` says."""
MOST_DEPTH = 400
"""Each level is an object in an array, and parsers of JSON refuse a thousand of these within each other."""
LOWEST = np.finfo(np.float32).min


def dump_text(trees: Trees, names: tuple[str, ...]) -> str:
    """The array, one tree per line."""
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    return "[\n" + ",\n".join(_tree(trees.take(number, number + 1), quoted) for number in range(len(trees))) + "\n]"


def _tree(tree: Trees, quoted: list[str]) -> str:
    threshold, value, depth = above32(tree.threshold), tree.value.astype(np.float32), depths(tree)
    texts = [""] * len(tree.feature)
    for node in reversed(range(len(texts))):
        if tree.feature[node] == LEAF:
            texts[node] = f'{{"nodeid": {node}, "leaf": {exact32(value[node])}}}'
            continue
        yes, no, at = int(tree.left[node]), int(tree.right[node]), threshold[node]
        missing = yes if tree.missing_left[node] else no
        if at == np.inf:  # every float32 goes left: JSON has no such number, so the children change places, and none does
            yes, no, at = no, yes, LOWEST
        texts[node] = (
            f'{{"nodeid": {node}, "depth": {depth[node]}, "split": {quoted[tree.feature[node]]}, '
            f'"split_condition": {exact32(at)}, "yes": {yes}, "no": {no}, "missing": {missing}, '
            f'"children": [{texts[yes]}, {texts[no]}]}}'
        )
        texts[yes] = texts[no] = ""
    return texts[0]


def dump_twin(definition: list[Any], names: tuple[str, ...], rule: MissingRule) -> Twin:
    """What a plugin computes from the array."""
    place = {name: column for column, name in enumerate(names)}

    def node(written: dict[str, Any]) -> dict[str, Any]:
        if "leaf" in written:
            return {"value": written["leaf"]}
        left, right = written["children"]
        to_left = rule == "direction" and written["missing"] == left["nodeid"]
        facts = {"threshold": written["split_condition"], "missing_left": to_left, "left": left, "right": right}
        return {"feature": place[written["split"]], **facts}

    table = table_of_nested(definition, node, np.float32)

    def score(matrix: Reals) -> Reals:
        rows = np.where(np.isnan(matrix), np.float32(0), matrix) if rule == "zero" else matrix
        return sum_in_order(table.leaf_values(rows, _goes_left))

    return score


def _goes_left(values: Reals, thresholds: Reals) -> Flags:
    return thresholds > values
