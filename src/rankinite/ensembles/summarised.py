"""Summarised: a learner that is also given how other rankers score the whole query (paper 004 §4.2, models M4 and M8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.folds import holdouts
from rankinite.engine.kernel import FEATURE, Features, Floats
from rankinite.engine.parallel import run
from rankinite.errors import ArgumentError
from rankinite.evaluation.inputs import Scorer, scores_of
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.start import check_data
from rankinite.models.base import Fitted
from rankinite.models.query_scores import grouped, summed_up
from rankinite.models.query_summaries import QuerySummaries, summaries_of, summary_names


@dataclass(frozen=True)
class Summarised:
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

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker."""
        check_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        if base is not None:
            raise ArgumentError(
                "cannot be gone on from: it knows no summaries",
                owner="Summarised",
                setting="base",
                value=base,
                remedy="Leave it out, or give it as the base of the sources",
            )
        unseen = np.column_stack([self._unseen(source, train) for source in self.sources])
        rankers = run(lambda source: source.fit(train), self.sources)
        extended = None if valid is None else _extended(valid, summaries_of(rankers, valid))
        top = self.trainer.fit(_extended(train, unseen), extended, callbacks=callbacks, allow_overlap=allow_overlap)
        return QuerySummaries(tuple(rankers), top)

    def _unseen(self, source: Trainer, train: Dataset) -> Features:
        """The summaries of the training queries, each by a ranker that did not see the query."""
        parts = holdouts(train, self.folds, seed=self.seed)

        def score(number: int) -> Floats:
            return scores_of(source.fit(parts[number].rest), parts[number].held, "source")

        scores = np.empty(train.rows)
        for part, found in zip(parts, run(score, range(len(parts))), strict=True):
            scores[part.rows] = found
        return summed_up(scores, *grouped(scores, train, None))

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        sources = [source.settings() for source in self.sources]
        dealt = {"folds": self.folds, "seed": self.seed}
        return {"trainer": "Summarised", **dealt, "sources": sources, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Summarised:
        """Dealt otherwise, and trained with other random numbers where there are some."""
        return replace(self, seed=(self.seed + number) % (1 << 64))


def _extended(data: Dataset, summaries: Features) -> Dataset:
    """The data with the summaries as further features."""
    names = (*data.feature_names, *summary_names(summaries.shape[1] // len(summary_names(1))))
    features = np.column_stack((data.features, summaries.astype(FEATURE)))
    return replace(data, features=features, feature_names=names)
