"""Where to cut a feature: the threshold with the largest gain, from its histogram.

With G the sum of pushes and S what the criterion divides by, a cut into left and right gains

    G_l² / S_l + G_r² / S_r − G² / S

where S is the number of rows, each counting its weight, for ``mse`` (paper 002 §5: least squares on the pushes) and the sum of
curvatures plus L2 for ``newton`` (twice the fall of the second-order cost). Gains are in raw units here: those of the quantised
sums.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine._hash_kernels import STEP, mixed
from rankinite.engine.kernel import Bytes, Flags, Floats, Indices, lean_kernel
from rankinite.trees._state import LOW, MISSING

MASK = (1 << LOW) - 1
MISSING_LEFT = 256
"""Added to a code: missing values go left."""
_LOW, _MASK, _SIGN, _TWO_52 = (np.uint64(n) for n in (LOW, MASK, 1 << 63, 0x433 << 52))
_OFFSET = 2.0**52 + 2.0 ** (63 - LOW)  # the sign bit, flipped, counts 2^(63 − LOW) after the shift
_NOISE = 1e-12  # a gain below this share of its terms is rounding


# Plain loops: NumPy's own sums and searches would take longer to compile than all of these together.


@lean_kernel
def sum_of(values: Indices, count: int) -> int:
    """The sum of the first ``count`` values."""
    total = 0
    for k in range(count):
        total += values[k]
    return total


@lean_kernel
def largest_of(values: Floats, count: int) -> float:
    """The largest of the first ``count`` values, none of them negative."""
    best = 0.0
    for k in range(count):
        best = max(best, values[k])
    return best


@lean_kernel
def any_of(flags: Flags, first: int, last: int) -> bool:
    """Whether one of the flags first … last−1 is set."""
    for k in range(first, last):
        if flags[k]:
            return True
    return False


@lean_kernel
def mix(a: np.uint64, b: np.uint64) -> np.uint64:
    """A random word that depends on two others."""
    return mixed(a * STEP + b + STEP)


@lean_kernel
def cut_gain(left: int, total: int, least: int, l2: float, monotone: int) -> float:
    """The two sides' terms when ``left`` of ``total`` goes left; −1 where a side is too light or the sides stand the wrong
    way round. ``least`` is what a side must have in its low bits.
    """
    weight_left = left & MASK
    weight_right = (total & MASK) - weight_left
    if weight_left < least or weight_right < least:
        return -1.0
    push_left = left >> LOW
    push_right = (total >> LOW) - push_left
    if monotone != 0:
        rise = float(push_right) * (weight_left + l2) - float(push_left) * (weight_right + l2)
        if rise * monotone < 0.0:
            return -1.0
    a, b = weight_left + l2, weight_right + l2
    return (float(push_left) * push_left * b + float(push_right) * push_right * a) / (a * b)


@lean_kernel
def _first_present(sums: Indices) -> int:
    """The first code with rows, or the last code."""
    first = 0
    while first < len(sums) - 1 and sums[first] == 0:
        first += 1
    return first


@lean_kernel
def _left_sides(sums: Indices, before: int, out: Indices) -> None:
    """What goes left when cut after each code; ``before`` goes left in any case."""
    left = before
    for k in range(len(sums)):
        left += sums[k]
        out[k] = left


@lean_kernel
def all_terms(left: Indices, total: int, least: int, l2: float, monotone: int, out: Floats) -> None:
    """:func:`cut_gain` of many cuts at once, written so that it runs in SIMD; one division a cut.

    SIMD does not turn int64 into floats. But a number below 2⁵² put into the last bits of the float 2⁵² adds itself to it.
    """
    all_push, all_weight, lightest = float(total >> LOW), float(total & MASK), float(least)
    for k in range(len(left)):
        push_left = np.uint64(_TWO_52 | ((np.uint64(left[k]) ^ _SIGN) >> _LOW)).view(np.float64) - _OFFSET
        weight_left = np.uint64(_TWO_52 | (np.uint64(left[k]) & _MASK)).view(np.float64) - 2.0**52
        push_right, weight_right = all_push - push_left, all_weight - weight_left
        a, b = weight_left + l2, weight_right + l2
        terms = (push_left * push_left * b + push_right * push_right * a) / (a * b)
        out[k] = terms if (weight_left >= lightest) & (weight_right >= lightest) else -1.0
    if monotone != 0:
        for k in range(len(left)):
            push_left, weight_left = float(left[k] >> LOW), float(left[k] & MASK)
            rise = (all_push - push_left) * (weight_left + l2) - push_left * (all_weight - weight_left + l2)
            if rise * monotone < 0.0:
                out[k] = -1.0


@lean_kernel
def first_largest(terms: Floats) -> int:
    """The place of the largest term, −1 where none is above −1.

    Compares the bits: those of floats from 0 on rise with the value, and SIMD takes the largest integer but not the largest
    float, which has rules for NaN.
    """
    bits, best = terms.view(np.int64), -1
    for k in range(len(bits)):
        best = max(best, bits[k])
    for k in range(len(bits)):
        if bits[k] == best:
            return k
    return -1


@lean_kernel
def scan(
    sums: Indices, bins: int, has_missing: bool, total: int, least: int, l2: float, monotone: int,
    left: Indices, terms: Floats,
) -> tuple[float, int]:  # fmt: skip
    """The best cut of one feature: (sum of the two terms, code), or (−1, 0). Of equal cuts the first wins, so none is after
    an absent code.

    ``sums``, ``left`` and ``terms`` have shape (256,); the last two are workspace.
    """
    best, code = -1.0, 0
    missing = sums[MISSING] if has_missing else 0
    first = _first_present(sums[:bins])
    present, lefts, own_terms = sums[first:bins], left[: bins - first], terms[: bins - first]
    for direction in range(2 if missing != 0 else 1):
        _left_sides(present, missing * direction, lefts)
        all_terms(lefts, total, least, l2, monotone, own_terms)
        k = first_largest(own_terms)
        if k >= 0 and own_terms[k] > best:
            best, code = own_terms[k], first + k + direction * MISSING_LEFT
    return best, code


@lean_kernel
def lay_cut(code: int, out_table: Bytes) -> None:
    """Say for every code whether it goes left under a cut; ``out_table`` has shape (BINS,)."""
    for k in range(MISSING):
        out_table[k] = k <= code % MISSING_LEFT
    out_table[MISSING] = code >= MISSING_LEFT


@lean_kernel
def scan_at(sums: Indices, has_missing: bool, total: int, least: int, l2: float, monotone: int, at: int) -> tuple[float, int]:
    """The same for the cut after one given code alone."""
    left = sum_of(sums, at + 1)
    best, code = cut_gain(left, total, least, l2, monotone), at
    if has_missing and sums[MISSING] != 0:
        terms = cut_gain(left + sums[MISSING], total, least, l2, monotone)
        if terms > best:
            best, code = terms, at + MISSING_LEFT
    return best, code


@lean_kernel
def scan_limited(
    sums: Indices, bins: int, total: int, least: int, l2: float, monotone: int, only: int,
    limits: Indices, all_rows: int, all_curvature: int, min_rows: int, min_curvature: int,
) -> tuple[float, int]:  # fmt: skip
    """The best cut whose sides both have the rows and the curvature a leaf needs.

    ``limits``, shape (2, 256), has the node's rows and curvature by code.
    """
    best, code = -1.0, 0
    for direction in range(2):
        left, rows, curvature = 0, 0, 0
        if direction == 1:
            left, rows, curvature = sums[MISSING], limits[0, MISSING], limits[1, MISSING]
            if rows == 0:
                break
        for k in range(bins):
            left += sums[k]
            rows += limits[0, k]
            curvature += limits[1, k]
            if only >= 0 and k != only:
                continue
            if rows < min_rows or all_rows - rows < min_rows:
                continue
            if curvature < min_curvature or all_curvature - curvature < min_curvature:
                continue
            terms = cut_gain(left, total, least, l2, monotone)
            if terms > best:
                best, code = terms, k + direction * MISSING_LEFT
                if limits[0, MISSING] == 0 and 2 * rows >= all_rows:
                    code = k + MISSING_LEFT  # no missing value here: such as come later go with the larger side
    return best, code


@lean_kernel
def net_gain(terms: float, total: int, l2: float) -> float:
    """The gain of a cut, or −inf where there is none or it is nothing but rounding."""
    if terms < 0.0:
        return -np.inf
    gain = terms - float(total >> LOW) * (total >> LOW) / ((total & MASK) + l2)
    return gain if gain > _NOISE * terms else -np.inf


@lean_kernel
def random_cut(sums: Indices, bins: int, word: np.uint64) -> int:
    """A code drawn evenly between the first and the last one present, or −1 where there is one only."""
    first, last = bins, -1
    for k in range(bins):
        if sums[k] != 0:
            first = min(first, k)
            last = k
    if last <= first:
        return -1
    return first + int(word % np.uint64(last - first))


@lean_kernel
def copy_flags(flags: Flags, out: Flags) -> None:
    """Copy flags; arrays of the same shape."""
    for f in range(len(flags)):
        out[f] = flags[f]


@lean_kernel
def draw_features(used: Flags, share: float, word: np.uint64, out_allowed: Flags) -> None:
    """Draw a share of the features in use, at least one; all arrays have shape (features,)."""
    available = 0
    for f in range(len(used)):
        available += int(used[f])
    wanted = max(1, int(np.ceil(share * available)))
    for f in range(len(used)):
        out_allowed[f] = False
        if used[f]:
            # Selection sampling (Knuth's algorithm S): each feature in turn, with the chance that keeps the count right.
            chance = float(mix(word, np.uint64(f)) >> np.uint64(11)) * 2.0**-53
            if chance * available < wanted:
                out_allowed[f] = True
                wanted -= 1
            available -= 1


@lean_kernel
def is_drawn(key: np.uint64, word: np.uint64, share: float) -> bool:
    """Whether a row is drawn: decided by its content, so that the order of the rows does not matter."""
    return float(mix(word, key) >> np.uint64(11)) * 2.0**-53 < share


@lean_kernel
def best_feature(gains: Floats, allowed: Flags) -> int:
    """The feature with the largest gain, the first of equals, or −1; both of shape (features,)."""
    best = -1
    for f in range(len(gains)):
        if allowed[f] and gains[f] > -np.inf and (best < 0 or gains[f] > gains[best]):
            best = f
    return best
