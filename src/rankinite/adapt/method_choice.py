"""Choice of a method: all are tried, and the target's own queries decide, never the test data.

:func:`choose` checks what it is given, tries every method that the data allow (:class:`MethodTrials`), and decides
(``decision``). What was decided, and why, is a :class:`Choice`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from rankinite.adapt.choice import Choice, Refusals, reasons
from rankinite.adapt.decision import BASELINES, RISK, TOLERATE, Verdict, decide, random_orders
from rankinite.adapt.grade_scales import check_scales
from rankinite.adapt.held_out import holdouts_of, judged_queries, measurable_queries
from rankinite.adapt.learning_curve import LearningCurve, curve_methods, learning_curve
from rankinite.adapt.methods.catalogue import AVERAGE, AVERAGED, METHODS, AdaptationMethod
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.serving_costs import lost_engines, serving_costs
from rankinite.adapt.shared_fits import SharedFits, Task
from rankinite.adapt.shift import seen_shift
from rankinite.adapt.trial_store import TrialStore
from rankinite.adapt.trials import MethodTrial, TrialMonitor, average_trial, trials_to_average, try_method
from rankinite.checks import check_count, check_number, check_seed
from rankinite.choices import Batches
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.dataset_checks import check_judged
from rankinite.data.folds import held_out_batches
from rankinite.data.identity import check_apart
from rankinite.data.joining import check_same_features
from rankinite.engine.work import ProgressCallback
from rankinite.errors import ArgumentError, DataError, MeasureError, RankiniteError, listed, quoted
from rankinite.evaluation.caveats import TrainingOverlaps
from rankinite.evaluation.compare import Comparison, compare
from rankinite.measures.base import (
    FactoredMeasure,
    Measure,
    TrainableMeasure,
    factored_measures,
    require_trainable,
    sign_of,
    trainable_measures,
)
from rankinite.measures.spelling import as_measures, one_measure
from rankinite.models.base import Fitted
from rankinite.models.files.matching import match_features
from rankinite.serving.offers import refusal
from rankinite.serving.target import target_named
from rankinite.workers.cluster import Where, using


def choose(
    backgrounds: Fitted | Sequence[Fitted] | Mapping[str, Fitted], target: Dataset, valid: Dataset | None = None, *,
    background_data: Dataset | None = None, test: Dataset | None = None, shifted: Dataset | None = None,
    methods: Sequence[str] | None = None, measure: Measure | str = "ndcg@10", also: Sequence[Measure | str] = (),
    folds: int | Batches = 5, seed: int = 0, risk: float = RISK, tolerate: float = TOLERATE, same_scale: bool = False,
    tuning: Trada = Trada(), curve: bool = True, keep: Path | str | None = None, watch: ProgressCallback | None = None,  # noqa: B008 - frozen
    allow_overlap: bool = False, cluster: Where | None = None, deployable: str | None = None,
) -> Choice:  # fmt: skip
    """Adapt by every method that the material allows, and choose one by cross-validation over the target's queries.

    ``valid``: chooses numbers of rounds, weights and β; without it folds of the target do. ``test`` and ``shifted`` (queries
    of another time, say) are reported and decide nothing. ``methods``: only these, besides the baselines. ``folds``: parts
    of the target that are held out, or "batches": each of its batches, with rankers of all others. ``also``: further
    measures to report. ``risk``, ``tolerate``: the chosen method is recommended if a gain over the background is to be
    expected on new queries, unless the chance of losing more than ``tolerate``, in the unit of the measure, is above ``risk``;
    to be deployed if the gain is clear, else to be tried online.
    ``same_scale``: the grades of background and target mean the same
    even if they do not look so. ``tuning``: how forests are tuned, as in ``Trada(rate=0.1)`` for a model that does not record
    its learning rate. ``curve``: whether to see how the advantage grows with the number of target queries. ``keep``: a folder
    for finished methods, from which an interrupted run goes on; kept work of other data, settings or code is not used, and
    damaged work is made again with a note in ``warnings``. ``watch`` is called after every fit. ``cluster``: what makes the
    fits, as in :func:`rankinite.cluster`. ``deployable``: where the ranker will be served, one of :func:`rankinite.targets`;
    methods whose ranker it cannot hold do not compete.
    Queries that would be learnt from and judged by are refused unless ``allow_overlap`` is true; the result warns of queries
    that a background was trained on.

    >>> choice = choose(background, train, test=test, background_data=web)                     # doctest: +SKIP
    >>> choice.ranker.save("new-market.rankinite")                                             # doctest: +SKIP
    """
    check_number("choose", "risk", risk, 0.0, 1.0, above=True)
    check_number("choose", "tolerate", tolerate, 0.0)
    task = _task(backgrounds, target, valid, background_data, measure, folds, seed, same_scale=same_scale)
    measures = as_measures([task.measure, *also])
    if not isinstance(tuning, Trada):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        problem, remedy = "does not describe how forests are tuned", "Give for example `tuning=Trada(rate=0.1)`"
        raise ArgumentError(problem, owner="choose", setting="tuning", value=tuning, remedy=remedy)
    _check_judging(task, {"valid": valid, "test": test, "shifted": shifted}, allow_overlap=allow_overlap)
    shared = SharedFits(task, replace(tuning, same_scale=tuning.same_scale or same_scale))
    method_trials = MethodTrials(shared, methods, keep, watch, curve=curve, deployable=deployable)
    with using(cluster):
        trials = method_trials.run()
        unseen = _unseen(task, trials, measures)
        judged, sign = judged_queries(task.target, task.measure), sign_of(task.measure)
        costs = serving_costs(trials, task.target)
        verdict = decide(
            {name: sign * unseen[name][task.measure].per_query[judged] for name in unseen.systems},
            random_orders=random_orders(task.target, task.measure, task.seed),
            shift=seen_shift(shared.background, background_data, task.target, seed),
            background_queries=_queries_trained_on(shared.background),
            preferred=[name for name in costs if not lost_engines(costs, name)],
            risk=risk,
            tolerate=tolerate,
        )
        learning = method_trials.curve(trials, verdict) if curve else None
    rankers = {trial.method.name: trial.ranker for trial in trials}
    return Choice(
        verdict=verdict,
        ranker=rankers[verdict.recommended],
        measure=task.measure,
        trials=tuple(trials),
        refused=Refusals(method_trials.refused),
        unseen=unseen,
        test=None if test is None else compare(rankers, test, measures, against=BASELINES),
        shifted=None if shifted is None else compare(rankers, shifted, measures, against=BASELINES),
        curve=learning,
        backgrounds=task.backgrounds,
        forest=shared.forest,
        costs=costs,
        notes=method_trials.notes,
        deployable=deployable,
    )


def _queries_trained_on(background: Fitted) -> int | None:
    """How many queries a ranker was trained on; None where a part of it does not say."""
    sketches = [sketch for sketch in background.trained_on if sketch is not None and sketch.complete]
    return sum(sketch.queries for sketch in sketches) if sketches and len(sketches) == len(background.trained_on) else None


def _unseen(task: Task, trials: Sequence[MethodTrial], measures: Sequence[Measure]) -> Comparison:
    """The comparison on the target's queries, which no method has seen, though a background may have."""
    scores = {trial.method.name: task.target.in_row_order(trial.unseen) for trial in trials}
    unseen = compare(scores, task.target, measures, against=BASELINES)
    overlap = TrainingOverlaps(task.target).of(*task.backgrounds.values())
    return replace(unseen, evaluations={**unseen.evaluations, "background": replace(unseen["background"], overlap=overlap)})


# ---- what is given, checked before anything is trained


def _task(
    backgrounds: Any, target: Any, valid: Any, background_data: Any, measure: Measure | str,
    folds: int | Batches, seed: int, *, same_scale: bool,
) -> Task:  # fmt: skip
    """The task; refuses what cannot be adapted or judged."""
    check_seed("choose", seed)
    _check_data("target", target)
    target = without_weightless(target)
    if folds == "batches":
        held_out_batches(target)
    else:
        check_count("choose", "folds", folds, 2)
    if valid is not None:
        _check_data("valid", valid)
    named: dict[str, Any] = {**_by_name(backgrounds)}
    matched: dict[str, Any] = {
        name: match_features(ranker, target.feature_names, target.source)[0] for name, ranker in named.items()
    }
    if background_data is not None:
        _check_data("background_data", background_data)
        check_same_features(target, background_data)
        check_scales(background_data, target, same_scale=same_scale)
    judge = _combining(require_trainable(one_measure("choose", "measure", measure)))
    judged_queries(target, judge, 3 if valid is None else 2)  # folds hold one out, and tune by folds of the others
    return Task(matched, target, judge, valid, background_data, folds, seed)


def _check_judging(task: Task, judging: Mapping[str, Any], *, allow_overlap: bool) -> None:
    """Refuse data that cannot tell which ranker is better, or that share queries with what is learnt from."""
    for name, data in judging.items():
        if data is not None:
            _check_data(name, data)
            check_same_features(task.target, data)
            if not len(measurable_queries(data, task.measure)):
                problem = "no query has documents of different grades, so it cannot judge"
                raise DataError(problem, place=data.source, value=name, remedy=f"Leave out `{name}`")
    learnt = {"target": task.target, "valid": task.valid, "background_data": task.background_data}
    check_apart(learnt, {"target": task.target, **judging}, allow_overlap=allow_overlap)


def _combining(measure: TrainableMeasure) -> TrainableMeasure:
    """The measure, known to be one by which rankers can be combined; refuses others."""
    if isinstance(measure, FactoredMeasure):
        return measure
    raise MeasureError(
        f"{measure} cannot choose between methods, some of which combine rankers exactly",
        place="choose",
        value=str(measure),
        rule=f"Those that can are {', '.join(name for name in trainable_measures() if name in factored_measures())}",
        remedy="Choose by one of them and compare the rankers by yours, or adapt with one method, such as `adapt.smart`",
        shell_remedy="Choose by one of them, and compare the rankers by yours",
    )


def _by_name(backgrounds: Any) -> dict[str, Any]:
    """The backgrounds by name; by number, counted from 1, if they have none."""
    if isinstance(backgrounds, Mapping):
        named = {str(name): ranker for name, ranker in backgrounds.items()}
    elif isinstance(backgrounds, Sequence) and not isinstance(backgrounds, str):
        named = {str(number): ranker for number, ranker in enumerate(backgrounds, 1)}
    else:
        named = {"background": cast("Any", backgrounds)}
    if not named:
        remedy = "Give at least one; without any, train on the target alone"
        raise ArgumentError("there is no background ranker", value=0, remedy=remedy)
    for name, ranker in named.items():
        if not isinstance(ranker, Fitted):
            raise ArgumentError(
                f"{quoted(ranker)} is no ranker of rankinite",
                place=f"ranker {name!r}",
                value=ranker,
                remedy="Load one with rankinite.load",
            )
    return named


def _check_data(name: str, data: Any) -> None:
    if not isinstance(data, Dataset):
        kind = type(data).__name__
        raise DataError(f"this is a {kind}", place=name, value=kind, remedy="Give a Dataset, as rankinite.read returns")
    check_judged(data)


# ---- the methods, tried one after the other


class MethodTrials:
    """The methods asked for, those of them that can be tried, and the work that is finished."""

    def __init__(
        self,
        shared: SharedFits,
        asked: Sequence[str] | None,
        keep: Path | str | None,
        watch: ProgressCallback | None,
        *,
        curve: bool,
        deployable: str | None = None,
    ) -> None:
        self._shared, self._asked, self._deployable = shared, asked, deployable
        if deployable is not None:
            target_named(deployable, "deployable")
        wanted = _wanted(asked, shared)
        refusals = {method.name: method.refusal(shared) for method in wanted}
        self.refused: dict[str, RankiniteError] = {name: why for name, why in refusals.items() if why is not None}
        """Methods that cannot be tried, and why."""
        self._tried = [method for method in wanted if method.name not in self.refused]
        if asked and self.refused and set(self.refused) >= {*asked} - {*BASELINES}:
            raise ArgumentError(
                "names no method that can be tried",
                owner="choose",
                setting="methods",
                value=list(asked),
                remedy=reasons(self.refused),
                shell_remedy=reasons(self.refused, at_shell=True),
            )
        self._unserved: list[str] = []
        self._store = None if keep is None else TrialStore(keep, shared.task, shared.tuning)
        self._monitor = TrialMonitor(watch, self._tried, curve=curve)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which kept work could not be used, and which baselines could not be served, and why."""
        return (*(() if self._store is None else self._store.notes), *self._unserved)

    def run(self) -> list[MethodTrial]:
        """Try all methods, and the average if it is asked for; those that refuse the task after all join the ones refused."""
        task = self._shared.task
        parts = holdouts_of(task.target, task.measure, task.folds, task.seed)
        tasks = [*(self._shared.on(part.rest) for part in parts), self._shared]  # each remembers what several methods need
        trials: list[MethodTrial] = []
        for method in self._tried:
            trial = None if self._store is None else self._store.get(method)
            resumed = trial is not None
            if trial is None:
                try:
                    trial = try_method(method, tasks, parts, partial(self._monitor.fitted, method))
                except RankiniteError as problem:  # a foreign forest without node counts, an infinite feature, …
                    if method.kind == "baseline":
                        raise
                    self.refused[method.name] = problem
                    continue
                if self._store is not None:
                    self._store.put(trial)
            self._monitor.finished(method, resumed=resumed)
            if self._can_be_served(trial):
                trials.append(trial)
        if self._asked is None or AVERAGE.name in self._asked:
            average = average_trial(trials, parts)
            if average is None:
                problem = "It needs two unlike methods whose scores vary"
                self.refused[AVERAGE.name] = ArgumentError(problem, value=len(trials), remedy="Try more methods")
            else:
                trials.append(average)
        return trials

    def _can_be_served(self, trial: MethodTrial) -> bool:
        """Whether a trial's ranker can be deployed where it is asked for; baselines are compared with in any case."""
        problem = None if self._deployable is None else refusal(trial.ranker, self._deployable)
        if problem is None:
            return True
        if trial.method.kind == "baseline":
            self._unserved.append(f"{trial.method.name}: {problem.text()}")
            return True
        self.refused[trial.method.name] = problem
        return False

    def curve(self, trials: Sequence[MethodTrial], verdict: Verdict) -> LearningCurve | None:
        """The learning curve; None where the method chosen cannot be fitted to fewer queries."""
        known: Mapping[str, MethodTrial] = {trial.method.name: trial for trial in trials}
        made_of = [trial.method.name for trial in trials_to_average(trials)] if verdict.name == AVERAGE.name else []
        name = "+".join(["curve", verdict.name, *made_of])
        curve = None if self._store is None else self._store.get_curve(name, curve_methods(known, verdict))
        resumed = curve is not None
        if curve is None:
            self._monitor.curve(0.0)
            try:
                curve = learning_curve(self._shared, known, verdict, self._monitor.curve)
            except RankiniteError:
                return None
            if self._store is not None:
                self._store.put_curve(name, curve)
        self._monitor.curve(1.0, resumed=resumed)
        return curve


def _wanted(names: Sequence[str] | None, shared: SharedFits) -> list[AdaptationMethod]:
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
        return [method for method in METHODS if method.is_usual(shared)]
    wanted = {*names, *BASELINES}
    if wanted == {AVERAGE.name, *BASELINES}:
        possible = [[name for name in kind if known[name].refusal(shared) is None] for kind in AVERAGED]
        wanted |= {kind[0] for kind in possible if kind}
    return [method for method in METHODS if method.name in wanted]
