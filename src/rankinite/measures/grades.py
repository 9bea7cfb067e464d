"""GradeError: a grade that a measure does not fit, and where it is."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import MeasureError, quoted


class GradeError(MeasureError):
    """A measure does not know what a grade is worth; the grade is the error's ``value``."""


@contextmanager
def grades_of(data: Dataset, measure: object) -> Generator[None]:
    """Let an error about a grade of these data name the measure, and the file, row and query of the grade."""
    try:
        yield
    except GradeError as problem:
        row = int(np.argmax(data.grades == problem.value))
        qid = str(data.qids[np.searchsorted(data.offsets, row, side="right") - 1])
        raise problem.at(f"{measure}: {data.source}, row {row} (query {quoted(qid)})") from problem
