"""Kernels of orthogonal matching pursuit: products of columns, summed in a fixed order so that no thread changes a bit."""

from __future__ import annotations

from rankinite.engine._array_kernels import copy_into
from rankinite.engine.kernel import Floats, Indices, kernel


@kernel
def product(a: Floats, b: Floats) -> float:
    """The sum of a[r] b[r] in eight interleaved sums, which processors can take side by side."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = len(a) // 8 * 8
    for r in range(0, whole, 8):
        s0 += a[r] * b[r]
        s1 += a[r + 1] * b[r + 1]
        s2 += a[r + 2] * b[r + 2]
        s3 += a[r + 3] * b[r + 3]
        s4 += a[r + 4] * b[r + 4]
        s5 += a[r + 5] * b[r + 5]
        s6 += a[r + 6] * b[r + 6]
        s7 += a[r + 7] * b[r + 7]
    for r in range(whole, len(a)):
        s0 += a[r] * b[r]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def products(columns: Floats, other: Floats, first: int, last: int, out: Floats) -> None:
    """The product of each column first … last−1 with another."""
    for c in range(first, last):
        out[c] = product(columns[c], other)


@kernel
def centre(columns: Floats, offsets: Indices, first: int, last: int) -> None:
    """Take from each column first … last−1 its mean within every query."""
    for c in range(first, last):
        column = columns[c]
        for q in range(len(offsets) - 1):
            total = 0.0
            for r in range(offsets[q], offsets[q + 1]):
                total += column[r]
            mean = total / (offsets[q + 1] - offsets[q])
            for r in range(offsets[q], offsets[q + 1]):
                column[r] -= mean


@kernel
def grow_factor(factor: Floats, size: int, row: Floats, square: float) -> float:
    """Extend a Cholesky factor by a column whose products with those before are ``row``; its new pivot, squared.

    The pivot is what is left of the column's square when all that the others explain is taken away.
    """
    rest = square
    for i in range(size):
        value = row[i]
        for j in range(i):
            value -= factor[i, j] * factor[size, j]
        value /= factor[i, i]
        factor[size, i] = value
        rest -= value * value
    return rest


@kernel
def solve_factor(factor: Floats, size: int, right: Floats, out_weights: Floats) -> None:
    """The weights w with L Lᵀ w = right."""
    for i in range(size):
        value = right[i]
        for j in range(i):
            value -= factor[i, j] * out_weights[j]
        out_weights[i] = value / factor[i, i]
    for i in range(size - 1, -1, -1):
        value = out_weights[i]
        for j in range(i + 1, size):
            value -= factor[j, i] * out_weights[j]
        out_weights[i] = value / factor[i, i]


@kernel
def subtract(target: Floats, columns: Floats, chosen: Indices, weights: Floats, size: int, out: Floats) -> None:
    """What the chosen columns, weighted, leave of the target."""
    copy_into(target, out)
    for k in range(size):
        column, weight = columns[chosen[k]], weights[k]
        for r in range(len(out)):
            out[r] -= weight * column[r]
