"""Distillation: students by every method that can be tried, judged on queries held out, and the better one kept.

The table compares the teacher, its students, and a ranker of their size that had no teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_seed
from rankinite.choices import Distilling
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.dataset_checks import check_judged
from rankinite.data.folds import holdouts
from rankinite.data.identity import check_apart
from rankinite.data.joining import check_same_features
from rankinite.distillation.mimicry import grow, train_net
from rankinite.distillation.selection import select
from rankinite.distillation.teacher import centred_scores, fidelity, trees_of
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.caveats import TrainingOverlaps, overlap_warnings
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import scores_of
from rankinite.gradients.lambdas import queries_that_vary
from rankinite.grid import Grid, number
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.lambdarank import LambdaRank
from rankinite.measures.base import Measure
from rankinite.measures.spelling import one_measure
from rankinite.models.base import Fitted, names_of
from rankinite.models.files.matching import match_features
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.weighted import Weighted, checked_hidden
from rankinite.plurals import counted
from rankinite.short_names import short_source

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


Method = Literal["select", "grow", "net"]
NOT_SCALED = "The student does not rank the rows that it was made from as the teacher does, so its scores are not on its scale."
Student = Callable[[Dataset], Fitted]
"""Makes a student from judged queries."""


@dataclass(frozen=True, eq=False)
class Distilled:
    """A student, and how it compares with its teacher and with a ranker of its size that had none."""

    ranker: Forest | Net | Linear
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
            (row.name, row.what, row.size, f"{row.microseconds:.2f}", number(row.value), number(row.fidelity))
            for row in self.rows
        )
        strong = frozenset((place, 0) for place, row in enumerate(self.rows) if row.name == self.method)
        header = ("ranker", "", "size", "µs per row", str(self.measure), "R² to the teacher")
        notes = ("R²: the share of the teacher's variance within queries that is explained. Bold: the student kept.",)
        return Grid(header, rows, "llrrrr", short_source(self.judged_on), (*notes, *self.warnings), strong)

    def __str__(self) -> str:
        return str(self.grid())


def distil(
    teacher: Fitted,
    data: Dataset,
    *,
    unjudged: Sequence[Dataset] = (),
    trees: int = 100,
    leaves: int = 31,
    hidden: Sequence[int] = (32,),
    how: Distilling = "best",
    made: int = 0,
    folds: int = 3,
    measure: Measure | str = "ndcg@10",
    test: Dataset | None = None,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Distilled:
    """One forest of at most ``trees`` trees, or one net, that ranks as the teacher does, with scores on its scale.

    ``how``: "select" chooses trees of the teacher and weighs them anew, "grow" boosts new ones of ``leaves`` leaves towards its
    scores; "best" tries both and keeps the one that is nearer the teacher on queries held out, fold by fold. (The measure would
    not choose better: on queries that a teacher has learnt, its own trees look far better than they are.) "net" trains a net
    with ``hidden`` units towards its scores. ``unjudged``: further rows to grow trees or train nets on, with or without
    grades, which are not looked at; ``made``: copies of all rows with mixed features, likewise. ``test``: queries that the
    table is to be about; if left out, those held out in the folds, which the teacher may have been trained on.

    >>> student = distil(ensemble, train, test=test, trees=100)                                # doctest: +SKIP
    >>> student.ranker.save("small.rankinite")                                                 # doctest: +SKIP
    """
    _check_settings(trees, leaves, made, folds, seed, how)
    units = checked_hidden("distil", hidden)
    judge = one_measure("distil", "measure", measure)
    matched = _checked(teacher, data, unjudged, test, allow_overlap=allow_overlap)
    data = without_weightless(data)
    students = _Students(matched, unjudged, how, trees, leaves, units, made, seed)
    parts = [(part.rest, part.held) for part in holdouts(data, folds, seed=seed)]
    makers = students.makers()
    tried: list[tuple[dict[Method, Fitted], Dataset]] = []
    if len(makers) > 1 or test is None:  # to choose between methods, or to be judged by
        tried = [({name: make(rest) for name, make in makers.items()}, held) for rest, held in parts]
    method = _nearest(matched, tried) if len(makers) > 1 else next(iter(makers))
    ranker = makers[method](data)
    assert isinstance(ranker, Forest | Net | Linear)
    if test is None:
        judged = [({**fold, DIRECT: students.direct(rest)}, held) for (fold, held), (rest, _) in zip(tried, parts, strict=True)]
    else:
        final = {name: ranker if name == method else make(data) for name, make in makers.items()}
        judged = [({**final, DIRECT: students.direct(data)}, test)]
    rows, values = table(matched, judged, judge)
    overlap = overlap_warnings({TEACHER: TrainingOverlaps(test or data).of(matched)}, (test or data).source)
    where = test.source if test is not None else f"{counted(folds, 'fold')} of {data.source}, each by students of the others"
    scale = () if ranker.settings["on_teachers_scale"] else (NOT_SCALED,)
    return Distilled(ranker, method, judge, rows, where, values, (*_limits(matched, data), *scale, *overlap))


def _check_settings(trees: Any, leaves: Any, made: Any, folds: Any, seed: Any, how: Any) -> None:
    for setting, value, least in (("trees", trees, 1), ("leaves", leaves, 2), ("made", made, 0), ("folds", folds, 2)):
        check_count("distil", setting, value, least)
    check_seed("distil", seed)
    check_choice("distil", "how", how, get_args(Distilling))


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
            kind = type(one).__name__
            raise DataError(
                f"these are not data with queries, but a {kind}",
                place=place,
                value=kind,
                rule="A student follows its teacher within queries",
                remedy="Give a Dataset, as rankinite.read returns",
            )
        check_same_features(data, one)
        if place != "unjudged":
            check_judged(one)
    further = {f"unjudged {number}": one for number, one in enumerate(unjudged)}
    check_apart({"data": data, **further}, {"data": data, "test": test}, allow_overlap=allow_overlap)
    ranker: Any = teacher  # Fitted names no feature_names, though all of ours have some
    matched: Any = match_features(ranker, data.feature_names, data.source)[0]
    if not queries_that_vary(scores_of(matched, data, TEACHER), data.offsets).any():
        raise DataError(
            f"the teacher scores all documents of a query alike, in each of {data.queries} queries: there is nothing to follow",
            place=data.source,
            value=data.queries,
            rule="A student follows its teacher within queries",
            remedy="Give queries of several documents; if the qid is wrong (one per row?), read the data with the right one, "
            "`qid=…`",
        )
    return matched


@dataclass(frozen=True, eq=False)
class _Students:
    """How students of a teacher are made."""

    teacher: Fitted
    unjudged: Sequence[Dataset]
    how: Distilling
    trees: int
    leaves: int
    hidden: tuple[int, ...]
    made: int
    seed: int

    def makers(self) -> dict[Method, Student]:
        """The methods to try; where the teacher has no trees, new ones are grown."""
        known: dict[Method, Student] = {"select": self.select, "grow": self.grow, "net": self.net}
        if self.how != "best":
            return {self.how: known[self.how]}
        has_trees = len(trees_of(self.teacher, names_of(self.teacher)).forest) > 0
        return {name: known[name] for name in (("select", "grow") if has_trees else ("grow",))}

    def select(self, data: Dataset) -> Fitted:
        return select(self.teacher, data, self.trees, seed=self.seed)

    def grow(self, data: Dataset) -> Fitted:
        rows = [data, *self.unjudged]
        return grow(self.teacher, rows, self.trees, leaves=self.leaves, made=self.made, seed=self.seed)

    def net(self, data: Dataset) -> Fitted:
        return train_net(self.teacher, [data, *self.unjudged], self.hidden, made=self.made, seed=self.seed)

    def direct(self, data: Dataset) -> Fitted:
        """The baseline, which has only grades to learn from; its steps are the larger, the fewer trees it has."""
        if self.how == "net":
            return LambdaRank(hidden=self.hidden, nan="mean", seed=self.seed).fit(data)
        rate = min(0.3, 10.0 / self.trees)
        return LambdaMART.plain(trees=self.trees, leaves=self.leaves, rate=rate, min_rows=5, train_history=False).fit(data)


def _nearest(teacher: Fitted, tried: Sequence[tuple[Mapping[Method, Fitted], Dataset]]) -> Method:
    """The method whose students are nearest the teacher on the part of each fold that they did not see."""

    def nearness(method: Method) -> float:
        return sum(fidelity(scores_of(made[method], held), centred_scores(teacher, held), held) for made, held in tried)

    return max(tried[0][0], key=nearness)


def _limits(teacher: Fitted, data: Dataset) -> tuple[str, ...]:
    """What cannot be chosen from, in words."""
    found = trees_of(teacher, data.feature_names)
    if found.is_all or not len(found.trees):
        return ()
    return ("Parts of the teacher that are not forests over these features can be mimicked, but not chosen from.",)
