"""Checks before training: data that can be learnt from, a base that fits them, the scores that training starts from, and what
a measure in plain Python will cost.

What is checked here is checked nowhere else: every learner's ``fit`` begins with :func:`training_data`.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np

from rankinite.binned.data import Binned
from rankinite.checks import check_flag
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import check_apart
from rankinite.data.joining import check_same_features
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.scorers import Scorer, is_scorer, match_to, scores_of
from rankinite.gradients.base import Objective
from rankinite.gradients.pointwise import Multiclass
from rankinite.learners.base import Callback, Learner, ResumableCallback
from rankinite.measures.function import FunctionMeasure
from rankinite.models.base import content_key
from rankinite.models.forest import Forest

TIMED = 20
"""Queries on which a measure that is a Python function is timed."""
BRIEF = 0.01
"""Seconds that need not be counted."""
_noted_calls: dict[str, int] = {}
"""The most calls that users were told of, for each measure: again only where there are ten times as many."""
_telling = threading.Lock()


def training_data(
    train: Dataset,
    valid: Dataset | None,
    base: Scorer | None,
    callbacks: Sequence[Callback],
    *,
    allow_overlap: bool = False,
) -> Dataset:
    """The training data without queries of weight 0; refuses what no learner can train on."""
    for name, data in (("train", train), ("valid", valid)):
        if not isinstance(data, Dataset) and not (data is None and name == "valid"):
            raise DataError(
                f"these are not judged data, but a {type(data).__name__}",
                place=name,
                value=type(data).__name__,
                remedy="Give a Dataset, as rankinite.read returns",
            )
    for data in (train, valid):
        if isinstance(data, Binned):
            data.check()
        if data is not None and not data.rows:
            raise DataError("there are no rows", place=data.source, value=0, remedy="Give data with judged documents")
        if data is not None and (data is valid or data.preferences is None):  # judged pairs may do instead of grades
            check_judged(data)
    repeated = sorted(name for name, count in Counter(train.feature_names).items() if count > 1)
    if repeated:
        raise DataError(
            f"the feature {quoted(repeated[0])} appears more than once",
            place=train.source,
            value=repeated[0],
            rule="Names of features must differ",
            remedy="Rename one",
        )
    train = _without_weightless(train)
    if valid is not None:
        check_same_features(train, valid)
        if isinstance(valid, Binned) and valid.categories != train.categories:
            raise DataError(
                "it was coded with other categories than the training data",
                place=valid.source,
                value=list(valid.categories),
                rule="All data of a training run are coded with the categories of the training data",
                remedy="Make it again with the edges of the training data's folder, with `like=…`",
            )
    if base is not None and not is_scorer(base):
        raise ArgumentError("is not a ranker", setting="base", value=base, remedy="Give an object with a method score(data)")
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("must be a list of functions, each called after every round", setting="callbacks", value=callbacks)
    check_flag("fit", "allow_overlap", allow_overlap)
    check_apart({"train": train}, {"valid": valid}, allow_overlap=allow_overlap)
    return train


def _without_weightless(train: Dataset) -> Dataset:
    """The queries to learn from. Rows of coded data cannot be left out, and would count in samples and in `min_rows`."""
    if not isinstance(train, Binned):
        return without_weightless(train)
    if train.weights is not None and (train.weights == 0.0).any() and train.weights.any():
        query = int(np.argmin(train.weights))
        raise DataError(
            f"query number {query} has the weight 0",
            place=train.source,
            value=0.0,
            rule="From a query of weight 0 nothing is learnt, so coded training data must not contain any",
            remedy="Make the bins again: without `like`, such queries are left out; with `like`, leave them out of the source",
        )
    return train


def refuse_categories(owner: str, train: Dataset) -> None:
    """Refuse categories where a learner adds up features: their codes have no size."""
    if train.categories:
        name = next(iter(train.categories))
        raise DataError(
            f"the feature {quoted(name)} is a category, and {owner} adds up numbers",
            place=train.source,
            value=name,
            remedy=f"Train trees, make columns of 0 and 1 of it with `one_hot={[name]!r}`, or leave it out with `ignore`",
        )


def refuse_checkpoints(owner: str, callbacks: Sequence[Callback]) -> None:
    """Refuse checkpoints, which are about one forest, of what trains anything else."""
    if any(isinstance(callback, ResumableCallback) for callback in callbacks):
        raise ArgumentError(
            "are no use here: only learners of trees go on from a checkpoint",
            owner=owner,
            setting="callbacks",
            value=callbacks,
            remedy="Leave it out; Ctrl-C keeps what has been trained",
            shell_remedy="Leave out `checkpoint`; Ctrl-C keeps what has been trained",
        )


def match_base(base: Scorer | None, train: Dataset) -> Scorer | None:
    """The base with its features as the data call them, so that what is trained from it can be one forest with it."""
    return None if base is None else match_to(base, train)[0]


def starting_scores(base: Scorer | None, data: Dataset, objective: Objective) -> Floats:
    """The scores before the first tree, shape (outputs, rows)."""
    if base is None:
        return np.repeat(np.asarray(objective.start, np.float64)[:, None], data.rows, axis=1)
    if objective.outputs == 1:
        scores = np.array(_base_scores(base, data), np.float64).reshape(1, -1)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores[0]))[0])
            raise DataError(
                f"the base gives this row the score {scores[0, row]}",
                place=f"{data.source}, row {row}",
                value=float(scores[0, row]),
                rule="Training needs finite scores",
                remedy="Choose a base that scores every document",
            )
        return scores
    known = objective.grades if isinstance(objective, Multiclass) else np.empty(0)
    same = isinstance(base, Forest) and base.feature_names == data.feature_names
    if same and isinstance(base, Forest) and base.grades is not None and np.array_equal(base.grades, known):
        return np.array(base.outputs_of(data))
    raise ArgumentError(
        "cannot be the base of McRank, which has one score per grade",
        setting="base",
        value=base,
        remedy="Give a McRank forest of the same grades and features, or train LambdaMART or MART from this base",
    )


def _base_scores(base: Scorer, data: Dataset) -> Floats:
    """The scores of the base; of coded data those that were kept."""
    if not isinstance(data, Binned):
        return scores_of(base, data, "base")
    kept = data.base_scores(content_key(base, "base"))
    if kept is None:
        raise DataError(
            "the scores of this base are not kept with the codes",
            place=data.source,
            value=type(base).__name__,
            rule="Nothing can be scored without features, so the scores of a base are computed when data are coded",
            remedy="Make the bins again with the same base, with `base=…`",
        )
    return kept


def warn_of_calls(learner: Learner, train: Dataset) -> None:
    """Say once how many calls of a Python function a round takes, and how long they are; not of one that is compiled."""
    measure = getattr(learner, "measure", None)
    if not isinstance(measure, FunctionMeasure) or measure.is_compiled:
        return
    calls = measure.calls(train.grades, train.offsets, getattr(learner, "truncation", None))
    with _telling:  # fits may begin side by side
        if calls < 10 * _noted_calls.get(str(measure), 0):
            return
        seconds = calls * _seconds_of_a_call(measure, train)
        _noted_calls[str(measure)] = calls
    duration = f"about {seconds:.2g} s" if seconds >= BRIEF else f"less than {BRIEF:g} s"
    shorter = "" if measure.cutoff is not None else ", or say how many ranks count, as in cutoff=10"
    warnings.warn(
        f"{measure} is a Python function: each round of training calls it up to {calls:,} times, {duration}, and up "
        f"to {measure.orders:,} times for each query with ties when it is watched; compile it with numba.njit{shorter}",
        stacklevel=4,  # who called fit
    )


def _seconds_of_a_call(measure: FunctionMeasure, train: Dataset) -> float:
    """The mean over some queries."""
    queries = np.unique(np.linspace(0, train.queries - 1, TIMED).astype(int)).tolist()
    begun = time.perf_counter()
    for query in queries:
        measure.value(train.grades[train.offsets[query] : train.offsets[query + 1]].astype(SCORE))
    return (time.perf_counter() - begun) / len(queries)
