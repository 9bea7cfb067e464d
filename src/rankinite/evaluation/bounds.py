"""Bounds of confidence intervals: they end where a measure's range does.

Cutting an interval to the values that the mean can have loses no coverage: what is cut off cannot be the true mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import NOISE
from rankinite.measures.base import BoundedMeasure, Measure


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


def cut(interval: tuple[float, float], mean: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The interval with its ends moved to bounds that they are beyond, or to the mean, should rounding have put that beyond."""
    least, greatest = min(bounds[0], mean), max(bounds[1], mean)
    low, high = (min(max(end, least), greatest) for end in interval)
    return low, high


def half_note(interval: str, spreads: Iterable[str]) -> str:
    """What ``±`` means, for the note of a table of means, and what replaces it where an interval was cut."""
    cut_off = any(not text.startswith("±") for text in spreads)
    return f"±: half the {interval}" + (", or both its ends where the measure's range cuts it" if cut_off else "")
