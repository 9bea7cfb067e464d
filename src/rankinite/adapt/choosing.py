"""Every method tried, one chosen: by the target's own queries, never by the test data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from rankinite.adapt.decision import BASELINES, Verdict, decide
from rankinite.adapt.guards.grade_scales import check_scales
from rankinite.adapt.held_out import judged_in, judged_queries, parts_of
from rankinite.adapt.learning_curve import LearningCurve, curve_methods, learning_curve
from rankinite.adapt.methods.catalogue import AVERAGE, AVERAGED, METHODS, Method, refusal_of
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.result import Choice
from rankinite.adapt.task import Task
from rankinite.adapt.trial import Telling, Trial, Watching, averaged, members, try_method
from rankinite.adapt.trial_cache import TrialStore
from rankinite.checks import check_count, check_number, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.joining import check_same_features
from rankinite.data.overlap import check_apart
from rankinite.errors import ArgumentError, DataError, RankiniteError, listed
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.inputs import as_measures, one_measure
from rankinite.evaluation.training_overlap import TrainingOverlaps
from rankinite.gradients.lambdas import trainable
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.models.files.matching import match_features


def choose(
    backgrounds: Fitted | Sequence[Fitted] | Mapping[str, Fitted],
    target: Dataset,
    valid: Dataset | None = None,
    *,
    background_data: Dataset | None = None,
    test: Dataset | None = None,
    shifted: Dataset | None = None,
    methods: Sequence[str] | None = None,
    measure: Measure | str = "ndcg@10",
    also: Sequence[Measure | str] = (),
    folds: int = 5,
    seed: int = 0,
    confidence: float = 0.8,
    same_scale: bool = False,
    tuning: Trada = Trada(),  # noqa: B008 - frozen
    curve: bool = True,
    keep: Path | str | None = None,
    watch: Watching | None = None,
    allow_overlap: bool = False,
) -> Choice:
    """Adapt by every method that the material allows, and choose one by cross-validation over the target's queries.

    ``valid``: chooses numbers of rounds, weights and β; folds of the target do without. ``test`` and ``shifted`` (queries
    of another time, say) are reported and decide nothing. ``methods``: only these, besides the baselines. ``also``: further
    measures to report. ``confidence``: how sure one must be that the chosen method beats the background before it is
    recommended. ``same_scale``: the grades of background and target mean the same even if it does not look so. ``tuning``:
    how forests are tuned, as in ``Trada(rate=0.1)`` for a model that does not say its learning rate. ``curve``: whether to
    see how the advantage grows with the number of target queries. ``keep``: a folder for finished methods, from which an
    interrupted run goes on; what there is of other data, settings or code is not used, and what is damaged is made again with
    a note in ``warnings``. ``watch`` is told of every fit. Queries that would be learnt from and judged by are refused unless
    ``allow_overlap`` is true; the result warns of queries that a background was trained on.

    >>> choice = choose(background, train, test=test, background_data=web)                     # doctest: +SKIP
    >>> choice.ranker.save("new-market.rankinite")                                             # doctest: +SKIP
    """
    check_number("choose", "confidence", confidence, 0.0, 1.0, above=True)
    task = _task(backgrounds, target, valid, background_data, measure, folds, seed, same_scale, tuning)
    measures = as_measures([task.measure, *also])
    judging = {"valid": valid, "test": test, "shifted": shifted}
    for name, data in judging.items():
        if data is not None:
            _check_judging(name, data, task)
    learnt = {"target": target, "valid": valid, "background_data": background_data}
    check_apart(learnt, {"target": target, **judging}, allow_overlap=allow_overlap)
    tried, refused = _sorted_out(_asked(methods, task), task)
    if methods and refused and set(refused) >= {*methods} - {*BASELINES}:
        reasons = "; ".join(f"{name} {why}" for name, why in refused.items())
        raise ArgumentError(f"none of the methods asked for can be tried: {reasons}. Give what they need, or ask for others.")
    kept = None if keep is None else TrialStore(keep, task)
    telling = Telling(watch, tried, curve=curve)
    trials = _trials(task, tried, kept, telling, refused)
    if methods is None or AVERAGE.name in methods:
        found = averaged(trials, parts_of(target, task.measure, folds, seed))
        trials += found
        if not found:
            refused[AVERAGE.name] = "needs two unlike methods whose scores vary"
    known = {trial.method.name: trial for trial in trials}
    judged = judged_queries(target, task.measure)
    unseen = _unseen(task, {name: trial.unseen for name, trial in known.items()}, measures)
    sign = sign_of(task.measure)
    values = {name: sign * unseen[name][task.measure].per_query[judged] for name in known}
    verdict = decide(values, confidence=confidence)
    fitted = {name: trial.ranker for name, trial in known.items()}
    learnt_by_size = _curve(task, known, verdict, kept, telling) if curve else None
    return Choice(
        verdict=verdict,
        ranker=fitted[verdict.recommended],
        measure=task.measure,
        trials=tuple(trials),
        refused=refused,
        backgrounds=task.backgrounds,
        forest=task.forest,
        unseen=unseen,
        test=None if test is None else _compared(fitted, test, measures),
        shifted=None if shifted is None else _compared(fitted, shifted, measures),
        curve=learnt_by_size,
        notes=() if kept is None else tuple(kept.notes),
    )


def _task(
    backgrounds: Any, target: Any, valid: Any, background_data: Any, measure: Measure | str, folds: int, seed: int,
    same_scale: bool, tuning: Any,
) -> Task:  # fmt: skip
    """The task, checked."""
    check_count("choose", "folds", folds, 2)
    check_seed("choose", seed)
    _check_data("target", target)
    if isinstance(backgrounds, Mapping):
        named = {str(name): ranker for name, ranker in backgrounds.items()}
    elif isinstance(backgrounds, Sequence) and not isinstance(backgrounds, str):
        named = {str(number): ranker for number, ranker in enumerate(backgrounds, 1)}
    else:
        named = {"background": cast("Any", backgrounds)}
    if not named:
        raise ArgumentError("there is no background ranker. Give at least one; without any, train on the target alone.")
    for name, ranker in named.items():
        if not isinstance(ranker, Fitted):
            raise ArgumentError(f"ranker {name!r}: {ranker!r} is no ranker of rankinite. Load one with rankinite.load.")
    matched: dict[str, Any] = {
        name: match_features(ranker, target.feature_names, target.source)[0] for name, ranker in named.items()
    }
    if background_data is not None:
        _check_data("background_data", background_data)
        check_same_features(target, background_data)
        check_scales(background_data, target, same_scale=same_scale)
    judge = trainable(one_measure("choose", "measure", measure))
    if not isinstance(tuning, Trada):
        raise ArgumentError(f"tuning={tuning!r} does not say how forests are tuned. Give for example Trada(rate=0.1).")
    how = replace(tuning, same_scale=same_scale or tuning.same_scale)
    task = Task(matched, target, judge, valid, background_data, folds, seed, how)
    judged_queries(target, task.measure, 3 if valid is None else 2)  # folds leave one out, and tune by folds of what is left
    return task


def _check_data(name: str, data: Any) -> None:
    if not isinstance(data, Dataset):
        raise DataError(f"{name} is a {type(data).__name__}. Give a Dataset, as rankinite.read returns.")


def _check_judging(name: str, data: Any, task: Task) -> None:
    """Refuse data that cannot say which ranker is better, before anything is trained."""
    _check_data(name, data)
    check_same_features(task.target, data)
    if not len(judged_in(data, task.measure)):
        raise DataError(f"{data.source}: no query has documents of different grades, so it cannot judge. Leave out {name}.")


def _asked(names: Sequence[str] | None, task: Task) -> list[Method]:
    """The methods asked for, the baselines among them, in the order of simplicity; for the average alone, its parts."""
    known = {method.name: method for method in (*METHODS, AVERAGE)}
    for name in names or ():
        if name not in known:
            raise ArgumentError(f"there is no method {name!r}. The methods are {listed(list(known), 20)}.")
    if names is None:
        return [method for method in METHODS if method.is_usual(task)]
    wanted = {*names, *BASELINES}
    if wanted == {AVERAGE.name, *BASELINES}:
        able = [[name for name in kind if known[name].refusal(task) is None] for kind in AVERAGED]
        wanted |= {kind[0] for kind in able if kind}
    return [method for method in METHODS if method.name in wanted]


def _sorted_out(methods: Sequence[Method], task: Task) -> tuple[list[Method], dict[str, str]]:
    """Those that can be tried, and why the others cannot."""
    reasons = {method.name: method.refusal(task) for method in methods}
    return [m for m in methods if reasons[m.name] is None], {name: why for name, why in reasons.items() if why is not None}


def _trials(
    task: Task, methods: Sequence[Method], kept: TrialStore | None, telling: Telling, refused: dict[str, str]
) -> list[Trial]:
    """Try all methods; those that refuse these rankers or data after all join the ones refused."""
    parts = parts_of(task.target, task.measure, task.folds, task.seed)
    tasks = [*(task.on(part.rest) for part in parts), task]  # each remembers what several methods need
    trials: list[Trial] = []
    for method in methods:
        trial = None if kept is None else kept.get(method)
        resumed = trial is not None
        if trial is None:
            try:
                trial = try_method(method, tasks, parts, partial(telling.of, method))
            except RankiniteError as problem:  # a foreign forest without node counts, an infinite feature, …
                if method.kind == "baseline":
                    raise
                refused[method.name] = refusal_of(problem)
                continue
            if kept is not None:
                kept.put(trial)
        telling.finished(method, resumed=resumed)
        trials.append(trial)
    return trials


def _curve(
    task: Task, known: Mapping[str, Trial], verdict: Verdict, kept: TrialStore | None, telling: Telling
) -> LearningCurve | None:
    """The learning curve; None where the method chosen cannot be fitted to fewer queries."""
    made_of = [trial.method.name for trial in members(known.values())] if verdict.name == AVERAGE.name else []
    name = "+".join(["curve", verdict.name, *made_of])
    found = None if kept is None else kept.get_curve(name, curve_methods(known, verdict))
    resumed = found is not None
    if found is None:
        telling.curve(0.0)
        try:
            found = learning_curve(task, known, verdict, telling.curve)
        except RankiniteError:
            return None
        if kept is not None:
            kept.put_curve(name, found)
    telling.curve(1.0, resumed=resumed)
    return found


def _unseen(task: Task, scores: Mapping[str, Any], measures: Sequence[Measure]) -> Comparison:
    """The comparison on the target's queries, which no method has seen, though a background may."""
    found = _compared(scores, task.target, measures)
    overlap = TrainingOverlaps(task.target).of(*task.backgrounds.values())
    return replace(found, evaluations={**found.evaluations, "background": replace(found["background"], overlap=overlap)})


def _compared(rankers: Mapping[str, Any], data: Dataset, measures: Sequence[Measure]) -> Comparison:
    return compare(rankers, data, measures, against=BASELINES)
