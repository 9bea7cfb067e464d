"""Missing categories go where a node says, unknown ones right: also where the two differ, as in models of XGBoost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost

import rankinite as rk
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary, union
from rankinite.errors import ArgumentError
from rankinite.models.forest import with_vocabularies
from rankinite.serving.proof import own_scores
from rankinite.serving.target import TARGETS, target_named
from refusals import refused
from serving.parity import case_of, differing
from serving.random_rankers import with_missing_left, with_sets

ROWS, QUERY, WORDS = 1200, 20, [f"shop {number:02d}" for number in range(40)]
ALIKE = [name for name in TARGETS if target_named(name).categories and not target_named(name).tells_unknown]
TELLING = [name for name in TARGETS if target_named(name).tells_unknown]


def shops() -> tuple[pd.DataFrame, np.ndarray]:
    """A number and a shop, which is sometimes missing, and grades that follow both."""
    random = np.random.default_rng(3)
    code, number = random.integers(0, len(WORDS), ROWS), random.normal(size=ROWS)
    effect = random.normal(size=(2, len(WORDS)))
    grades = np.clip(np.round(2 + effect[0, code] + effect[1, code] * number), 0, 4)
    missing = random.random(ROWS) < 0.2
    grades[missing] = np.clip(np.round(number[missing] + 1), 0, 4)
    words = [None if gone else WORDS[place] for gone, place in zip(missing, code, strict=True)]
    return pd.DataFrame({"number": number.astype(np.float32), "shop": pd.Categorical(words, categories=WORDS)}), grades


@pytest.fixture(scope="module")
def boosted(tmp_path_factory):
    """A model of XGBoost, some of whose sets send missing categories left, and what is read of it."""
    frame, grades = shops()
    data = xgboost.DMatrix(frame, label=grades, group=[QUERY] * (ROWS // QUERY), enable_categorical=True)
    settings = {"objective": "rank:ndcg", "max_depth": 5, "nthread": 1, "max_cat_to_onehot": 1}
    model = xgboost.train(settings, data, 12)
    path = tmp_path_factory.mktemp("boosted") / "model.json"
    model.save_model(path)
    forest = rk.load(path)
    assert forest.trees.missing_left[forest.trees.set_sizes > 0].any()
    return model, forest


def rows_of(dtype):
    """Every shop with several numbers, missing ones, and codes that are none."""
    codes = [*range(len(WORDS)), np.nan, -1, len(WORDS), len(WORDS) + 40, 1e6]
    return np.asarray([(number, code) for code in codes for number in (-1.3, -0.2, 0.4, 1.1)], dtype)


@pytest.mark.parametrize("to", TELLING)
def test_an_imported_model_scores_alike_where_it_is_exported(to, boosted, tmp_path):
    model, forest = boosted
    case = case_of(to, forest, rows=300)
    case.matrix = rows_of(case.target.inputs)
    assert differing([case], to) == []
    kinds = {"feature_types": ["q", "c"], "feature_names": ["number", "shop"]}
    theirs = model.predict(xgboost.DMatrix(rows_of(np.float32), enable_categorical=True, **kinds), output_margin=True)
    np.testing.assert_allclose(case.twin(), theirs, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(own_scores(case.plan, case.matrix), theirs, rtol=2e-6, atol=2e-6)
    unknown, missing = case.twin()[-4:], case.twin()[-20:-16]
    assert (unknown != missing).any()
    made = rk.export(forest, tmp_path / "out", to=to)
    assert made.check.largest_difference < 1e-5


@pytest.mark.parametrize("to", ALIKE)
def test_programs_that_send_both_the_same_way_refuse_it(to, boosted, tmp_path):
    forest = boosted[1]
    with refused(ArgumentError, value="shop") as caught:
        rk.export(forest, tmp_path / "out", to=to)
    assert to in caught.value.problem
    assert all(name in caught.value.remedy for name in TELLING)
    assert not (tmp_path / "out").exists()
    with refused(ArgumentError, value="shop"):  # also as a part of another ranker
        rk.export(0.5 * forest + 0.5 * forest, tmp_path / "out", to=to)


def forest_of(names, seed):
    """A forest that asks for these categories, and sends missing ones left at some nodes."""
    forest = random_forest(seed, trees=6)
    return with_missing_left(with_sets(forest, {0: Vocabulary(names)}, np.random.default_rng(seed)), seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_longer_vocabulary_changes_no_score(seed):
    """What was unknown stays in no set when it gets a code of its own; with others, too, whose categories are added."""
    first, second = forest_of(("blue", "green", "red"), seed), forest_of(("amber", "green"), seed + 10)
    words = ["amber", "blue", "green", "red", "no such word", None]
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"f0": words * 20, "f1": random.normal(size=120), "f2": random.normal(size=120)})
    shared = {"f0": union((first.categories["f0"], second.categories["f0"]))}
    assert len(shared["f0"]) == 4
    for forest in (first, second):
        np.testing.assert_array_equal(with_vocabularies(forest, shared).score(rows), forest.score(rows))
    both = first.extended(second)
    np.testing.assert_allclose(both.score(rows), first.score(rows) + second.score(rows), rtol=1e-12, atol=1e-12)


def test_unknown_ones_go_another_way_than_missing_ones():
    """The law above would hold of forests that send both the same way, too."""
    forest = forest_of(("blue", "green", "red"), 0)
    unknown, missing = (pd.DataFrame({"f0": [word] * 9, "f1": np.arange(-4, 5.0), "f2": 0.3}) for word in ("other", None))
    assert (forest.score(unknown) != forest.score(missing)).any()
