"""The experiment behind paper 000, Figures 3 and 4 (§5.6): trees weighed by Newton's steps or by the exact optimal combiner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.folds import Fold
from rankinite.evaluation.evaluate import evaluate
from rankinite.learners.base import Progress
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures import NDCG
from rankinite.models.forest import Forest
from rankinite.reproduce.data_sets import fold_cases, letor_folds
from rankinite.reproduce.experiment import Case, Experiment, Lab
from rankinite.reproduce.outcome import Outcome, Points, judged
from rankinite.reproduce.paper_000.worlds import artificial

MEASURE = NDCG(10)
ARTIFICIAL, WEB = "artificial", "mq2007"
TRAIN, TEST, ALPHA = "training", "test", "α"
NEWTON, EXACT, CONSTANT = "Newton", "OC", "constant α"
SLOW, SHRUNK, WIDE = "Newton, rate 0.1", "OC, rate 0.1", "OC, α up to 20"
"""Where the paper can be read in another way."""
LOW, HIGH, WIDER = 0.1, 5.0, 20.0
"""The range of α that the paper gives for its web data, and a wider one."""


def learner(lab: Lab, leaves: int, rate: float, *, low: float = LOW, high: float | None = None) -> LambdaMART:
    """LambdaMART with Newton's steps; or, with a range, leaves of the mean λ times the α best on the validation queries."""
    step: dict[str, Any] = {"step": "newton"}
    if high is not None:
        step = {"step": "exact", "step_low": low, "step_high": high, "step_data": "valid"}
    return LambdaMART.paper(measure=MEASURE, trees=lab.size(300, 20), leaves=leaves, rate=rate, patience=None, seed=0, **step)


def contenders(lab: Lab, *, real: bool) -> dict[str, LambdaMART]:
    """10 leaves without shrinkage on artificial data; 15 leaves on web data, where Newton's steps are shrunk by 0.1."""
    if real:
        return {
            NEWTON: learner(lab, 15, 0.1),
            EXACT: learner(lab, 15, 1.0, high=HIGH),
            SHRUNK: learner(lab, 15, 0.1, high=HIGH),
        }
    return {
        NEWTON: learner(lab, 10, 1.0),
        SLOW: learner(lab, 10, 0.1),
        EXACT: learner(lab, 10, 1.0, high=HIGH),
        WIDE: learner(lab, 10, 1.0, high=WIDER),
    }


def cases(lab: Lab) -> Sequence[Case]:
    """The artificial data, and LETOR's folds in place of the paper's web data."""
    return [Case(ARTIFICIAL, ARTIFICIAL, seconds=150.0), *fold_cases(WEB, lab, 12.0)]


def run(case: Case, lab: Lab) -> Outcome:
    """Follow NDCG@10 on training and test queries tree by tree, and judge forests cut where validation queries say."""
    fold = letor_folds(lab, WEB)[case.settings["fold"] - 1] if case.real else artificial(lab)
    curves: dict[str, dict[str, Points]] = {TRAIN: {}, TEST: {}, ALPHA: {}}
    cut: dict[str, Forest] = {}
    for name, own in contenders(lab, real=case.real).items():
        cut[name], whole = _trained(own, fold)
        history = cut[name].history
        assert history is not None
        rounds = range(1, own.most_trees + 1)
        curves[TRAIN][name] = rounds, history.train[1:].tolist()
        curves[TEST][name] = rounds, _staged(whole, fold.test)
        if len(history.steps):
            curves[ALPHA][name] = rounds, history.steps.tolist()
    mean = float(np.mean(curves[ALPHA][EXACT][1]))
    fixed = learner(lab, 15 if case.real else 10, 1.0, low=mean * 0.999, high=mean * 1.001)
    cut[CONSTANT] = _trained(fixed, fold)[0]
    return Outcome({TEST: judged(cut, fold.test, [MEASURE])}, curves)


def _trained(own: LambdaMART, fold: Fold) -> tuple[Forest, Forest]:
    """The forest cut where it is best on the validation queries, and all of it."""
    whole: list[Forest] = []

    def keep(progress: Progress) -> None:
        if progress.round == progress.rounds:
            ranker = progress.ranker()
            assert isinstance(ranker, Forest)
            whole.append(ranker)

    cut = own.fit(fold.train, fold.valid, callbacks=[keep])
    assert isinstance(cut, Forest)
    return cut, whole[0]


def _staged(forest: Forest, test: Dataset) -> list[float]:
    """NDCG@10 after every tree."""
    return [evaluate(scores, test, MEASURE)[MEASURE].mean for scores in forest.staged_scores(test)]


EXPERIMENT = Experiment("000-steps", cases, run)
