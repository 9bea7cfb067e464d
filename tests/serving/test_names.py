"""Names of features that a program cannot hold: others are made, for every kind of ranker, and the folder says which."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from lightgbm import Booster

import rankinite as rk
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.serving.names import LONGEST, renamed, safe_names
from rankinite.serving.offers import refusal
from rankinite.serving.target import TARGETS, target_named
from refusals import refused
from serving.every_kind import linear_of, one_by_one
from serving.parity import case_of, differing

HELD = {
    "lightgbm": 'two words|a:b|quo"te|[1]|a,b||a\tb',
    "solr-ltr": 'a b|a=b|a,b|a"|',
    "xgboost": "a[b|a]|a<b||a\tb",
    "es-ltr": "|tab\tstop|a\x00b|\ud800|" + "n" * 401,
    "opensearch-ltr": "|tab\tstop|a\x00b|\ud800|" + "n" * 401,
    "elastic": "a\nb|",
    "pmml": "|a\x00b|\x1b|￾",
    "vespa": "a\nb|\u2028",
    "c": "a\x00b|" + "x" * 251,
    "sql": "|a\x00|Id",
}
"""Names that each of these cannot hold."""
UNFIT = [(to, name) for to, names in HELD.items() for name in names.split("|")]


@pytest.mark.parametrize(("to", "name"), UNFIT)
def test_a_name_that_the_program_cannot_hold_gets_another_and_the_scores_stay(to, name):
    forest = replace(random_forest(1), feature_names=("f0", name, "f2"))
    case = case_of(to, forest, served_missing="nan")
    assert set(case.plan.renamed) == {name}
    assert case.plan.names.index("f0") < case.plan.names.index(case.plan.renamed[name]) < case.plan.names.index("f2")
    assert differing([case], to) == []


@pytest.mark.parametrize("to", TARGETS)
def test_usual_names_are_kept_everywhere(to):
    names = ("bm25(title)", "body_bm25", "7", "特徴", "a-b.c")
    target = target_named(to)
    assert safe_names(names, target.feature_names, target.same_name, target.reserved_names) == {}


@pytest.mark.parametrize("kind", one_by_one())
def test_every_kind_of_ranker_is_renamed(kind):
    """C holds all kinds; a name of 300 characters is too long there."""
    ranker = one_by_one()[kind]
    long = {name: f"{name} " + "x" * 300 for name in ("f0", "f1", "f2")}
    case, plain = case_of("c", renamed(ranker, long)), case_of("c", ranker)
    assert all(len(name) <= LONGEST for name in case.plan.names)
    assert len(set(case.plan.names)) == len(case.plan.names)
    case.matrix = plain.matrix
    np.testing.assert_array_equal(case.twin(), plain.twin())
    assert differing([case], "c") == []


def test_names_are_unique_also_beside_those_that_are_kept():
    found = safe_names(("a b", "a_b", "a,b", "a_b_2", "", " "), "[^ ,]+")
    assert found == {"a b": "a_b_3", "a,b": "a_b_4", "": "feature", " ": "_"}
    assert safe_names(("a", "A", "ID", "id_2"), "[^ ]+", str.lower, ("id",)) == {"A": "A_2", "ID": "ID_3"}


# ---- the folder -------------------------------------------------------------------------------------------------------


@pytest.fixture
def data():
    names = ["title bm25", "body bm25", "body_bm25"]
    return rk.synthesise(20, world=rk.World(features=3, noise=0.3)).rename_features(names)


def test_a_blend_is_exported_sampled_and_checked_by_either_name(data, tmp_path):
    first, second = (rk.LambdaMART(trees=trees, leaves=5, min_rows=3).fit(data) for trees in (4, 7))
    blend, folder = 0.25 * first + second, tmp_path / "shop"
    made = rk.export(blend, folder, to="lightgbm", sample=data)
    assert [note for note in made.notes if "names.json" in note and "'body bm25' is 'body_bm25_2'" in note]
    names = {"title bm25": "title_bm25", "body bm25": "body_bm25_2", "body_bm25": "body_bm25"}
    assert json.loads((folder / "names.json").read_text()) == names
    assert (folder / "sample.csv").read_text().startswith("title_bm25,body_bm25_2,body_bm25\n")
    assert rk.load(folder / "model.rankinite").feature_names == blend.feature_names
    served = Booster(model_file=folder / "model.txt")
    assert served.feature_name() == list(names.values())
    scores = served.predict(data.features)
    np.testing.assert_allclose(scores, blend.score(data), rtol=1e-12)
    for logged in (data, data.rename_features(names)):
        assert rk.check_served(folder, data.to_input_order(scores), logged).as_expected


def test_names_there_are_those_of_the_export_even_if_they_would_be_made_otherwise_now(data, tmp_path):
    rk.export(random_forest(1).renamed(["a b", "c", "d"]), tmp_path / "shop", to="lightgbm")
    for file in ("export.json", "model.txt", "sample.csv"):
        path = tmp_path / "shop" / file
        path.write_text(path.read_text().replace("a_b", "a-b"))
    scores = np.loadtxt(tmp_path / "shop" / "sample-scores.txt")
    assert rk.check_served(tmp_path / "shop", scores).as_expected


def test_feature_queries_have_either_name(data, tmp_path):
    ranker = rk.LambdaMART(trees=4, leaves=5, min_rows=3).fit(data)
    queries = {"title bm25": "{!dismax qf=title}${text}", "body_bm25_2": "{!dismax qf=body}${text}"}
    rk.export(ranker, tmp_path / "shop", to="solr-ltr", feature_queries=queries)
    features = {one["name"]: one["params"]["q"] for one in json.loads((tmp_path / "shop" / "features.json").read_text())}
    assert features["title_bm25"] == queries["title bm25"]
    assert features["body_bm25_2"] == queries["body_bm25_2"]
    with refused(ArgumentError, setting="feature_queries", value="text"):
        rk.export(ranker, tmp_path / "other", to="solr-ltr", feature_queries={"text": "x"})


def test_a_linear_ranker_is_renamed_too(tmp_path):
    made = rk.export(linear_of(1, ("a b", "c")), tmp_path / "shop", to="solr-ltr", served_missing="zero")
    assert made.exactness == "float32"
    assert "a_b" in {one["name"] for one in json.loads((tmp_path / "shop" / "model.json").read_text())["features"]}


@pytest.mark.parametrize("to", ["lightgbm", "solr-ltr"])
def test_no_name_keeps_an_adapted_ranker_from_being_deployed(to):
    """So that ``adapt --deployable`` does not fit methods in vain."""
    assert refusal(0.5 * random_forest(1).renamed(["a b", "c", "d"]) + random_forest(2).renamed(["a b", "d", "c"]), to) is None
