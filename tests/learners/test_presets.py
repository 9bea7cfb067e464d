"""Presets: our defaults, and what the papers do."""

from __future__ import annotations

from dataclasses import fields

import pytest

import rankinite as rk
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn
from refusals import refused

TREES = [rk.LambdaMART, rk.MART, rk.McRank, rk.RankNetTrees]


@pytest.mark.parametrize("learner", TREES)
def test_plain_is_what_the_class_makes(learner):
    assert learner.plain() == learner()
    assert learner.plain(leaves=7, rate=0.3) == learner(leaves=7, rate=0.3)
    assert learner.preset("plain", trees=9) == learner(trees=9)


@pytest.mark.parametrize("learner", TREES)
def test_paper_differs_from_plain_in_what_the_papers_do_alone(learner):
    ours, theirs = learner.plain(leaves=7), learner.paper(leaves=7)
    differing = {f.name: getattr(theirs, f.name) for f in fields(learner) if getattr(ours, f.name) != getattr(theirs, f.name)}
    expected = {"criterion": "mse"} | ({"normalise": False} if learner is rk.LambdaMART else {})
    assert differing == learner.paper_settings() == expected
    assert learner.preset("paper", leaves=7) == theirs


def test_what_is_given_counts_more_than_a_preset():
    assert rk.LambdaMART.paper(normalise=True, criterion="newton") == rk.LambdaMART()


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
