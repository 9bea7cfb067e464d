"""Compiled loops over matrices of features: rows hashed by what they say, columns turned into rows, infinities, polynomials.

A row's hash is Σ mixed(value) × multiplier(feature) modulo 2⁶⁴: a sum of whole numbers, so that the compiler may take the
features several at a time. All its numbers are uint64: beside an int64, Numba would turn them into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine._hash_kernels import STEP, mixed
from rankinite.engine.kernel import Features, Floats, Indices, kernel

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


BLOCK = 16
"""Columns turned at a time: 16 float32 values are one cache line of the row-major output."""


@kernel
def columns_to_rows(columns: Features, rows: int, out_matrix: Features) -> None:
    """Write ``columns`` (features × at least ``rows``) transposed into ``out_matrix`` (rows × features).

    Blocks of columns are written together, so that each cache line of the output is filled while it is at hand.
    """
    features = columns.shape[0]
    for first in range(0, features, BLOCK):
        last = min(first + BLOCK, features)
        for row in range(rows):
            for feature in range(first, last):
                out_matrix[row, feature] = columns[feature, row]


@kernel
def first_infinite(features: Features, first_row: int, last_row: int) -> int:
    """The flat position (row · features + feature) of the first ±inf in the rows given, or −1.

    ``features``: rows × features.
    """
    width = features.shape[1]
    for row in range(first_row, last_row):
        found = False
        for feature in range(width):  # no early exit inside the row, so that the compiler can use wide registers
            found |= np.isinf(features[row, feature])
        if found:
            for feature in range(width):
                if np.isinf(features[row, feature]):
                    return row * width + feature
    return -1


@kernel
def polynomial_values(inputs: Features, factors: Indices, coefficients: Floats, out_values: Floats) -> None:
    """The value of a polynomial at every row.

    ``inputs``: rows × variables; ``factors``: monomials × degree, the variables each monomial multiplies, −1 where it has
    fewer; ``coefficients``: one a monomial; ``out_values``: one a row.
    """
    monomials, degree = factors.shape
    for row in range(inputs.shape[0]):
        total = 0.0
        for monomial in range(monomials):
            product = coefficients[monomial]
            for position in range(degree):
                variable = factors[monomial, position]
                if variable >= 0:
                    product *= np.float64(inputs[row, variable])
            total += product
        out_values[row] = total
