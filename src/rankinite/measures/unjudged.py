"""Unjudged documents: how a few measures tell them from documents that are judged not relevant.

To most measures a document that nobody judged is one without a gain. The others say ``sees_unjudged = True``, and are given
rankings in which unjudged documents have the grade −1: those that a TREC run returns without a judgement, and the rows
with a negative grade in data read with ``unjudged="keep"``.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import GRADE, SCORE, Flags, Floats, Grades, Reals
from rankinite.measures.binary import WholeMeasure

UNJUDGED = -1.0
"""The grade of a document that nobody judged."""


def sees_unjudged(measure: object) -> bool:
    """Whether a measure tells unjudged documents from those that are judged not relevant."""
    return bool(getattr(measure, "sees_unjudged", False))


def marked_unjudged(grades: Grades, judged: Flags) -> Grades:
    """The grades, with those of unjudged documents replaced by −1."""
    return np.where(judged, grades, GRADE(UNJUDGED))


class JudgedPairsMeasure(WholeMeasure):
    """A measure of the order of relevant documents and those judged not relevant; it passes over all others."""

    __slots__ = ()

    sees_unjudged = True

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, 0 where it is lower, −1 where nobody judged the document."""
        return np.where(grades < 0.0, UNJUDGED, grades >= self.relevant).astype(SCORE)
