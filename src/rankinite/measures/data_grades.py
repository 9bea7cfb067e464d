"""The grades of data as measures see them, and where a grade is that a measure does not fit.

Data of which it is known what nobody judged: those that a TREC run and judgements were put together to
(``judged_rows`` of ``data.dataset``), and those with negative grades that were read with ``unjudged="keep"``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from rankinite.data.dataset import Dataset, judged_rows
from rankinite.engine.kernel import GRADE, Grades
from rankinite.errors import quoted
from rankinite.measures.base import UNJUDGED, GradeError


def sees_unjudged(measure: object) -> bool:
    """Whether a measure tells unjudged documents from those that are judged not relevant."""
    return bool(getattr(measure, "sees_unjudged", False))


def grades_seen_by(measure: object, data: Dataset) -> Grades:
    """The grades of some data as a measure is given them: −1 for what nobody judged, if the measure sees that."""
    judged = judged_rows(data) if sees_unjudged(measure) else None
    return data.grades if judged is None else np.where(judged, data.grades, GRADE(UNJUDGED))


@contextmanager
def naming_bad_grades(data: Dataset, measure: object) -> Generator[None]:
    """Let an error about a grade of these data name the measure, and the file, row and query of the grade."""
    try:
        yield
    except GradeError as problem:
        row = int(np.argmax(data.grades == problem.value))
        qid = str(data.qids[np.searchsorted(data.offsets, row, side="right") - 1])
        raise problem.at(f"{measure}: {data.source}, row {row} (query {quoted(qid)})") from problem
