"""Cross-validation: trainers compared on queries that they did not see, fold by fold, all folds pooled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, cast

import numpy as np

from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.folds import Fold, batch_holdouts, k_folds, rotating_folds
from rankinite.data.joining import concat
from rankinite.engine.work import ProgressCallback, WorkProgress
from rankinite.ensembles.fits import Fit, FitInputs, fit_all
from rankinite.errors import ArgumentError
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import scores_of
from rankinite.learners.base import Trainer
from rankinite.measures.base import Measure
from rankinite.measures.conventions import Convention
from rankinite.measures.spelling import as_measures
from rankinite.models.base import Fitted
from rankinite.plurals import counted
from rankinite.workers.cluster import Where, using


def cross_validate(
    trainers: Mapping[str, Trainer] | Sequence[Trainer] | Trainer,
    data: Dataset | Sequence[Dataset] | Sequence[Fold],
    folds: int | Batches = 5,
    *,
    measures: Sequence[Measure | str] | Measure | str = "ndcg@10",
    seed: int = 0,
    convention: str | Convention = "rankinite",
    watch: ProgressCallback | None = None,
    cluster: Where | None = None,
    **comparing: Any,
) -> Comparison:
    """Train on every fold, and compare the trainers on all test queries, each scored by rankers that did not see it.

    ``data``: one data set, which is dealt into ``folds`` parts by query (fold i tests on part i, validates on the next and
    trains on the others), or, with ``folds="batches"``, tested batch by batch, each by rankers of all other batches; several
    data sets, which are LETOR's parts; or a list of folds made elsewhere. ``watch`` is called after every fit. ``cluster``:
    what makes the fits, as in :func:`rankinite.cluster`. Further arguments, such as ``test`` and ``against``, are those of
    :func:`rankinite.compare`.

    >>> cross_validate({"λ": LambdaMART(), "bag": Bag(LambdaMART())}, data)                    # doctest: +SKIP
    """
    named, dealt, asked = _named(trainers), dealt_folds(data, folds, seed), as_measures(measures)
    for fold in dealt:
        check_judged(fold.test)
    places = [(number, name) for number in range(len(dealt)) for name in named]
    done = count(1)

    def tell(place: int, _ranker: Fitted) -> None:
        number, name = places[place]
        if watch is not None:
            watch(WorkProgress(f"{name}, fold {number + 1}", next(done) / len(places), finished=True))

    fits = [Fit(named[name], FitInputs(dealt[number].train, dealt[number].valid)) for number, name in places]
    with using(cluster):
        rankers = dict(zip(places, fit_all(fits, tell, in_turn=True), strict=True))
    scores = {name: [scores_of(rankers[number, name], fold.test, name) for number, fold in enumerate(dealt)] for name in named}
    source = f"{counted(len(dealt), 'fold')} of {_source(data)}"
    pooled = replace(concat([fold.test for fold in dealt]), source=source)
    joined = {name: pooled.in_row_order(np.concatenate(parts)) for name, parts in scores.items()}
    if len(joined) > 1:
        return compare(joined, pooled, asked, convention=convention, **comparing)
    ((name, alone),) = joined.items()
    return Comparison({name: evaluate(alone, pooled, asked, convention=convention)}, (), "randomisation", 0.05, 0, 0)


def _named(trainers: Any) -> dict[str, Trainer]:
    """The trainers by name; those of a list are called by their learners, numbered where that says too little."""
    if isinstance(trainers, Mapping):
        return {str(name): trainer for name, trainer in cast("Mapping[Any, Trainer]", trainers).items()}
    listed: list[Any] = list(trainers) if isinstance(trainers, Sequence) else [trainers]
    kinds = [type(trainer).__name__ for trainer in listed]
    often = {kind for kind, count in Counter(kinds).items() if count > 1}
    return {
        f"{kind} {place}" if kind in often else kind: one
        for place, (kind, one) in enumerate(zip(kinds, listed, strict=True), 1)
    }


def dealt_folds(data: Any, folds: Any = 5, seed: int = 0) -> Sequence[Fold]:
    """The folds that :func:`cross_validate` makes of its data."""
    if isinstance(data, Dataset):
        if folds == "batches":
            return batch_holdouts(data, seed=seed)
        if not isinstance(folds, int) or isinstance(folds, bool):
            raise ArgumentError(
                "is not understood", owner="cross_validate", setting="folds", value=folds, remedy="Give a number, or 'batches'"
            )
        return k_folds(data, folds, seed=seed)
    listed: list[Any] = list(data)
    return rotating_folds(listed) if all(isinstance(one, Dataset) for one in listed) else listed


def _source(data: Any) -> str:
    if isinstance(data, Dataset):
        return data.source
    first = data[0]
    return first.source if isinstance(first, Dataset) else first.test.source
