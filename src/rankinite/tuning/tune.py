"""Tune: search a learner's settings by cross-validation, choose, train, and say honestly what the choice is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_positive, check_seed
from rankinite.choices import Sampler
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.folds import Fold, holdouts, k_folds
from rankinite.engine.work import ProgressCallback
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import Evaluation, evaluate
from rankinite.learners.base import Learner
from rankinite.learners.training_checks import training_data
from rankinite.measures.base import Measure
from rankinite.measures.spelling import as_measures
from rankinite.tuning.evaluator import Evaluator
from rankinite.tuning.proposals import Journal, Proposer
from rankinite.tuning.result import Tuned, choose_setting, corrected_estimate
from rankinite.tuning.search import Budget, SettingsSearch
from rankinite.tuning.space import Space, space_of, with_settings
from rankinite.tuning.trials import Trial
from rankinite.workers.cluster import Where, using

TRIALS, ENDLESS = 50, 100_000
"""Trials where nothing is said of them; and where minutes are."""
ROUNDS = ("trees", "epochs", "rounds")
"""What learners call the number of their rounds."""


def tune(
    learner: Learner, train: Dataset, valid: Dataset | None = None, *, space: Space | str | Path = "default",
    folds: int = 5, trials: int | None = None, minutes: float | None = None, sampler: Sampler = "tpe", generation: int = 8,
    eager: bool = False, race: bool = True, measure: Measure | str | None = None, test: Dataset | None = None,
    outer: int | None = None, seed: int = 0, keep: Path | str | None = None, watch: ProgressCallback | None = None,
    cluster: Where | None = None,
) -> Tuned:  # fmt: skip
    """Search the settings of a learner, and train it with those chosen.

    Every setting is judged on ``folds`` of the queries: fold i is judged on part i, training stops by the next part, and learns
    from the others; with ``valid`` it is judged on that data, by which it also stops. ``space``: "default" (what practitioners
    sweep), "paper" (what paper 004 swept), a TOML file, or a mapping of settings to lists or ranges. ``sampler``: who proposes.
    ``race``: settings that are surely worse over the folds done are dropped. Proposals come in generations, told in the order
    of the trials, so that any number of workers gives the same result; with ``eager`` nobody waits, and it depends on who is
    quicker. The search ends after ``trials``, or when ``minutes`` are over and a trial is complete; without either,
    after 50 trials.

    Of all trials the smallest model within one standard error of the best is taken, and trained on all of ``train`` for the
    median of its folds' best rounds. Its value is too good; ``Tuned.estimate`` is what the choice is worth on queries that had
    no part in it. ``test`` judges the model, and ``outer`` folds the whole search, which is repeated without each.

    ``measure``: if left out, what the learner watches. ``keep``: a folder for finished fits and the journal, from which an
    interrupted search goes on, and which several searches may share. ``watch`` is called after every trial. ``cluster``: what
    makes the fits, as in :func:`rankinite.cluster`.

    >>> found = tune(LambdaMART(), train, trials=30, test=test)                                # doctest: +SKIP
    >>> found.learner, found.estimate                                                          # doctest: +SKIP
    """
    start = monotonic()
    train = _checked_data(train, valid, test)
    watched = learner.watched() if measure is None else as_measures(measure)[0]
    judged = watching(learner, watched)
    most = trials if trials is not None else TRIALS if minutes is None else ENDLESS
    plan = SearchPlan(
        space_of(space, judged, train.rows), folds, most, minutes, sampler, generation,
        eager=eager, race=race, seed=seed,
    )  # fmt: skip
    if outer is not None:
        check_count("tune", "outer", outer, 2)
    with using(cluster):
        proposer = Proposer(plan.space, judged, sampler, seed)
        tried = _searched(judged, train, valid, plan, proposer, keep, watch)
        chosen = _chosen(tried)
        final = _final(judged, chosen, valid)
        ranker = final.fit(train, valid)
        nested = None if outer is None else _nested(judged, train, outer, plan, keep)
    complete = [one for one in tried if one.state == "complete"]
    return Tuned(
        learner=final,
        chosen=chosen,
        trials=tuple(tried),
        measure=watched,
        folds=0 if valid is not None else folds,
        estimate=corrected_estimate(np.asarray([one.values() for one in complete]), [one.size for one in complete], seed=seed),
        importances=proposer.importances(),
        ranker=ranker,
        test=None if test is None else evaluate(ranker, test, [watched]),
        nested=nested,
        seconds=monotonic() - start,
        space=plan.space,
    )


def _checked_data(train: Dataset, valid: Dataset | None, test: Dataset | None) -> Dataset:
    """The queries to search by; refuses data that cannot be searched by or judged by, before anything is trained."""
    if test is not None:
        check_judged(test)
    return training_data(train, valid, None, ())


@dataclass(frozen=True)
class SearchPlan:
    """How a search goes."""

    space: Space
    folds: int
    trials: int
    minutes: float | None
    sampler: Sampler
    generation: int
    eager: bool = False
    race: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("tune", "trials", self.trials)
        check_count("tune", "generation", self.generation)
        check_seed("tune", self.seed)
        check_choice("tune", "sampler", self.sampler, get_args(Sampler))
        if self.minutes is not None:
            check_positive("tune", "minutes", self.minutes)


def _searched(
    learner: Learner,
    train: Dataset,
    valid: Dataset | None,
    plan: SearchPlan,
    proposer: Proposer,
    keep: Path | str | None,
    watch: ProgressCallback | None,
) -> list[Trial]:
    """All trials."""
    dealt = k_folds(train, plan.folds, seed=plan.seed) if valid is None else [Fold(train, valid, valid)]
    evaluator = Evaluator(learner, dealt, learner.watched(), None if keep is None else Path(keep))
    journal = None if keep is None else Journal(Path(keep), evaluator.key()[:12])
    budget = Budget(plan.trials, None if plan.minutes is None else 60.0 * plan.minutes)
    search = SettingsSearch(proposer, evaluator, budget, journal, generation=plan.generation, race=plan.race, watch=watch)
    return search.run_eagerly() if plan.eager else search.run()


def watching(learner: Learner, measure: Measure) -> Learner:
    """The learner, which stops by the measure that settings are judged by."""
    made: Any = learner
    return learner if learner.watched() == measure else replace(made, watch=measure)


def _chosen(tried: Sequence[Trial]) -> Trial:
    complete = [one for one in tried if one.state == "complete"]
    if not complete:
        why = next((one.refusal for one in tried if one.refusal), "none was finished")
        raise ArgumentError(
            f"has no setting that can be trained: {why}",
            owner="tune",
            setting="space",
            value=len(tried),
            remedy="Search others",
        )
    return complete[choose_setting(np.asarray([one.values() for one in complete]), [one.size for one in complete])]


def _final(learner: Learner, chosen: Trial, valid: Dataset | None) -> Learner:
    """The learner to train on all data: without validation data, for the rounds that were best in the folds."""
    made = with_settings(learner, chosen.settings)
    if valid is not None:
        return made
    known = made.settings()
    rounds = next((name for name in ROUNDS if name in known), None)
    return made if rounds is None else with_settings(made, {rounds: chosen.rounds, "patience": None})


def _nested(learner: Learner, train: Dataset, outer: int, plan: SearchPlan, keep: Path | str | None) -> Evaluation:
    """The search without each of the outer folds, judged on it: the value of searching so, on queries new to all of it."""
    scores = np.empty(train.rows)
    for number, part in enumerate(holdouts(train, outer, seed=plan.seed), 1):
        inner = None if keep is None else Path(keep) / f"outer-{number}"
        proposer = Proposer(plan.space, learner, plan.sampler, plan.seed)
        chosen = _chosen(_searched(learner, part.rest, None, plan, proposer, inner, None))
        scores[part.rows] = _final(learner, chosen, None).fit(part.rest).score(part.held)
    return evaluate(train.in_row_order(scores), train, [learner.watched()])
