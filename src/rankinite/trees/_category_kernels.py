"""Where to cut a category: the set of codes with the largest gain, from the histogram of a feature.

Codes are put in order by their mean push, each pulled towards the node's own mean as if it had ``smooth`` more weight there. Of
all sets of codes, the best by either criterion begins at one end of that order without smoothing (Fisher 1958), so that a scan
of the order finds it; smoothing keeps light codes, whose means are mostly chance, out of its ends, and the same weight is added
to what both sides are divided by. Where a node has few codes, each is tried against the rest instead.

A cut is written as its place in the order; plus ``MISSING_LEFT`` where missing values are on the side of the chosen codes. The
set that the tree keeps is always the side *without* the missing values, and where none are missing the lighter side: so missing
codes, codes that no row of the node has and categories never seen go the same way, right.
"""

from __future__ import annotations

from rankinite.engine.kernel import Bytes, Floats, Indices, lean_kernel
from rankinite.trees._scan_kernels import MASK, MISSING_LEFT, all_terms, cut_gain, first_largest, net_gain
from rankinite.trees._state import BINS, LOW, MISSING

FEW = 4
"""Up to so many codes at a node are tried one against the rest."""
GAP = 7
"""Every so many codes are sorted first, so that those far out of place do not move step by step."""


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
