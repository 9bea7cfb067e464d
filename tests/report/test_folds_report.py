"""The report of a cross-validation: its folds are those that were dealt, and their means those of their queries."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import Fold, k_folds
from rankinite.errors import DataError
from rankinite.report import of_cross_validation, summary
from refusals import refused

DATA = rk.synthesise(31, world=rk.World(features=4, documents=6, noise=0.5))
SMALL = {"leaves": 3, "min_rows": 3}
LEARNERS = {
    "trees": rk.LambdaMART.plain(trees=4, **SMALL),
    "points": rk.MART(trees=4, **SMALL),
    "one": rk.MART(trees=1, **SMALL),
}


@pytest.mark.parametrize("measure", ["ndcg@5", "pairwise-errors"])
def test_every_fold_has_the_means_of_its_queries(measure):
    comparison = rk.cross_validate(LEARNERS, DATA, 4, measures=[measure, "err"], seed=2)
    report = of_cross_validation(comparison, DATA, 4, seed=2)
    values = {
        name: dict(zip(comparison[name].qids.tolist(), comparison[name][measure].per_query.tolist(), strict=True))
        for name in LEARNERS
    }
    expected = []
    for shown, fold in zip(report.folds.folds, k_folds(DATA, 4, seed=2), strict=True):
        own = np.asarray([[values[name][qid] for qid in fold.test.qids.tolist()] for name in LEARNERS])
        assert shown.queries == np.count_nonzero(~np.isnan(own[0]))
        np.testing.assert_allclose(shown.means, np.nanmean(own, axis=1), rtol=1e-12)
        expected.append(np.nanmean(own, axis=1))
    means = np.asarray(expected) * (1.0 if measure == "ndcg@5" else -1.0)
    assert report.folds.best_in == tuple((means == means.max(axis=1, keepdims=True)).sum(axis=0).tolist())
    assert report.folds.means == tuple(comparison[name][measure].mean for name in LEARNERS)
    assert {one.name for one in report.tables[0].systems} == set(LEARNERS)
    assert dict(report.facts[0].entries) == {"folds": "4", "seed of the dealing": "2"}
    json.loads(report.to_json())


def test_one_learner_alone_is_reported_too():
    comparison = rk.cross_validate(LEARNERS["trees"], DATA, 3)
    report = of_cross_validation(comparison, DATA, 3)
    assert (report.folds.systems, report.folds.best_in) == (("LambdaMART",), (3,))
    assert f"{comparison['LambdaMART'].results[0].mean:.4f}" in report.verdict[1]
    assert f"{comparison['LambdaMART'].results[0].mean:.3f}" in summary(report).number


def test_folds_made_elsewhere_and_parts_of_letor_are_taken():
    parts = [DATA.select_queries(np.arange(first, 31, 3)) for first in range(3)]
    comparison = rk.cross_validate(LEARNERS, parts)
    assert len(of_cross_validation(comparison, parts).folds.folds) == 3
    dealt = k_folds(DATA, 5, seed=9)
    assert len(of_cross_validation(rk.cross_validate(LEARNERS, dealt), dealt).folds.folds) == 5


def test_a_fold_of_which_nothing_counts_has_no_mean():
    dealt = k_folds(DATA, 4)
    flat = replace(dealt[0].test, grades=np.zeros_like(dealt[0].test.grades))
    folds = [Fold(dealt[0].train, dealt[0].valid, flat), *dealt[1:]]
    report = of_cross_validation(rk.cross_validate(LEARNERS, folds), folds)
    assert (report.folds.folds[0].queries, set(report.folds.folds[0].means)) == (0, {None})
    assert sum(report.folds.best_in) >= 3
    assert max(report.folds.best_in) <= 3


@pytest.mark.parametrize("other", [{"folds": 4}, {"seed": 1}])
def test_folds_other_than_those_compared_are_refused(other):
    comparison = rk.cross_validate(LEARNERS, DATA, 3)
    with refused(DataError, place=DATA.source):
        of_cross_validation(comparison, DATA, **{"folds": 3, **other})
