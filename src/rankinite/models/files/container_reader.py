"""Reader of model files: trusts nothing.

Whatever the bytes are, the outcome is sound arrays of the dtypes asked for or a :class:`DataError`, to whose place the caller
adds the file.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import frozen
from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.container import CHECKSUM, DAMAGED, DTYPES, FORMAT, KEY, MOST_HEADER, Stored, checksum

MOST_DIMENSIONS = 8
"""More than any array here has; the bound keeps hostile shapes small."""


def parse_model(content: bytes) -> Stored:
    """The content of a model file from its bytes, checked as far as it can be without knowing the kind."""
    header, start = _header(content)
    metadata: Any = header.get("__metadata__")
    described = _metadata(header)
    whole = Stored("", {}, _arrays(header, content, start))
    if CHECKSUM in metadata:
        found = checksum(metadata[KEY], whole.arrays)
        if metadata[CHECKSUM] != found:
            raise DataError(
                "the content is not what was written: the checksum differs", place=CHECKSUM, value=found, remedy=DAMAGED
            )
    return whole.part(described, "")


def _header(content: bytes) -> tuple[dict[str, Any], int]:
    """The JSON header of a safetensors file, and where the arrays begin."""
    length = int.from_bytes(content[:8], "little")
    if len(content) < 10 or length > min(MOST_HEADER, len(content) - 8) or content[8:9] != b"{":
        raise _not_ours("it does not begin like safetensors, or is cut off", content[:9])
    header = _parsed_json(content[8 : 8 + length], "header")
    if not isinstance(header, dict):
        raise _not_ours("its header is not a JSON object", header)
    return cast("dict[str, Any]", header), 8 + length


def _not_ours(why: str, value: object) -> DataError:
    return DataError(
        f"this is not a model file of rankinite: {why}",
        value=value,
        remedy="Give a file that a ranker's save() has written",
        shell_remedy="Give one that rankinite train has written",
    )


def _parsed_json(text: str | bytes, place: str) -> Any:
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"this is not JSON ({cut(problem)})", place=place, remedy=DAMAGED) from problem


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _metadata(header: dict[str, Any]) -> dict[str, Any]:
    """The description of the model; the entry is taken out of the header."""
    metadata: Any = header.pop("__metadata__", None)
    text: Any = cast("dict[str, Any]", metadata).get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _not_ours(f"its metadata have no entry {KEY!r}", text)
    described = _parsed_json(text, "description")
    version: Any = cast("dict[str, Any]", described).get("format") if isinstance(described, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"{quoted(version)} is not a version number", place="format", value=version, remedy=DAMAGED)
    if version > FORMAT:
        raise DataError(
            f"this file has format {quoted(version)}, but formats up to {FORMAT} are known here",
            place="format",
            value=version,
            remedy="It was made by a newer rankinite; update with: pip install --upgrade rankinite",
        )
    return cast("dict[str, Any]", described)


def _arrays(header: dict[str, Any], content: bytes, start: int) -> dict[str, npt.NDArray[Any]]:
    """The arrays, read-only views of the bytes; they must cover them without a gap."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    spans: list[tuple[int, int]] = []
    for name, entry in header.items():
        dtype, shape, (begin, end) = _entry(name, entry)
        if not 0 <= begin <= end <= len(content) - start or end - begin != math.prod(shape) * dtype.itemsize:
            raise DataError(
                "this array does not fit into the file, which may be cut off",
                place=f"array {quoted(name)}",
                value=(begin, end),
                remedy=DAMAGED,
            )
        array = np.frombuffer(content, np.uint8, end - begin, start + begin)
        if dtype == np.bool_ and (array > 1).any():
            odd = int(array[array > 1][0])
            raise DataError(
                f"the truth value {odd} is neither 0 nor 1", place=f"array {quoted(name)}", value=odd, remedy=DAMAGED
            )
        if (start + begin) % dtype.itemsize:
            array = array.copy()  # other writers need not align arrays
        native = array.view(dtype).astype(dtype.newbyteorder("="), copy=False)
        arrays[name] = frozen(native.reshape(shape if native.size else (0,)))  # 0 × 2^60 items would be too many for NumPy
        spans.append((begin, end))
    _check_cover(spans, len(content) - start)
    return arrays


def _check_cover(spans: list[tuple[int, int]], length: int) -> None:
    """Refuse arrays that overlap, leave a gap or end before the file does."""
    covered = 0
    for begin, end in sorted(spans):
        if begin != covered:
            raise DataError(f"arrays overlap or leave a gap at byte {covered}", place="arrays", value=covered, remedy=DAMAGED)
        covered = end
    if covered != length:
        behind = length - covered
        raise DataError(f"{behind} bytes follow the last array", place="arrays", value=behind, remedy=DAMAGED)


def _entry(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    """Dtype, shape and span of an array, as the header gives them."""
    if isinstance(entry, dict):
        described = cast("dict[str, Any]", entry)
        dtype, shape, span = described.get("dtype"), _counts(described.get("shape")), _counts(described.get("data_offsets"))
        if isinstance(dtype, str) and dtype in DTYPES and shape is not None and span is not None and len(span) == 2:
            return DTYPES[dtype], shape, (span[0], span[1])
    raise DataError(
        f"the description {quoted(entry)} of this array is not understood",
        place=f"array {quoted(name)}",
        value=entry,
        remedy=DAMAGED,
    )


def _counts(values: Any) -> tuple[int, ...] | None:
    """The numbers of a short list of whole numbers from 0 on; None for anything else."""
    if not isinstance(values, list) or len(cast("list[Any]", values)) > MOST_DIMENSIONS:
        return None
    numbers = cast("list[Any]", values)
    return tuple(numbers) if all(type(number) is int and 0 <= number < 2**63 for number in numbers) else None
