"""Names of other libraries are answered with ours, in Python, at the command line and in settings files alike."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from rankinite import learners
from rankinite.cli.app import VERBS
from rankinite.cli.commands import loaded
from rankinite.cli.foreign_options import options_among
from rankinite.errors import ArgumentError
from rankinite.foreign_settings.remedies import GOALS
from rankinite.foreign_settings.table import BY_NAME, FOREIGN_SETTINGS, LIBRARIES
from rankinite.sklearn import LambdaMARTRanker

LEARNERS = {name: getattr(rk, name) for name in learners.LEARNERS.values()}
OPTIONS = {verb: options_among(loaded(verb).params) for verb in VERBS}


def settings_of(learner) -> set[str]:
    return {field.name for field in fields(learner)}


# ---- the table ---------------------------------------------------------------------------------------------------------


def test_every_foreign_name_has_one_meaning():
    for one in FOREIGN_SETTINGS:
        for names in one.by_library:
            for name in names:
                assert BY_NAME[name] is one, name


def test_our_names_exist_and_foreign_ones_are_not_ours():
    train = OPTIONS["train"]
    everywhere = set().union(*OPTIONS.values())
    for name, one in BY_NAME.items():
        assert set(one.ours) <= everywhere
        assert one.ours or one.note
        assert name not in train
        for learner in LEARNERS.values():
            assert name not in settings_of(learner)


def test_settings_that_no_learner_has_are_explained_in_python():
    ours = set().union(*map(settings_of, LEARNERS.values()))
    for one in FOREIGN_SETTINGS:
        if one.ours and not ours & set(one.ours):
            assert one.python or set(one.ours) <= {"folds", "trials"}, one.ours


def test_goals_are_learners_with_settings_that_they_take():
    for goal in GOALS.values():
        module = next(module for module, name in learners.LEARNERS.items() if name == goal.learner)
        assert module.replace("_", "-") == goal.shell
        LEARNERS[goal.learner](**({goal.setting: goal.value} if goal.setting else {}))


def parameters(*things) -> set[str]:
    return {name for thing in things for name in inspect.signature(thing).parameters}


def test_the_libraries_have_these_names():
    """Each column is held against what the library itself takes, lists or writes into its models."""
    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    rows = xgboost.DMatrix(np.eye(4), label=[0, 1, 0, 1], qid=[0, 0, 1, 1])
    written = xgboost.train({"objective": "rank:ndcg", "nthread": 1}, rows, 1).save_config()
    lgb, xgb, cat = lightgbm.LGBMRanker, xgboost.XGBRanker, catboost.CatBoost
    known = (
        {*aliases, *chain(*aliases.values())} | parameters(lightgbm.train, lightgbm.cv, lgb, lgb.fit),
        {*xgb().get_params(), *re.findall(r'"(\w+)":', written)} | parameters(xgboost.train, xgboost.cv, xgb.fit),
        parameters(cat.fit, catboost.CatBoostRegressor, catboost.cv, catboost.Pool),
    )
    for one in FOREIGN_SETTINGS:
        for names, library, there in zip(one.by_library, LIBRARIES, known, strict=False):
            assert not set(names) - there, library


# ---- in Python ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_answer_foreign_names_with_settings_that_they_have(name):
    learner = LEARNERS[name]
    with pytest.raises(ArgumentError) as refused:
        learner(learning_rate=0.25)
    assert (refused.value.owner, refused.value.value) == (name, "learning_rate")
    assert str(refused.value) == f"{name}: learning_rate is rate here. Give rate=0.25."
    with pytest.raises(ArgumentError, match=r"n_estimators is (trees|rounds|epochs) here") as refused:
        learner(n_estimators=7)
    (ours, value) = re.search(r"Give (\w+)=(\d+)", str(refused.value)).groups()
    assert getattr(learner(**{ours: int(value)}), ours) == 7


def test_all_foreign_names_of_a_call_are_answered_at_once():
    with pytest.raises(ArgumentError) as refused:
        rk.LambdaMART(num_leaves=63, colsample_bytree=0.5, reg_alpha=1.0, n_jobs=4, objective="rank:map", seed=3)
    text = str(refused.value)
    assert "Give leaves=63, feature_share=0.5." in text
    assert "no L1 penalty" in text
    assert "rk.threads(4)" in text
    assert "rk.LambdaMART(measure='map')" in text


@pytest.mark.parametrize("gains", [(0, 1, 3), (0.0, 1.5, 1e3), (2.0,)])
def test_gains_are_answered_with_the_same_gains(gains):
    for written in (list(gains), gains, ",".join(map(str, gains))):
        with pytest.raises(ArgumentError) as refused:
            rk.LambdaMART(label_gain=written)
        (measure,) = re.findall(r"measure='([^']+)'", str(refused.value))
        assert rk.parse_measure(measure) == rk.NDCG(10, gains=gains)


@pytest.mark.parametrize("empty", [[], "", "[]"])
def test_no_gains_are_answered_with_the_name_alone(empty):
    with pytest.raises(ArgumentError, match=r"Give measure\.$"):
        rk.LambdaMART(label_gain=empty)


@pytest.mark.parametrize("setting", ["label_gain", "learning_rate"])
def test_values_that_cannot_be_written_out_are_not_repeated(setting):
    deep: list = []
    for _ in range(3000):
        deep = [deep]
    for value in (deep, 10**5000):
        with pytest.raises(ArgumentError, match=r"Give (measure|rate)\.$"):
            rk.LambdaMART(**{setting: value})


@pytest.mark.parametrize("depth", [1, 3, 6, 10])
def test_a_depth_is_answered_with_as_many_leaves(depth):
    with pytest.raises(ArgumentError) as refused:
        rk.LambdaMART(max_depth=depth)
    (leaves,) = re.findall(r"leaves=(\d+)", str(refused.value))
    assert rk.LambdaMART(leaves=int(leaves)).levels() == depth


def test_no_limit_of_depth_is_none_here():
    with pytest.raises(ArgumentError, match="Leave it out for no limit"):
        rk.LambdaMART(max_depth=-1)


def test_other_unknown_settings_are_pythons_own_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        rk.LambdaMART(nonsense=1)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_are_dataclasses_as_before(name):
    learner = LEARNERS[name]
    assert set(inspect.signature(learner).parameters) == settings_of(learner)
    made = learner(rate=0.25)
    assert replace(made, rate=0.5).rate == 0.5
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made


def test_presets_estimators_and_spaces_answer_too():
    with pytest.raises(ArgumentError, match="num_leaves is leaves here"):
        rk.LambdaMART.plain(num_leaves=7)
    with pytest.raises(ArgumentError, match="LambdaMARTRanker: n_estimators is trees here"):
        LambdaMARTRanker(n_estimators=7)
    data = rk.synthesise(10, world=rk.World(documents=5, features=3))
    with pytest.raises(ArgumentError, match="num_leaves is leaves here"):
        rk.tune(rk.MART(trees=2), data, space={"num_leaves": [7, 15]})


# ---- the guide -------------------------------------------------------------------------------------------------------


def test_the_guide_shows_the_table():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "command-line.md").read_text()
    for line in guide_table():
        assert line in page.splitlines(), line


def guide_table() -> list[str]:
    """The rows of settings that the three libraries have, as the guide shows them."""
    rows = ["| LightGBM | XGBoost | CatBoost | here |", "|---|---|---|---|"]
    for one in FOREIGN_SETTINGS:
        cells = [", ".join(f"`{name}`" for name in names) for names in one.by_library[:3]]
        if any(cells):
            ours = ", ".join(f"`{name}`" for name in one.ours)
            rows.append(f"| {' | '.join(cells)} | {'. '.join(filter(None, (ours, one.note)))} |")
    return rows
