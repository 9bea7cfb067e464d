"""Trainers around trainers (paper 004 §2 and §4): each is a trainer like any learner, so that they fit into each other.

Means of several fits are :class:`Bag` (each stops by another part of the queries), :class:`Seeds` (other random numbers) and
:class:`Average` (unlike trainers on one scale). Around a single fit are :class:`OnePartOut` (one fit of a bag),
:class:`Augmented` (more training data by sampling documents), :class:`Rescaled` (scores on another scale) and
:class:`Summarised` (how other rankers score the whole query, as further features).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_number, check_seed
from rankinite.choices import ScoreScale
from rankinite.combine.inexact_weights import average
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Holdout, holdouts
from rankinite.data.joining import rejoin
from rankinite.data.sampling import AUG70, augment
from rankinite.engine.kernel import FEATURE, Features
from rankinite.ensembles.fits import Fit, FitInputs, KeptFits, fit_all, hands_out, mean, telling
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.training_checks import refuse_checkpoints, training_data
from rankinite.models.base import Fitted
from rankinite.models.normalised import Normalised
from rankinite.models.query_scores import grouped, summed_up
from rankinite.models.query_summaries import QuerySummaries, summaries_of, summary_names


class Composite(ABC):
    """A trainer whose ranker is put together from what other trainers train, or that treats their data first."""

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker. Where several fits are made, ``callbacks`` are given a round for each that is done."""
        train = training_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        if self.hands_out:
            refuse_checkpoints(type(self).__name__, callbacks)
        return self.fit_to(FitInputs(train, valid, base, allow_overlap), callbacks)

    @property
    def hands_out(self) -> bool:
        """Whether it makes several fits, which it hands out itself, to threads or to a cluster."""
        return True

    @abstractmethod
    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train a ranker on data that were checked."""


class MeanOfFits(Composite):
    """A trainer whose ranker is the mean of those of several fits, which are made side by side."""

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train all members, and average their scores."""
        members = self.members_of(inputs)
        return mean(fit_all(members, telling(callbacks, len(members))))

    @abstractmethod
    def members_of(self, inputs: FitInputs) -> list[Fit]:
        """The fits that are averaged."""


@dataclass(frozen=True)
class Bag(MeanOfFits):
    """A trainer whose ranker is the mean of several, each trained on all queries but another part of them.

    The part left out says when that ranker's training stops, so that all queries are learnt from and no separate validation
    data are needed; what is given as such is learnt from as well.

    >>> ranker = Bag(LambdaMART(measure="err"), parts=10).fit(train)                           # doctest: +SKIP
    """

    trainer: Trainer
    """The trainer of each."""
    parts: int = 10
    """Parts that the queries are split into, and rankers that are trained."""
    seed: int = 0
    """Seed of the random split."""
    members: int | None = None
    """Rankers to train, each without another part; one per part if left out. One is a single fit that stops by a part."""

    def __post_init__(self) -> None:
        check_count("Bag", "parts", self.parts, 2)
        check_seed("Bag", self.seed)
        if self.members is not None:
            check_count("Bag", "members", self.members, most=self.parts)

    def members_of(self, inputs: FitInputs) -> list[Fit]:
        """A fit without each part; validation data are learnt from too."""
        data = inputs.train if inputs.valid is None else rejoin(inputs.train, inputs.valid)
        dealt = holdouts(data, self.parts, seed=self.seed)[: self.members]
        return [Fit(self.trainer, replace(inputs, train=part.rest, valid=part.held)) for part in dealt]

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        dealt = {"parts": self.parts, "seed": self.seed, "members": self.members}
        return {"trainer": "Bag", **dealt, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Bag:
        """A copy with another split."""
        return replace(self, seed=(self.seed + number) % (1 << 64))


@dataclass(frozen=True)
class OnePartOut(Composite):
    """A trainer of one member of a :class:`rankinite.Bag`: all of them, by number, are the bag's, and can be kept one by one.

    >>> ranker = OnePartOut(LambdaMART(), parts=10, number=3).fit(train)                       # doctest: +SKIP
    """

    trainer: Trainer
    """The wrapped trainer."""
    parts: int = 10
    """Parts that the queries are split into."""
    number: int = 0
    """The part that says when to stop, counted from 0."""
    seed: int = 0
    """Seed of the random split."""

    def __post_init__(self) -> None:
        check_count("OnePartOut", "parts", self.parts, 2)
        check_count("OnePartOut", "number", self.number, 0, self.parts - 1)
        check_seed("OnePartOut", self.seed)

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train a ranker; validation data are split with the rest, as in a bag."""
        data = inputs.train if inputs.valid is None else rejoin(inputs.train, inputs.valid)
        part = holdouts(data, self.parts, seed=self.seed)[self.number]
        return Fit(self.trainer, replace(inputs, train=part.rest, valid=part.held)).ranker(callbacks)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        dealt = {"parts": self.parts, "number": self.number, "seed": self.seed}
        return {"trainer": "OnePartOut", **dealt, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> OnePartOut:
        """A copy with another split."""
        return replace(self, seed=(self.seed + number) % (1 << 64))


@dataclass(frozen=True)
class Seeds(MeanOfFits):
    """A trainer whose ranker is the mean of ``count`` rankers that differ in their random numbers alone.

    >>> ranker = Seeds(LambdaMART(row_share=0.7), count=5).fit(train, valid)                   # doctest: +SKIP
    """

    trainer: Trainer
    """The trainer of each: a learner that draws something at random."""
    count: int = 5
    """Rankers that are trained."""

    def __post_init__(self) -> None:
        check_count("Seeds", "count", self.count)
        self.trainer.reseeded(1)  # refuses where nothing is random

    def members_of(self, inputs: FitInputs) -> list[Fit]:
        """A fit with each seed."""
        return [Fit(self.trainer.reseeded(number), inputs) for number in range(self.count)]

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Seeds", "count": self.count, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Seeds:
        """The next ``count`` seeds."""
        return replace(self, trainer=self.trainer.reseeded(number * self.count))


@dataclass(frozen=True)
class Average(Composite):
    """A trainer whose ranker is the mean of those of others, each scaled to mean 0 and variance 1 on the training data.

    >>> ranker = Average({"trees": Bag(LambdaMART()), "net": LambdaRank()}).fit(train)         # doctest: +SKIP
    """

    trainers: Mapping[str, Trainer]
    """The trainers by name."""
    keep: Path | str | None = None
    """A folder for finished rankers, from which an interrupted run goes on; of other code, settings or data it uses none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "trainers", dict(self.trainers))
        if len(self.trainers) < 2:
            raise ArgumentError(
                "has fewer than two trainers",
                owner="Average",
                setting="trainers",
                value=list(self.trainers),
                remedy="Give at least two, as {'name': trainer, …}",
            )

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train one after the other, each on all threads, or all at once on a cluster."""
        fits = {name: Fit(trainer, inputs) for name, trainer in self.trainers.items()}
        kept = None if self.keep is None else KeptFits(self.keep)
        tell = telling(callbacks, len(fits))
        rankers: dict[str, Fitted] = {}
        for name, fit in fits.items():
            found = None if kept is None else kept.get(name, fit)
            if found is not None:
                rankers[name] = found
                tell(0, found)
        left = [name for name in fits if name not in rankers]

        def done(number: int, ranker: Fitted) -> None:
            if kept is not None:
                kept.put(left[number], fits[left[number]], ranker)
            tell(number, ranker)

        rankers |= zip(left, fit_all([fits[name] for name in left], done, in_turn=True), strict=True)
        found = average({name: rankers[name] for name in fits}, inputs.train).ranker
        assert isinstance(found, Fitted)
        return found

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Average", "of": {name: trainer.settings() for name, trainer in self.trainers.items()}}

    def reseeded(self, number: int) -> Average:
        """Every trainer with other random numbers."""
        return replace(self, trainers={name: trainer.reseeded(number) for name, trainer in self.trainers.items()})


@dataclass(frozen=True)
class Augmented(Composite):
    """A trainer that learns from the training data and ``copies`` samples of them; validation data stay as they are.

    >>> ranker = Augmented(LambdaMART(), *AUG50).fit(train, valid)                             # doctest: +SKIP
    """

    trainer: Trainer
    """The wrapped trainer, which learns from the augmented data."""
    share: float = AUG70[0]
    """Share of each query's documents in a sample."""
    copies: int = AUG70[1]
    """Samples of each query."""
    seed: int = 0
    """Seed of the samples."""

    def __post_init__(self) -> None:
        check_number("Augmented", "share", self.share, 0.0, 1.0, above=True)
        check_count("Augmented", "copies", self.copies)
        check_seed("Augmented", self.seed)

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train on the data and their samples."""
        larger = augment(inputs.train, self.share, self.copies, seed=self.seed)
        return Fit(self.trainer, replace(inputs, train=larger)).ranker(callbacks)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        drawn = {"share": self.share, "copies": self.copies, "seed": self.seed}
        return {"trainer": "Augmented", **drawn, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Augmented:
        """Other samples."""
        return replace(self, seed=(self.seed + number) % (1 << 64))


@dataclass(frozen=True)
class Rescaled(Composite):
    """A trainer of :class:`Normalised` rankers: what ``trainer`` trains, its scores scaled.

    >>> ranker = Rescaled(MART(loss="graded"), "probability").fit(train)                       # doctest: +SKIP
    """

    trainer: Trainer
    """The wrapped trainer."""
    scale: ScoreScale
    """The scale of the scores; "probability" is that of a loss with σ = 1."""

    def __post_init__(self) -> None:
        check_choice("Rescaled", "scale", self.scale, get_args(ScoreScale))

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train, and scale the scores."""
        return Normalised(Fit(self.trainer, inputs).ranker(callbacks), self.scale)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Rescaled", "scale": self.scale, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Rescaled:
        """A copy with other random numbers."""
        return replace(self, trainer=self.trainer.reseeded(number))


@dataclass(frozen=True)
class Summarised(Composite):
    """A trainer of :class:`QuerySummaries`: ``trainer`` learns from the features and from summaries of the sources' scores.

    The summaries of a training query come from sources that did not see it. Sources score the queries they were trained on
    far too well: from these, the trainer would learn to trust summaries that new queries never show.

    >>> ranker = Summarised(Bag(LambdaMART()), (MART(loss="graded"),)).fit(train)              # doctest: +SKIP
    """

    trainer: Trainer
    """The wrapped trainer, which learns from features and summaries."""
    sources: tuple[Trainer, ...]
    """The trainers of the rankers whose scores are summed up. They get no validation data."""
    folds: int = 5
    """Parts of the training queries, each scored by sources of the others."""
    seed: int = 0
    """Seed of the random split."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        check_count("Summarised", "folds", self.folds, 2)
        check_seed("Summarised", self.seed)
        if not self.sources:
            raise ArgumentError("is empty", owner="Summarised", setting="sources", value=(), remedy="Give at least one trainer")

    def fit_to(self, inputs: FitInputs, callbacks: Sequence[Callback]) -> Fitted:
        """Train the sources, in folds and on all, and who learns from their summaries."""
        if inputs.base is not None:
            raise ArgumentError(
                "cannot be gone on from: it knows no summaries",
                owner="Summarised",
                setting="base",
                value=inputs.base,
                remedy="Leave it out, or give it as the base of the sources",
            )
        train, valid = inputs.train, inputs.valid
        parts = holdouts(train, self.folds, seed=self.seed)
        fits = [Fit(source, FitInputs(data)) for source in self.sources for data in (*(part.rest for part in parts), train)]
        rankers = fit_all(fits)
        by_source = [rankers[first : first + self.folds + 1] for first in range(0, len(rankers), self.folds + 1)]
        unseen = np.column_stack([_unseen(own[:-1], parts, train) for own in by_source])
        final = [own[-1] for own in by_source]
        extended = None if valid is None else _extended(valid, summaries_of(final, valid))
        top = Fit(self.trainer, replace(inputs, train=_extended(train, unseen), valid=extended)).ranker(callbacks)
        return QuerySummaries(tuple(final), top)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        sources = [source.settings() for source in self.sources]
        dealt = {"folds": self.folds, "seed": self.seed}
        return {"trainer": "Summarised", **dealt, "sources": sources, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Summarised:
        """A copy with another split."""
        return replace(self, seed=(self.seed + number) % (1 << 64))


def _unseen(rankers: Sequence[Fitted], parts: Sequence[Holdout], train: Dataset) -> Features:
    """The summaries of the training queries, each by a ranker that did not see the query."""
    scores = np.empty(train.rows)
    for ranker, part in zip(rankers, parts, strict=True):
        scores[part.rows] = scores_of(ranker, part.held, "source")
    return summed_up(scores, *grouped(scores, train, None))


def _extended(data: Dataset, summaries: Features) -> Dataset:
    """The data with the summaries as further features."""
    names = (*data.feature_names, *summary_names(summaries.shape[1] // len(summary_names(1))))
    features = np.column_stack((data.features, summaries.astype(FEATURE)))
    return replace(data, features=features, feature_names=names)
