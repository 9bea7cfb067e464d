"""Hashing of 64-bit words: splitmix64 (Steele, Lea & Flood, 2014).

All numbers are uint64: beside an int64, Numba would turn them into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.engine.kernel import kernel

STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def mixed(key: Any) -> Any:
    """Another uint64 for every uint64, with each bit of it depending on all bits of ``key``."""
    key = (key ^ (key >> np.uint64(30))) * _FIRST
    key = (key ^ (key >> np.uint64(27))) * _SECOND
    return key ^ (key >> np.uint64(31))
