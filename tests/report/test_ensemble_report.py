"""The report of an ensemble: what it shows follows from the choice and the test data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk
from rankinite.ensembles import Average, choose_members, diversity
from rankinite.ensembles.member_choice import members_of
from rankinite.report import of_ensemble

WORLD = rk.World(features=5, documents=8, noise=0.3)
TRAIN = rk.synthesise(40, world=WORLD)
TEST = rk.synthesise(20, part="test", world=WORLD)
NAMES = ("trees", "</script><b>net", "points")
MEMBERS = dict(
    zip(
        NAMES,
        (rk.LambdaMART.plain(trees=4, leaves=4, min_rows=3), rk.LambdaRank(epochs=2), rk.MART(trees=4, leaves=4, min_rows=3)),
        strict=True,
    )
)


@pytest.fixture(scope="module")
def choice():
    return choose_members(Average(MEMBERS), TRAIN, share=0.5, measures=["ndcg@10", "err"], folds=3)


@pytest.fixture(scope="module")
def members():
    return members_of(Average(MEMBERS), TRAIN)


def test_all_tables_of_the_choice_and_of_the_test_are_shown(choice, members):
    ranker = choice.blend(members)
    report = of_ensemble(ranker, members, choice=choice, test=TEST, measures=["ndcg@10", "err"], data={"train": TRAIN})
    compared = [rk.compare({**members, "ensemble": ranker}, TEST, ["ndcg@10", "err"]), *choice.tables().values()]
    for table, comparison in zip(report.tables, compared, strict=True):
        assert {system.name for system in table.systems} == set(comparison.systems)
        for measure, place in (("ndcg@10", 0), ("err", 1)):
            assert [system.results[place].mean for system in table.systems] == [
                comparison[system.name][measure].mean for system in table.systems
            ]
    assert [system.name for system in report.tables[2].systems if system.chosen] == [choice.name]
    assert report.diversity.together == choice.diversity.together
    assert report.queries.after_name == "ensemble"
    best = max(NAMES, key=lambda name: compared[0][name]["ndcg@10"].mean)
    assert report.queries.before_name == best
    assert choice.verdict in report.verdict
    json.loads(report.to_json())


def test_without_a_choice_the_diversity_is_that_of_the_test_data(members):
    ranker = rk.Blend(tuple((1 / 3, member) for member in members.values()))
    report = of_ensemble(ranker, members, test=TEST)
    found = diversity(members, TEST)
    assert report.diversity.curve == found.curve
    np.testing.assert_array_equal(np.asarray(report.diversity.correlations, float), np.asarray(found.correlations))
    assert [table.title for table in report.tables] == ["Test"]


def test_without_test_data_only_the_choice_is_shown(choice, members):
    report = of_ensemble(choice.blend(members), members, choice=choice)
    assert len(report.tables) == 3
    assert report.queries is None
    assert report.verdict[0] == choice.verdict


def test_correlations_that_are_undefined_are_none():
    flat = rk.Linear(TRAIN.feature_names[:1], np.zeros(1))
    members = {"a": rk.Feature(0), "b": rk.Feature(1), "flat": flat}
    report = of_ensemble(rk.Blend(tuple((1.0, one) for one in members.values())), members, test=TEST)
    assert report.diversity.members[2].scores is None
    assert '"scores":null' in report.to_json()
