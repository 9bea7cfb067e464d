"""Choice of a method: all are tried, and the target's own queries decide, never the test data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankinite.adapt.choice_inputs import check_judging, check_risk, check_tuning, checked_task
from rankinite.adapt.contest import Contest
from rankinite.adapt.decision import BASELINES, RISK, TOLERATE, decide, random_orders
from rankinite.adapt.groundwork import Groundwork
from rankinite.adapt.held_out import judged_queries
from rankinite.adapt.methods.trada import Trada
from rankinite.adapt.refusals import Refusals
from rankinite.adapt.result import Choice
from rankinite.adapt.serving_costs import lost_engines, serving_costs
from rankinite.adapt.shift import seen_shift
from rankinite.adapt.task import Task
from rankinite.adapt.trial import Trial, Watching
from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.evaluation.caveats import TrainingOverlaps
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.inputs import as_measures
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.workers.cluster import Where, using


def choose(
    backgrounds: Fitted | Sequence[Fitted] | Mapping[str, Fitted], target: Dataset, valid: Dataset | None = None, *,
    background_data: Dataset | None = None, test: Dataset | None = None, shifted: Dataset | None = None,
    methods: Sequence[str] | None = None, measure: Measure | str = "ndcg@10", also: Sequence[Measure | str] = (),
    folds: int | Batches = 5, seed: int = 0, risk: float = RISK, tolerate: float = TOLERATE, same_scale: bool = False,
    tuning: Trada = Trada(), curve: bool = True, keep: Path | str | None = None, watch: Watching | None = None,  # noqa: B008 - frozen
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
    check_risk(risk, tolerate)
    task = checked_task(backgrounds, target, valid, background_data, measure, folds, seed, same_scale=same_scale)
    measures, tuning = as_measures([task.measure, *also]), check_tuning(tuning)
    check_judging(task, {"valid": valid, "test": test, "shifted": shifted}, allow_overlap=allow_overlap)
    work = Groundwork(task, replace(tuning, same_scale=tuning.same_scale or same_scale))
    contest = Contest(work, methods, keep, watch, curve=curve, deployable=deployable)
    with using(cluster):
        trials = contest.trials()
        unseen = _unseen(task, trials, measures)
        by_chance = random_orders(task.target, task.measure, task.seed)
        costs = serving_costs(trials, task.target)
        served = [name for name in costs if not lost_engines(costs, name)]
        shift = seen_shift(work.background, background_data, task.target, seed)
        verdict = decide(
            _values(unseen, task), random_orders=by_chance, shift=shift, background_queries=_trained_on(work.background),
            preferred=served, risk=risk, tolerate=tolerate,
        )  # fmt: skip
        rankers = {trial.method.name: trial.ranker for trial in trials}
        learning_curve = contest.curve(trials, verdict) if curve else None
    return Choice(
        verdict, rankers[verdict.recommended], task.measure, tuple(trials), Refusals(contest.refused), unseen,
        test=_compared(rankers, test, measures), shifted=_compared(rankers, shifted, measures), curve=learning_curve,
        backgrounds=task.backgrounds, forest=work.forest, notes=contest.notes,
        costs=costs, deployable=deployable,
    )  # fmt: skip


def _trained_on(background: Fitted) -> int | None:
    """How many queries a ranker was trained on; None where a part of it does not say."""
    sketches = [sketch for sketch in background.trained_on if sketch is not None and sketch.complete]
    return sum(sketch.queries for sketch in sketches) if sketches and len(sketches) == len(background.trained_on) else None


def _unseen(task: Task, trials: Sequence[Trial], measures: Sequence[Measure]) -> Comparison:
    """The comparison on the target's queries, which no method has seen, though a background may have."""
    found = _compared({trial.method.name: task.target.in_row_order(trial.unseen) for trial in trials}, task.target, measures)
    assert found is not None
    overlap = TrainingOverlaps(task.target).of(*task.backgrounds.values())
    return replace(found, evaluations={**found.evaluations, "background": replace(found["background"], overlap=overlap)})


def _values(unseen: Comparison, task: Task) -> dict[str, Floats]:
    """What decides: the measure of every method on every judged query, higher being better."""
    judged, sign = judged_queries(task.target, task.measure), sign_of(task.measure)
    return {name: sign * unseen[name][task.measure].per_query[judged] for name in unseen.systems}


def _compared(rankers: Mapping[str, Any], data: Dataset | None, measures: Sequence[Measure]) -> Comparison | None:
    return None if data is None else compare(rankers, data, measures, against=BASELINES)
