"""Model files: named arrays and a JSON description in one safetensors file, as docs/formats/model.md specifies.

Reading trusts nothing: whatever the bytes are, the outcome is sound arrays of the dtypes asked for or a :class:`DataError`.
Files are written here rather than by the safetensors library so that the same model gives the same bytes with every version
of it; the library reads them, and what it writes is read here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.streams import read_whole
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.kernel import frozen
from rankinite.errors import ArgumentError, DataError, cut, listed, quoted

FORMAT = 1
"""The version written; files of later versions are refused."""
KEY = "rankinite"
"""The entry of the metadata that describes the model."""
CHECKSUM = "rankinite.sha256"
"""The entry with the checksum of the description and the arrays; files of earlier versions have none."""
MOST_HEADER = 100_000_000
"""Bytes of the longest header that safetensors allows."""
MOST_WHOLE = 1 << 53
"""Whole numbers up to this are floats too."""
MOST_DIMENSIONS = 8
"""More than any array here has; the bound keeps hostile shapes small."""

NAMES = {"?": "BOOL", "u1": "U8", "i4": "I32", "i8": "I64", "f4": "F32", "f8": "F64"}
"""NumPy's dtype → that of safetensors; model files use no others."""
DTYPES = {name: np.dtype(code).newbyteorder("<") for code, name in NAMES.items()}

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Stored:
    """A ranker as a file holds it: what kind it is, its facts as JSON has them, and its arrays."""

    kind: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    prefix: str = ""
    """How the names of its arrays begin: a ranker inside another has its arrays beside the other's."""

    def fact(self, name: str, kind: type[T]) -> T:
        """A fact of the type wanted."""
        value: Any = self.facts.get(name)
        if kind is float and type(value) is int and abs(value) < MOST_WHOLE:
            value = float(value)  # other programs may write 0 for 0.0
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise DataError(f"{name!r} must be of type {kind.__name__}, but is {quoted(value)}. {DAMAGED}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A fact that lists texts."""
        values = self.fact(name, cast("type[list[Any]]", list))
        odd = [value for value in values if not isinstance(value, str)]
        if odd:
            raise DataError(f"{name!r} must list texts, but one of them is {quoted(odd[0])}. {DAMAGED}")
        return tuple(values)

    def array(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of one dimension with the dtype wanted."""
        full = self.prefix + name
        array = self.arrays.get(full)
        if array is None:
            raise DataError(f"the array {quoted(full)} is missing; there are {listed(sorted(self.arrays))}. {DAMAGED}")
        if array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise DataError(
                f"the array {quoted(full)} is {array.dtype} of shape {array.shape} but must be {np.dtype(dtype)} of one "
                f"dimension. {DAMAGED}"
            )
        return array

    def part(self, facts: Any, prefix: str) -> Stored:
        """A ranker inside this one."""
        if not isinstance(facts, dict):
            raise DataError(f"a ranker must be described by a JSON object, not by {quoted(facts)}. {DAMAGED}")
        described = cast("dict[str, Any]", facts)
        kind = described.get("kind")
        if not isinstance(kind, str):
            raise DataError(f"'kind' must be a text, but is {quoted(kind)}. {DAMAGED}")
        return Stored(kind, described, self.arrays, self.prefix + prefix)

    def described(self) -> dict[str, Any]:
        """The facts with the kind among them, as a file has them."""
        return {"kind": self.kind, **self.facts}


DAMAGED = "The file is damaged; make it again."


def as_path(path: AnyPath) -> Path:
    """A path, or an error that says what was given instead."""
    given: Any = path
    if not isinstance(given, str | PathLike):
        raise ArgumentError(f"a {type(given).__name__} is not a path. Give the name of a model file.")
    return Path(path)


def write_model(path: AnyPath, content: Stored) -> None:
    """Write a model file; it is complete or not there at all."""
    described = json.dumps({"format": FORMAT, **content.described()}, allow_nan=False, separators=(",", ":"))
    # Wide items first, so that every array stands where its dtype wants it.
    names = sorted(content.arrays, key=lambda name: (-content.arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {KEY: described, CHECKSUM: _checksum(described, content.arrays)}}
    end = 0
    for name in names:
        array = content.arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[_code(array)], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER:
        raise DataError(f"{path}: the description takes {len(text)} bytes; model files have room for {MOST_HEADER}.")
    with write_atomically(as_path(path)) as handle:
        handle.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            handle.write(_little_endian(content.arrays[name]))


def read_model(path: AnyPath) -> Stored:
    """The content of a model file, checked as far as it can be without knowing the kind."""
    return parse_model(read_whole(as_path(path)), path)


def parse_model(content: bytes, path: AnyPath) -> Stored:
    """The same from the bytes of a file."""
    header, start = _header(content, path)
    metadata: Any = header.get("__metadata__")
    described = _metadata(header, path)
    whole = Stored("", {}, _arrays(header, content, start, path))
    if CHECKSUM in metadata and metadata[CHECKSUM] != _checksum(metadata[KEY], whole.arrays):
        raise DataError(f"{path}: its content is not what was written: the checksum differs. {DAMAGED}")
    try:
        return whole.part(described, "")
    except DataError as problem:
        raise DataError(f"{path}: {problem}") from problem


def _checksum(described: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
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


def _header(content: bytes, path: AnyPath) -> tuple[dict[str, Any], int]:
    """The JSON header of a safetensors file, and where the arrays begin."""
    length = int.from_bytes(content[:8], "little")
    foreign = (
        f"{path}: this is not a model file of rankinite: it does not begin like safetensors, or is cut off. "
        "Give a file that a ranker's save() has written."
    )
    if len(content) < 10 or length > min(MOST_HEADER, len(content) - 8) or content[8:9] != b"{":
        raise DataError(foreign)
    try:
        header: Any = json.loads(content[8 : 8 + length].decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path}: its header is not JSON ({cut(problem)}). {DAMAGED}") from problem
    if not isinstance(header, dict):
        raise DataError(foreign)
    return cast("dict[str, Any]", header), 8 + length


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number in JSON")


def _metadata(header: dict[str, Any], path: AnyPath) -> dict[str, Any]:
    """What the file says of itself; the entry is taken out of the header."""
    metadata: Any = header.pop("__metadata__", None)
    text: Any = cast("dict[str, Any]", metadata).get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise DataError(
            f"{path}: this safetensors file is not a model of rankinite: its metadata have no entry {KEY!r}. "
            "Give a file that a ranker's save() has written."
        )
    try:
        described: Any = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path}: its description is not JSON ({cut(problem)}). {DAMAGED}") from problem
    version: Any = cast("dict[str, Any]", described).get("format") if isinstance(described, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"{path}: its format is {quoted(version)}, not a version number. {DAMAGED}")
    if version > FORMAT:
        raise DataError(
            f"{path}: this file has format {version}, but formats up to {FORMAT} are known here. It was made by a newer "
            "rankinite; update with: pip install --upgrade rankinite"
        )
    return cast("dict[str, Any]", described)


def _arrays(header: dict[str, Any], content: bytes, start: int, path: AnyPath) -> dict[str, npt.NDArray[Any]]:
    """The arrays, read-only views of the bytes; they must cover them without a gap."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    spans: list[tuple[int, int]] = []
    for name, entry in header.items():
        dtype, shape, span = _entry(name, entry, path)
        begin, end = span
        if not 0 <= begin <= end <= len(content) - start or end - begin != math.prod(shape) * dtype.itemsize:
            raise DataError(f"{path}: the array {quoted(name)} does not fit into the file, which may be cut off. {DAMAGED}")
        array = np.frombuffer(content, np.uint8, end - begin, start + begin)
        if dtype == np.bool_ and (array > 1).any():
            raise DataError(f"{path}: the array {quoted(name)} has truth values that are neither 0 nor 1. {DAMAGED}")
        if (start + begin) % dtype.itemsize:
            array = array.copy()  # other writers need not put arrays where their dtype wants them
        native = array.view(dtype).astype(dtype.newbyteorder("="), copy=False)
        arrays[name] = frozen(native.reshape(shape if native.size else (0,)))  # 0 × 2^60 items would be too many for NumPy
        spans.append((begin, end))
    covered = 0
    for begin, end in sorted(spans):
        if begin != covered:
            raise DataError(f"{path}: its arrays overlap or leave a gap at byte {covered}. {DAMAGED}")
        covered = end
    if covered != len(content) - start:
        raise DataError(f"{path}: its arrays end {len(content) - start - covered} bytes before the file does. {DAMAGED}")
    return arrays


def _entry(name: str, entry: Any, path: AnyPath) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    """Dtype, shape and span of an array, as the header gives them."""
    if isinstance(entry, dict):
        told = cast("dict[str, Any]", entry)
        dtype, shape, span = told.get("dtype"), _counts(told.get("shape")), _counts(told.get("data_offsets"))
        if isinstance(dtype, str) and dtype in DTYPES and shape is not None and span is not None and len(span) == 2:
            return DTYPES[dtype], shape, (span[0], span[1])
    raise DataError(f"{path}: the array {quoted(name)} is described by {quoted(entry)}, which is not understood. {DAMAGED}")


def _counts(values: Any) -> tuple[int, ...] | None:
    """The numbers of a short list of whole numbers from 0 on; None for anything else."""
    if not isinstance(values, list) or len(cast("list[Any]", values)) > MOST_DIMENSIONS:
        return None
    numbers = cast("list[Any]", values)
    return tuple(numbers) if all(type(number) is int and 0 <= number < 2**63 for number in numbers) else None
