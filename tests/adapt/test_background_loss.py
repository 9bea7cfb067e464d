"""Forests are adapted with the loss that they were trained for (paper 003), and with λ-gradients beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import background, background_data, make_small, target, unseen
from rankinite.adapt import choose
from rankinite.adapt.background_settings import last_recorded
from rankinite.adapt.methods.catalogue import AVERAGED, METHODS
from rankinite.adapt.shared_fits import SharedFits, Task
from refusals import refused

NDCG = rk.NDCG(10)
SHAPE = {"trees": 20, "leaves": 6, "rate": 0.2, "min_rows": 5}
MORE = {"trees": 2, "leaves": 6, "rate": 0.2, "patience": None}
BACKGROUNDS = {
    "squared": rk.MART(**SHAPE),
    "graded": rk.MART(**SHAPE, loss="graded", max_grade=5, sigma=0.5),
    "pairs": rk.RankNetTrees(**SHAPE, sigma=0.5),
}
LEARNERS = {
    "squared": rk.MART(**MORE),
    "graded": rk.MART(**MORE, loss="graded", max_grade=5, sigma=0.5),
    "pairs": rk.RankNetTrees(**MORE, sigma=0.5),
}
LAMBDA_FORMS = [method.name for method in METHODS if method.lambda_form_of]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    make_small(monkeypatch)


@pytest.mark.parametrize("loss", BACKGROUNDS)
def test_trees_are_added_with_the_loss_of_the_background(loss):
    forest = BACKGROUNDS[loss].fit(background_data())
    choice = choose(forest, target(), methods=["additive", "additive-lambda"], same_scale=True, curve=False)
    expected = LEARNERS[loss].fit(target(), base=forest)
    assert choice.models["additive"].score(unseen()).tobytes() == expected.score(unseen()).tobytes()
    climbing = rk.LambdaMART.plain(**MORE).fit(target(), base=forest)
    assert choice.models["additive-lambda"].score(unseen()).tobytes() == climbing.score(unseen()).tobytes()
    assert expected.score(unseen()).tobytes() != climbing.score(unseen()).tobytes()


def test_every_method_of_paper_003_keeps_squared_loss():
    forest = BACKGROUNDS["squared"].fit(background_data())
    asked = ["trada", "trada-trees", "pool", *LAMBDA_FORMS]
    choice = choose(forest, target(), background_data=background_data(), methods=asked, same_scale=True, curve=False)
    assert SharedFits(Task({"web": forest}, target(), NDCG, background_data=background_data())).loss == "squared"
    more = LEARNERS["squared"]
    trees = more.fit(target(), base=choice.models["trada"])
    assert choice.models["trada-trees"].score(unseen()).tobytes() == trees.score(unseen()).tobytes()
    whole = rk.MART(**{**MORE, "trees": 22}).fit(rk.concat([background_data(), target()], prefixes=("background:", "")))
    assert choice.models["pool"].score(unseen()).tobytes() == whole.score(unseen()).tobytes()
    assert isinstance(choice.models["target"], rk.Forest)
    assert choice.models["target"].settings["learner"] == "MART"
    assert choice.models["target"].settings["loss"] == "squared"
    for name in LAMBDA_FORMS:
        assert choice.models[name].settings["learner"] == "LambdaMART"
    assert dict(choice.refused) == {}


def test_without_another_loss_there_are_no_further_forms_of_a_method():
    lambdas = SharedFits(Task({"web": background()}, target(), NDCG, background_data=background_data()))
    squared = SharedFits(Task({"web": BACKGROUNDS["squared"].fit(background_data())}, target(), NDCG))
    for method in METHODS:
        if method.lambda_form_of:
            assert (method.is_usual(lambdas), method.is_usual(squared)) == (False, True)
    asked = choose(background(), target(), methods=["additive", "additive-lambda"], curve=False)
    assert asked.refusals["additive-lambda"].value == "additive"


def test_a_forest_of_several_losses_or_of_an_unknown_one_is_adapted_by_lambda_gradients():
    squared = BACKGROUNDS["squared"].fit(background_data())
    both = rk.LambdaMART.plain(**{**SHAPE, "trees": 3}).fit(background_data(), base=squared)
    for forest in (both, background()):
        assert isinstance(SharedFits(Task({"web": forest}, target(), NDCG)).learner(3), rk.LambdaMART)


def test_a_loss_that_is_declared_counts_more_than_the_one_in_the_model():
    declared = rk.adapt.Trada(loss="squared", same_scale=True)
    choice = choose(background(), target(), methods=["additive"], tuning=declared, curve=False)
    expected = LEARNERS["squared"].fit(target(), base=background())
    assert choice.models["additive"].score(unseen()).tobytes() == expected.score(unseen()).tobytes()


def test_trees_that_predict_grades_are_not_added_to_those_of_another_scale():
    low = background_data().map_grades(lambda grades: np.minimum(grades, 1.0))
    forest = rk.MART(**SHAPE).fit(low)
    choice = choose(forest, target(), methods=["additive", "additive-lambda", "lambdaboost"], curve=False)
    assert (choice.refusals["additive"].place, choice.refusals["additive"].value) == (repr(forest), 1.0)
    assert "additive-lambda" in choice.models


def test_variants_of_the_papers_are_tried_when_they_are_asked_for():
    variants = [method.name for method in METHODS if not method.usual]
    assert variants == ["interpolate-lambdarank", "trada-leaves", "trada-trim", "smart-paper", "smart-nodes", "pool-20"]
    choice = choose(background(), target(), background_data=background_data(), methods=variants, curve=False)
    assert set(variants) <= set(choice.models)
    leaves = rk.adapt.trada(background(), target(), None, responses="leaves", folds=3)
    assert choice.models["trada-leaves"].score(unseen()).tobytes() == leaves.score(unseen()).tobytes()


def test_every_part_of_the_average_is_a_method():
    known = {method.name for method in METHODS}
    assert {name for kind in AVERAGED for name in kind} <= known
    assert {method.lambda_form_of for method in METHODS} - {None} <= known


@pytest.mark.parametrize("value", ["x", [], [1], {"a": 1}, True, -1, 10**400])
@pytest.mark.parametrize("name", ["rate", "sigma", "leaves", "truncation", "measure", "learner", "loss", "highest_grades"])
def test_settings_that_no_learner_can_have_had_are_refused(name, value):
    """A model file may contain anything."""
    forest = replace(background(), settings={**background().settings, "loss": "lambda", name: value})
    if isinstance(value, str) and name in {"measure", "learner", "loss"}:
        assert last_recorded(forest, name) == value
        return
    with refused(rk.DataError, place=f"the background's setting {name}", value=value):
        last_recorded(forest, name)


def test_a_background_with_such_settings_is_refused_whatever_methods_are_tried():
    forest = replace(background(), settings={**background().settings, "rate": [1]})
    with refused(rk.ArgumentError, setting="methods", value=["trada"]) as caught:
        choose(forest, target(), methods=["trada"], curve=False)
    assert "the background's setting rate" in caught.value.remedy
