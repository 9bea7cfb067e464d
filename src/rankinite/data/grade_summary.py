"""GradeRange: how often grades lie where, for grades that are no whole numbers; and what measures make of such grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import Grades

LISTED = 20
"""Grades that are listed one by one; where there are more of them, and some are no whole numbers, ranges are."""
_RANGES = 10


@dataclass(frozen=True, slots=True)
class GradeRange:
    """The grades from ``lowest`` on and below ``highest``, which the last range includes."""

    lowest: float
    highest: float
    rows: int
    """Rows with such a grade."""


def grade_ranges(grades: Grades) -> tuple[GradeRange, ...]:
    """Ten ranges of equal width, and one for negative grades; none where grades are few or all of them whole numbers."""
    if not has_fractions(grades) or len(np.unique(grades)) <= LISTED:
        return ()
    negative, others = grades[grades < 0], grades[grades >= 0]
    found = [GradeRange(float(negative.min()), 0.0, len(negative))] if len(negative) else []
    if len(others):
        counts, edges = np.histogram(others.astype(np.float64), bins=_RANGES)
        bounds = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        found += [GradeRange(lowest, highest, rows) for lowest, highest, rows in bounds]
    return tuple(found)


def has_fractions(grades: Grades) -> bool:
    """Whether some grade is no whole number."""
    return bool((grades != np.floor(grades)).any())


def on_fractions(lowest: float, highest: float, relevant: float) -> str:
    """What grades that are no whole numbers mean to measures; ``relevant``: the share of rows whose grade is 1 or more."""
    scale = max(1, int(np.ceil(highest)))
    chance = f"ERR takes (2^grade − 1) / 2^{scale} for the chance that a user stops at a document, with err:max_grade={scale}"
    other = "" if scale <= 4 else "; err alone refuses grades above 4"
    return (
        f"Some grades are no whole numbers ({lowest:.4g} … {highest:.4g}). NDCG takes 2^grade − 1 for the gain, whole or not. "
        f"{chance}{other}. AP, RR, precision and recall count a document as relevant from grade 1 on, as {relevant:.1%} of the "
        "documents are; ap:relevant=0.5 sets another limit."
    )
