"""LightGBM's text: what LightGBM and treelite make of it, and what it cannot hold."""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import treelite

import rankinite as rk
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.files.lightgbm import read_lightgbm
from rankinite.serving.proof import named_rows
from rankinite.trees.structure import LEAF
from refusals import refused
from serving.parity import case_of, random_case
from serving.random_rankers import category_forest_of, forest_of
from trees.test_categories import made


@pytest.mark.parametrize("seed", range(20))
def test_treelite_reads_the_same_scores(seed, tmp_path):
    case = random_case("lightgbm", seed)
    (tmp_path / "model.txt").write_bytes(case.files["model.txt"])
    model = treelite.frontend.load_lightgbm_model(tmp_path / "model.txt")
    rows = np.where(np.abs(case.matrix) <= 1e-35, 0.0, case.matrix)  # LightGBM takes these for 0; treelite does not
    found = np.asarray(treelite.gtil.predict(model, rows, nthread=1, pred_margin=True)).ravel()
    np.testing.assert_array_equal(found, case.twin())


def test_values_that_lightgbm_takes_for_0_are_taken_so_by_the_twin():
    forest = random_forest(3)
    case = case_of("lightgbm", forest)
    rows = np.full((1, 3), 1e-36)
    found = lightgbm.Booster(model_str=case.files["model.txt"].decode()).predict(rows)
    np.testing.assert_array_equal(found, case.target.twin(case.files, case.plan)(rows))
    np.testing.assert_array_equal(found, forest.score(np.zeros((1, 3))))


@pytest.mark.parametrize("seed", range(10))
def test_import_undoes_export(seed, tmp_path):
    forest = forest_of(seed)
    rk.export(forest, tmp_path / "out", to="lightgbm", served_missing="nan")
    again = rk.load(tmp_path / "out" / "model.txt")
    rows = np.random.default_rng(seed).normal(size=(100, len(forest.feature_names)))
    np.testing.assert_array_equal(again.score(rows), forest.score(rows))


@pytest.mark.parametrize("seed", range(10))
def test_import_undoes_export_of_categories(seed):
    case = case_of("lightgbm", category_forest_of(seed), rows=200)
    again = read_lightgbm(case.files["model.txt"])
    assert {name: again.categories[name].names for name in case.plan.categories} == {
        name: vocabulary.names for name, vocabulary in case.plan.categories.items()
    }
    rows = pd.DataFrame(named_rows(case.plan, case.matrix))
    np.testing.assert_array_equal(again.score(rows), case.twin())


def symmetric(categories: int = 0) -> rk.Forest:
    """A forest of symmetric trees some of whose leaves no row reached; also of categories, where a number of them is given."""
    data = made(categories) if categories else rk.synthesise(20, world=SMALL)
    return rk.LambdaMART.plain(trees=10, leaves=32, min_rows=1, shape="symmetric").fit(data)


SMALL = rk.World(features=3, documents=8)
FEW = rk.synthesise(8, part="test", world=SMALL)
WITHOUT_ROWS = {
    "categories": lambda: symmetric(20),
    "numbers": symmetric,
    "cut": lambda: symmetric().truncate(4),
    "adapted": lambda: rk.adapt.trada(symmetric(), FEW),
    "distilled": lambda: rk.distil(symmetric(), FEW, trees=5, how="select").ranker,
    "blended": lambda: 0.3 * symmetric() + 0.7 * rk.MART(trees=3, leaves=4, min_rows=2).fit(FEW),
    "continued": lambda: rk.LambdaMART.plain(trees=3, leaves=4, min_rows=2).fit(FEW, base=symmetric()),
}


@pytest.mark.parametrize("kind", WITHOUT_ROWS)
def test_lightgbm_splits_scores_by_feature_where_no_row_reached_a_leaf(kind):
    ranker = WITHOUT_ROWS[kind]()
    case = case_of("lightgbm", ranker)
    assert (case.plan.forest.trees.rows == 0).any()
    text = case.files["model.txt"]
    booster = lightgbm.Booster(model_str=text.decode())
    expected = case.plan.forest.score(case.matrix)
    np.testing.assert_array_equal(booster.predict(case.matrix), expected)
    split = booster.predict(case.matrix, pred_contrib=True)
    assert np.isfinite(split).all()
    np.testing.assert_allclose(split.sum(axis=1), expected, rtol=0, atol=1e-9)
    again = read_lightgbm(text)
    np.testing.assert_allclose(again.contributions(case.matrix).values, split[:, :-1], rtol=0, atol=1e-9)
    written, known = (np.sort(trees.rows[trees.feature == LEAF]) for trees in (again.trees, case.plan.trees))
    np.testing.assert_array_equal(written, np.sort(np.maximum(known, 1)))


def test_a_net_is_refused_with_the_remedy(tmp_path):
    net = rk.Net(("a",), (), np.asarray([1.0, 0.0]), centre=np.zeros(1), scale=np.ones(1))
    with refused(ArgumentError) as caught:
        rk.export(net, tmp_path / "out", to="lightgbm")
    assert "distil" in caught.value.remedy
