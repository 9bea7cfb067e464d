"""Distillation: students by every method that can be tried, judged on queries held out, and the better one kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_seed
from rankinite.choices import Distilling
from rankinite.data.dataset import Dataset
from rankinite.data.folds import holdouts
from rankinite.data.joining import check_same_features
from rankinite.data.overlap import check_apart
from rankinite.distil.growing import grow
from rankinite.distil.selection import select
from rankinite.distil.teacher import centred_scores, fidelity, trees_of
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.inputs import one_measure, scores_of
from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings
from rankinite.grid import Grid, number
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted, names_of
from rankinite.models.files.matching import match_features
from rankinite.models.forest import Forest

Method = Literal["select", "grow"]
DIRECT = "direct"
"""The baseline: a forest of the same size, trained on the grades without a teacher."""
WHAT = {
    "teacher": "",
    "select": "trees of the teacher, weighed anew",
    "grow": "new trees, grown towards its scores",
    DIRECT: "as many trees, trained on the grades",
}
Student = Callable[[Dataset], Fitted]
"""Makes a student from judged queries."""


@dataclass(frozen=True)
class Row:
    """A ranker as the table has it."""

    name: str
    what: str
    trees: int
    microseconds: float
    """Time to score a row, one thread or many as they are in force."""
    value: float
    """The measure on queries that the student did not see."""
    fidelity: float
    """The share of the teacher's variance within these queries that it explains."""


@dataclass(frozen=True, eq=False)
class Distilled:
    """A student, and how it compares with its teacher and with a forest of its size that had none."""

    ranker: Forest
    """The student, made from all data."""
    method: Method
    """How it was made."""
    measure: Measure
    rows: tuple[Row, ...]
    judged_on: str
    """The queries that the table is about."""
    values: Mapping[str, Floats] = field(repr=False)
    """Name → the measure of every query of the table."""
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Row:
        known = {row.name: row for row in self.rows}
        if name not in known:
            raise ArgumentError("is not in the table", setting="name", value=name, remedy=f"The names are {', '.join(known)}")
        return known[name]

    def grid(self) -> Grid:
        """Size, time and quality of the teacher, the students and the baseline."""
        rows = tuple(
            (row.name, row.what, f"{row.trees:,}", f"{row.microseconds:.2f}", number(row.value), number(row.fidelity))
            for row in self.rows
        )
        strong = frozenset((place, 0) for place, row in enumerate(self.rows) if row.name == self.method)
        header = ("ranker", "", "trees", "µs per row", str(self.measure), "R² to the teacher")
        notes = ("R²: the share of the teacher's variance within queries that is explained. Bold: the student kept.",)
        return Grid(header, rows, "llrrrr", self.judged_on, (*notes, *self.warnings), strong)

    def __str__(self) -> str:
        return str(self.grid())


def distil(
    teacher: Fitted,
    data: Dataset,
    *,
    unjudged: Sequence[Dataset] = (),
    trees: int = 100,
    leaves: int = 31,
    how: Distilling = "best",
    made: int = 0,
    folds: int = 3,
    measure: Measure | str = "ndcg@10",
    test: Dataset | None = None,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Distilled:
    """One forest of at most ``trees`` trees that ranks as the teacher does.

    ``how``: "select" chooses trees of the teacher and weighs them anew, "grow" boosts new ones of ``leaves`` leaves towards its
    scores; "best" tries both and keeps the one that is nearer the teacher on queries held out, fold by fold. ``unjudged``:
    further rows to grow from, whose grades are not looked at; ``made``: copies of all rows with mixed features, likewise.
    ``test``: queries that the table is to be about; if left out, those held out in the folds, which the teacher may have
    been trained on.

    >>> student = distil(ensemble, train, test=test, trees=100)                                # doctest: +SKIP
    >>> student.ranker.save("small.rankinite")                                                 # doctest: +SKIP
    """
    check_count("distil", "trees", trees)
    check_count("distil", "leaves", leaves, 2)
    check_count("distil", "made", made, 0)
    check_count("distil", "folds", folds, 2)
    check_seed("distil", seed)
    check_choice("distil", "how", how, get_args(Distilling))
    judge = one_measure("distil", "measure", measure)
    matched = _checked(teacher, data, unjudged, test, allow_overlap=allow_overlap)
    students = _students(matched, unjudged, trees, leaves, made, seed, how)
    parts = [(part.rest, part.held) for part in holdouts(data, folds, seed=seed)]
    nearness = {name: _held_out_fidelity(make, matched, parts) for name, make in students.items()} if len(students) > 1 else {}
    method: Any = max(students, key=lambda name: nearness.get(name, 0.0))
    direct = LambdaMART(trees=trees, leaves=leaves, rate=min(0.3, 10.0 / trees), min_rows=5, patience=None, train_history=False)
    makers: dict[str, Student] = {**students, DIRECT: direct.fit}
    final = {name: make(data) for name, make in makers.items()} if test is not None else {method: students[method](data)}
    judged = [(final, test)] if test is not None else [({n: m(rest) for n, m in makers.items()}, held) for rest, held in parts]
    rows, values = _table(matched, judged, judge)
    overlap = overlap_warnings({"teacher": TrainingOverlaps(test or data).of(matched)}, (test or data).source)
    ranker = final[method]
    assert isinstance(ranker, Forest)
    where = test.source if test is not None else f"{folds} folds of {data.source}, each by students of the others"
    return Distilled(ranker, method, judge, rows, where, values, (*_limits(matched, data), *overlap))


def _checked(teacher: Any, data: Any, unjudged: Any, test: Any, *, allow_overlap: bool) -> Fitted:
    """The teacher for these data; refuses what cannot be distilled or learnt from."""
    if not isinstance(teacher, Fitted):
        raise ArgumentError(
            "is not a ranker of rankinite", setting="teacher", value=teacher, remedy="Load one with rankinite.load"
        )
    for place, one in (("data", data), ("test", test), *(("unjudged", one) for one in unjudged)):
        if one is None and place == "test":
            continue
        if not isinstance(one, Dataset):
            raise DataError(f"these are not data, but a {type(one).__name__}", place=place, value=one, remedy="Give a Dataset")
        check_same_features(data, one)
    check_apart({"data": data}, {"test": test}, allow_overlap=allow_overlap)
    ranker: Any = teacher  # Fitted names no feature_names, though all of ours have some
    return match_features(ranker, data.feature_names, data.source)[0]  # pyright: ignore[reportReturnType]


def _students(
    teacher: Fitted, unjudged: Sequence[Dataset], trees: int, leaves: int, made: int, seed: int, how: Distilling
) -> dict[str, Student]:
    """How students are made, by name; where the teacher has no trees, new ones are grown."""
    makers: dict[str, Student] = {
        "select": lambda data: select(teacher, data, trees, seed=seed),
        "grow": lambda data: grow(teacher, [data, *unjudged], trees, leaves=leaves, made=made, seed=seed),
    }
    if how != "best":
        return {how: makers[how]}
    return makers if len(trees_of(teacher, names_of(teacher)).trees) else {"grow": makers["grow"]}


def _held_out_fidelity(make: Student, teacher: Fitted, parts: Sequence[tuple[Dataset, Dataset]]) -> float:
    """The mean nearness to the teacher on the part of each fold that the student did not see."""
    return float(np.mean([fidelity(scores_of(make(rest), held), centred_scores(teacher, held), held) for rest, held in parts]))


def _limits(teacher: Fitted, data: Dataset) -> tuple[str, ...]:
    """What cannot be chosen from, in words."""
    found = trees_of(teacher, data.feature_names)
    if found.is_all or not len(found.trees):
        return ()
    return ("Parts of the teacher that are not forests over these features can be mimicked, but not chosen from.",)


def _table(
    teacher: Fitted, judged: Sequence[tuple[Mapping[str, Fitted], Dataset]], measure: Measure
) -> tuple[tuple[Row, ...], dict[str, Floats]]:
    """Every ranker on the queries that judge, pooled over folds."""
    rows: list[Row] = []
    values: dict[str, Floats] = {}
    for name in ("teacher", *judged[0][0]):
        rankers = [teacher if name == "teacher" else students[name] for students, _ in judged]
        seconds = near = 0.0
        found: list[Floats] = []
        for ranker, (_, data) in zip(rankers, judged, strict=True):
            scores, time = _timed(ranker, data)
            seconds += time
            near += fidelity(scores, centred_scores(teacher, data), data) / len(judged)
            found.append(evaluate(scores, data, [measure])[measure].per_query)
        values[name] = np.concatenate(found)
        each = 1e6 * seconds / sum(data.rows for _, data in judged)
        trees = rankers[0].sizes().get("trees", 0)
        rows.append(Row(name, WHAT[name], trees, each, float(np.nanmean(values[name])), near))
    return tuple(rows), values


def _timed(ranker: Fitted, data: Dataset) -> tuple[Floats, float]:
    """The scores, and the best of three times that scoring took."""
    scores, times = scores_of(ranker, data), list[float]()
    for _ in range(3):
        start = perf_counter()
        ranker.score(data)
        times.append(perf_counter() - start)
    return scores, min(times)
