"""The teacher of a distillation: its scores within queries, and the trees that it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.distillation._pursuit_kernels import product
from rankinite.engine.kernel import Floats
from rankinite.evaluation.inputs import Scorer, scores_of
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees, join


@dataclass(frozen=True, eq=False)
class TeacherTrees:
    """The trees of a teacher, each with the values that it adds to the teacher's score."""

    trees: Trees
    feature_names: tuple[str, ...]
    is_all: bool
    """Whether they are all of the teacher, up to a constant; else it has nets or other parts that have no trees."""


def trees_of(teacher: Fitted, names: tuple[str, ...]) -> TeacherTrees:
    """The trees inside a teacher, whose features are asked for by their position in ``names``."""
    found: list[Trees] = []
    is_all = True
    for weight, part in _summands(teacher, 1.0):
        if isinstance(part, Forest) and part.outputs == 1 and not part.trees.has_sets:  # sets are of the teacher's own codes
            found.append(_placed(part, weight, names))
        else:
            is_all = False
    return TeacherTrees(join(found), names, is_all)


def _summands(ranker: Scorer, weight: float) -> list[tuple[float, Scorer]]:
    """The rankers whose weighted scores add up to this one's, opened as far as they are sums."""
    if not isinstance(ranker, Fitted):
        return [(weight, ranker)]
    parts = ranker.summands()
    if len(parts) == 1 and parts[0].ranker is ranker:
        return [(weight, ranker)]
    return [pair for part in parts for pair in _summands(part.ranker, weight * (part.weight or 0.0))]


def _placed(forest: Forest, weight: float, names: tuple[str, ...]) -> Trees:
    """A forest's trees, weighted, for rows with these features."""
    place = {name: position for position, name in enumerate(names)}
    columns = np.asarray([place[name] for name in forest.feature_names], np.int32)
    feature = forest.trees.feature
    moved = np.where(feature == LEAF, LEAF, columns[np.maximum(feature, 0)])
    return replace(forest.trees, feature=moved, value=weight * forest.trees.value)


def centred_scores(ranker: Scorer, data: Dataset) -> Floats:
    """A ranker's scores less their mean within each query, which no ranking sees."""
    return centred(scores_of(ranker, data), data)


def centred(scores: Floats, data: Dataset) -> Floats:
    """Scores less their mean within each query."""
    sizes = np.diff(data.offsets)
    return scores - np.repeat(np.add.reduceat(scores, data.offsets[:-1]) / sizes, sizes)


def fidelity(scores: Floats, teacher: Floats, data: Dataset) -> float:
    """The share of the teacher's variance within queries that a student explains once its scores are scaled (R²).

    ``teacher``: its scores less their mean within each query.
    """
    student = centred(scores, data)
    both, square, whole = (product(a, b) for a, b in ((student, teacher), (student, student), (teacher, teacher)))
    return 0.0 if square == 0.0 or whole == 0.0 else max(both, 0.0) ** 2 / (square * whole)
