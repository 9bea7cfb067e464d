"""Summarised: a learner that is also given how other rankers score the whole query (paper 004 §4.2, models M4 and M8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Holdout, holdouts
from rankinite.engine.kernel import FEATURE, Features
from rankinite.ensembles.composite import Composite
from rankinite.ensembles.fits import Fit, Material, fit_all
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import scores_of
from rankinite.learners.base import Callback, Trainer
from rankinite.models.base import Fitted
from rankinite.models.query_scores import grouped, summed_up
from rankinite.models.query_summaries import QuerySummaries, summaries_of, summary_names


@dataclass(frozen=True)
class Summarised(Composite):
    """A trainer of :class:`QuerySummaries`: ``trainer`` learns from the features and from summaries of the sources' scores.

    The summaries of a training query come from sources that did not see it. Sources score the queries they were trained on
    far too well: from these, the trainer would learn to trust summaries that new queries never show.

    >>> ranker = Summarised(Bag(LambdaMART()), (MART(loss="graded"),)).fit(train)              # doctest: +SKIP
    """

    trainer: Trainer
    """Who learns from features and summaries."""
    sources: tuple[Trainer, ...]
    """Who trains the rankers whose scores are summed up. They are given no validation data."""
    folds: int = 5
    """Parts of the training queries, each scored by sources of the others."""
    seed: int = 0
    """Seed of the dealing."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        check_count("Summarised", "folds", self.folds, 2)
        check_seed("Summarised", self.seed)
        if not self.sources:
            raise ArgumentError("is empty", owner="Summarised", setting="sources", value=(), remedy="Give at least one trainer")

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train the sources, in folds and on all, and who learns from their summaries."""
        if given.base is not None:
            raise ArgumentError(
                "cannot be gone on from: it knows no summaries",
                owner="Summarised",
                setting="base",
                value=given.base,
                remedy="Leave it out, or give it as the base of the sources",
            )
        train, valid = given.train, given.valid
        parts = holdouts(train, self.folds, seed=self.seed)
        fits = [Fit(source, Material(data)) for source in self.sources for data in (*(part.rest for part in parts), train)]
        rankers = fit_all(fits)
        by_source = [rankers[first : first + self.folds + 1] for first in range(0, len(rankers), self.folds + 1)]
        unseen = np.column_stack([_unseen(own[:-1], parts, train) for own in by_source])
        final = [own[-1] for own in by_source]
        extended = None if valid is None else _extended(valid, summaries_of(final, valid))
        top = Fit(self.trainer, replace(given, train=_extended(train, unseen), valid=extended)).ranker(callbacks)
        return QuerySummaries(tuple(final), top)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        sources = [source.settings() for source in self.sources]
        dealt = {"folds": self.folds, "seed": self.seed}
        return {"trainer": "Summarised", **dealt, "sources": sources, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Summarised:
        """Dealt otherwise, and trained with other random numbers where there are some."""
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
