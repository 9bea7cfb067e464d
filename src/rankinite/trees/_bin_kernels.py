"""Edges between the values of a feature, and codes of rows: the loops behind :mod:`rankinite.trees.bins`.

A code is the number of edges below a value. Codes lie in blocks of ``WIDTH`` features, row after row inside a block, so that
a histogram finds the codes of a row side by side.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Bytes, Features, Flags, Floats, Indices, kernel
from rankinite.trees._state import MISSING, WIDTH

# Rows coded together: their values and codes for one block of features stay in the fastest cache beside the edges.
_TILE = 64
# No finite float32 is above or below these. The first is still -inf when a format rounds it to float32.
_ABOVE_MINUS_INFINITY = -(2.0**128)
_BELOW_INFINITY = (2.0 - 2.0**-23) * 2.0**127

_ONE = np.uint32(1)
_BYTE, _SIGN, _INFINITY, _ALL = (np.uint32(n) for n in (255, 1 << 31, 255 << 23, (1 << 32) - 1))

Bits: TypeAlias = npt.NDArray[np.uint32]
_ALL_BITS = np.uint32(MISSING)


# ---- values -----------------------------------------------------------------------------------------------------------


@kernel
def mark_missing(features: Features, first: int, last: int, out_missing: Flags) -> None:
    """Set ``out_missing`` (features) where a feature of the rows first … last−1 of ``features`` (rows, features) is NaN."""
    for row in range(first, last):
        for feature in range(len(out_missing)):
            value = features[row, feature]
            out_missing[feature] |= value != value  # noqa: PLR0124 - only NaN differs from itself


@kernel
def gather_columns(features: Features, rows: Indices, base: int, out_columns: Features) -> None:
    """Copy some rows of ``features`` (rows, features) as columns: those from ``base`` on to ``out_columns`` (width, n)."""
    for top in range(0, len(rows), _TILE):  # a tile at a time: the lines of its rows are still at hand for the next feature
        end = min(top + _TILE, len(rows))
        for k in range(len(out_columns)):
            for i in range(top, end):
                out_columns[k, i] = features[rows[i], base + k]


@kernel
def _rising(bits: np.uint32) -> np.uint32:
    """A number that rises with a float, from the bits of it; the largest for every NaN."""
    if bits & ~_SIGN > _INFINITY:
        return np.uint32(_ALL)
    return np.uint32(bits ^ (_ALL if bits & _SIGN else _SIGN))


@kernel
def _as_float(number: np.uint32) -> np.uint32:
    """The bits of the float that :func:`_rising` made a number of."""
    return np.uint32(number ^ (_SIGN if number & _SIGN else _ALL))


@kernel
def sort_values(values: Bits, spare: Bits, digits: Indices) -> None:
    """Sort floats, given as their bits: rising, NaN last. ``spare``: as many; ``digits``: (4, 256); both are workspace.

    Digit by digit, the lowest first: four passes take a fifth of the time of comparing values, where no SIMD does it.
    """
    digits[:] = 0
    for k in range(len(values)):
        values[k] = bits = _rising(values[k])
        for place in range(4):
            digits[place, (bits >> np.uint32(8 * place)) & _BYTE] += 1
    for place in range(4):
        starts, before = digits[place], 0
        for digit in range(256):
            starts[digit], before = before, before + starts[digit]
        source, target = (values, spare) if place % 2 == 0 else (spare, values)
        for k in range(len(source)):
            digit = (source[k] >> np.uint32(8 * place)) & _BYTE
            target[starts[digit]] = source[k]
            starts[digit] += 1
    for k in range(len(values)):
        values[k] = _as_float(values[k])


@kernel
def count_values(ordered: Features, out_values: Features, out_counts: Indices) -> int:
    """The distinct numbers of ``ordered`` (n; rising, NaN last) and how often each occurs; returns how many they are."""
    distinct, start, end = 0, 0, 0
    while end < len(ordered) and ordered[end] == ordered[end]:  # NaN differs from itself
        end += 1
        if end == len(ordered) or ordered[end] != ordered[start]:
            out_values[distinct] = ordered[start]
            out_counts[distinct] = end - start
            distinct += 1
            start = end
    return distinct


# ---- edges ------------------------------------------------------------------------------------------------------------


@kernel
def edge_between(lower: np.float32, upper: np.float32) -> float:
    """A finite edge with ``lower <= edge < upper``: the middle, which float64 holds apart from both.

    Beside an infinity, the edge is where the finite numbers end: values not seen yet go with the finite ones.
    """
    if lower == -np.inf:
        return _ABOVE_MINUS_INFINITY
    if upper == np.inf:
        return _BELOW_INFINITY
    return 0.5 * (np.float64(lower) + np.float64(upper))


@kernel
def light_share(counts: Indices, most: int) -> tuple[int, int]:
    """The bins and rows left for light values once every heavy value of ``counts`` (distinct) has its own bin.

    A value is heavy when it has more rows than an even share of those left: ``count * bins > rows``. Each heavy value taken
    out makes the share smaller, so this goes on until no more are found. At least one bin always remains.
    """
    total = 0
    for count in counts:
        total += count
    bins, rows = most, total
    while True:
        left_bins, left_rows = most, total
        for count in counts:
            heavy = count * bins > rows
            left_bins -= heavy
            left_rows -= count * heavy
        if left_bins == bins:
            return bins, rows
        bins, rows = left_bins, left_rows


@kernel
def place_edges(values: Features, counts: Indices, most: int, out_edges: Floats) -> int:
    """Edges that part ``values`` (distinct, rising; ``counts`` rows each) into at most ``most`` bins; returns their number.

    One bin per value where that is enough. Else each heavy value has a bin of its own, and each run of light values between
    them as many as its rows deserve. Only where there are more runs than bins left for them, a run may get none: it then
    joins the heavy value after it, or the one before it if there is none. ``out_edges`` has room for most − 1.
    """
    distinct = len(values)
    if distinct <= most:
        return part_run(values, counts, 0, distinct, most, out_edges, 0)
    light_bins, light_rows = light_share(counts, most)
    bins, rows, runs = light_bins, light_rows, count_runs(counts, light_bins, light_rows)  # still to come
    placed, start = 0, 0
    while start < distinct:
        end, own_rows = start, 0
        while end < distinct and counts[end] * light_bins <= light_rows:
            own_rows += counts[end]
            end += 1
        own_bins = 0
        if own_rows > 0:
            runs -= 1
            own_bins = (2 * own_rows * bins + rows) // (2 * rows)
            if bins > runs:  # there is a bin for every run
                own_bins = min(max(own_bins, 1), bins - runs)
            rows -= own_rows
            if own_bins == 0 and end == distinct:
                break  # with the heavy value before it
        if start > 0:
            out_edges[placed] = edge_between(values[start - 1], values[start])
            placed += 1
        if own_bins > 0:
            before = placed
            placed = part_run(values, counts, start, end, own_bins, out_edges, placed)
            bins -= placed - before + 1
        else:
            end += 1  # a heavy value, with the run before it
        start = end
    return placed


@kernel
def count_runs(counts: Indices, light_bins: int, light_rows: int) -> int:
    """How many runs of light values there are between the heavy ones of ``counts`` (distinct)."""
    runs, after_heavy = 0, True
    for count in counts:
        heavy = count * light_bins > light_rows
        runs += after_heavy and not heavy
        after_heavy = heavy
    return runs


@kernel
def part_run(values: Features, counts: Indices, first: int, last: int, bins: int, out_edges: Floats, placed: int) -> int:
    """Part the values first … last−1 into ``bins`` bins of about equal rows; their edges are added to the ``placed`` ones.

    There are fewer bins only if there are fewer values. Returns the number of edges now placed.
    """
    rows, taken = 0, 0  # not yet in a closed bin, and in the open one
    for i in range(first, last):
        rows += counts[i]
    for i in range(first, last - 1):
        taken += counts[i]
        # The next value would lead further beyond an even share than this one falls short of it; or each has its own bin.
        if (2 * taken + counts[i + 1]) * bins >= 2 * rows or last - i <= bins:
            out_edges[placed] = edge_between(values[i], values[i + 1])
            placed += 1
            bins -= 1
            rows -= taken
            taken = 0
    return placed


# ---- codes ------------------------------------------------------------------------------------------------------------


@kernel
def search(values: Features, cuts: Features, step: np.uint32, out_codes: npt.NDArray[np.uint32]) -> None:
    """The number of ``cuts`` (256; rising, then infinite) below each of ``values`` (tile), ``MISSING`` for NaN.

    ``step`` is the largest power of two not above the number of finite cuts, 0 if there are none. The steps of the binary
    search are the outer loop: the values of a tile do not wait for each other, and nothing branches.
    """
    for i in range(_TILE):
        out_codes[i] = 0
    while step > 0:
        for i in range(_TILE):
            out_codes[i] += step * np.uint32(values[i] > cuts[out_codes[i] + step - _ONE])
        step >>= _ONE
    for i in range(_TILE):
        out_codes[i] |= _ALL_BITS * np.uint32(values[i] != values[i])  # only NaN differs from itself


@kernel
def code_rows(
    features: Features, cuts: Features, steps: npt.NDArray[np.uint32], first: int, last: int, at: int, out_blocks: Bytes
) -> None:
    """Codes of the rows first … last−1 of ``features`` (rows, features), into ``out_blocks`` (blocks, more rows, WIDTH), where
    the first row of all is row ``at``.

    ``cuts`` (features, 256) and ``steps`` (features) are those of :func:`search`. Padding features get code 0.
    """
    values = np.zeros((WIDTH, _TILE), np.float32)
    codes = np.zeros((WIDTH, _TILE), np.uint32)
    for top in range(first, last, _TILE):
        rows = min(_TILE, last - top)
        for block in range(len(out_blocks)):
            base = block * WIDTH
            width = min(WIDTH, features.shape[1] - base)
            for i in range(rows):
                for k in range(width):
                    values[k, i] = features[top + i, base + k]
            for k in range(width):
                search(values[k], cuts[base + k], steps[base + k], codes[k])
            for k in range(width, WIDTH):
                codes[k] = 0
            for i in range(rows):
                for k in range(WIDTH):
                    out_blocks[block, at + top + i, k] = codes[k, i]
