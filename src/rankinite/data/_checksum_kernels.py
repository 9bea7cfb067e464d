"""The rounds of XXH64 on plain arrays, as its specification gives them; all numbers are uint64, modulo 2⁶⁴."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.kernel import kernel

Lanes = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
_LEFT, _RIGHT = np.uint64(31), np.uint64(33)


@kernel
def absorbed(sum_so_far: Any, lane: Any) -> Any:
    """One of the four sums after eight more bytes."""
    mixed = sum_so_far + lane * _SECOND
    return ((mixed << _LEFT) | (mixed >> _RIGHT)) * _FIRST


@kernel
def absorb(lanes: Lanes, out_sums: Lanes) -> None:
    """Add stripes of four lanes; ``lanes``: (4 × stripes,), ``out_sums``: (4,)."""
    a, b, c, d = out_sums[0], out_sums[1], out_sums[2], out_sums[3]
    for lane in range(0, len(lanes), 4):
        a = absorbed(a, lanes[lane])
        b = absorbed(b, lanes[lane + 1])
        c = absorbed(c, lanes[lane + 2])
        d = absorbed(d, lanes[lane + 3])
    out_sums[0], out_sums[1], out_sums[2], out_sums[3] = a, b, c, d
