"""OnnxModel: a file for onnxruntime and other programs of ONNX, of any ranker that scores one document at a time.

Everything is computed in double. Forests are one TreeEnsemble each, whose sums have the ranker's own bits where a program adds
the trees in order, as onnxruntime does on one thread. Nets and linear rankers are matrix products, whose order is the
program's own. A category is given as its code, which is a number in double too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankinite.errors import ArgumentError
from rankinite.installed import versions
from rankinite.models.base import Ranker
from rankinite.models.feature import Feature
from rankinite.models.files.onnx import NAMES, onnx_library
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, flatten, leaves_of
from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files, Target, Twin
from rankinite.serving.targets.onnx_graph import INPUT, OUTPUT, Graph
from rankinite.serving.targets.onnx_trees import DOMAIN
from rankinite.serving.targets.onnx_twin import computed

FILE = "model.onnx"
OPERATORS, TREE_OPERATORS, FORMAT = 21, 5, 10
"""The versions of the operators and of the format: the first that have TreeEnsemble, so that the most programs read them."""
TOLERANCE = 1e-14
"""Of what is added up: what another order of a matrix product, and another tanh and exp, may change."""


class OnnxModel(Target):
    """A model whose input ``features`` is rows × features in double, and whose output ``score`` is one number per row."""

    name = "onnx"
    title = "ONNX in double, for onnxruntime and others; any ranker that scores one document at a time"
    categories = "codes"

    def flattened(self, ranker: Ranker) -> Flat:
        """The ranker as a sum, with probabilities."""
        return flatten(ranker, probabilities=True)

    def tolerance_of(self, flat: Flat) -> float:
        """None where all is trees and columns, added in order."""
        plain = all(isinstance(leaf, Feature) or (isinstance(leaf, Forest) and leaf.grades is None) for leaf in leaves_of(flat))
        return 0.0 if plain else TOLERANCE

    def check(self, flat: Flat) -> None:
        """Anything that is a sum will do, if it has features at all."""
        if not flat.names:
            raise no_features(flat)

    def check_plan(self, plan: ExportPlan) -> None:
        """Ask for the library that writes."""
        onnx_library()

    def write(self, plan: ExportPlan) -> Files:
        """The model: its graph, the versions it is written in, and the names of the features as metadata."""
        onnx, helper = onnx_library(), onnx_library().helper
        graph = Graph(onnx, plan.names)
        # A forest's own directions send a missing value where 0 goes; all else has to see 0. Of categories 0 is a code.
        zeros = plan.missing == "zero" and plan.flat.forest is None
        filling = np.where([name in plan.categories for name in plan.names], np.nan, 0.0) if plan.categories else 0.0
        score = graph.sum_of(plan.flat, graph.filled(INPUT, filling) if zeros else INPUT)
        graph.node("Squeeze", score, graph.constant(np.asarray([1], np.int64)), to=OUTPUT)
        kind = onnx.TensorProto.DOUBLE
        inputs = [helper.make_tensor_value_info(INPUT, kind, ["rows", len(plan.names)])]
        outputs = [helper.make_tensor_value_info(OUTPUT, kind, ["rows"])]
        model = helper.make_model(
            helper.make_graph(graph.nodes, "ranker", inputs, outputs, graph.constants),
            opset_imports=[helper.make_opsetid("", OPERATORS), helper.make_opsetid(DOMAIN, TREE_OPERATORS)],
            ir_version=FORMAT,
            producer_name="rankinite",
            producer_version=versions().get("rankinite", ""),
        )
        helper.set_model_props(model, {NAMES: json.dumps(plan.names), "name": json.dumps(plan.name)})
        return {FILE: model.SerializeToString(deterministic=True)}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """The model parsed and computed in NumPy."""
        return lambda matrix: computed(files[FILE], matrix)

    def companions(self, plan: ExportPlan) -> Files:
        """A program that has onnxruntime score the sample."""
        return {"check.py": CHECK.encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What several threads do to sums, and what a missing value does to rankers that refuse it."""
        notes = ["features are given as float64, in the order that the metadata feature_names has"]
        leaves = list(leaves_of(plan.flat))
        if any(isinstance(leaf, Forest) for leaf in leaves):
            notes.append("onnxruntime adds trees in order with intra_op_num_threads=1; with more, the last bits may differ")
        if plan.missing == "nan" and any(isinstance(leaf, Linear | Net) and leaf.nan == "refuse" for leaf in leaves):
            notes.append("a row with a missing value scores NaN there, which rankinite refuses")
        return notes


CHECK = '''"""Scores of the sample by onnxruntime: run this, then: rankinite check . --scores served.txt"""

import csv

import numpy as np
import onnxruntime

with open("sample.csv", encoding="utf-8", newline="") as file:
    _, *lines = csv.reader(file)
rows = np.asarray([[float(value or "nan") for value in line] for line in lines])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
[scores] = session.run(["score"], {"features": rows})
np.savetxt("served.txt", scores, fmt="%.17g")
'''


def no_features(value: Any) -> ArgumentError:
    """The refusal of a ranker that has no features to be given."""
    return ArgumentError(
        "it has no features", value=value, rule="The program is given rows of features", remedy="Train it on data with features"
    )
