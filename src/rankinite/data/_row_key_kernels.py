"""Hashing rows by what they say, on plain arrays.

A row's hash is Σ mixed(value) × multiplier(feature) modulo 2⁶⁴: a sum of whole numbers, so that the compiler may take the
features several at a time. All numbers are uint64: beside an int64, Numba would turn them into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine._hash_kernels import STEP, mixed
from rankinite.engine.kernel import Indices, kernel

Words = npt.NDArray[np.uint32]
Keys = npt.NDArray[np.uint64]

_HALF = np.uint64(32)
_MAGNITUDE, _INFINITY, _NAN = np.uint64(0x7FFFFFFF), np.uint64(0x7F800000), np.uint64(0x7FC00000)


@kernel
def plain_bits(word: Any) -> Any:
    """The bits of a float32 as uint64, the same for both zeros and for all NaNs."""
    bits = np.uint64(word)
    magnitude = bits & _MAGNITUDE
    bits = bits if magnitude != np.uint64(0) else magnitude
    return bits if magnitude <= _INFINITY else _NAN


@kernel
def fill_multipliers(out_multipliers: Keys) -> None:
    """An odd multiplier for every feature; shape (features,)."""
    state = STEP
    for feature in range(len(out_multipliers)):
        state += STEP
        out_multipliers[feature] = mixed(state) | np.uint64(1)


@kernel
def hash_rows(
    features: Words, grades: Words, qids: Keys, multipliers: Keys, offsets: Indices, first: int, last: int, out_keys: Keys
) -> None:
    """The keys of the rows of the queries first … last−1.

    ``features``: rows × features, the bits of float32 values; ``grades``: (rows,), likewise; ``qids``: (queries,) hashes of
    the query ids; ``multipliers``: (features,); ``out_keys``: (rows,).
    """
    for query in range(first, last):
        for row in range(offsets[query], offsets[query + 1]):
            values = features[row]
            total = qids[query] + plain_bits(grades[row]) * STEP
            for feature in range(len(values)):
                bits = plain_bits(values[feature]) * STEP
                total += (bits ^ (bits >> _HALF)) * multipliers[feature]
            out_keys[row] = mixed(total)
