"""CatBoost's JSON models as forests: CatBoost's own scores to the last bit, and refusals of what is not a number."""

from __future__ import annotations

import json

import catboost
import numpy as np
import pytest

import rankinite as rk
from oracles.foreign_models import beside_thresholds
from refusals import refused

RANDOM = np.random.default_rng(3)
QUERIES, DOCUMENTS, FEATURES = 25, 12, 5
X = RANDOM.normal(size=(QUERIES * DOCUMENTS, FEATURES)).astype(np.float32)
X[:, 3] = np.round(X[:, 3])
HOLES = X.copy()
HOLES[RANDOM.random(X.shape) < 0.15] = np.nan
GRADES = np.clip(np.round(X[:, 0] + X[:, 1] + RANDOM.normal(size=len(X))), 0, 4)
QID = np.repeat(np.arange(QUERIES), DOCUMENTS)


def model(matrix=HOLES, grades=GRADES, names=None, **settings) -> catboost.CatBoost:
    chosen = {"loss_function": "YetiRank", "iterations": 12, "depth": 4, "learning_rate": 0.2, **settings}
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    trained = catboost.CatBoost({**chosen, **quiet})
    return trained.fit(catboost.Pool(matrix, grades, group_id=QID, feature_names=names))


def loaded(trained: catboost.CatBoost, folder) -> rk.Forest:
    trained.save_model(str(folder / "model.json"), format="json")
    return rk.load(folder / "model.json")


def content(trained: catboost.CatBoost, folder) -> dict:
    trained.save_model(str(folder / "model.json"), format="json")
    return json.loads((folder / "model.json").read_text())


@pytest.mark.parametrize("nan_mode", ["Min", "Max", "Forbidden"])
@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("loss_function", ["YetiRank", "RMSE"])
def test_scores_are_catboosts_own_to_the_last_bit(loss_function, grow_policy, nan_mode, tmp_path):
    settings = {"loss_function": loss_function, "grow_policy": grow_policy, "nan_mode": nan_mode}
    matrix = X if nan_mode == "Forbidden" else HOLES
    trained = model(matrix, **settings)
    forest = loaded(trained, tmp_path)
    rows = np.concatenate((HOLES, beside_thresholds(forest, HOLES)))
    assert (forest.score(rows) == trained.predict(rows)).all()
    assert (forest.trees.feature >= 0).sum() > 20
    assert forest.settings["missing_values"] == (nan_mode != "Forbidden")


@pytest.mark.parametrize(("scale", "bias"), [(0.5, 0.1), (0.7, -1.3)])
def test_scale_and_bias_are_folded_in(scale, bias, tmp_path):
    trained = model()
    trained.set_scale_and_bias(scale, bias)
    scores, expected = loaded(trained, tmp_path).score(HOLES), trained.predict(HOLES)
    assert scores == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert (scores == expected).all() or scale != 0.5  # halving is exact


def test_names_rows_and_settings_come_with_it(tmp_path):
    names = [f"signal {k}" for k in range(FEATURES)]
    trained = model(names=names, loss_function="RMSE", iterations=4)
    forest = loaded(trained, tmp_path)
    assert forest.feature_names == tuple(names)
    assert {name: forest.settings[name] for name in ("learner", "objective", "loss", "rate")} == {
        "learner": "CatBoost",
        "objective": "RMSE",
        "loss": "squared",
        "rate": 0.2,
    }
    trees = forest.trees
    assert len(trees) == 4 + 1  # the last is the bias
    assert (trees.rows[trees.offsets[:-1]] == len(X)).all()
    for number in range(len(trees)):
        tree = trees.take(number, number + 1)
        inner = tree.feature >= 0
        left, right = tree.left[inner], tree.right[inner]
        assert (tree.rows[inner] == tree.rows[left] + tree.rows[right]).all()
        mean = (tree.rows[left] * tree.value[left] + tree.rows[right] * tree.value[right]) / np.maximum(tree.rows[inner], 1)
        assert tree.value[inner][tree.rows[inner] > 0] == pytest.approx(mean[tree.rows[inner] > 0])
    assert loaded(model(), tmp_path).feature_names == tuple(map(str, range(FEATURES)))


def test_weights_that_are_no_counts_leave_rows_unknown(tmp_path):
    pool = catboost.Pool(X, GRADES, weight=RANDOM.random(len(X)))
    settings = {"loss_function": "RMSE", "iterations": 3, "depth": 2, "verbose": False, "allow_writing_files": False}
    forest = loaded(catboost.CatBoost(settings).fit(pool), tmp_path)
    assert not forest.trees.rows.any()


def test_categories_and_several_scores_are_refused(tmp_path):
    rows = [[float(x), "abc"[k % 3]] for k, x in enumerate(X[:, 0])]
    settings = {"loss_function": "RMSE", "iterations": 3, "depth": 2, "verbose": False, "allow_writing_files": False}
    trained = catboost.CatBoost({**settings, "one_hot_max_size": 5}).fit(catboost.Pool(rows, GRADES, cat_features=[1]))
    pool = catboost.Pool(rows, GRADES, cat_features=[1])
    trained.save_model(str(tmp_path / "model.json"), format="json", pool=pool)
    with refused(rk.DataError, place="features_info.categorical_features", value="categorical_features"):
        rk.load(tmp_path / "model.json")
    trained = catboost.CatBoost({**settings, "loss_function": "MultiClass"}).fit(X, GRADES)
    with refused(rk.DataError, place="scale_and_bias[1]", value=5):
        loaded(trained, tmp_path)


@pytest.mark.parametrize(
    ("path", "odd", "place"),
    [
        (("scale_and_bias",), [1], "scale_and_bias"),
        (("scale_and_bias", 0), "x", "scale_and_bias[0]"),
        (("features_info", "float_features", 1, "flat_feature_index"), 0, "features_info.float_features"),
        (("features_info", "float_features", 1, "nan_value_treatment"), "Odd", "float_features[1].nan_value_treatment"),
        (("oblivious_trees", 2, "leaf_values"), [1.0], "oblivious_trees[2].leaf_values"),
        (("oblivious_trees", 2, "splits", 0, "split_type"), "OnlineCtr", "oblivious_trees[2].splits[0]"),
        (("oblivious_trees", 2, "splits", 0, "float_feature_index"), 99, "splits[0].float_feature_index"),
        (("oblivious_trees", 2, "splits", 0, "border"), None, "splits[0].border"),
        (("oblivious_trees", 0, "leaf_values", 0), float("nan"), "forest"),
    ],
)
def test_errors_have_a_place(path, odd, place, tmp_path):
    changed = content(model(iterations=3), tmp_path)
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = odd
    (tmp_path / "odd.json").write_text(json.dumps(changed))
    with refused(rk.DataError, place=place) as caught:
        rk.load(tmp_path / "odd.json")
    assert caught.value.place.startswith(str(tmp_path / "odd.json"))


def test_imported_forests_are_saved_adapted_and_boosted_from(tmp_path):
    data = rk.read(X, grades=GRADES, qid=QID)
    for loss_function in ("YetiRank", "RMSE"):
        forest = loaded(model(X, loss_function=loss_function), tmp_path)
        forest.save(tmp_path / "own.rankinite")
        assert (rk.load(tmp_path / "own.rankinite").score(X) == forest.score(X)).all()
        tuned = rk.adapt.trada(forest, data, beta=1.0)
        assert tuned.feature_names == data.feature_names
        assert (tuned.score(data) != forest.score(X)).any()
        untouched = rk.adapt.trada(forest, data, beta=0.0)
        assert untouched.score(data) == pytest.approx(forest.score(X), abs=1e-12)
        grown = rk.LambdaMART.plain(trees=2, leaves=4).fit(data, base=forest)
        assert (grown.truncate(len(forest)).score(X) == forest.score(X)).all()


def test_the_bias_is_there_from_the_first_tree_that_is_adapted(tmp_path):
    """With squared loss, what is left to be explained counts from the mean, wherever the file has put it."""
    data = rk.read(X, grades=GRADES + 3.0, qid=QID)
    forest = loaded(model(X, GRADES + 3.0, loss_function="RMSE", iterations=3), tmp_path)
    by_hand = rk.Forest(forest.trees.take(0, 3), forest.feature_names, start=[forest.trees.value[-1]], settings=forest.settings)
    assert forest.trees.value[-1] == pytest.approx(GRADES.mean() + 3.0)
    expected = rk.adapt.trada(by_hand, data, beta=2.0).score(data)
    assert rk.adapt.trada(forest, data, beta=2.0).score(data) == pytest.approx(expected, abs=1e-12)
