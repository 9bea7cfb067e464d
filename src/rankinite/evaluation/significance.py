"""Intervals of means over queries, and paired tests: is a difference between two systems more than chance?

Notation: n queries, one value per query for each of two systems, d = first − second.

Every result is the same whatever the order of the queries and the number of threads, and exactly mirrored
when the two systems change places: differences are sorted first, sums are exact (``math.fsum``), and random
numbers depend on seed and resample alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from rankinite.engine.kernel import SCORE, Floats
from rankinite.engine.parallel import run
from rankinite.errors import ArgumentError, DataError, cut
from rankinite.evaluation._resampling_kernels import bootstrap_sums, sign_flip_sums
from rankinite.measures.base import BoundedMeasure, Measure

NOISE = 1e-12
"""Two values of a query closer than this (relative to the larger one, or to 1) are the same value, rounded differently."""
TIE = 1e-10
"""A resampled sum closer than this to the observed one, relative to Σ|d|, is tied with it."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The outcome of a bootstrap of the mean difference."""

    p: float
    """Two-sided p-value of the mean being zero."""
    interval: tuple[float, float]
    """Percentile interval of the mean."""
    floor: float = 0.0
    """The least p-value that this number of resamples can give."""


def paired_differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """``first − second``, with differences that are only rounding noise set to zero."""
    a, b = _vector(first, "the first system's values"), _vector(second, "the second system's values")
    if len(a) != len(b):
        raise DataError(
            f"{len(a)} values cannot be paired with {len(b)}",
            value=(len(a), len(b)),
            remedy="Give both systems' values of the same queries",
        )
    difference = a - b
    noise = np.abs(difference) <= NOISE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    return np.where(noise, 0.0, difference)


def exact_mean(values: Floats) -> float:
    """The mean, the same to the last bit for any order of the values."""
    return exact_sum(values) / len(values)


def exact_sum(values: Floats) -> float:
    """The sum, the same to the last bit for any order of the values.

    Each value is cut into two whole multiples of tiny units, and whole numbers add up exactly. What the cut loses is less
    than 2^-70 of the largest value each.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    unit = math.ldexp(1.0, max(math.frexp(largest)[1] - 30, -1000))  # a unit of zero would divide by it
    coarse = np.rint(values / unit)
    fine = np.rint((values / unit - coarse) * 2.0**41)
    return (int(coarse.astype(np.int64).sum()) + int(fine.astype(np.int64).sum()) / 2.0**41) * unit


def t_interval(values: npt.ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval of the mean.

    One value tells nothing of the spread: its interval is (−inf, inf).
    """
    _check_share("confidence", confidence)
    listed = _vector(values, "the values")
    mean, error = _mean_and_error(listed)
    if len(listed) == 1:
        return -math.inf, math.inf
    half = float(special.stdtrit(len(listed) - 1, 0.5 + confidence / 2)) * error
    return mean - half, mean + half


# ---- bounds: an interval ends where the measure's range does; what is cut off cannot be the true mean, so no coverage is lost


def mean_bounds(measure: Measure, *values: Floats) -> tuple[float, float]:
    """The least and the greatest mean that the measure can have, given some of its values.

    A bound that a query's value lies beyond does not hold for these data, for example because grades below 0 were kept. The
    bounds of a pooled measure are of its mean alone, of which a query's value is a part.
    """
    if not isinstance(measure, BoundedMeasure):
        return -math.inf, math.inf
    least, greatest = measure.bounds
    if measure.pooled:
        return least, greatest
    below = any((some < least - NOISE).any() for some in values)
    above = any((some > greatest + NOISE).any() for some in values)
    return -math.inf if below else least, math.inf if above else greatest


def difference_bounds(measure: Measure, *values: Floats) -> tuple[float, float]:
    """The least and the greatest difference that there can be between two means, given some of the measure's values."""
    least, greatest = mean_bounds(measure, *values)
    return least - greatest, greatest - least


def within_bounds(interval: tuple[float, float], mean: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The interval with its ends moved to bounds that they are beyond, or to the mean, should rounding have put that beyond."""
    least, greatest = min(bounds[0], mean), max(bounds[1], mean)
    low, high = (min(max(end, least), greatest) for end in interval)
    return low, high


# ---- tests


def paired_t(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Two-sided p-value of Student's paired t-test.

    It is 1 when the systems never differ or there is one query only, and 0 when they differ by the same
    non-zero amount on every query.
    """
    d = paired_differences(first, second)
    mean, error = _mean_and_error(d)
    if len(d) == 1 or mean == 0.0:
        return 1.0
    if error == 0.0:
        return 0.0
    return float(2.0 * special.stdtr(len(d) - 1, -abs(mean / error)))


def randomisation(differences: npt.ArrayLike, resamples: int = 10_000, seed: int = 0) -> float:
    """Two-sided p-value of Fisher's randomisation test: the mean difference against random signs.

    All sign patterns are counted when there are at most ``resamples`` of them; otherwise ``resamples`` are
    drawn, and the observed one is counted as one more, so that p is never zero.
    """
    d = _vector(differences, "the differences")
    seed_word = _check_resampling(resamples, seed)
    magnitudes = np.sort(np.abs(d[d != 0.0]))  # a zero has no sign to flip
    spread = math.fsum(magnitudes.tolist())
    threshold = abs(math.fsum(d.tolist())) - TIE * spread
    if _all_signs_counted(len(magnitudes), resamples):
        sums = np.zeros(1, SCORE)
        for magnitude in magnitudes:
            sums = np.concatenate((sums - magnitude, sums + magnitude))
        return float(np.mean(np.abs(sums) >= threshold))
    sums = _resample(lambda first, out: sign_flip_sums(magnitudes, seed_word, first, out), resamples, piece=1024)
    return _monte_carlo_p(np.abs(sums) >= threshold)


def randomisation_floor(differences: npt.ArrayLike, resamples: int = 10_000) -> float:
    """The least p-value that :func:`randomisation` can draw; 0 where it counts all sign patterns, so that p is exact."""
    signs = int(np.count_nonzero(_vector(differences, "the differences")))
    return 0.0 if _all_signs_counted(signs, resamples) else _resampling_floor(resamples)


def bootstrap(differences: npt.ArrayLike, resamples: int = 10_000, seed: int = 0, *, confidence: float = 0.95) -> Bootstrap:
    """Two-sided bootstrap test of the mean being zero, and the percentile interval of the mean.

    The test resamples queries from the centred differences (mean zero): p is the share of resampled means at
    least as far from zero as the observed one, which is counted too.
    """
    _check_share("confidence", confidence)
    seed_word = _check_resampling(resamples, seed)
    d = np.sort(_vector(differences, "the differences"))
    # One orientation for (a, b) and (b, a): the outermost pair that is not symmetric decides, and is made positive.
    lopsided = d + d[::-1]
    turned = bool((lopsided[lopsided != 0.0][:1] < 0.0).any())
    if turned:
        d = -d[::-1]
    if len(d) == 1:  # one query has no spread
        return Bootstrap(1.0, (-math.inf, math.inf))
    n, total, spread = len(d), math.fsum(d.tolist()), math.fsum(np.abs(d).tolist())
    sums = _resample(lambda first, out: bootstrap_sums(d, seed_word, first, out), resamples, piece=256)
    p = _monte_carlo_p(np.abs(sums - total) >= abs(total) - TIE * spread)
    low, high = (float(end) / n for end in np.quantile(sums, [0.5 - confidence / 2, 0.5 + confidence / 2]))
    return Bootstrap(p, (-high, -low) if turned else (low, high), _resampling_floor(resamples))


def holm(p_values: npt.ArrayLike) -> Floats:
    """p-values corrected for their number by Holm's step-down method, in the order given.

    The k-th smallest of m (from 0) is multiplied by m − k, then raised to the largest corrected one before it.
    """
    raw = _vector(p_values, "the p-values", least=0)
    outside = raw[~((raw >= 0.0) & (raw <= 1.0))]
    if len(outside):
        raise DataError(f"{outside[0]} is no p-value", value=float(outside[0]), rule="p-values lie in [0, 1]")
    order = np.argsort(raw, kind="stable")
    corrected = np.empty_like(raw)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)))
    return corrected


def _resample(sums_from: Callable[[int, Floats], None], resamples: int, piece: int) -> Floats:
    """Fill one sum per resample, in pieces spread over the threads."""
    sums = np.empty(resamples, SCORE)

    def work(first: int) -> None:
        # Without the compiler NumPy would warn that the 64-bit random numbers wrap around, as they must.
        with np.errstate(over="ignore"):
            sums_from(first, sums[first : first + piece])

    run(work, range(0, resamples, piece))
    return sums


def _all_signs_counted(signs: int, resamples: int) -> bool:
    return 1 << signs <= resamples


def _monte_carlo_p(as_extreme: npt.NDArray[np.bool_]) -> float:
    return (1 + int(np.count_nonzero(as_extreme))) / (1 + len(as_extreme))


def _resampling_floor(resamples: int) -> float:
    """The p-value where no resample is as extreme as what was observed, which is counted too."""
    return 1 / (1 + resamples)


def _mean_and_error(values: Floats) -> tuple[float, float]:
    """The mean and its standard error (0 for a single value)."""
    mean = exact_mean(values)
    if len(values) == 1 or (values == values[0]).all():
        return mean, 0.0
    squares = exact_sum((values - mean) ** 2)
    return mean, math.sqrt(squares / (len(values) - 1) / len(values))


def _vector(values: npt.ArrayLike, what: str, least: int = 1) -> Floats:
    try:
        vector = np.ascontiguousarray(values, SCORE)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{what} are not numbers ({cut(error)})", value=values, remedy="Give a list or array of one number per query"
        ) from error
    if np.ndim(values) != 1 or len(vector) < least:
        raise DataError(
            f"{what} have shape {np.shape(values)}",
            value=np.shape(values),
            remedy=f"Give a list or array of one number per query, and at least {least}",
        )
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise DataError(
            f"number {bad[0]} is {vector[bad[0]]}",
            place=what,
            value=int(bad[0]),
            rule="All must be finite",
            remedy="Leave skipped queries out",
        )
    return vector


def _check_resampling(resamples: int, seed: int) -> np.uint64:
    if resamples < 1:
        raise ArgumentError("must be at least 1", setting="resamples", value=resamples, remedy="10000 is usual")
    if not 0 <= seed < 1 << 64:
        raise ArgumentError("is no seed", setting="seed", value=seed, rule="It must lie between 0 and 2**64 - 1")
    return np.uint64(seed)


def _check_share(name: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        raise ArgumentError("must lie between 0 and 1", setting=name, value=value, remedy="0.95 is usual")
