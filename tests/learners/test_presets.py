"""Presets: our defaults, and what the papers do."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn
from refusals import refused

TREES = [rk.LambdaMART, rk.MART, rk.McRank, rk.RankNetTrees]


SHARED = {"trees": 500, "leaves": 31, "rate": 0.1, "shape": "best-first", "row_share": 1.0, "min_rows": 20, "patience": 50}
"""What ``plain`` has stood for since it was there: models that were trained by it must be trained again to the same bytes."""


@pytest.mark.parametrize("learner", TREES)
def test_plain_is_what_all_learners_of_trees_share(learner):
    plain = learner.plain()
    assert {name: getattr(plain, name) for name in SHARED} == SHARED
    assert learner.plain(leaves=7, rate=0.3) == replace(plain, leaves=7, rate=0.3)
    assert learner.preset("plain", trees=9) == learner.plain(trees=9)
    assert learner(**learner.plain_settings()) == plain


@pytest.mark.parametrize("learner", [rk.MART, rk.McRank, rk.RankNetTrees])
def test_other_learners_are_plain_by_themselves(learner):
    assert learner.plain() == learner()


def test_lambdamart_has_defaults_of_its_own():
    learner = rk.LambdaMART()
    assert set(learner.plain_settings()) == {"trees", "leaves", "rate", "shape", "row_share", "patience", "reach"}
    assert (learner.trees, learner.leaves, learner.rate, learner.patience) == (None, 64, 0.05, 200)
    assert (learner.shape, learner.row_share, learner.reach) == ("symmetric", 0.7, 3)


@pytest.mark.parametrize("learner", TREES)
def test_paper_differs_from_plain_in_what_the_papers_do_alone(learner):
    ours, theirs = learner.plain(leaves=7), learner.paper(leaves=7)
    differing = {f.name: getattr(theirs, f.name) for f in fields(learner) if getattr(ours, f.name) != getattr(theirs, f.name)}
    expected = {"criterion": "mse"} | ({"normalise": False} if learner is rk.LambdaMART else {})
    assert differing == learner.paper_settings() == expected
    assert learner.preset("paper", leaves=7) == theirs


def test_what_is_given_counts_more_than_a_preset():
    assert rk.LambdaMART.paper(normalise=True, criterion="newton") == rk.LambdaMART.plain()


def test_unknown_presets_are_refused_with_the_known_ones():
    with refused(rk.ArgumentError, setting="preset", value="papers"):
        rk.LambdaMART.preset("papers")


def test_the_model_holds_the_settings_that_a_preset_stands_for():
    forest = rk.LambdaMART.paper(trees=2, min_rows=2).fit(rk.synthesise(5))
    assert (forest.settings["criterion"], forest.settings["normalise"]) == ("mse", False)


@pytest.mark.parametrize("drawn", [rows_drawn, nodes_drawn])
def test_boosting_from_a_background_as_in_the_papers(drawn):
    ours, theirs = drawn("ndcg@10", 3), drawn("ndcg@10", 3, preset="paper")
    assert (theirs.criterion, theirs.normalise) == ("mse", False)
    assert (ours.criterion, ours.normalise) == ("newton", True)
    assert (ours.trees, ours.leaves, ours.seed) == (theirs.trees, theirs.leaves, theirs.seed) == (500, 20, 3)


@pytest.mark.parametrize(("asked", "trained"), [("ndcg@3", "ndcg@9"), ("dcg@2", "dcg@6"), ("err@3", "err@9"), ("map", "map")])
def test_reach_widens_what_is_trained_for_and_not_what_is_watched(asked, trained):
    data, small = rk.synthesise(15), {"trees": 4, "min_rows": 2, "leaves": 4}
    wide = rk.LambdaMART(measure=asked, **small)
    same = rk.LambdaMART(measure=trained, watch=asked, reach=1, **small)
    assert wide.watched() == same.watched() == rk.parse_measure(asked)
    assert wide.fit(data).text() == same.fit(data).text()
    assert np.array_equal(wide.fit(data).history.train, same.fit(data).history.train)
