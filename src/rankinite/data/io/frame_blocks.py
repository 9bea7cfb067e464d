"""Frame blocks: the features of a pandas frame that holds them as one matrix, row by row, taken without a copy.

Arrow wants columns one after the other, so that such a frame would be copied for Arrow, and again for the matrix of features.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class FrameBlock(NamedTuple):
    """Neighbouring columns of a frame as a matrix that shares the frame's memory."""

    names: tuple[str, ...]
    """What the columns are called."""
    values: npt.NDArray[Any]
    """rows × columns, float32 or float64, row-major."""

    def matrix_of(self, names: Sequence[str]) -> npt.NDArray[Any] | None:
        """These columns; None unless they are neighbours in the block, in its order."""
        first = self.names.index(names[0]) if names and names[0] in self.names else 0
        chosen = slice(first, first + len(names))
        return self.values[:, chosen] if names and self.names[chosen] == tuple(names) else None


def largest_block(frame: Any) -> FrameBlock | None:
    """The largest block of a pandas frame; None where there is none, or where this is no such frame."""
    pandas: Any = sys.modules.get("pandas")  # not loaded to find out
    if pandas is None or not isinstance(frame, pandas.DataFrame) or len(frame) < 2:
        return None
    names = tuple(map(str, frame.columns))
    first, last = max(_float_runs([str(kind) for kind in frame.dtypes]), key=lambda run: run[1] - run[0], default=(0, 0))
    if last - first < 2 or len(set(names)) < len(names):
        return None
    head = frame.iloc[:2, first:last]
    if not np.shares_memory(head.to_numpy(), head.to_numpy()):  # each call makes a new copy
        return None
    values = frame.iloc[:, first:last].to_numpy()
    return FrameBlock(names[first:last], values) if values.flags.c_contiguous else None


def _float_runs(kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges of neighbouring columns of one type, of NumPy's floats."""
    starts = [at for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]
    runs = zip(starts, [*starts[1:], len(kinds)], strict=True)
    return [(first, last) for first, last in runs if kinds[first] in ("float32", "float64")]
