"""MemberChoice: which members of an ensemble to combine and how, found on queries that trained none of them (004 §4.3)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankinite.checks import check_count, check_number
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.folds import holdouts, split
from rankinite.engine.kernel import Floats
from rankinite.ensembles.member_diversity import Diversity, diversity_of
from rankinite.ensembles.trainers import Average
from rankinite.ensembles.weight_finders import (
    AVERAGE,
    MOST,
    ScoredMembers,
    Weighing,
    WeightFinder,
    forward_path,
    weight_finders,
)
from rankinite.errors import ArgumentError, listed
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.scorers import Scorer
from rankinite.frames import ArrowTable, TabularByQuery, arrow_of
from rankinite.grid import Grid, number
from rankinite.learners.base import Callback
from rankinite.measures.base import FactoredMeasure, Measure, TrainableMeasure, sign_of
from rankinite.measures.spelling import as_measures
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend

SHARE, FOLDS = 0.2, 5
"""The share of the queries that is held out, and the folds of these, unless told otherwise."""
CLEARLY = 2.0
"""Standard errors that a way must gain over the plain average: of eight ways, the luckiest often gains one by chance."""
HELD_OUT = "held-out"
"""The folder, inside that of the kept members, for those that were trained without the queries held out."""


@dataclass(frozen=True)
class PathStep:
    """One step of forward selection, on all queries held out, which the choice of the step flatters."""

    added: str
    value: float
    """The measure of the average of this member and all before it."""


@dataclass(frozen=True, eq=False)
class MemberChoice(TabularByQuery):
    """How to combine the members of an ensemble: the plain average of all, unless another way is clearly better."""

    average: Average
    """The members' trainers."""
    name: str
    """The way chosen."""
    weighing: Weighing
    """The members' weights in it, found on all queries held out."""
    gain: float
    """What the best other way gains over the plain average on queries that did not choose its weights."""
    error: float
    """The standard error of that, paired by query."""
    members: Comparison
    """Every member alone, and the average of all (004, Table 2)."""
    combinations: Comparison
    """Every way to combine them: each query is judged by weights chosen on other folds (004, Table 1)."""
    subsets: Comparison | None
    """Averages of some members against that of all (004, Table 3); None where there are none between one member and all."""
    path: tuple[PathStep, ...]
    """Forward selection, step by step."""
    diversity: Diversity
    """How much the members differ on the queries held out."""
    notes: tuple[str, ...] = ()
    """What was not tried."""

    @property
    def measure(self) -> Measure:
        """The measure that decided."""
        return self.combinations.measures[0]

    @property
    def verdict(self) -> str:
        """What was chosen, and why, in a sentence."""
        gain, error = (
            f"{number(self.gain, signed=True)} of {self.measure}",
            f"two standard errors ({number(CLEARLY * self.error)})",
        )
        if self.name == AVERAGE:
            best = best_rival(self.combinations)
            return f"The plain average of all members is kept: the best other way, {best}, gains {gain}, not more than {error}."
        return f"{self.name} is kept: over the plain average it gains {gain}, more than {error}."

    def fit(self, train: Dataset, *, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train the chosen members on all of the data, scale them there, and combine them as chosen."""
        return self.blend(self.fit_members(train, callbacks=callbacks))

    def fit_members(self, train: Dataset, *, callbacks: Sequence[Callback] = ()) -> dict[str, Scorer]:
        """The chosen members, trained on all of the data and scaled there, by name."""
        weighed = {name: self.average.trainers[name] for name, weight in self.weighing.weights.items() if weight}
        chosen = weighed if len(weighed) > 1 else self.average.trainers  # a single one is scaled beside the others
        return members_of(replace(self.average, trainers=chosen), train, callbacks)

    def blend(self, members: Mapping[str, Scorer]) -> Blend:
        """Members of these names combined as chosen."""
        return self.weighing.blend(members)

    def path_grid(self) -> Grid:
        """Forward selection, step by step."""
        rows = tuple((str(size), step.added, number(step.value)) for size, step in enumerate(self.path, 1))
        note = "Chosen and judged on the same queries, so that every value is too high."
        return Grid(("members", "added", str(self.measure)), rows, "rlr", "Forward selection", (note,))

    def to_arrow(self, *, per_query: bool = False) -> ArrowTable:
        """The rows of all comparisons on the queries held out: ``table`` says which, ``chosen`` marks the way chosen."""
        return arrow_of(
            [
                {"table": title, "chosen": result is self.combinations and record["system"] == self.name, **record}
                for title, result in self.tables().items()
                for record in (result.query_records() if per_query else result.records())
            ]
        )

    def _repr_html_(self) -> str:
        tables = [f"<p>{html.escape(title)}</p>\n{result.grid().html()}" for title, result in self.tables().items()]
        after = [f"<p>{html.escape(text)}</p>" for text in (self.verdict, *self.notes)]
        return "\n".join([*tables, self.path_grid().html(), self.diversity.grid().html(), *after])

    def __str__(self) -> str:
        texts = [f"{title}\n{result.to_text()}" for title, result in self.tables().items()]
        return "\n\n".join([*texts, self.path_grid().text(), str(self.diversity), self.verdict, *self.notes])

    def tables(self) -> dict[str, Comparison]:
        """The comparisons on the queries held out, by title."""
        tables = {"Members": self.members, "Combinations, judged by folds": self.combinations}
        return tables if self.subsets is None else {**tables, "Subsets": self.subsets}


def choose_members(
    average: Average,
    train: Dataset,
    *,
    share: float = SHARE,
    measures: Sequence[Measure | str] | Measure | str = "ndcg@10",
    subsets: Mapping[str, Sequence[str]] | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    callbacks: Sequence[Callback] = (),
) -> MemberChoice:
    """Hold out a ``share`` of the queries, train the members on the others, and find how to combine them on those held out.

    Weights and subsets that are chosen on some queries look too good there. So the queries held out are dealt into ``folds``:
    each way chooses on all but one, and is judged on that one. The plain average of all members, which chooses nothing, is
    kept unless the best other way gains more than two standard errors of the difference by the first measure. ``subsets``:
    ensembles to try besides those without one member, by name. :meth:`MemberChoice.fit` trains what was chosen on all data.

    >>> choice = choose_members(Average({"trees": Bag(LambdaMART()), "net": LambdaRank()}), train)  # doctest: +SKIP
    >>> ranker = choice.fit(train)                                                             # doctest: +SKIP
    """
    check_count("choose_members", "folds", folds, 2)
    asked, known = as_measures(measures), _checked(subsets or {}, average)
    without, rest, held = held_out(average, train, share, seed)
    if held.queries < folds:
        raise ArgumentError(
            f"holds out {held.queries} of {train.queries} queries, which make no {folds} folds",
            owner="choose_members",
            place=train.source,
            setting="share",
            value=share,
            remedy="Hold out more",
        )
    trained = members_of(without, rest, callbacks)
    return _judged(average, ScoredMembers.of(trained, held), asked, known, folds, seed)


def held_out(average: Average, train: Dataset, share: float, seed: int = 0) -> tuple[Average, Dataset, Dataset]:
    """The ensemble that is trained without the queries held out, with a folder of its own; the other queries, and these."""
    check_number("choose_members", "share", share, 0.0, 0.9, above=True)
    rest, held = split(without_weightless(train), (1.0 - share, share), seed=seed)
    keep = None if average.keep is None else Path(average.keep) / HELD_OUT
    return replace(average, keep=keep), rest, held


def members_of(average: Average, train: Dataset, callbacks: Sequence[Callback] = ()) -> dict[str, Scorer]:
    """The members of an ensemble, trained and scaled to unit variance, by name."""
    ranker = cast("Blend", average.fit(train, callbacks=callbacks))
    return {name: part for name, (_, part) in zip(average.trainers, ranker.parts, strict=True)}


def best_rival(combinations: Comparison) -> str:
    """The way with the best mean besides the plain average."""
    measure = combinations.measures[0]
    others = [name for name in combinations.systems if name != AVERAGE]
    return max(others, key=lambda name: sign_of(measure) * combinations[name][measure].mean)


def _judged(
    average: Average,
    members: ScoredMembers,
    measures: Sequence[Measure],
    subsets: Mapping[str, Sequence[str]],
    folds: int,
    seed: int,
) -> MemberChoice:
    """Every table, and the choice."""
    measure = measures[0]
    if len(members.names) > 2:
        subsets = {**subsets, **{f"without {name}": members.but(name) for name in members.names}}
    ways = weight_finders(len(members.names), measure, subsets)
    alone = {name: members.average([name]) for name in members.names}
    plain = {AVERAGE: members.average(members.names)}
    tried = plain | {name: members.average(names) for name, names in subsets.items()}
    combinations = _compared(_judged_by_folds(ways, members, measure, folds, seed), members, measures)
    name, gain, error = _decided(combinations)
    path = forward_path(members, measure)
    return MemberChoice(
        average=average,
        name=name,
        weighing=ways[name](members, measure),
        gain=gain,
        error=error,
        members=_compared(alone | plain, members, measures),
        combinations=combinations,
        subsets=_compared(tried, members, measures) if len(tried) > 1 else None,
        path=tuple(PathStep(names[-1], sign_of(measure) * value) for names, value in path),
        diversity=diversity_of(members, measure, seed=seed),
        notes=_notes(len(members.names), measure),
    )


def _judged_by_folds(
    ways: Mapping[str, WeightFinder], members: ScoredMembers, measure: Measure, folds: int, seed: int
) -> dict[str, Floats]:
    """The scores that each way gives the queries of each fold with weights chosen on all others."""
    scores = {name: np.empty(members.data.rows) for name in ways}
    for part in holdouts(members.data, folds, seed=seed):
        others, judged = replace(members, data=part.rest), replace(members, data=part.held)
        for name, way in ways.items():
            scores[name][part.rows] = way(others, measure).blend(judged.rankers).score(judged.data)
    return {name: members.data.in_row_order(found) for name, found in scores.items()}


def _notes(members: int, measure: Measure) -> tuple[str, ...]:
    many = f"Greedy pairs and Powell's search were not tried, as there are more than {MOST} members."
    other = f"Exact weights and stacking were not tried, as {measure} cannot be trained for."
    unswept = f"Exact weights were not tried, as {measure} is not made of the relevance of a grade and the discount of a rank."
    missing = () if isinstance(measure, FactoredMeasure) else (unswept,)
    return (*([many] if members > MOST else []), *(missing if isinstance(measure, TrainableMeasure) else [other]))


def _compared(scores: Mapping[str, Any], members: ScoredMembers, measures: Sequence[Measure]) -> Comparison:
    return compare(scores, members.data, measures, against=[AVERAGE])


def _decided(combinations: Comparison) -> tuple[str, float, float]:
    """The way to keep, and the gain of the best other way over the plain average with its standard error."""
    measure, best = combinations.measures[0], best_rival(combinations)
    values = (combinations[name][measure].per_query for name in (best, AVERAGE))
    gains = sign_of(measure) * np.subtract(*values)
    gains = gains[~np.isnan(gains)]
    gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))
    return (best if gain > CLEARLY * error else AVERAGE), gain, error


def _checked(subsets: Mapping[str, Sequence[str]], average: Average) -> Mapping[str, Sequence[str]]:
    for name, members in subsets.items():
        unknown = [member for member in members if member not in average.trainers]
        if unknown or not members:
            raise ArgumentError(
                f"the subset {name!r} has {listed(unknown) if unknown else 'no member'}",
                owner="choose_members",
                setting="subsets",
                value=list(members),
                rule=f"The members are {listed(average.trainers)}",
            )
    return subsets
