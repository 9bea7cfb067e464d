"""The teacher of a distillation: its scores within queries, and the trees that it is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rankinite.data.categories import Vocabulary, union
from rankinite.data.dataset import Dataset
from rankinite.distillation._pursuit_kernels import product
from rankinite.engine.kernel import Floats
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest, with_vocabularies
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.trees.structure import LEAF, Trees, join

Student = TypeVar("Student", bound=Forest | Linear | Net)


@dataclass(frozen=True, eq=False)
class TeacherTrees:
    """The trees of a teacher, each with the values that it adds to the teacher's score."""

    forest: Forest
    """All of them, over the features asked for; their sets are of the categories of all."""
    is_all: bool
    """Whether they are all of the teacher, up to a constant; else it has nets or other parts that have no trees."""

    @property
    def trees(self) -> Trees:
        """The trees themselves."""
        return self.forest.trees


def trees_of(teacher: Fitted, names: tuple[str, ...]) -> TeacherTrees:
    """The trees inside a teacher, whose features are asked for by their position in ``names``."""
    summands = _summands(teacher, 1.0)
    forests = [(weight, part) for weight, part in summands if isinstance(part, Forest) and part.outputs == 1]
    categories = _shared(forest for _, forest in forests)
    found = [
        _placed(_in_words_of_all(forest, categories), weight, names)
        for weight, forest in forests
        if not _takes_for_numbers(forest, categories)
    ]
    kept = {name: vocabulary for name, vocabulary in categories.items() if name in names}
    return TeacherTrees(Forest(join(found), names, categories=kept), len(found) == len(summands))


def _shared(forests: Iterable[Forest]) -> dict[str, Vocabulary]:
    """The vocabulary of each category, with the words of all forests."""
    parts: dict[str, list[Vocabulary]] = {}
    for forest in forests:
        for name, vocabulary in forest.categories.items():
            parts.setdefault(name, []).append(vocabulary)
    return {name: union(vocabularies) for name, vocabularies in parts.items()}


def _in_words_of_all(forest: Forest, categories: Mapping[str, Vocabulary]) -> Forest:
    return with_vocabularies(forest, {name: categories[name] for name in forest.categories})


def _takes_for_numbers(forest: Forest, categories: Mapping[str, Vocabulary]) -> bool:
    """Whether a split asks for the size of a feature that is a category to another forest."""
    asked = {forest.feature_names[feature] for feature in np.unique(forest.trees.feature).tolist() if feature != LEAF}
    return any(name in asked and name not in forest.categories for name in categories)


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


def on_scale_of(teacher: Fitted, student: Student, data: Sequence[Dataset]) -> Student:
    """The student with its scores multiplied and shifted so that they are as near the teacher's as its ranking allows.

    The factor is that of least squares within queries, the shift makes the means equal, both over these rows. A student that
    ranks them no better than at random, or against the teacher, stays as it is. Its settings say which: ``on_teachers_scale``.
    """
    parts = [(scores_of(teacher, one), scores_of(student, one), one) for one in data]
    inside = [(centred(wanted, one), centred(found, one)) for wanted, found, one in parts]
    both = math.fsum(value for wanted, found in inside for value in (wanted * found).tolist())  # exact in any order of rows
    square = math.fsum(value for _, found in inside for value in (found * found).tolist())
    factor = both / square if square > 0.0 else 0.0
    settings = {**student.settings, "on_teachers_scale": factor > 0.0}
    if not factor > 0.0:
        return replace(student, settings=settings)
    rows = sum(one.rows for one in data)
    shift = math.fsum(value for wanted, found, _ in parts for value in (wanted - factor * found).tolist()) / rows
    if isinstance(student, Forest):
        trees = replace(student.trees, value=factor * student.trees.value)
        return replace(student, trees=trees, start=factor * student.start + shift, settings=settings)
    if isinstance(student, Linear):
        return replace(student, weights=factor * student.weights, bias=factor * student.bias + shift, settings=settings)
    weights, last = student.weights.copy(), student.frame.sizes[-2] + 1  # the weights and the bias of the output
    weights[-last:] *= factor
    weights[-1] += shift
    return replace(student, weights=weights, settings=settings)


def fidelity(scores: Floats, teacher: Floats, data: Dataset) -> float:
    """The share of the teacher's variance within queries that a student explains once its scores are scaled (R²).

    ``teacher``: its scores less their mean within each query.
    """
    student = centred(scores, data)
    both, square, whole = (product(a, b) for a, b in ((student, teacher), (student, student), (teacher, teacher)))
    return 0.0 if square == 0.0 or whole == 0.0 else max(both, 0.0) ** 2 / (square * whole)
