"""ONNX models that are one ensemble of trees, as forests.

Nothing of a model is run: besides the ensemble (``onnx_ensembles``) its graph may hold only nodes that pass numbers on, and no
file that it names is opened. ONNX has no names for the columns of an input, so features are called f0, f1, …, unless the model
lists them as JSON under ``feature_names`` in its metadata.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rankinite.errors import DataError, cut, listed, quoted
from rankinite.models.files.onnx_attributes import attributes_of, only
from rankinite.models.files.onnx_ensembles import ENSEMBLES
from rankinite.models.files.parsed import MOST_UNNAMED, SAVE_AGAIN
from rankinite.models.forest import Forest

BEFORE = ("Identity", "Cast")
"""Nodes that may come before the ensemble: they leave the features what they are."""
BEHIND = (*BEFORE, "Flatten", "Reshape", "Squeeze")
"""Nodes that may come behind it: they leave one score for each row."""
FLOATS = (1, 11)
"""The types float and double, as ONNX numbers them."""
NAMES = "feature_names"
"""The entry of the metadata that lists the names of the features."""


def read_onnx(content: bytes, all_trees: bool = False) -> Forest:  # noqa: ARG001 - all trees of a file count
    """The forest of an ONNX model whose graph is one ensemble of trees."""
    model: Any = onnx_library().ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # the library that parses is protobuf, whose errors depend on how it was built
        raise DataError(f"this is not a whole ONNX file ({cut(error)})", value=len(content), remedy=SAVE_AGAIN) from error
    graph = model.graph
    node, entry = _the_ensemble(graph)
    trees, start = ENSEMBLES[node.op_type](attributes_of(node))
    names = _names(model, _columns(entry, int(trees.feature.max(initial=-1)) + 1))
    settings = {"learner": "ONNX", "objective": node.op_type}
    return Forest(trees=trees, feature_names=names, start=np.asarray([start]), settings=settings)


def onnx_library() -> Any:
    """The package onnx, if it is installed."""
    try:
        import onnx
    except ImportError as problem:
        remedy = "Install it with: pip install 'rankinite[onnx]'"
        raise DataError("this needs the package onnx, which is not installed", value="onnx", remedy=remedy) from problem
    return onnx


def _the_ensemble(graph: Any) -> tuple[Any, Any]:
    """The node that is the ensemble, and the input of the graph; refuses a graph that does anything else."""
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    ensembles = [node for node in nodes if node.op_type in ENSEMBLES]
    inputs = [entry for entry in graph.input if entry.name not in {known.name for known in graph.initializer}]
    if len(ensembles) != 1 or len(inputs) != 1 or len(graph.output) != 1:
        raise _other_graph(nodes, f"it has {len(inputs)} inputs, {len(ensembles)} ensembles and {len(graph.output)} outputs")
    [ensemble], [entry] = ensembles, inputs
    makers = {name: node for node in nodes for name in node.output}
    behind = _chain(nodes, makers, graph.output[0].name, ensemble, BEHIND)
    before = _chain(nodes, makers, ensemble.input[0] if ensemble.input else "", entry, BEFORE)
    others = [node.op_type for node in nodes if not any(node is one for one in (*behind, ensemble, *before))]
    if others:
        raise _other_graph(nodes, f"it also has {listed(others)}")
    return ensemble, entry


def _chain(nodes: list[Any], makers: dict[str, Any], name: str, end: Any, allowed: tuple[str, ...]) -> list[Any]:
    """The nodes from a value back to the ensemble, or to the graph's input; refuses others than those allowed."""
    found: list[Any] = []
    while name != getattr(end, "name", None) or name in makers:
        node = makers.get(name)
        if node is end:
            return found
        if node is None or node.op_type not in allowed or len(found) > len(nodes) or not node.input:
            raise _other_graph(nodes, "they are not one ensemble with nothing that changes values before or behind it")
        if node.op_type == "Cast" and only(attributes_of(node), "to", 0) not in FLOATS:
            raise _other_graph(nodes, "a Cast is to another type than float and double")
        found.append(node)
        name = node.input[0]
    return found


def _other_graph(nodes: list[Any], why: str) -> DataError:
    found = [node.op_type for node in nodes]
    return DataError(
        f"the nodes of this ONNX model are {listed(found) or 'none'}: {why}",
        place="graph",
        value=found[:20],
        rule=f"A model that can be read is one {' or '.join(ENSEMBLES)} of one input; before it may be {' and '.join(BEFORE)}, "
        f"behind it also {', '.join(BEHIND[len(BEFORE) :])}",
        remedy="Convert the model to ONNX as a regressor with raw scores, or import it from its own library's format",
    )


def _columns(entry: Any, least: int) -> int:
    """The number of features: the input's columns where the model says so, else as many as the trees ask for."""
    kind = entry.type.tensor_type
    if kind.elem_type not in FLOATS:
        raise DataError(
            "the input of this ONNX model is not a tensor of float or double",
            place=f"graph.input {quoted(entry.name)}",
            value=kind.elem_type,
            remedy="Convert the model with an input of type float or double",
        )
    sizes = kind.shape.dim
    announced = sizes[1].dim_value if len(sizes) == 2 else 0
    count = announced or max(least, 1)
    if not least <= count <= MOST_UNNAMED:
        raise DataError(
            f"this ONNX model has {announced} columns, and its trees ask for {least}",
            place=f"graph.input {quoted(entry.name)}",
            value=announced,
            rule=f"There must be as many as the trees ask for, and at most {MOST_UNNAMED:,}",
            remedy=SAVE_AGAIN,
        )
    return count


def _names(model: Any, count: int) -> tuple[str, ...]:
    """The names in the metadata, if there is one for each feature, or f0, f1, …."""
    for entry in model.metadata_props:
        if entry.key == NAMES:
            try:
                names: Any = json.loads(entry.value)
            except (ValueError, RecursionError):
                continue
            if isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names):
                return tuple(names)
    return tuple(f"f{number}" for number in range(count))
