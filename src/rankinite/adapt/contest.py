"""Contest: the methods that are tried on one task, their trials, and the learning curve of the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rankinite.adapt.decision import BASELINES, Verdict
from rankinite.adapt.groundwork import Groundwork
from rankinite.adapt.held_out import parts_of
from rankinite.adapt.learning_curve import LearningCurve, curve_methods, learning_curve
from rankinite.adapt.methods.catalogue import AVERAGE, AVERAGED, METHODS, AdaptationMethod
from rankinite.adapt.refusals import reasons
from rankinite.adapt.trial import Trial, TrialMonitor, Watching, averaged, members, try_method
from rankinite.adapt.trial_cache import TrialStore
from rankinite.errors import ArgumentError, RankiniteError, listed, quoted
from rankinite.serving.offers import refusal
from rankinite.serving.target import target_named


class Contest:
    """The methods asked for, those of them that can be tried, and the work that is finished."""

    def __init__(
        self, work: Groundwork, asked: Sequence[str] | None, keep: Path | str | None, watch: Watching | None, *, curve: bool,
        deployable: str | None = None,
    ) -> None:  # fmt: skip
        self._work, self._asked, self._deployable = work, asked, deployable
        if deployable is not None:
            target_named(deployable, "deployable")
        wanted = _wanted(asked, work)
        refusals = {method.name: method.refusal(work) for method in wanted}
        self.refused: dict[str, RankiniteError] = {name: why for name, why in refusals.items() if why is not None}
        """Methods that cannot be tried, and why."""
        self._tried = [method for method in wanted if method.name not in self.refused]
        self._check_some_can_be_tried()
        self._unserved: list[str] = []
        self._store = None if keep is None else TrialStore(keep, work.task, work.tuning)
        self._monitor = TrialMonitor(watch, self._tried, curve=curve)

    def _check_some_can_be_tried(self) -> None:
        if self._asked and self.refused and set(self.refused) >= {*self._asked} - {*BASELINES}:
            raise ArgumentError(
                "names no method that can be tried",
                owner="choose",
                setting="methods",
                value=list(self._asked),
                remedy=reasons(self.refused),
                shell_remedy=reasons(self.refused, at_shell=True),
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which kept work could not be used, and which baselines could not be served, and why."""
        return (*(() if self._store is None else self._store.notes), *self._unserved)

    def trials(self) -> list[Trial]:
        """Try all methods, and the average if it is asked for; those that refuse the task after all join the ones refused."""
        task = self._work.task
        parts = parts_of(task.target, task.measure, task.folds, task.seed)
        works = [*(self._work.on(part.rest) for part in parts), self._work]  # each remembers what several methods need
        found: list[Trial] = []
        for method in self._tried:
            trial = None if self._store is None else self._store.get(method)
            resumed = trial is not None
            if trial is None:
                try:
                    trial = try_method(method, works, parts, partial(self._monitor.fitted, method))
                except RankiniteError as problem:  # a foreign forest without node counts, an infinite feature, …
                    if method.kind == "baseline":
                        raise
                    self.refused[method.name] = problem
                    continue
                if self._store is not None:
                    self._store.put(trial)
            self._monitor.finished(method, resumed=resumed)
            if self._can_be_served(trial):
                found.append(trial)
        if self._asked is None or AVERAGE.name in self._asked:
            average = averaged(found, parts)
            found += average
            if not average:
                problem = "It needs two unlike methods whose scores vary"
                self.refused[AVERAGE.name] = ArgumentError(problem, value=len(found), remedy="Try more methods")
        return found

    def _can_be_served(self, trial: Trial) -> bool:
        """Whether a trial's ranker can be deployed where it is asked for; baselines are compared with in any case."""
        problem = None if self._deployable is None else refusal(trial.ranker, self._deployable)
        if problem is None:
            return True
        if trial.method.kind == "baseline":
            self._unserved.append(f"{trial.method.name}: {problem.text()}")
            return True
        self.refused[trial.method.name] = problem
        return False

    def curve(self, trials: Sequence[Trial], verdict: Verdict) -> LearningCurve | None:
        """The learning curve; None where the method chosen cannot be fitted to fewer queries."""
        known: Mapping[str, Trial] = {trial.method.name: trial for trial in trials}
        made_of = [trial.method.name for trial in members(trials)] if verdict.name == AVERAGE.name else []
        name = "+".join(["curve", verdict.name, *made_of])
        found = None if self._store is None else self._store.get_curve(name, curve_methods(known, verdict))
        resumed = found is not None
        if found is None:
            self._monitor.curve(0.0)
            try:
                found = learning_curve(self._work, known, verdict, self._monitor.curve)
            except RankiniteError:
                return None
            if self._store is not None:
                self._store.put_curve(name, found)
        self._monitor.curve(1.0, resumed=resumed)
        return found


def _wanted(names: Sequence[str] | None, work: Groundwork) -> list[AdaptationMethod]:
    """The methods asked for, the baselines among them, in the order of simplicity; for the average alone, its parts."""
    known = {method.name: method for method in (*METHODS, AVERAGE)}
    for name in names or ():
        if name not in known:
            raise ArgumentError(
                f"there is no method {quoted(name)}",
                owner="choose",
                value=name,
                rule=f"The methods are {listed(list(known), len(known))}",
                remedy="Give some of these",
            )
    if names is None:
        return [method for method in METHODS if method.is_usual(work)]
    wanted = {*names, *BASELINES}
    if wanted == {AVERAGE.name, *BASELINES}:
        possible = [[name for name in kind if known[name].refusal(work) is None] for kind in AVERAGED]
        wanted |= {kind[0] for kind in possible if kind}
    return [method for method in METHODS if method.name in wanted]
