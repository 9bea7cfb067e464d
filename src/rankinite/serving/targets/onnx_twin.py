"""Twin of ONNX programs: a written model, parsed and computed operator by operator in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Reals
from rankinite.models.files.onnx import onnx_library
from rankinite.serving.targets.onnx_trees import ensemble_sums

Values: TypeAlias = npt.NDArray[Any]


def computed(content: bytes, matrix: Reals) -> Reals:
    """The output of a model for these rows."""
    onnx = onnx_library()
    model = onnx.ModelProto()
    model.ParseFromString(content)
    graph = model.graph
    values: dict[str, Values] = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    [entry], [result] = graph.input, graph.output
    assert entry.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    values[entry.name] = matrix.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for node in graph.node:
            attributes = {attribute.name: _attribute(onnx, attribute) for attribute in node.attribute}
            inputs = [values[name] for name in node.input]
            values[node.output[0]] = _operator(node.op_type, attributes, inputs)
    return values[result.name]


def _attribute(onnx: Any, attribute: Any) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _operator(kind: str, attributes: dict[str, Any], inputs: list[Values]) -> Values:
    """What an operator gives."""
    first = inputs[0]
    match kind:
        case "TreeEnsemble":
            return ensemble_sums(attributes, first)
        case "Concat":
            return np.concatenate(inputs, axis=attributes["axis"])
        case "Gather":
            return np.take(first, inputs[1], axis=attributes["axis"])
        case "Gemm":
            return first @ (inputs[1].T if attributes["transB"] else inputs[1]) + inputs[2]
        case "Softmax":
            powers = np.exp(first - first.max(axis=attributes["axis"], keepdims=True))
            return powers / powers.sum(axis=attributes["axis"], keepdims=True)
        case "Squeeze":
            return np.squeeze(first, axis=tuple(inputs[1].tolist()))
        case _:
            return PLAIN[kind](*inputs)


PLAIN: dict[str, Callable[..., Values]] = {
    "Add": np.add,
    "Clip": np.clip,
    "Exp": np.exp,
    "IsNaN": np.isnan,
    "MatMul": np.matmul,
    "Max": np.maximum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Reciprocal": np.reciprocal,
    "Sub": np.subtract,
    "Tanh": np.tanh,
    "Where": np.where,
}
"""Operators without attributes that NumPy has too."""
