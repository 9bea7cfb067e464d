"""Proposer: which settings to try next, asked of Optuna; Journal: finished trials in Optuna's own file.

Proposals of a generation depend on the seed, the generation's number and the results of earlier generations alone, which are
told in the order of the trials. So any number of workers gives the same search, and an interrupted one goes on as it was.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.choices import Sampler
from rankinite.engine.file_locks import locked
from rankinite.errors import ArgumentError, DataError, RankiniteError
from rankinite.learners.base import Learner, plain_setting
from rankinite.seeds import generator
from rankinite.tuning.space import Choices, Range, Space, is_whole
from rankinite.tuning.trials import Trial

MOST_REPEATS = 20
"""How often a setting that was tried before is proposed anew; small spaces run out."""

FEW = 10
"""With fewer complete trials nothing is said of which settings matter."""


def optuna_library() -> Any:
    """Optuna, if it is installed."""
    try:
        import optuna
    except ImportError as problem:
        remedy = "Install it with: pip install 'rankinite[tune]'"
        raise RankiniteError("tuning needs Optuna, which is not installed", value="optuna", remedy=remedy) from problem
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


class Proposer:
    """A study in memory, which learns from finished trials and proposes new ones."""

    def __init__(self, space: Space, learner: Learner, sampler: Sampler, seed: int) -> None:
        self._space, self._sampler, self._seed = space, sampler, seed
        self._optuna = optuna_library()
        self._study = self._optuna.create_study(direction="maximize")
        self.distributions = {name: self._distribution(searched, learner, name) for name, searched in space.items()}
        """What Optuna calls the values of each setting."""
        self._running: dict[int, Any] = {}
        self._seen: set[str] = set()
        self._size = math.prod(_count(one) for one in self.distributions.values())
        self._grid = self._shuffled_grid() if sampler == "grid" else None
        self._first = self._given(learner)

    def propose(self, generation: int, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Settings for trials of these numbers; fewer where all are tried. The first of all is the learner as it is given."""
        self._study.sampler = self._made_sampler(generation)
        return {number: settings for number in numbers if (settings := self._next(number)) is not None}

    def _next(self, number: int) -> dict[str, Any] | None:
        if self._grid is not None:
            if number >= len(self._grid):
                return None
            self._study.enqueue_trial(self._labels(self._grid[number]))
        elif len(self._seen) >= self._size:
            return None
        elif number == 0 and self._first is not None:
            self._study.enqueue_trial(self._labels(self._first))
        for repeat in range(MOST_REPEATS):
            trial = self._study.ask(self.distributions)
            settings = self.settings_of(trial.params)
            if str(settings) not in self._seen or repeat == MOST_REPEATS - 1:
                self._seen.add(str(settings))
                self._running[number] = trial
                return settings
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            self._study.sampler = self._optuna.samplers.RandomSampler(self._number(number, repeat + 1))
        return None

    def tell(self, tried: Trial) -> None:
        """Take note of a trial that is finished; what other processes have tried counts too."""
        trial = self._running.pop(tried.number, None)
        if trial is None:
            self._seen.add(str(tried.settings))
            self._study.add_trial(self.frozen(tried))
            return
        for fold, value in enumerate(tried.running_means()):
            trial.report(value, fold)
        states = self._optuna.trial.TrialState
        if tried.state == "complete":
            self._study.tell(trial, tried.mean)
        else:
            self._study.tell(trial, state=states.PRUNED if tried.state == "dropped" else states.FAIL)

    def frozen(self, tried: Trial, **facts: Any) -> Any:
        """A finished trial as Optuna has it."""
        states = self._optuna.trial.TrialState
        state = {"complete": states.COMPLETE, "dropped": states.PRUNED}.get(tried.state, states.FAIL)
        return self._optuna.trial.create_trial(
            state=state,
            value=tried.mean if tried.state == "complete" else None,
            params=self._labels(tried.settings),
            distributions=self.distributions,
            intermediate_values=dict(enumerate(tried.running_means())),
            user_attrs=facts,
        )

    def importances(self) -> dict[str, float]:
        """How much each setting matters; empty where too little was tried to say."""
        complete = [trial for trial in self._study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
        if len(complete) < FEW:
            return {}
        evaluator = self._optuna.importance.PedAnovaImportanceEvaluator()
        try:
            found: Mapping[str, float] = self._optuna.importance.get_param_importances(self._study, evaluator=evaluator)
        except (ValueError, RuntimeError, ZeroDivisionError):
            return {}
        return {name: float(value) for name, value in found.items() if np.isfinite(value)}

    def settings_of(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that Optuna's values stand for."""
        found: dict[str, Any] = {}
        for name, searched in self._space.items():
            value = params[name]
            if isinstance(searched, Choices):
                value = next(one for one in searched.values if _label(one) == value)
            found[name] = value
        return found

    def _labels(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: _label(settings[name]) if isinstance(searched, Choices) else settings[name]
            for name, searched in self._space.items()
        }

    def _distribution(self, searched: Choices | Range, learner: Learner, name: str) -> Any:
        kinds = self._optuna.distributions
        if isinstance(searched, Choices):
            return kinds.CategoricalDistribution([_label(value) for value in searched.values])
        if is_whole(learner, name):
            step = {} if searched.step is None else {"step": int(searched.step)}
            return kinds.IntDistribution(int(searched.low), int(searched.high), log=searched.log, **step)
        return kinds.FloatDistribution(float(searched.low), float(searched.high), log=searched.log, step=searched.step)

    def _given(self, learner: Learner) -> dict[str, Any] | None:
        """The learner's own settings, where the space has them."""
        given = {name: getattr(learner, name) for name in self._space}
        for name, value in given.items():
            searched = self._space[name]
            if isinstance(searched, Choices):
                if value not in searched.values:
                    return None
            elif value is None or not searched.low <= value <= searched.high or searched.step is not None:
                return None
        return given

    def _made_sampler(self, generation: int) -> Any:
        samplers, seed = self._optuna.samplers, self._number(generation)
        if self._sampler == "tpe":
            return samplers.TPESampler(seed=seed, n_startup_trials=10, multivariate=True, constant_liar=True)
        return samplers.RandomSampler(seed)

    def _number(self, *parts: int) -> int:
        return int(generator(self._seed, *parts).integers(1 << 31))

    def _shuffled_grid(self) -> list[dict[str, Any]]:
        """All settings of the space, in an order in which the first are as good as any others."""
        axes: list[list[Any]] = []
        for name, searched in self._space.items():
            if isinstance(searched, Range) and searched.step is None:
                raise ArgumentError(
                    f"has no end of values of {name}, so that there is no grid of them",
                    setting="space",
                    value=name,
                    remedy="Give a list of values or a step, or another `sampler`",
                )
            axes.append(_listed(searched, self.distributions[name]))
        every = [dict(zip(self._space, values, strict=True)) for values in itertools.product(*axes)]
        return [every[place] for place in generator(self._seed).permutation(len(every))]


def _listed(searched: Choices | Range, distribution: Any) -> list[Any]:
    if isinstance(searched, Choices):
        return list(searched.values)
    steps = int((distribution.high - distribution.low) / distribution.step + 1e-9)
    return [distribution.low + place * distribution.step for place in range(steps + 1)]


def _count(distribution: Any) -> float:
    """How many values Optuna may propose."""
    choices = getattr(distribution, "choices", None)
    if choices is not None:
        return len(choices)
    step = distribution.step
    return math.inf if step is None else math.floor((distribution.high - distribution.low) / step + 1e-9) + 1


def _label(value: Any) -> Any:
    """A value as Optuna's categories have it: a number or a text."""
    plain = plain_setting(value)
    return str(plain) if isinstance(plain, list) else plain


STUDY = "rankinite"
ID = "rankinite_id"


class Journal:
    """The file ``journal.log`` of a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        optuna = optuna_library()
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = folder / "journal.lock"
        journal = optuna.storages.journal
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that journals are experimental
            storage = optuna.storages.JournalStorage(journal.JournalFileBackend(str(folder / "journal.log")))
        try:
            with locked(self._lock):
                study_name = f"{STUDY} {name}"
                self._study = optuna.create_study(
                    study_name=study_name, storage=storage, direction="maximize", load_if_exists=True
                )
        except (ValueError, KeyError, TypeError) as problem:
            place = folder / "journal.log"
            raise DataError(
                f"this journal cannot be read ({problem})",
                place=place,
                value=str(place),
                remedy="Remove it, or give another folder",
            ) from problem

    def add(self, tried: Trial, identity: str, proposer: Proposer) -> None:
        """Write a finished trial, unless it is there: a search that goes on, or another one, comes to it again."""
        with locked(self._lock):
            known = {trial.user_attrs.get(ID) for trial in self._study.get_trials(deepcopy=False)}
            if identity not in known:
                self._study.add_trial(proposer.frozen(tried, **{ID: identity, "state": tried.state}))

    def others(self, known: set[str]) -> Generator[tuple[str, dict[str, Any]]]:
        """The identities and values of trials that are not among those known."""
        for trial in self._study.get_trials(deepcopy=False):
            identity = trial.user_attrs.get(ID)
            if identity is not None and identity not in known:
                yield identity, trial.params
