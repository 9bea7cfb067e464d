"""Trial: one method tried on the target, fitted to all of it and judged on queries it did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter

import numpy as np

from rankinite.adapt.groundwork import Groundwork
from rankinite.adapt.method_fits import fit_method
from rankinite.adapt.methods.catalogue import AVERAGE, AVERAGED, AdaptationMethod
from rankinite.data.folds import Holdout
from rankinite.engine.kernel import Floats, Indices
from rankinite.engine.work import Step, Watching
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend


@dataclass(frozen=True, eq=False)
class Trial:
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


CURVE, CURVE_COST = "learning curve", 0.8
"""What the learning curve is called, and about how long it takes compared with all methods."""


class TrialMonitor:
    """Reports how far a choice is, by what the methods cost."""

    def __init__(self, watch: Watching | None, methods: Sequence[AdaptationMethod], *, curve: bool) -> None:
        self._watch, self._methods = watch, methods
        cost = sum(method.cost for method in methods)
        self._curve = CURVE_COST * cost if curve else 0.0
        self._all = cost + self._curve

    def fitted(self, method: AdaptationMethod, part: float) -> None:
        """Report that this part of a method is done; that all of it is done, ``finished`` reports."""
        if part < 1.0:
            self._report(Step(method.name, self._share(method, part)))

    def finished(self, method: AdaptationMethod, *, resumed: bool) -> None:
        """Report that a method is done."""
        self._report(Step(method.name, self._share(method, 1.0), finished=True, resumed=resumed))

    def curve(self, part: float, *, resumed: bool = False) -> None:
        """Report that this part of the learning curve is done."""
        self._report(Step(CURVE, 1.0 - (1.0 - part) * self._curve / self._all, finished=part == 1.0, resumed=resumed))

    def _share(self, method: AdaptationMethod, part: float) -> float:
        before = sum(other.cost for other in self._methods[: self._methods.index(method)])
        return (before + part * method.cost) / self._all

    def _report(self, step: Step) -> None:
        if self._watch is not None:
            self._watch(step)


def try_method(
    method: AdaptationMethod, works: Sequence[Groundwork], parts: Sequence[Holdout], report: Callable[[float], None]
) -> Trial:
    """Fit a method to all target data (the last of ``works``) and to all but each part (the others).

    ``report`` is called with the share that is done, after every fit.
    """
    start, fits = perf_counter(), count(1)
    report(0.0)
    held = [*(part.held for part in parts), None]
    found = fit_method(method, works, held, lambda: report(next(fits) / len(works)))
    unseen, spreads = found[-1].seen.copy(), np.asarray([spread(one.seen) for one in found])
    for part, one in zip(parts, found, strict=False):
        assert one.held is not None
        unseen[part.rows] = one.held
    return Trial(method, found[-1].ranker, unseen, spreads, perf_counter() - start)


def rows_of_no_part(rows: int, parts: Sequence[Holdout]) -> Indices:
    """The rows of queries that cannot judge, which no part holds out."""
    return np.setdiff1d(np.arange(rows), np.concatenate([part.rows for part in parts]))


def averaged(trials: Iterable[Trial], parts: Sequence[Holdout]) -> list[Trial]:
    """The trial of the average of unlike methods; none if there are fewer than two whose scores vary."""
    varied = [trial for trial in members(trials) if trial.spreads[-1] > 0.0]
    if len(varied) < 2:
        return []
    spreads = np.asarray([trial.spreads for trial in varied])
    unseen = mean_scores([trial.unseen for trial in varied], spreads, parts)
    weights = average_weights(spreads[:, -1]).tolist()
    ranker = Blend(tuple((weight, trial.ranker) for weight, trial in zip(weights, varied, strict=True)))
    names = ", ".join(trial.method.name for trial in varied)
    method = replace(AVERAGE, what=f"the mean of unlike methods: {names}")
    unknown = np.full(len(parts) + 1, np.nan)  # nobody averages averages
    return [Trial(method, ranker, unseen, unknown, sum(trial.seconds for trial in varied))]


def members(trials: Iterable[Trial]) -> list[Trial]:
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
