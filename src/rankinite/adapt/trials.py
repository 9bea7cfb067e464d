"""MethodTrials: each method fitted to all target data, and judged on queries it did not see.

A method is fitted to the task without each part of the target's queries and to the whole task, on this process's threads or on
the workers of a cluster. The average of unlike methods is made of the fits of others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from rankinite.adapt.methods.catalogue import AVERAGE, AVERAGED, METHODS, AdaptationMethod
from rankinite.adapt.shared_fits import SharedFits
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Holdout
from rankinite.engine.kernel import Floats, Indices
from rankinite.engine.parallel import run
from rankinite.engine.work import ProgressCallback, WorkProgress
from rankinite.evaluation.scorers import scores_of
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend
from rankinite.workers.cluster import in_force

MOST_REMEMBERED = 16
"""Tasks whose shared fits a worker remembers: what one method needed of a task, the next need not make again."""
_names: WeakKeyDictionary[SharedFits, str] = WeakKeyDictionary()
_remembered: OrderedDict[str, SharedFits] = OrderedDict()
CURVE, CURVE_COST = "learning curve", 0.8
"""What the learning curve is called, and about how long it takes compared with all methods."""


@dataclass(frozen=True, eq=False)
class MethodTrial:
    """The ranker that a method makes, and what it is worth on queries that it did not see."""

    method: AdaptationMethod
    ranker: Fitted
    """Fitted to all target data."""
    unseen: Floats
    """The score of every target row by a ranker that did not see its query; by ``ranker`` where no part holds a query out."""
    spreads: Floats
    """How far the scores of each fit vary over the queries it was fitted to: one per part held out, then that of ``ranker``."""
    seconds: float
    """What all its fits took."""


def try_method(
    method: AdaptationMethod, tasks: Sequence[SharedFits], parts: Sequence[Holdout], report: Callable[[float], None]
) -> MethodTrial:
    """Fit a method to all target data (the last of ``tasks``) and to all but each part (the others).

    ``report`` is called with the share that is done, after every fit.
    """
    start, fits = perf_counter(), count(1)
    report(0.0)
    held = [*(part.held for part in parts), None]
    *without_part, whole = fit_method(method, tasks, held, lambda: report(next(fits) / len(tasks)))
    unseen = whole.seen.copy()
    for part, fitted in zip(parts, without_part, strict=True):
        assert fitted.held is not None
        unseen[part.rows] = fitted.held
    spreads = np.asarray([spread(fitted.seen) for fitted in (*without_part, whole)])
    return MethodTrial(method, whole.ranker, unseen, spreads, perf_counter() - start)


@dataclass(frozen=True, eq=False)
class MethodFit:
    """What a method made of a task."""

    ranker: Fitted
    seen: Floats
    """The scores of the target's rows."""
    held: Floats | None
    """The scores of the rows held out."""


def fit_method(
    method: AdaptationMethod, tasks: Sequence[SharedFits], held: Sequence[Dataset | None], done: Callable[[], None]
) -> list[MethodFit]:
    """Fit a method to each task, and score what was held out of it; ``done`` is called after each."""
    cluster = in_force()
    if cluster is not None:
        pieces = [(method.name, _name(shared), shared, data) for shared, data in zip(tasks, held, strict=True)]
        return cluster.run(_fit_on_worker, pieces, lambda _number, _fit: done())

    def fit(number: int) -> MethodFit:
        made = _fit(method, tasks[number], held[number])
        done()
        return made

    return run(fit, range(len(tasks)))  # side by side, each on one thread: small data gain nothing from more


def _fit(method: AdaptationMethod, shared: SharedFits, held: Dataset | None) -> MethodFit:
    ranker = method.fit(shared)
    scored = None if held is None else scores_of(ranker, held, method.name)
    return MethodFit(ranker, scores_of(ranker, shared.task.target, method.name), scored)


def _fit_on_worker(piece: tuple[str, str, SharedFits, Dataset | None]) -> MethodFit:
    method, name, sent, held = piece
    shared = _remembered.pop(name, sent)
    _remembered[name] = shared
    while len(_remembered) > MOST_REMEMBERED:
        _remembered.popitem(last=False)
    return _fit(next(one for one in METHODS if one.name == method), shared, held)


def _name(shared: SharedFits) -> str:
    """A name by which workers know the fits of a task again."""
    return _names.setdefault(shared, uuid4().hex)


# ---- the average of unlike methods


def rows_of_no_part(rows: int, parts: Sequence[Holdout]) -> Indices:
    """The rows of queries that cannot judge, which no part holds out."""
    return np.setdiff1d(np.arange(rows), np.concatenate([part.rows for part in parts]))


def average_trial(trials: Iterable[MethodTrial], parts: Sequence[Holdout]) -> MethodTrial | None:
    """The trial of the average of unlike methods; None if there are fewer than two whose scores vary."""
    varied = [trial for trial in trials_to_average(trials) if trial.spreads[-1] > 0.0]
    if len(varied) < 2:
        return None
    spreads = np.asarray([trial.spreads for trial in varied])
    unseen = mean_scores([trial.unseen for trial in varied], spreads, parts)
    weights = average_weights(spreads[:, -1]).tolist()
    ranker = Blend(tuple((weight, trial.ranker) for weight, trial in zip(weights, varied, strict=True)))
    names = ", ".join(trial.method.name for trial in varied)
    method = replace(AVERAGE, what=f"the mean of unlike methods: {names}")
    unknown = np.full(len(parts) + 1, np.nan)  # nobody averages averages
    return MethodTrial(method, ranker, unseen, unknown, sum(trial.seconds for trial in varied))


def trials_to_average(trials: Iterable[MethodTrial]) -> list[MethodTrial]:
    """The trials that the average is made of: of each kind the first method that was tried."""
    known = {trial.method.name: trial for trial in trials}
    chosen = [next((known[name] for name in kind if name in known), None) for kind in AVERAGED]
    return [trial for trial in chosen if trial is not None]


def average_weights(spreads: Floats) -> Floats:
    """The weight of each ranker in an average, given how far its scores vary over the queries it was fitted to.

    There is one rule for the average that is judged and for the one that is deployed, so that the evidence is about the latter.
    Spreads on queries held out would be another rule: a ranker that overfits varies less on them than on those it has seen.
    """
    return np.divide(1.0, len(spreads) * spreads, out=np.zeros(len(spreads)), where=spreads > 0.0)


def mean_scores(scores: Sequence[Floats], spreads: Floats, parts: Sequence[Holdout]) -> Floats:
    """The average's unseen scores from those of its rankers.

    ``spreads``: one row per ranker, one column per fit: the parts held out, then all of the target.
    """
    mean = np.zeros(len(scores[0]))
    others = rows_of_no_part(len(mean), parts)
    for number, rows in enumerate((*(part.rows for part in parts), others)):
        for weight, scored in zip(average_weights(spreads[:, number]), scores, strict=True):
            mean[rows] += weight * scored[rows]
    return mean


def spread(scores: Floats) -> float:
    """The standard deviation, whatever the order of the rows."""
    return float(np.sort(scores).std())


class TrialMonitor:
    """Reports how far a choice is, by what the methods cost."""

    def __init__(self, watch: ProgressCallback | None, methods: Sequence[AdaptationMethod], *, curve: bool) -> None:
        self._watch, self._methods = watch, methods
        cost = sum(method.cost for method in methods)
        self._curve = CURVE_COST * cost if curve else 0.0
        self._all = cost + self._curve

    def fitted(self, method: AdaptationMethod, part: float) -> None:
        """Report that this part of a method is done; that all of it is done, ``finished`` reports."""
        if part < 1.0:
            self._report(WorkProgress(method.name, self._share(method, part)))

    def finished(self, method: AdaptationMethod, *, resumed: bool) -> None:
        """Report that a method is done."""
        self._report(WorkProgress(method.name, self._share(method, 1.0), finished=True, resumed=resumed))

    def curve(self, part: float, *, resumed: bool = False) -> None:
        """Report that this part of the learning curve is done."""
        self._report(WorkProgress(CURVE, 1.0 - (1.0 - part) * self._curve / self._all, finished=part == 1.0, resumed=resumed))

    def _share(self, method: AdaptationMethod, part: float) -> float:
        before = sum(other.cost for other in self._methods[: self._methods.index(method)])
        return (before + part * method.cost) / self._all

    def _report(self, step: WorkProgress) -> None:
        if self._watch is not None:
            self._watch(step)
