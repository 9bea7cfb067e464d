"""Attributes of ONNX's nodes, taken out by the type that is wanted.

Lists of numbers may be lists or tensors; each is checked for its length, and a tensor that is in another file is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.errors import DataError
from rankinite.models.files.parsed import SAVE_AGAIN

TENSORS = {1: ("float_data", "<f4"), 11: ("double_data", "<f8"), 2: ("int32_data", "|u1")}
"""The types of tensors that are read, as ONNX numbers them: the field of their values, or how their bytes are laid out."""
Attributes = Mapping[str, Any]


def attributes_of(node: Any) -> Attributes:
    """The attributes of a node by name."""
    return {attribute.name: attribute for attribute in node.attribute}


def only(attributes: Attributes, name: str, default: int) -> int:
    """One whole number; where there is none, what ONNX takes it for."""
    return attributes[name].i if name in attributes else default


def word(attributes: Attributes, name: str, default: str) -> str:
    """One text; where there is none, what ONNX takes it for."""
    return attributes[name].s.decode(errors="replace") if name in attributes else default


def whole(attributes: Attributes, name: str, count: int) -> list[int]:
    """A list of whole numbers, or a tensor of small ones."""
    attribute = attributes.get(name)
    if attribute is None:
        return counted([], name, count)
    found = _tensor(attribute.t, name) if attribute.HasField("t") else np.asarray(attribute.ints, np.int64)
    if found.dtype != np.int64:
        raise damaged("these are not whole numbers", name, len(found))
    return counted(found.tolist(), name, count)


def reals(attributes: Attributes, name: str, count: int) -> list[float]:
    """A list of floats, or a tensor, which is called ``…_as_tensor`` where there may be a list too."""
    attribute = attributes.get(f"{name}_as_tensor", attributes.get(name))
    if attribute is None:
        return counted([], name, count)
    found = _tensor(attribute.t, name) if attribute.HasField("t") else np.asarray(attribute.floats, np.float64)
    if found.dtype != np.float64 or np.isnan(found).any():
        raise damaged("these are not floats, or one is NaN", name, len(found))
    return counted(found.tolist(), name, count)


def counted(found: list[Any], name: str, count: int) -> list[Any]:
    """The same list; refuses one with another number of entries than is needed."""
    if len(found) != count:
        raise damaged(f"there are {len(found)} entries where {count} are needed", name, len(found))
    return found


def length_of(attributes: Attributes, name: str) -> int:
    """The entries of a list."""
    return len(attributes[name].ints) if name in attributes else 0


def _tensor(tensor: Any, name: str) -> npt.NDArray[Any]:
    """The numbers of a tensor that is in the file; nothing is read from another."""
    kind = TENSORS.get(tensor.data_type)
    if kind is None or tensor.data_location != 0:
        raise DataError(
            f"this tensor has type {tensor.data_type}, or is in another file",
            place=name,
            value=tensor.data_type,
            rule="Tensors must be float or double, and in the model itself",
            remedy="Save the model in one file, with float or double thresholds and weights",
        )
    field, layout = kind
    raw = tensor.raw_data
    if len(raw) % np.dtype(layout).itemsize:
        raise damaged(f"this tensor has {len(raw)} bytes", name, len(raw))
    found = np.frombuffer(raw, layout) if raw else np.asarray(getattr(tensor, field))
    return found.astype(np.int64 if layout == "|u1" else np.float64)


def damaged(problem: str, place: str, value: object) -> DataError:
    """The error for what cannot be in a sound file."""
    return DataError(problem, place=place, value=value, remedy=SAVE_AGAIN)
