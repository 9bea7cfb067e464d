"""Where to cut a feature: the threshold, or for a category the set of codes, with the largest gain, from its histogram.

With G the sum of pushes and S what the criterion divides by, a cut into left and right gains

    G_l² / S_l + G_r² / S_r − G² / S

where S is the number of rows, each counting its weight, for ``mse`` (paper 002 §5: least squares on the pushes) and the sum of
curvatures plus L2 for ``newton`` (twice the fall of the second-order cost). Gains are in raw units here: those of the quantised
sums. A cut is written as the code after which it cuts; plus ``MISSING_LEFT`` where missing values go left.

The codes of a category have no order of their own. They are put in order by their mean push, each pulled towards the node's own
mean as if it had ``smooth`` more weight there. Of all sets of codes, the best by either criterion begins at one end of that
order without smoothing (Fisher 1958), so that a scan of the order finds it; smoothing keeps light codes, whose means are mostly
chance, out of its ends, and the same weight is added to what both sides are divided by. Where a node has few codes, each is
tried against the rest instead. A cut of a category is written as its place in the order; plus ``MISSING_LEFT`` where missing
values are on the side of the chosen codes. The set that the tree keeps is always the side *without* the missing values, and
where none are missing the lighter side: so missing codes, codes that no row of the node has and categories never seen go the
same way, right.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Bytes, Flags, Floats, Indices, lean_kernel
from rankinite.trees._state import BINS, LOW, MASK, MISSING, MISSING_LEFT, sum_of

_LOW, _MASK, _SIGN, _TWO_52 = (np.uint64(n) for n in (LOW, MASK, 1 << 63, 0x433 << 52))
_OFFSET = 2.0**52 + 2.0 ** (63 - LOW)  # the sign bit, flipped, counts 2^(63 − LOW) after the shift
_NOISE = 1e-12  # a gain below this share of its terms is rounding

FEW = 4
"""Up to so many codes at a node are tried one against the rest."""
GAP = 7
"""Every so many codes are sorted first, so that those far out of place do not move step by step."""


# ---- the gain of a cut -----------------------------------------------------------------------------------------------


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
def net_gain(terms: float, total: int, l2: float) -> float:
    """The gain of a cut, or −inf where there is none or it is nothing but rounding."""
    if terms < 0.0:
        return -np.inf
    gain = terms - float(total >> LOW) * (total >> LOW) / ((total & MASK) + l2)
    return gain if gain > _NOISE * terms else -np.inf


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
def best_feature(gains: Floats, allowed: Flags) -> int:
    """The feature with the largest gain, the first of equals, or −1; both of shape (features,)."""
    best = -1
    for f in range(len(gains)):
        if allowed[f] and gains[f] > -np.inf and (best < 0 or gains[f] > gains[best]):
            best = f
    return best


# ---- numbers ---------------------------------------------------------------------------------------------------------


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
def lay_cut(code: int, out_table: Bytes) -> None:
    """Say for every code whether it goes left under a cut; ``out_table`` has shape (BINS,)."""
    for k in range(MISSING):
        out_table[k] = k <= code % MISSING_LEFT
    out_table[MISSING] = code >= MISSING_LEFT


# ---- categories ------------------------------------------------------------------------------------------------------


@lean_kernel
def sort_codes(keys: Floats, order: Indices, count: int) -> None:
    """Sort the first ``count`` codes by rising key, equal ones by code: by insertion, first of every GAP-th, then of all."""
    for step in (49, GAP, 1):
        for k in range(step, count):
            key, code, place = keys[k], order[k], k
            while place >= step and (keys[place - step] > key or (keys[place - step] == key and order[place - step] > code)):
                keys[place], order[place] = keys[place - step], order[place - step]
                place -= step
            keys[place], order[place] = key, code


@lean_kernel
def order_codes(sums: Indices, bins: int, total: int, smooth: float, keys: Floats, out_order: Indices) -> int:
    """The codes that a histogram has, by rising mean push; returns how many. ``keys`` and ``out_order``: (BINS,) at least."""
    mean, count = (total >> LOW) / max(1, total & MASK), 0
    for code in range(bins):
        if sums[code] != 0:
            weight = (sums[code] & MASK) + smooth
            keys[count] = ((sums[code] >> LOW) + smooth * mean) / max(weight, 1.0)
            out_order[count] = code
            count += 1
    sort_codes(keys, out_order, count)
    return count


@lean_kernel
def penalty(count: int, smooth: float) -> float:
    """What is added to L2 for a cut of so many codes: nothing where each is tried against the rest."""
    return 0.0 if count <= FEW else smooth


@lean_kernel
def _chosen_sides(sums: Indices, order: Indices, count: int, before: int, out_left: Indices) -> None:
    """What each cut puts on the side of the chosen codes; ``before`` is there in any case."""
    chosen = before
    for place in range(count):
        chosen = chosen + sums[order[place]] if count > FEW else before + sums[order[place]]
        out_left[place] = chosen


@lean_kernel
def scan_category(
    sums: Indices, bins: int, has_missing: bool, total: int, least: int, l2: float, smooth: float, only: int,
    order: Indices, left: Indices, terms: Floats,
) -> tuple[float, int]:  # fmt: skip
    """The best cut of a category: (sum of the two terms, its place in the order), or (−1, 0). Of equal cuts the first wins.

    ``only``: a place to try alone, modulo their number; −1: all. ``order``, ``left`` and ``terms`` are workspace, (BINS,).
    """
    best, code = -1.0, 0
    missing = sums[MISSING] if has_missing else 0
    count = order_codes(sums, bins, total, smooth, terms, order)
    for direction in range(2 if missing != 0 else 1):
        _chosen_sides(sums, order, count, missing * direction, left)
        if only >= 0 and count > 0:
            place = only % count
            found = cut_gain(left[place], total, least, l2 + penalty(count, smooth), 0)
        else:
            all_terms(left[:count], total, least, l2 + penalty(count, smooth), 0, terms[:count])
            place = first_largest(terms[:count])
            found = terms[place] if place >= 0 else -1.0
        if found > best:
            best, code = found, place + direction * MISSING_LEFT
    return best, code


@lean_kernel
def keeps_chosen(missing: int, direction: int, chosen: int, total: int) -> bool:
    """Whether the set of the tree are the codes chosen by a cut, which weigh ``chosen``; otherwise the others."""
    return direction == 0 if missing != 0 else 2 * (chosen & MASK) <= total & MASK


@lean_kernel
def limited_category(
    sums: Indices, bins: int, total: int, least: int, l2: float, smooth: float, only: int, order: Indices, keys: Floats,
    limits: Indices, all_rows: int, all_curvature: int, min_rows: int, min_curvature: int,
) -> tuple[float, int]:  # fmt: skip
    """The best cut whose sides both have the rows and the curvature a leaf needs; ``limits``, (2, BINS), has them by code."""
    best, code = -1.0, 0
    count = order_codes(sums, bins, total, smooth, keys, order)
    rows_present, curvature_present = 0, 0
    for place in range(count):
        here = int(order[place])
        rows_present += limits[0, here]
        curvature_present += limits[1, here]
    for direction in range(2 if sums[MISSING] != 0 else 1):
        chosen, rows, curvature = 0, 0, 0
        for place in range(count):
            if count <= FEW:
                chosen, rows, curvature = 0, 0, 0
            here = int(order[place])
            chosen += sums[here]
            rows += limits[0, here]
            curvature += limits[1, here]
            if only >= 0 and place != only:
                continue
            kept = keeps_chosen(sums[MISSING], direction, chosen, total)
            left_rows = rows if kept else rows_present - rows
            left_curvature = curvature if kept else curvature_present - curvature
            if min(left_rows, all_rows - left_rows) < min_rows:
                continue
            if min(left_curvature, all_curvature - left_curvature) < min_curvature:
                continue
            left = chosen + sums[MISSING] * direction
            terms = cut_gain(left, total, least, l2 + penalty(count, smooth), 0)
            if terms > best:
                best, code = terms, place + direction * MISSING_LEFT
    return best, code


@lean_kernel
def add_category_gains(
    sums: Indices, total: int, least: int, l2: float, smooth: float, order: Indices, count: int, out_gains: Floats
) -> None:
    """Add to ``out_gains``, shape (2, BINS), what each cut of an order gains at a node; row 1: missing values on its side."""
    added, missing, chosen = penalty(count, smooth), sums[MISSING], 0
    for place in range(count):
        here = int(order[place])
        chosen = chosen + sums[here] if count > FEW else sums[here]
        gain = max(0.0, net_gain(cut_gain(chosen, total, least, l2 + added, 0), total, l2))
        out_gains[0, place] += gain
        if missing != 0:
            gain = max(0.0, net_gain(cut_gain(chosen + missing, total, least, l2 + added, 0), total, l2))
        out_gains[1, place] += gain


@lean_kernel
def lay_set(sums: Indices, bins: int, count: int, cut: int, order: Indices, out_table: Bytes) -> None:
    """Say for every code whether it goes left under a cut of an order of ``count`` codes; ``out_table``: (BINS,).

    ``sums`` say which codes there are, and how much they weigh.
    """
    place, direction = cut % MISSING_LEFT, cut // MISSING_LEFT
    for code in range(BINS):
        out_table[code] = 0
    for k in range(place if count <= FEW else 0, place + 1):
        out_table[order[k]] = 1
    chosen, whole = 0, sums[MISSING]
    for code in range(bins):
        chosen += sums[code] if out_table[code] else 0
        whole += sums[code]
    if not keeps_chosen(sums[MISSING], direction, chosen, whole):
        for code in range(bins):
            out_table[code] = 1 - out_table[code] if sums[code] != 0 else 0
