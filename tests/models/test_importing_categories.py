"""Categorical models of LightGBM and XGBoost: the libraries' own scores and contributions on all kinds of rows."""

from __future__ import annotations

import json

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost

import rankinite as rk
from refusals import refused

ROWS, QUERY = 1200, 20
LIGHT = {"verbosity": -1, "min_data_in_leaf": 5, "min_data_per_group": 5, "cat_smooth": 1, "num_threads": 1, "num_leaves": 15}
TYPES = ["q", "c"]


def coded(categories: int, *, missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A number and a code (even ones alone), and grades that follow both."""
    random = np.random.default_rng(categories)
    code, number = random.integers(0, categories, ROWS), random.normal(size=ROWS)
    effect = random.normal(size=(2, categories))
    grades = np.clip(np.round(2 + effect[0, code] + effect[1, code] * number), 0, 4)
    features = np.stack((number, 2 * code), axis=1).astype(np.float32)
    if missing:
        features[random.random(ROWS) < 0.2, 1] = np.nan
    return features, grades


def odd_rows(features: np.ndarray) -> np.ndarray:
    """The same rows, and others: unseen codes between and behind the known ones, below 0, fractions, missing ones."""
    random = np.random.default_rng(1)
    codes = [*random.integers(0, 2 * int(np.nanmax(features[:, 1])) + 9, 300), -1, -7, 0.5, 2.9, 1e6, 2.0**24, 3e9, np.nan]
    more = np.stack((random.normal(size=len(codes)), codes), axis=1)
    return np.concatenate((features, more)).astype(np.float32)


def named(features: np.ndarray, words: list) -> pd.DataFrame:
    """The same as a data frame whose codes are words."""
    codes = features[:, 1] / 2
    values = [None if np.isnan(code) else words[int(code)] for code in codes]
    return pd.DataFrame({"number": features[:, 0], "word": pd.Categorical(values)})


def lightgbm_model(features, grades, categorical="auto", **settings):
    data = lightgbm.Dataset(features, grades, group=[QUERY] * (ROWS // QUERY), categorical_feature=categorical)
    return lightgbm.train({"objective": "lambdarank", **LIGHT, **settings}, data, 15)


def matrix_of(features, **settings) -> xgboost.DMatrix:
    kinds = {"feature_types": TYPES} if isinstance(features, np.ndarray) else {}
    return xgboost.DMatrix(features, enable_categorical=True, **kinds, **settings)


def xgboost_model(features, grades, **settings):
    data = matrix_of(features, label=grades, group=[QUERY] * (ROWS // QUERY))
    return xgboost.train({"objective": "rank:ndcg", "max_depth": 5, "nthread": 1, **settings}, data, 15)


def saved(model, path) -> rk.Forest:
    model.save_model(path)
    forest = rk.load(path)
    assert forest.trees.has_sets
    return forest


@pytest.mark.parametrize("settings", [{}, {"use_missing": False}, {"zero_as_missing": True}], ids=str)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("categories", [3, 40, 400])
def test_lightgbm_scores_are_its_own_to_the_last_bit(categories, missing, settings, tmp_path):
    features, grades = coded(categories, missing=missing)
    if settings.get("zero_as_missing"):
        features[:, 0] = 1.0  # categories alone: numbers that take 0 for missing are refused
    model = lightgbm_model(features, grades, [1], **settings)
    forest, rows = saved(model, tmp_path / "model.txt"), odd_rows(features)
    assert (forest.score(rows) == model.predict(rows, raw_score=True)).all()
    assert (forest.score(rows.astype(float)) == model.predict(rows.astype(float), raw_score=True)).all()
    theirs = model.predict(rows, pred_contrib=True)
    largest = np.abs(theirs[:, :-1]).max()
    assert np.abs(forest.contributions(rows).values - theirs[:, :-1]).max() < 1e-9 * largest


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize("onehot", [1, 1000])
@pytest.mark.parametrize(("categories", "missing"), [(3, True), (40, False), (40, True), (400, True)])
def test_xgboost_scores_are_its_own_to_the_last_bits_of_float32(categories, missing, onehot, ending, tmp_path):
    """Codes it never saw go another way than missing ones; both regimes, one against the rest and partitions, store sets."""
    features, grades = coded(categories, missing=missing)
    model = xgboost_model(features, grades, max_cat_to_onehot=onehot)
    forest, rows = saved(model, tmp_path / f"model.{ending}"), odd_rows(features)
    theirs = model.predict(matrix_of(rows), output_margin=True)
    assert forest.score(rows) == pytest.approx(theirs, rel=2e-6, abs=2e-6)
    parts = model.predict(matrix_of(rows), pred_contribs=True)[:, :-1]
    assert np.abs(forest.contributions(rows).values - parts).max() < 1e-4 * np.abs(parts).max()


def test_xgboost_tells_unseen_categories_from_missing_ones(tmp_path):
    features, grades = coded(40, missing=True)
    model = xgboost_model(features, grades, max_cat_to_onehot=1)
    forest = saved(model, tmp_path / "model.json")
    assert forest.trees.missing_left[forest.trees.set_sizes > 0].any()
    unseen, missing = np.asarray([[0.0, 999.0], [0.0, np.nan]], np.float32)[:, None]
    assert forest.score(unseen) != forest.score(missing)
    judged = rk.read(np.concatenate((unseen, missing)), grades=[0, 1], qid=["a", "a"], categories=[1])
    named_rows = judged.rename_features(list(forest.feature_names))
    assert (forest.score(named_rows) == [*forest.score(unseen), *forest.score(missing)]).all()


@pytest.mark.parametrize(
    "words",
    [
        [f"shop {k:03d}" for k in range(300)],
        [f"Café {k}é" for k in range(300)],
        [3 * k - 50 for k in range(300)],
        [k + 0.5 for k in range(300)],
    ],
    ids=["text", "accents", "whole numbers", "fractions"],
)
def test_lightgbm_words_of_a_data_frame(words, tmp_path):
    features, grades = coded(300, missing=True)
    frame = named(features, words)
    model = lightgbm_model(frame, grades)
    forest = saved(model, tmp_path / "model.txt")
    assert (forest.score(frame) == model.predict(frame)).all()
    # Another vocabulary: not all words, unknown ones, in another order.
    fresh = frame[frame["word"].isin(words[20:]) | frame["word"].isna()][::-1].copy()
    unknown = "unknown" if isinstance(words[0], str) else type(words[0])(9999)
    fresh["word"] = fresh["word"].cat.set_categories([unknown, *reversed(words[20:])])
    fresh.loc[fresh.index[:50], "word"] = unknown
    assert (forest.score(fresh) == model.predict(fresh)).all()
    if not isinstance(words[0], float):
        data = rk.read(frame.assign(qid=np.arange(ROWS) // QUERY, grade=grades))
        assert (forest.score(data) == model.predict(frame)).all()


@pytest.mark.parametrize(
    "words", [[f"shop {k:03d}" for k in range(300)], [3 * k - 50 for k in range(300)]], ids=["text", "numbers"]
)
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_xgboost_words_of_a_data_frame(words, ending, tmp_path):
    features, grades = coded(300, missing=True)
    frame = named(features, words)
    model = xgboost_model(frame, grades, max_cat_to_onehot=4)
    forest = saved(model, tmp_path / f"model.{ending}")
    assert set(forest.categories["word"].names) == {str(word) for word in frame["word"].cat.categories}
    fresh = frame[::-1].astype({"word": pd.CategoricalDtype(frame["word"].cat.categories[::-1])})
    for rows in (frame, fresh):
        theirs = model.predict(matrix_of(rows), output_margin=True)
        assert forest.score(rows) == pytest.approx(theirs, rel=2e-6, abs=2e-6)
    texts = pl.DataFrame({"word": [str(word) for word in frame["word"].tolist()], "number": features[:, 0]})
    known = frame["word"].notna().to_numpy()
    if ending == "json" and isinstance(words[0], str):
        assert (forest.score(texts.filter(known)) == forest.score(frame[known])).all()


def test_words_in_an_order_of_their_own(tmp_path):
    """Whole numbers are kept by size, whatever the order of their codes was."""
    features, grades = coded(12)
    order = [5, 3, 0, 11, 1, 2, 4, 10, 6, 9, 8, 7]
    frame = pd.DataFrame({"number": features[:, 0], "word": pd.Categorical(features[:, 1] // 2, categories=order)})
    light, boost = lightgbm_model(frame, grades), xgboost_model(frame.astype({"word": pd.CategoricalDtype(order)}), grades)
    forest = saved(light, tmp_path / "model.txt")
    assert forest.categories["word"].names == tuple(map(str, range(12)))
    assert (forest.score(frame) == light.predict(frame)).all()
    theirs = boost.predict(matrix_of(frame.astype({"word": pd.CategoricalDtype(order)})), output_margin=True)
    assert saved(boost, tmp_path / "m.json").score(frame) == pytest.approx(theirs, rel=2e-6, abs=2e-6)


def test_words_beside_ordered_constant_and_unnamed_categories(tmp_path):
    """LightGBM lists the words of ordered and constant columns too: those that can only be meant are found, others refused."""
    features, grades = coded(12)
    words = np.asarray([f"w{k:02d}" for k in range(12)])[(features[:, 1] / 2).astype(int)]
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(np.where(features[:, 0] > 0, "L", "S"), ordered=True),
            "number": features[:, 0],
            "word": pd.Categorical(words),
            "shop": pd.Categorical(["x"] * ROWS),
        }
    )
    model = lightgbm_model(frame, grades)
    forest = saved(model, tmp_path / "model.txt")
    assert forest.categories["word"].names == tuple(sorted(set(words)))
    codes = frame.assign(size=frame["size"].cat.codes, shop=0.0)
    assert (forest.score(codes) == model.predict(frame)).all()
    clear = frame.drop(columns="shop").assign(code=features[:, 1].astype(int))
    forest = saved(lightgbm_model(clear, grades, ["word", "code"]), tmp_path / "model.txt")
    assert forest.categories["code"].numeric
    assert not forest.categories["word"].numeric
    doubtful = clear.assign(code=features[:, 1].astype(int) // 2)
    lightgbm_model(doubtful, grades, ["word", "code"]).save_model(tmp_path / "model.txt")
    with refused(rk.DataError, place="pandas_categorical", value=2):
        rk.load(tmp_path / "model.txt")


def test_words_that_xgboost_cut_wrongly_are_refused(tmp_path):
    features, grades = coded(12)
    frame = named(features, [f"Café {k}" for k in range(12)])
    xgboost_model(frame, grades).save_model(tmp_path / "model.json")
    with refused(rk.DataError, place="cats.enc[1].values"):
        rk.load(tmp_path / "model.json")


def test_pruned_nodes_keep_no_sets(tmp_path):
    features, grades = coded(40, missing=True)
    model = xgboost_model(features, grades, gamma=3.0, max_cat_to_onehot=1)
    forest, rows = saved(model, tmp_path / "model.json"), odd_rows(features)
    assert forest.score(rows) == pytest.approx(model.predict(matrix_of(rows), output_margin=True), rel=2e-6, abs=2e-6)
    trees = json.loads((tmp_path / "model.json").read_text())["learner"]["gradient_booster"]["model"]["trees"]
    assert any(len(tree["left_children"]) > 3 for tree in trees)


@pytest.mark.parametrize("maker", ["lightgbm", "xgboost"])
def test_what_follows_from_an_imported_model(maker, tmp_path):
    """It is saved, boosted from, tuned by Trada and drawn as text, and found by position in data without names."""
    features, grades = coded(40, missing=True)
    made = lightgbm_model(features, grades, [1]) if maker == "lightgbm" else xgboost_model(features, grades)
    forest = saved(made, tmp_path / ("model.txt" if maker == "lightgbm" else "model.json"))
    forest.save(tmp_path / "own.rankinite")
    rows = odd_rows(features)
    assert (rk.load(tmp_path / "own.rankinite").score(rows) == forest.score(rows)).all()
    data = rk.read(features, grades=grades, qid=np.arange(ROWS) // QUERY, categories=[1])
    assert (forest.score(data) == forest.score(features)).all()
    grown = rk.LambdaMART.plain(trees=3, leaves=4).fit(data, base=forest)
    assert len(grown) == len(forest) + 3
    assert (grown.truncate(len(forest)).score(rows) == forest.score(rows)).all()
    numbers = rk.read(features, grades=grades, qid=np.arange(ROWS) // QUERY)
    blend = rk.LambdaMART.plain(trees=3, leaves=4).fit(numbers, base=forest)  # to which the codes are numbers
    assert (blend.parts[0][1].score(numbers) == forest.score(features)).all()
    tuned = rk.adapt.trada(forest, data.select_queries(range(10)), beta=5.0, rate=0.1, splits=True)
    assert tuned.trees.set_codes.tolist() == forest.trees.set_codes.tolist()
    assert (tuned.trees.value != forest.trees.value).any()
    kept = rk.adapt.trada(forest, data, beta=0.0, rate=0.1)
    assert (kept.score(rows) == forest.score(rows)).all()
    assert "78" in forest.text()


def test_a_category_that_no_split_uses_is_one_all_the_same(tmp_path):
    features, grades = coded(12)
    grades = np.clip(np.round(features[:, 0] + 2), 0, 4)
    features[:, 1] = np.random.default_rng(2).integers(0, 3, ROWS)
    light = lightgbm_model(features, grades, [1], num_leaves=2)
    light.save_model(tmp_path / "model.txt")
    forest = rk.load(tmp_path / "model.txt")
    assert not forest.trees.has_sets
    data = rk.read(features, grades=grades, qid=np.arange(ROWS) // QUERY, categories=[1])
    assert (forest.score(data) == light.predict(features)).all()
