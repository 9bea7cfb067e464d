"""Inputs of a choice between methods: the task and the data to judge by, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rankinite.adapt.guards.grade_scales import check_scales
from rankinite.adapt.held_out import judged_in, judged_queries
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.task import Task
from rankinite.checks import check_count, check_number, check_seed
from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.dataset_edits import without_weightless
from rankinite.data.folds import held_out_batches
from rankinite.data.joining import check_same_features
from rankinite.data.overlap import check_apart
from rankinite.errors import ArgumentError, DataError, MeasureError, quoted
from rankinite.evaluation.inputs import one_measure
from rankinite.gradients.lambdas import trainable
from rankinite.measures.base import Measure, PartedMeasure, TrainableMeasure, parted_measures, trainable_measures
from rankinite.models.base import Fitted
from rankinite.models.files.matching import match_features


def checked_task(
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
    named: dict[str, Any] = {**_named(backgrounds)}
    matched: dict[str, Any] = {
        name: match_features(ranker, target.feature_names, target.source)[0] for name, ranker in named.items()
    }
    if background_data is not None:
        _check_data("background_data", background_data)
        check_same_features(target, background_data)
        check_scales(background_data, target, same_scale=same_scale)
    judge = _combining(trainable(one_measure("choose", "measure", measure)))
    judged_queries(target, judge, 3 if valid is None else 2)  # folds hold one out, and tune by folds of the others
    return Task(matched, target, judge, valid, background_data, folds, seed)


def check_judging(task: Task, judging: Mapping[str, Any], *, allow_overlap: bool) -> None:
    """Refuse data that cannot tell which ranker is better, or that share queries with what is learnt from."""
    for name, data in judging.items():
        if data is not None:
            _check_data(name, data)
            check_same_features(task.target, data)
            if not len(judged_in(data, task.measure)):
                problem = "no query has documents of different grades, so it cannot judge"
                raise DataError(problem, place=data.source, value=name, remedy=f"Leave out `{name}`")
    learnt = {"target": task.target, "valid": task.valid, "background_data": task.background_data}
    check_apart(learnt, {"target": task.target, **judging}, allow_overlap=allow_overlap)


def check_risk(risk: Any, tolerate: Any) -> None:
    """Refuse what bounds no chance or no loss."""
    check_number("choose", "risk", risk, 0.0, 1.0, above=True)
    check_number("choose", "tolerate", tolerate, 0.0)


def check_tuning(tuning: Any) -> Trada:
    """Refuse what are no settings of Trada."""
    if not isinstance(tuning, Trada):
        problem, remedy = "does not describe how forests are tuned", "Give for example `tuning=Trada(rate=0.1)`"
        raise ArgumentError(problem, owner="choose", setting="tuning", value=tuning, remedy=remedy)
    return tuning


def _combining(measure: TrainableMeasure) -> TrainableMeasure:
    """The measure, known to be one by which rankers can be combined; refuses others."""
    if isinstance(measure, PartedMeasure):
        return measure
    raise MeasureError(
        f"{measure} cannot choose between methods, some of which combine rankers exactly",
        place="choose",
        value=str(measure),
        rule=f"Those that can are {', '.join(name for name in trainable_measures() if name in parted_measures())}",
        remedy="Choose by one of them and compare the rankers by yours, or adapt with one method, such as `adapt.smart`",
        shell_remedy="Choose by one of them, and compare the rankers by yours",
    )


def _named(backgrounds: Any) -> dict[str, Any]:
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
