"""The estimate of examination that LambdaMART makes of clicks before it learns from them: by short forests of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.data.identity import feature_keys
from rankinite.engine.kernel import GRADE, INDEX, SCORE, Flags, frozen
from rankinite.engine.parallel import Team
from rankinite.engine.powers import natural_logarithms, natural_powers
from rankinite.gradients.base import weight_of_rows
from rankinite.gradients.click_likelihood import ClickLikelihood
from rankinite.gradients.examination import Examination, Levels, levels_of
from rankinite.learners.boosting_run import BoostingRun
from rankinite.learners.lambdamart import LambdaMART

PARTS = 3
"""Each part of the rows is held in turn, and a forest learns from the others."""
ROUNDS, RATE, PATIENCE = 200, 0.1, 20
"""Of each forest; it ends when the held clicks have not become more likely for so many rounds."""
ENOUGH_CLICKS = 300_000
"""Clicks that estimates are made from, of longer logs those on some of the documents."""
FEW_ROWS = 60
"""Fewer different rows tell relevance from examination too badly: the curve is then that of clicks alone."""


@dataclass(frozen=True, kw_only=True)
class Pilot(LambdaMART):
    """A forest that is trained for the curve it leaves behind."""

    position_levels: Levels
    held: Flags

    def objective(self, train: Dataset) -> ClickLikelihood:
        """The likelihood of clicks, beside which the curve is estimated."""
        return ClickLikelihood(train, self.position_levels, self.held)

    def settings(self) -> dict[str, Any]:
        """Nothing: the forest is not kept."""
        return {}


def estimated_examination(learner: LambdaMART, train: Dataset) -> Examination:
    """How prominently positions of a click log are looked at; by trees as the learner's, whatever its number of them."""
    levels = levels_of(train, weight_of_rows(train))
    rows, of_row = joined_rows(train, levels)
    if rows.rows < FEW_ROWS:
        return levels.examination(levels.first_guess(), 0)
    settings: dict[str, Any] = {field.name: getattr(learner, field.name) for field in fields(LambdaMART)}
    settings.update(trees=ROUNDS, rate=RATE, debias=None, train_history=False, position_levels=replace(levels, of_row=of_row))
    found = [_estimate(Pilot(**settings, held=held), rows) for held in _held_parts(rows)]
    clicked = natural_powers(np.mean([natural_logarithms(one.best) for one in found], axis=0))
    return levels.examination(clicked, max(one.best_round + 1 for one in found))


def _estimate(pilot: Pilot, rows: Dataset) -> ClickLikelihood:
    """The likelihood after a forest was trained beside it."""
    objectives: list[ClickLikelihood] = []
    with Team() as team:
        run = BoostingRun(pilot, rows, None, None, [lambda _: objectives[0].rounds - objectives[0].best_round > PATIENCE], team)
        assert isinstance(run.objective, ClickLikelihood)
        objectives.append(run.objective)
        forest = run.boost()
    assert forest.history is not None
    if forest.history.stopped == "interrupted":  # Ctrl-C ends what the estimate is for too
        raise KeyboardInterrupt
    return objectives[0]


def joined_rows(train: Dataset, levels: Levels) -> tuple[Dataset, Any]:
    """One row, a query of its own, for each document at each level, and these levels: how often it was clicked, and shown.

    Of logs with many clicks these are the appearances of some documents. Sessions of different weights are not joined.
    """
    weights, documents = weight_of_rows(train), feature_keys(train)
    clicked = train.grades > 0
    share = ENOUGH_CLICKS / max(int(clicked.sum()), 1)
    chosen = np.flatnonzero(documents.astype(SCORE) / 2.0**64 < share)  # keys are as good as random numbers
    order = chosen[np.lexsort((weights[chosen], levels.of_row[chosen], documents[chosen]))]
    parts: Sequence[Any] = (documents[order], levels.of_row[order], weights[order])
    first = np.flatnonzero(np.append(True, np.any([part[1:] != part[:-1] for part in parts], axis=0)))
    shown = np.diff(np.append(first, len(order)))
    clicks = np.add.reduceat(clicked[order].astype(np.int64), first)
    kept = order[first]
    data = Dataset(
        features=train.features[kept],
        grades=(clicks / shown).astype(GRADE),
        offsets=np.arange(len(kept) + 1, dtype=INDEX),
        qids=as_text(np.arange(len(kept))),
        feature_names=train.feature_names,
        weights=weights[kept] * shown,
        source=train.source,
        categories=train.categories,
    )
    return data, frozen(levels.of_row[kept])


def _held_parts(rows: Dataset) -> list[Flags]:
    """The rows from which each estimate is made."""
    part = feature_keys(rows) % np.uint64(PARTS)
    return [part == number for number in range(PARTS)]
