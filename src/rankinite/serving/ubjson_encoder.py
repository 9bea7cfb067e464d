"""UBJSON encoder: values as the bytes that XGBoost writes, each after the letter of its type."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

LETTERS = {"int8": "i", "uint8": "U", "int16": "I", "int32": "l", "int64": "L", "float32": "d", "float64": "D"}
"""The type of a NumPy array → its letter."""


def ubjson(value: Any) -> bytes:
    """A value of JSON, whose arrays of one type are NumPy arrays. Lengths and whole numbers have 64 bits."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return b"{" + b"".join(_letters(name) + ubjson(entry) for name, entry in entries) + b"}"
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        return b"[#" + _whole(len(entries)) + b"".join(map(ubjson, entries))
    if isinstance(value, np.ndarray):
        return _array(cast("npt.NDArray[Any]", value))
    if isinstance(value, str):
        return b"S" + _letters(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _whole(value)
    raise TypeError(type(value))


def _array(values: npt.NDArray[Any]) -> bytes:
    highest_first = values.astype(values.dtype.newbyteorder(">"))
    return f"[${LETTERS[values.dtype.name]}#".encode() + _whole(len(values)) + highest_first.tobytes()


def _letters(text: str) -> bytes:
    content = text.encode()
    return _whole(len(content)) + content


def _whole(number: int) -> bytes:
    return b"L" + number.to_bytes(8, "big", signed=True)
