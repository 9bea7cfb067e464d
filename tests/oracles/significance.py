"""Slow and obvious significance tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product


def all_sign_flips(differences: Sequence[Fraction]) -> Fraction:
    """The share of the 2^n sign patterns whose mean is at least as far from zero as the observed mean."""
    observed = abs(sum(differences))
    patterns = list(product((-1, 1), repeat=len(differences)))
    extreme = sum(abs(sum(sign * d for sign, d in zip(signs, differences, strict=True))) >= observed for signs in patterns)
    return Fraction(extreme, len(patterns))


def all_bootstraps(differences: Sequence[Fraction]) -> Fraction:
    """The share of the n^n resamples of the centred differences whose mean is at least as far from zero as the observed."""
    total = sum(differences)
    samples = list(product(differences, repeat=len(differences)))
    return Fraction(sum(abs(sum(sample) - total) >= abs(total) for sample in samples), len(samples))


def holm_by_definition(p_values: Sequence[float]) -> list[float]:
    """The smallest level at which Holm's step-down procedure rejects each hypothesis.

    Hypothesis k is rejected at level a when every hypothesis with a p-value up to its own passes its step:
    the j-th smallest p (from 0) is at most a / (m - j).
    """
    m = len(p_values)
    ordered = sorted(p_values)
    return [
        min(1.0, max((m - j) * p for j, p in enumerate(ordered) if p <= own and j <= ordered.index(own))) for own in p_values
    ]
