"""ElasticLTR: Elasticsearch's own learning to rank, a trained model with its feature extractors.

Elasticsearch compares in float64 what Lucene scored in float32; a feature that is absent, NaN or infinite is missing and goes
where the node says. Leaves are added up in float64 by Java's ``DoubleStream.sum``, which carries the rounding errors along, and
the sum is rounded to float32. From 8.19 on (in 9.0 from its first patch on) the engine adds what it takes for the lowest sum of
leaves not to be below 0; where a shift has done so already, it adds nothing, and all versions give the same scores.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.serving.feature_queries import missing_queries_note
from rankinite.serving.float32 import above32, floor32
from rankinite.serving.names import check_model_name
from rankinite.serving.node_table import NodeTable, table_of
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.elastic_files import FILE, elastic_files, extractors
from rankinite.serving.targets.engine_versions import check_known
from rankinite.serving.targets.query_templates import NAMES, as_json
from rankinite.trees.structure import LEAF, Trees

DEFINITION = "definition.json"
MODEL_NAMES = r"[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?"


class ElasticLTR(Target):
    """A model for ``PUT _ml/trained_models``, and the rescorer ``learning_to_rank``."""

    name = "elastic"
    title = "Elasticsearch's own learning to rank, from 8.12 on"
    inputs = np.float32
    width = "float32"
    shifts = True
    is_engine = True
    feature_names = NAMES
    versions = "the version of Elasticsearch, from 8.12 to 9.x"

    def check_version(self, version: tuple[int, ...]) -> None:
        """Refuse versions before 8.12."""
        check_known(version, "Elasticsearch with learning to rank of its own", (8, 12), 9)

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse a name that no trained model can have."""
        rule = "It has lower-case letters, digits and _ - . only, the first and the last being letters or digits, 64 at most"
        check_model_name(plan.name, MODEL_NAMES, rule)
        extractors(plan)  # refuses queries that are none

    def write(self, plan: ExportPlan) -> Files:
        """The body of the request, with the definition compressed, and the definition to be read."""
        definition = json.dumps(_definition(plan), separators=(",", ":"), ensure_ascii=False).encode()
        body = {
            "description": f"{plan.name}, exported by rankinite",
            "compressed_definition": base64.b64encode(_gzipped(definition)).decode(),
            "inference_config": {"learning_to_rank": {"feature_extractors": extractors(plan)}},
        }
        return {FILE: as_json(body), DEFINITION: definition + b"\n"}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The compressed definition as this version computes it. Of the plan the version is asked too: it is the program's."""
        packed = json.loads(files[FILE])["compressed_definition"]
        ensemble = json.loads(gzip.decompress(base64.b64decode(packed)))["trained_model"]["ensemble"]
        table = _table([model["tree"] for model in ensemble["trained_models"]], plan.names)
        version = plan.version
        return lambda matrix: _served(table, _finite(matrix).astype(SCORE), version)

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """Our decisions, added up as Java adds."""
        return _served(table_of(plan.trees_with_start), plan.served(_finite(matrix)), plan.version)

    def companions(self, plan: ExportPlan) -> Files:
        """Upload, rescoring, check."""
        return elastic_files(plan)

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """Queries to fill in, and what the engine adds by itself."""
        notes = missing_queries_note(plan.names, plan.feature_queries, FILE)
        if not plan.names:
            notes.append("the model uses no feature: every document gets the same score")
        added = lifted(table_of(plan.trees_with_start), plan.version)
        if added:
            notes.append(f"the engine adds {added:.6g} to every score by itself, so that none is below 0")
        return notes


def _definition(plan: ExportPlan) -> dict[str, Any]:
    trees = plan.trees_with_start
    common = {"feature_names": list(plan.names), "target_type": "regression"}
    models = [{"tree": {**common, "tree_structure": _nodes(trees.take(n, n + 1))}} for n in range(len(trees))]
    return {"trained_model": {"ensemble": {**common, "trained_models": models, "aggregate_output": {"weighted_sum": {}}}}}


def _nodes(tree: Trees) -> list[dict[str, Any]]:
    """The nodes of one tree, the root first."""
    threshold, nodes = between32(tree.threshold), list[dict[str, Any]]()
    for node in range(len(tree.feature)):
        facts: dict[str, Any] = {"node_index": node, "number_samples": int(tree.rows[node])}
        if tree.feature[node] == LEAF:
            facts["leaf_value"] = float(tree.value[node])
        else:
            facts |= {
                "decision_type": "lte",
                "threshold": float(threshold[node]),
                "split_feature": int(tree.feature[node]),
                "default_left": bool(tree.missing_left[node]),
                "left_child": int(tree.left[node]),
                "right_child": int(tree.right[node]),
            }
        nodes.append(facts)
    return nodes


def between32(thresholds: Floats) -> Floats:
    """Numbers halfway between the two floats of 32 bits beside each threshold.

    They decide alike whether a program widens a float32 by its bits or by its decimal digits, which may be as far from it as
    halfway to the next: where such digits stand for the upper float, which is so if it is even, the number is just below.
    Beyond all float32 it is a finite number on the same side.
    """
    upper = above32(thresholds)
    middle = (floor32(thresholds).astype(SCORE) + upper.astype(SCORE)) / 2.0
    even = upper.view(np.int32) % 2 == 0
    return np.clip(np.where(even, np.nextafter(middle, -np.inf), middle), -1e39, 1e39)


def _gzipped(content: bytes) -> bytes:
    """Content compressed, with neither time nor platform in it."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def _finite(matrix: Reals) -> Reals:
    """Rows whose infinite values are missing."""
    return np.where(np.isfinite(matrix), matrix, matrix.dtype.type(np.nan))


def _table(trees: list[dict[str, Any]], names: tuple[str, ...]) -> NodeTable:
    """The trees; features are numbers in each tree's own list of names, and children in its own list of nodes."""
    place = {name: column for column, name in enumerate(names)}
    columns: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "missing_left", "left", "right", "value")}
    roots = list[int]()
    for tree in trees:
        root = len(columns["feature"])
        roots.append(root)
        for number, node in enumerate(tree["tree_structure"]):
            inner = "left_child" in node
            columns["feature"].append(place[tree["feature_names"][node["split_feature"]]] if inner else LEAF)
            columns["threshold"].append(node.get("threshold", 0.0))
            columns["missing_left"].append(node.get("default_left", False))
            columns["left"].append(root + node.get("left_child", number))
            columns["right"].append(root + node.get("right_child", number))
            columns["value"].append(node.get("leaf_value", 0.0))
    kinds: dict[str, Any] = {"feature": np.int32, "missing_left": np.bool_, "left": np.int64, "right": np.int64}
    arrays: dict[str, Any] = {name: np.asarray(values, kinds.get(name, SCORE)) for name, values in columns.items()}
    return NodeTable(**arrays, roots=np.asarray(roots, np.int64))


def _served(table: NodeTable, matrix: Reals, version: tuple[int, ...]) -> Reals:
    return (java_sum(table.leaf_values(matrix)) + lifted(table, version)).astype(np.float32)


def lifted(table: NodeTable, version: tuple[int, ...]) -> float:
    """What the engine adds to every score: enough that the lowest sum of leaves is not below 0."""
    if version and (version < (8, 19) or (9,) <= version < (9, 0, 1)):
        return 0.0
    leaves = np.where(table.feature == LEAF, table.value, np.inf)
    lowest = java_sum(np.minimum.reduceat(leaves, table.roots)[None])
    return max(0.0, float(-lowest[0]))


def java_sum(values: Reals) -> Floats:
    """The sum of each row as Java's streams add: a running sum, and the error that it has made so far."""
    high, error = np.zeros(len(values)), np.zeros(len(values))
    for value in values.T:
        corrected = value - error
        total = high + corrected
        error = (total - high) - corrected
        high = total
    return high - error
