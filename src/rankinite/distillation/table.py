"""The table of a distillation: size, time and quality of a teacher, its students and the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.distillation.teacher import centred_scores, fidelity
from rankinite.engine.kernel import Floats
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import scores_of
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.models.weighted import Weighted
from rankinite.plurals import counted

TEACHER, DIRECT = "teacher", "direct"
WHAT = {
    TEACHER: "",
    "select": "trees of the teacher, weighed anew",
    "grow": "new trees, grown towards its scores",
    "net": "a net, trained towards its scores",
    DIRECT: "of the same size, trained on the grades",
}
"""The rankers of the table, the baseline last: a ranker of the students' size that had no teacher."""


@dataclass(frozen=True)
class Row:
    """A ranker as the table has it."""

    name: str
    what: str
    size: str
    """Its trees, or the weights of a net."""
    trees: int
    microseconds: float
    """Time to score a row, one thread or many as they are in force."""
    value: float
    """The measure on queries that the student did not see."""
    fidelity: float
    """The share of the teacher's variance within these queries that it explains."""


def table(
    teacher: Fitted, judged: Sequence[tuple[Mapping[str, Fitted], Dataset]], measure: Measure
) -> tuple[tuple[Row, ...], dict[str, Floats]]:
    """Every ranker on the queries that judge, pooled over folds."""
    rows: list[Row] = []
    values: dict[str, Floats] = {}
    for name in (TEACHER, *judged[0][0]):
        rankers = [teacher if name == TEACHER else students[name] for students, _ in judged]
        seconds = near = 0.0
        found: list[Floats] = []
        for ranker, (_, data) in zip(rankers, judged, strict=True):
            scores, time = _timed(ranker, data)
            seconds += time
            near += fidelity(scores, centred_scores(teacher, data), data) / len(judged)
            found.append(evaluate(data.in_row_order(scores), data, [measure])[measure].per_query)
        values[name] = np.concatenate(found)
        each = 1e6 * seconds / sum(data.rows for _, data in judged)
        size, trees = _size(rankers[0]), rankers[0].sizes().get("trees", 0)
        rows.append(Row(name, WHAT[name], size, trees, each, float(np.nanmean(values[name])), near))
    return tuple(rows), values


def _size(ranker: Fitted) -> str:
    """What a ranker is made of, in words."""
    if isinstance(ranker, Weighted):
        return counted(ranker.weights.size, "weight")
    parts = ranker.sizes().items()
    return ", ".join(f"{count:,} {kind}{'s' * (count > 1 and not kind.endswith('s'))}" for kind, count in parts)


def _timed(ranker: Fitted, data: Dataset) -> tuple[Floats, float]:
    """The scores, and the best of three times that scoring took."""
    scores, times = scores_of(ranker, data), list[float]()
    for _ in range(3):
        start = perf_counter()
        ranker.score(data)
        times.append(perf_counter() - start)
    return scores, min(times)
