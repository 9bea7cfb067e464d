"""Model files: named arrays and a JSON description in one safetensors file, as docs/formats/model.md specifies.

Here is what files hold and how they are written; ``container_reader`` reads them. Files are written here rather than by the
safetensors library so that the same model gives the same bytes with every version of it; the library reads them, and what it
writes is read here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.text_files import AnyPath
from rankinite.errors import ArgumentError, DataError, listed, quoted

FORMAT = 2
"""The latest version; files of later ones are refused."""
SETS = "set_codes"
"""The array of forests that ask for categories: with it a file has format 2, which readers of format 1 refuse."""
KEY = "rankinite"
"""The entry of the metadata that describes the model."""
CHECKSUM = "rankinite.sha256"
"""The entry with the checksum of the description and the arrays; files of earlier versions have none."""
MOST_HEADER = 100_000_000
"""Bytes of the longest header that safetensors allows."""
MOST_WHOLE = 1 << 53
"""Whole numbers up to this size are exact as floats."""

NAMES = {"?": "BOOL", "u1": "U8", "i4": "I32", "i8": "I64", "f4": "F32", "f8": "F64"}
"""NumPy's dtype → that of safetensors; model files use no others."""
DTYPES = {name: np.dtype(code).newbyteorder("<") for code, name in NAMES.items()}

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Stored:
    """A ranker as a file holds it: its kind, its facts as JSON has them, and its arrays."""

    kind: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    prefix: str = ""
    """How the names of its arrays begin: those of a ranker inside another are beside the other's."""

    def fact(self, name: str, kind: type[T]) -> T:
        """A fact of the type wanted."""
        value: Any = self.facts.get(name)
        if kind is float and type(value) is int and abs(value) < MOST_WHOLE:
            value = float(value)  # other programs may write 0 for 0.0
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise DataError(
                f"{quoted(value)} is not of type {kind.__name__}", place=self.prefix + name, value=value, remedy=DAMAGED
            )
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A fact that lists texts."""
        values = self.fact(name, cast("type[list[Any]]", list))
        odd = [value for value in values if not isinstance(value, str)]
        if odd:
            raise DataError(
                f"{quoted(odd[0])} is not a text",
                place=self.prefix + name,
                value=odd[0],
                rule="There must be a list of texts",
                remedy=DAMAGED,
            )
        return tuple(values)

    def array(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of one dimension with the dtype wanted."""
        full = self.prefix + name
        array = self.arrays.get(full)
        if array is None:
            raise DataError(
                "this array is missing",
                place=f"array {quoted(full)}",
                rule=f"There are {listed(sorted(self.arrays))}",
                remedy=DAMAGED,
            )
        if array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise DataError(
                f"this array is {array.dtype} of shape {array.shape}",
                place=f"array {quoted(full)}",
                value=array.shape,
                rule=f"It must be {np.dtype(dtype)} of one dimension",
                remedy=DAMAGED,
            )
        return array

    def has_array(self, name: str) -> bool:
        """Whether there is such an array."""
        return self.prefix + name in self.arrays

    def part(self, facts: Any, prefix: str) -> Stored:
        """A ranker inside this one."""
        if not isinstance(facts, dict):
            raise DataError(
                f"{quoted(facts)} does not describe a ranker",
                place=self.prefix + prefix,
                value=facts,
                rule="A ranker is described by a JSON object",
                remedy=DAMAGED,
            )
        described = cast("dict[str, Any]", facts)
        kind = described.get("kind")
        if not isinstance(kind, str):
            raise DataError(f"{quoted(kind)} is not a text", place=f"{self.prefix}{prefix}kind", value=kind, remedy=DAMAGED)
        return Stored(kind, described, self.arrays, self.prefix + prefix)

    def described(self) -> dict[str, Any]:
        """The facts with the kind among them, as a file has them."""
        return {"kind": self.kind, **self.facts}


DAMAGED = "The file is damaged; make it again."
"""The remedy where a file's content cannot be what was written."""


def as_path(path: AnyPath) -> Path:
    """A path; refuses anything else."""
    if not isinstance(path, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        kind = type(path).__name__
        raise ArgumentError(f"a {kind} is not a path", value=kind, remedy="Give the name of a model file")
    return Path(path)


def write_model(path: AnyPath, content: Stored) -> None:
    """Write a model file; it is complete or does not exist."""
    pieces = _pieces(content, path)
    with write_atomically(as_path(path)) as handle:
        for piece in pieces:
            handle.write(piece)


def model_bytes(content: Stored) -> bytes:
    """The bytes of a model file."""
    return b"".join(_pieces(content, "model"))


def _pieces(content: Stored, place: object) -> Iterable[bytes | memoryview]:
    """The bytes of a model file: its header, and one array after the other."""
    version = FORMAT if any(name.endswith(SETS) for name in content.arrays) else 1
    described = json.dumps({"format": version, **content.described()}, allow_nan=False, separators=(",", ":"))
    # Wide items first, so that every array is aligned.
    names = sorted(content.arrays, key=lambda name: (-content.arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {KEY: described, CHECKSUM: checksum(described, content.arrays)}}
    end = 0
    for name in names:
        array = content.arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[_code(array)], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER:
        raise DataError(
            f"the description of the model takes {len(text):,} bytes",
            place=place,
            value=len(text),
            rule=f"Model files have room for {MOST_HEADER:,}",
            remedy="Save a model with fewer parts or features",
        )
    arrays = (_little_endian(content.arrays[name]) for name in names)
    return chain((len(text).to_bytes(8, "little") + text,), arrays)


def checksum(described: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """The SHA-256 of the description and of every array by name, dtype and bytes, in the order of the names."""
    digest = hashlib.sha256(described.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        digest.update(f"\0{name}\0{NAMES[_code(arrays[name])]}\0".encode("utf-8", "surrogatepass"))
        digest.update(_little_endian(arrays[name]))
    return digest.hexdigest()


def _little_endian(array: npt.NDArray[Any]) -> memoryview:
    """The bytes of an array as files have them."""
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    return little.reshape(-1).view(np.uint8).data


def _code(array: npt.NDArray[Any]) -> str:
    """The dtype as NumPy writes it, without the order of bytes: "f8"."""
    return "?" if array.dtype == np.bool_ else array.dtype.str[1:]
