"""Unjudged documents: how a few measures tell them from documents that are judged not relevant.

To most measures a document that nobody judged is one without a gain. The others say ``sees_unjudged = True``, and are given
rankings in which unjudged documents have a negative grade: those that a TREC run returns without a judgement
(``data.judged_rows``), and the rows with a negative grade in data read with ``unjudged="keep"``.
"""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.judged_rows import judged_rows
from rankinite.engine.kernel import GRADE, SCORE, Floats, Grades, Reals
from rankinite.measures.binary import WholeMeasure

UNJUDGED = -1.0
"""The grade of a document that nobody judged."""


def sees_unjudged(measure: object) -> bool:
    """Whether a measure tells unjudged documents from those that are judged not relevant."""
    return bool(getattr(measure, "sees_unjudged", False))


def marked_grades(data: Dataset) -> Grades:
    """The grades of some data, −1 where it is known that nobody judged a row."""
    judged = judged_rows(data)
    return data.grades if judged is None else np.where(judged, data.grades, GRADE(UNJUDGED))


def grades_seen_by(measure: object, data: Dataset) -> Grades:
    """The grades of some data as a measure is given them."""
    return marked_grades(data) if sees_unjudged(measure) else data.grades


class JudgedPairsMeasure(WholeMeasure):
    """A measure of the order of relevant documents and those judged not relevant; it passes over all others."""

    __slots__ = ()

    sees_unjudged = True

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, 0 where it is lower, −1 where nobody judged the document."""
        return np.where(grades < 0.0, UNJUDGED, grades >= self.relevant).astype(SCORE)
