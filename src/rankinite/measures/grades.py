"""Grades that a measure does not fit, and where they are."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import MeasureError, quoted


class GradeError(MeasureError):
    """A measure does not know what a grade is worth."""

    def __init__(self, message: str, grade: float) -> None:
        super().__init__(message)
        self.grade = grade


@contextmanager
def grades_of(data: Dataset, measure: object) -> Generator[None]:
    """Let an error about a grade of these data name the measure, and the file, row and query in which the grade is."""
    try:
        yield
    except GradeError as problem:
        row = int(np.argmax(data.grades == problem.grade))
        qid = str(data.qids[np.searchsorted(data.offsets, row, side="right") - 1])
        raise GradeError(f"{measure} on {data.source}, row {row} (query {quoted(qid)}): {problem}", problem.grade) from problem
