"""NumPy array files, read with every size checked against the bytes in the file."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.io.streams import read_whole
from rankinite.errors import DataError, cut, quoted

MAGIC = b"\x93NUMPY"
HEADER_LENGTHS = {1: 2, 2: 4, 3: 4}
"""Version of the format → bytes of the number that gives the length of its header."""
LONGEST_HEADER = 10_000
"""Headers of plain arrays have about a hundred bytes."""
NUMBERS = re.compile(r"[<>|=]?(\?|b1|[iu][1248]|f[248])")
"""How the header writes the types of numbers and truth values."""
DAMAGED, WRITE = "The file is cut off, damaged, or not a NumPy array", "Write it with numpy.save"


def read_npy(path: Path) -> npt.NDArray[Any]:
    """The numbers of a .npy file; other things that such files can hold are refused."""
    content = read_whole(path)
    width = HEADER_LENGTHS.get(content[6]) if content.startswith(MAGIC) and len(content) > 12 else None
    if width is None:
        raise DataError(
            "it does not begin like a .npy file", place=path, value=content[: len(MAGIC)], rule=DAMAGED, remedy=WRITE
        )
    start = 8 + width
    end = start + int.from_bytes(content[8:start], "little")
    if end > min(len(content), start + LONGEST_HEADER):
        raise DataError(
            f"its header is longer than the file, or than {LONGEST_HEADER} bytes",
            place=path,
            value=end - start,
            rule=DAMAGED,
            remedy=WRITE,
        )
    dtype, shape, by_columns = _header(content[start:end], path)
    needed = math.prod(shape) * dtype.itemsize
    if needed != len(content) - end:
        raise DataError(
            f"its header announces an array of shape {quoted(shape)}, {needed} bytes, but {len(content) - end} follow",
            place=path,
            value=len(content) - end,
            rule=DAMAGED,
            remedy=WRITE,
        )
    return np.frombuffer(content, dtype, offset=end).reshape(shape, order="F" if by_columns else "C")


def _header(content: bytes, path: Path) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """Dtype, shape and whether columns come first, from a header that is a Python dict in text."""
    text = content.decode("latin1")
    try:
        parsed: Any = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as problem:  # all that literal_eval may raise
        raise DataError(
            f"its header cannot be read ({cut(problem)})",
            place=path,
            value=cut(text),
            rule=DAMAGED,
            remedy=WRITE,
        ) from problem
    facts = cast("dict[Any, Any]", parsed) if isinstance(parsed, dict) else {}
    descr, shape, by_columns = facts.get("descr"), facts.get("shape"), facts.get("fortran_order")
    if not isinstance(descr, str) or NUMBERS.fullmatch(descr) is None:
        raise DataError(
            f"its values are of type {quoted(descr)}", place=path, value=descr, rule="They must be numbers", remedy=WRITE
        )
    counts = cast("tuple[Any, ...]", shape) if isinstance(shape, tuple) else None
    if counts is None or len(counts) > 32 or not all(type(count) is int and 0 <= count < 1 << 62 for count in counts):
        raise DataError(f"{quoted(shape)} is not a shape", place=path, value=shape, rule=DAMAGED, remedy=WRITE)
    return np.dtype(descr), counts, by_columns is True
