"""LightGBM's and XGBoost's models as forests: the libraries' own scores, and refusals of what our trees cannot express."""

from __future__ import annotations

import json

import lightgbm
import numpy as np
import pytest
import xgboost

import rankinite as rk
from refusals import refused

RANDOM = np.random.default_rng(0)
QUERIES, DOCUMENTS, FEATURES = 40, 15, 6
X = RANDOM.normal(size=(QUERIES * DOCUMENTS, FEATURES)).astype(np.float32)
X[RANDOM.random(X.shape) < 0.15] = np.nan
X[RANDOM.random(X.shape) < 0.1] = 0.0
GRADES = np.clip(np.round(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + RANDOM.normal(size=len(X))), 0, 4)
GROUP = [DOCUMENTS] * QUERIES


def at_thresholds(forest: rk.Forest, dtype) -> np.ndarray:
    """Rows whose features are exactly thresholds, or the floats next to them."""
    rows = []
    for node in np.flatnonzero(forest.trees.feature >= 0)[:200]:
        cut = dtype(forest.trees.threshold[node])
        for value in (cut, np.nextafter(cut, dtype(np.inf)), np.nextafter(cut, dtype(-np.inf))):
            row = RANDOM.normal(size=FEATURES).astype(dtype)
            row[forest.trees.feature[node]] = value
            rows.append(row)
    return np.asarray(rows)


def lightgbm_model(objective="lambdarank", **settings):
    data = lightgbm.Dataset(X, GRADES, group=GROUP if objective == "lambdarank" else None)
    parameters = {"objective": objective, "verbosity": -1, "min_data_in_leaf": 5, "num_leaves": 8, **settings}
    return lightgbm.train(parameters, data, 20)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objective": "regression"},
        {"objective": "binary_like"},
        {"use_missing": False},
        {"boosting": "dart"},
        {"num_leaves": 2},
    ],
    ids=str,
)
def test_lightgbm_scores_are_its_own_to_the_last_bit(settings, tmp_path):
    if settings.get("objective") == "binary_like":
        settings = {"objective": "cross_entropy"}
        model = lightgbm.train(
            {**settings, "verbosity": -1, "min_data_in_leaf": 5}, lightgbm.Dataset(X, (GRADES > 1).astype(float)), 10
        )
    else:
        model = lightgbm_model(**settings)
    model.save_model(tmp_path / "model.txt")
    forest = rk.load(tmp_path / "model.txt")
    for rows in (X, at_thresholds(forest, np.float64)):
        assert (forest.score(rows) == model.predict(rows, raw_score=True)).all()
    assert forest.feature_names == tuple(model.feature_name())


def test_lightgbm_nodes_have_their_counts(tmp_path):
    model = lightgbm_model("regression", learning_rate=0.2)
    model.save_model(tmp_path / "model.txt")
    trees = rk.load(tmp_path / "model.txt").trees
    roots = trees.offsets[:-1]
    assert (trees.rows[roots] == len(X)).all()
    for tree in range(len(trees)):
        single = trees.take(tree, tree + 1)
        inner = single.feature >= 0
        assert (single.rows[inner] == single.rows[single.left[inner]] + single.rows[single.right[inner]]).all()
    assert rk.load(tmp_path / "model.txt").settings["rate"] == 0.2
    assert rk.load(tmp_path / "model.txt").settings["loss"] == "squared"


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"linear_tree": True, "objective": "regression"}, "tree 0: is_linear"),
        ({"zero_as_missing": True}, "decision_type"),
        ({"objective": "multiclass", "num_class": 5}, "num_tree_per_iteration"),
        ({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5, "objective": "regression"}, "average_output"),
    ],
)
def test_what_only_lightgbm_has_is_refused(settings, place, tmp_path):
    lightgbm_model(**settings).save_model(tmp_path / "model.txt")
    with refused(rk.DataError, place=place):
        rk.load(tmp_path / "model.txt")


def xgboost_model(objective="rank:ndcg", names=None, **settings):
    grades = GRADES > 0 if objective.endswith(("logistic", "logitraw")) else GRADES
    data = xgboost.DMatrix(X, grades, feature_names=names)
    if objective.startswith("rank"):
        data.set_group(GROUP)
    shape = {} if settings.get("booster") == "gblinear" else {"max_depth": 3}
    return xgboost.train({"objective": objective, "nthread": 1, **shape, **settings}, data, 20)


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objective": "reg:squarederror"},
        {"objective": "rank:pairwise", "booster": "dart", "rate_drop": 0.3},
        *(
            {"objective": name}
            for name in ("count:poisson", "reg:tweedie", "reg:logistic", "binary:logistic", "binary:logitraw")
        ),
        {"gamma": 5.0},
    ],
    ids=str,
)
def test_xgboost_scores_are_its_own_to_the_last_bits_of_float32(settings, ending, tmp_path):
    model = xgboost_model(**settings)
    path = tmp_path / f"model.{ending}"
    model.save_model(path)
    forest = rk.load(path)
    for rows in (X, at_thresholds(forest, np.float32)):
        assert forest.score(rows) == pytest.approx(model.predict(xgboost.DMatrix(rows), output_margin=True), rel=2e-6, abs=2e-6)
    assert forest.feature_names == tuple(f"f{k}" for k in range(FEATURES))
    assert (forest.trees.curvature > 0).all()


def test_both_files_of_xgboost_say_the_same(tmp_path):
    names = [f"name {k}" for k in range(FEATURES)]
    model = xgboost_model(names=names)
    model.save_model(tmp_path / "model.json")
    model.save_model(tmp_path / "model.ubj")
    first, second = rk.load(tmp_path / "model.json"), rk.load(tmp_path / "model.ubj")
    assert (first.score(X) == second.score(X)).all()
    assert first.feature_names == second.feature_names == tuple(names)


@pytest.mark.parametrize(
    ("settings", "place", "value"),
    [
        ({"booster": "gblinear"}, "gradient_booster.name", "gblinear"),
        ({"objective": "multi:softprob", "num_class": 5}, "num_class", "5"),
    ],
)
def test_what_only_xgboost_has_is_refused(settings, place, value, tmp_path):
    xgboost_model(**{"objective": "reg:squarederror", **settings}).save_model(tmp_path / "model.json")
    with refused(rk.DataError, place=place, value=value):
        rk.load(tmp_path / "model.json")


def test_imported_forests_are_saved_and_boosted_from(tmp_path):
    lightgbm_model().save_model(tmp_path / "model.txt")
    forest = rk.load(tmp_path / "model.txt")
    forest.save(tmp_path / "own.rankinite")
    assert (rk.load(tmp_path / "own.rankinite").score(X) == forest.score(X)).all()
    data = rk.read(X, grades=GRADES, group=GROUP).rename_features(list(forest.feature_names))
    grown = rk.LambdaMART.plain(trees=3, leaves=4).fit(data, base=forest)
    assert len(grown) == len(forest) + 3
    assert (grown.truncate(len(forest)).score(X) == forest.score(X)).all()


@pytest.mark.parametrize("ending", ["txt", "json", "ubj"])
def test_damaged_files_are_data_errors(ending, tmp_path):
    path = tmp_path / f"model.{ending}"
    (lightgbm_model() if ending == "txt" else xgboost_model()).save_model(path)
    content = path.read_bytes()
    random = np.random.default_rng(1)
    for _ in range(150):
        damaged = bytearray(content)
        kind = random.integers(3)
        if kind == 0:
            damaged = damaged[: int(random.integers(9, len(content)))]
        elif kind == 1:
            for place in random.integers(5, len(content), 3):
                damaged[place] = int(random.integers(256))
        else:
            first, last = sorted(random.integers(5, len(content), 2))
            del damaged[first:last]
        path.write_bytes(bytes(damaged))
        try:
            rk.load(path)
        except rk.RankiniteError:
            continue


def test_other_json_is_not_a_model(tmp_path):
    (tmp_path / "model.json").write_text(json.dumps({"learner": {}}))
    with refused(rk.DataError, place="model.json: learner", value="gradient_booster"):
        rk.load(tmp_path / "model.json")
