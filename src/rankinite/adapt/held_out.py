"""Queries held out of the target: they decide how many rounds to train, and are scored by rankers that did not see them.

With few judged queries every choice overfits. So each choice is made on queries held out: on the validation data if there
are any, else by folds over the target's queries. With fewer than ten queries each is held out alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.folds import Holdout, held_out_batches, holdouts
from rankinite.data.joining import concat
from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.evaluation.values import query_values
from rankinite.learners.base import Learner
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted, Ranker
from rankinite.models.blend import Blend
from rankinite.models.files.matching import match_features
from rankinite.models.history import History
from rankinite.plurals import agreeing, counted

FEW = 10
"""With fewer judged queries than this, each is held out alone."""


PREFIX = "background:"
"""Put before the qids of the background's queries where they join the target's, to keep them apart."""


@dataclass(frozen=True, eq=False)
class TargetRanker:
    """A ranker trained on the target alone, and scores of queries by such rankers that were not trained on them."""

    ranker: Fitted
    unseen: Dataset
    scores: Floats
    """One per row of ``unseen``."""


def judged_queries(data: Dataset, measure: Measure, least: int = 2) -> Indices:
    """The queries on which the measure is defined; refuses fewer than two, one to learn from and one to judge by."""
    check_judged(data)
    judged = measurable_queries(data, measure)
    if len(judged) < least:
        raise DataError(
            f"{len(judged)} of {counted(data.queries, 'query')} {agreeing(len(judged), 'has')} documents of different grades",
            place=data.source,
            value=len(judged),
            rule=f"Adapting needs at least {least}, to learn from some and judge by the others",
            remedy="Give more, or deploy the background as it is",
        )
    return judged


def holdouts_of(data: Dataset, measure: Measure, folds: int | Batches, seed: int) -> list[Holdout]:
    """The judged queries in parts, each held out once; each alone where there are few. Or whole batches."""
    if folds == "batches":
        return held_out_batches(data)
    judged = judged_queries(data, measure)
    return holdouts(data, len(judged) if len(judged) < FEW else min(folds, len(judged)), queries=judged, seed=seed)


def fit_tuned(
    learner: Learner,
    target: Dataset,
    valid: Dataset | None = None,
    *,
    base: Scorer | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Fitted:
    """Train for the number of rounds that is best on queries held out; with a base that may be none, which leaves the base."""
    if valid is not None:
        ranker = train(learner, target, valid, base=base)
        return as_model(base) if base is not None and _history(ranker).best == 0 else ranker
    curve = held_curve(learner, holdouts_of(target, learner.watched(), folds, seed), base=base)
    rounds = best_round(curve, learner.watched(), based=base is not None)
    if base is not None and rounds == 0:
        return as_model(base)
    return _with_curve(train(with_rounds(learner, rounds), target, base=base), curve, rounds)


def as_model(base: Scorer) -> Fitted:
    """The base itself, to the bit."""
    return base if isinstance(base, Fitted) else Blend(((1.0, base),))


def fit_target_ranker(
    learner: Learner,
    target: Dataset,
    valid: Dataset | None = None,
    *,
    extra: Dataset | None = None,
    folds: int = 5,
    seed: int = 0,
) -> TargetRanker:
    """A ranker trained on the target, tuned; without validation data its unseen scores are those of folds.

    ``extra``: rows of the background's queries that always join the training data.
    """
    if valid is not None:
        ranker = train(learner, _with_extra(target, extra), valid)
        return TargetRanker(ranker, valid, ranker.score(valid))
    parts = holdouts_of(target, learner.watched(), folds, seed)
    curve = held_curve(learner, parts, extra=extra)
    rounds = best_round(curve, learner.watched(), based=False)
    final = with_rounds(learner, rounds)
    scores = np.zeros(target.rows)
    for part in parts:
        scores[part.rows] = train(final, _with_extra(part.rest, extra)).score(part.held)
    seen = np.sort(np.concatenate([part.rows for part in parts]))
    unseen = target.select_queries(np.unique(target.query_of_row()[seen]))
    return TargetRanker(_with_curve(train(final, _with_extra(target, extra)), curve, rounds), unseen, scores[seen])


def held_curve(learner: Learner, parts: list[Holdout], *, base: Scorer | None = None, extra: Dataset | None = None) -> Floats:
    """The measure after every round: the mean over all queries held out."""
    _rounds_field(learner)
    measure = learner.watched()
    curves: list[Floats] = []
    for part in parts:
        ranker = train(replace(learner, train_history=False), _with_extra(part.rest, extra), part.held, base=base)
        curves.append(_history(ranker).valid)
    longest, counts = max(map(len, curves)), [len(measurable_queries(part.held, measure)) for part in parts]
    total = np.zeros(longest)
    for count, curve in zip(counts, curves, strict=True):  # training that ended early would have gone on as it ended
        total += count * np.pad(curve, (0, longest - len(curve)), mode="edge")
    return total / sum(counts)


def best_round(curve: Floats, measure: Measure, *, based: bool) -> int:
    """The round with the best value, the first of equals; round 0 is a choice only where there is a base."""
    first = 0 if based else 1
    return first + int(np.argmax(sign_of(measure) * curve[first:]))


def _with_curve(ranker: Fitted, curve: Floats, rounds: int) -> Fitted:
    """The ranker with the curve by which its rounds were chosen in its history."""
    history = replace(_history(ranker), valid=curve, best=rounds)
    last: Any = ranker.last_trained()
    described = replace(last, history=history)
    return described if last is ranker else ranker.with_inside([*(part.ranker for part in ranker.inside()[:-1]), described])


def train(learner: Learner, train: Dataset, valid: Dataset | None = None, *, base: Scorer | None = None) -> Fitted:
    """Train. Ctrl-C ends the whole run, as comparing a half-trained ranker with others would prove nothing.

    Callers have checked that no query is both learnt from and judged by.
    """
    ranker = learner.fit(train, valid, base=base, allow_overlap=True)
    if _history(ranker).stopped == "interrupted":
        raise KeyboardInterrupt
    return ranker


def match_background(background: Scorer, target: Dataset) -> Scorer:
    """The background, its features found among the target's: by name, or by position where a foreign model has no names."""
    if not isinstance(background, Ranker):  # an object of the user's, which finds its own features
        return background
    return match_features(background, target.feature_names, target.source)[0]


def measurable_queries(data: Dataset, measure: Measure) -> Indices:
    """The queries that count: those on which the measure is defined."""
    try:
        values = query_values(np.zeros(data.rows), data, measure)
    except DataError:  # it is defined on none
        return np.empty(0, np.int64)
    return np.flatnonzero(~np.isnan(values))


def with_rounds(learner: Learner, rounds: int) -> Learner:
    """The learner, set to train for exactly this number of rounds."""
    changed: dict[str, Any] = {_rounds_field(learner): rounds, "patience": None, "train_history": False}
    return replace(learner, **changed)


def _rounds_field(learner: Learner) -> str:
    """The name of the learner's setting for its rounds; refuses a learner without."""
    field = next((name for name in ("trees", "rounds") if hasattr(learner, name)), None)
    if field is None:
        kind = type(learner).__name__
        raise ArgumentError(
            "it has no rounds of boosting whose number folds could choose",
            place=kind,
            value=kind,
            remedy="Give validation data, or a learner that boosts, such as LambdaMART",
        )
    return field


def _history(ranker: Fitted) -> History:
    training = ranker.trained()
    assert training is not None
    assert training.history is not None
    return training.history


def _with_extra(target: Dataset, extra: Dataset | None) -> Dataset:
    return target if extra is None else concat([target, extra], prefixes=("", PREFIX))


def first_good(
    makers: Sequence[Callable[[Dataset], Scorer]],
    target: Dataset,
    valid: Dataset | None,
    measure: Measure,
    *,
    folds: int = 5,
    seed: int = 0,
) -> int:
    """The number of the first maker that does about as well on queries held out as the best; each trains a ranker on data.

    "About as well": the mean difference over queries is at most its standard error, so that it may be chance.
    """
    values = np.asarray([_unseen_values(make, target, valid, measure, folds, seed) for make in makers])
    best = values[int(np.argmax(values.mean(axis=1)))]
    short = (best - values).mean(axis=1)
    return int(np.argmax(short <= np.asarray([standard_error(best - other) for other in values])))


def standard_error(differences: Floats) -> float:
    """The standard error of the mean difference."""
    return float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 0.0


def _unseen_values(
    make: Callable[[Dataset], Scorer], target: Dataset, valid: Dataset | None, measure: Measure, folds: int, seed: int
) -> Floats:
    """The measure of every judged query, higher being better, by rankers that were not trained on it."""
    if valid is not None:
        scores, data = scores_of(make(target), valid), valid
    else:
        scores, data = np.zeros(target.rows), target
        for part in holdouts_of(target, measure, folds, seed):
            scores[part.rows] = scores_of(make(part.rest), part.held)
    values = evaluate(data.in_row_order(scores), data, [measure])[measure].per_query
    return sign_of(measure) * values[~np.isnan(values)]
