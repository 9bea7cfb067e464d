"""Compiled loops over feature matrices: turning columns into rows, finding infinities, evaluating polynomials."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Floats, Indices, kernel

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
