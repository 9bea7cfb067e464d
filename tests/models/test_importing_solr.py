"""Solr's models: the scores of a slow evaluator of its JSON, normalisers folded in, and refusals of the rest."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import rankinite as rk
from oracles.foreign_models import beside_thresholds, solr_model, solr_scores, solr_trees, whole_leaves
from oracles.trees import random_forest, random_matrix
from refusals import refused

SEEDS = range(6)
NAMES = ("f0", "f1", "f2")
STANDARD = {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": {"avg": "0.3", "std": "1.7"}}
MIN_MAX = {"class": "org.apache.solr.ltr.norm.MinMaxNormalizer", "params": {"min": "-2.1", "max": "3.7"}}
IDENTITY = {"class": "org.apache.solr.ltr.norm.IdentityNormalizer"}


def load(folder, model: dict, **layout):
    (folder / "model.json").write_text(json.dumps(model, **layout))
    return rk.load(folder / "model.json")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("norms", [{}, {"f0": STANDARD, "f1": MIN_MAX, "f2": IDENTITY}], ids=["plain", "normalised"])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_end_in_the_leaves_that_solr_finds(seed, norms, missing, tmp_path):
    model = solr_trees(whole_leaves(random_forest(seed, trees=8, features=3), seed), "0.5", missing=missing, norms=norms)
    forest = load(tmp_path, model, indent=[None, 2][seed % 2])
    rows = random_matrix(seed, 40, 3)
    rows = np.concatenate((rows, beside_thresholds(forest, rows)))
    assert forest.score(rows).tolist() == solr_scores(model, rows)
    assert forest.feature_names == NAMES


def test_thresholds_have_solrs_slack(tmp_path):
    forest = load(tmp_path, solr_trees(whole_leaves(random_forest(1, trees=6, features=3), 1)))
    plain = whole_leaves(random_forest(1, trees=6, features=3), 1).trees.threshold
    inner = forest.trees.feature >= 0
    expected = np.sort((plain[plain != 0].astype(np.float32) + np.float32(1e-6)).astype(np.float64))
    found = np.sort(forest.trees.threshold[inner])
    assert np.isin(expected, found).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_normaliser_is_folded_in_exactly_whatever_its_numbers(seed, tmp_path):
    """The last value that goes left is found among all float32 values, however coarse or fine the normaliser is."""
    random = np.random.default_rng(seed)
    avg, std = random.normal(scale=10.0 ** random.integers(-20, 20)), 10.0 ** random.uniform(-30, 30)
    norm = {"class": "solr.StandardNormalizer", "params": {"avg": str(np.float32(avg)), "std": str(np.float32(std))}}
    model = solr_trees(whole_leaves(random_forest(seed, trees=5, features=3), seed), norms=dict.fromkeys(NAMES, norm))
    forest = load(tmp_path, model)
    rows = (random.normal(size=(30, 3)) * std + avg).astype(np.float32)
    rows = np.concatenate((rows, beside_thresholds(forest, rows)))
    rows = rows[np.isfinite(rows).all(axis=1) | np.isnan(rows).any(axis=1)]
    assert forest.score(rows).tolist() == solr_scores(model, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_weights_agree_within_float32(seed, tmp_path):
    rows = np.nan_to_num(random_matrix(seed, 40, 3), posinf=3.0, neginf=-3.0)
    rows[::7, 1] = np.nan
    model = solr_trees(random_forest(seed, trees=30, features=3), "0.1")
    assert load(tmp_path, model).score(rows) == pytest.approx(solr_scores(model, rows), rel=3e-6, abs=3e-6)
    random = np.random.default_rng(seed)
    norms = {"f0": STANDARD, "f2": MIN_MAX}
    weights = dict(zip(NAMES, random.normal(size=3).tolist(), strict=True))
    model = solr_model("LinearModel", NAMES, {"weights": weights}, norms)
    ranker = load(tmp_path, model)
    assert isinstance(ranker, rk.Linear)
    assert ranker.score(rows) == pytest.approx(solr_scores(model, rows), rel=1e-5, abs=2e-6)


@pytest.mark.parametrize(
    "activations",
    [("tanh", "identity"), ("tanh", "tanh", "identity"), ("identity",), ("identity", "tanh", "identity", "identity")],
    ids=str,
)
def test_nets_of_tanh_units(activations, tmp_path):
    random = np.random.default_rng(len(activations))
    sizes = [3, *random.integers(2, 6, len(activations) - 1).tolist(), 1]
    layers = [
        {
            "matrix": random.normal(size=(out, into)).tolist(),
            "bias": random.normal(size=out).tolist(),
            "activation": activation,
        }
        for into, out, activation in zip(sizes, sizes[1:], activations, strict=False)
    ]
    model = solr_model("NeuralNetworkModel", NAMES, {"layers": layers}, {"f1": STANDARD})
    net = load(tmp_path, model)
    rows = np.nan_to_num(random_matrix(1, 30, 3), posinf=3.0, neginf=-3.0)
    rows[::7, 1] = np.nan
    assert isinstance(net, rk.Net)
    assert len(net.hidden) == activations.count("tanh")
    assert net.score(rows) == pytest.approx(solr_scores(model, rows), rel=1e-5, abs=1e-5)
    net.save(tmp_path / "own.rankinite")
    assert (rk.load(tmp_path / "own.rankinite").score(rows) == net.score(rows)).all()


def test_a_wrapper_is_answered_with_what_to_do(tmp_path):
    with refused(rk.DataError, place="class", value="DefaultWrapperModel") as caught:
        load(tmp_path, solr_model("DefaultWrapperModel", (), {"resource": "models/mine.json"}))
    assert "resource" in caught.value.remedy
    with refused(rk.DataError, place="class", value="MyModel"):
        load(tmp_path, solr_model("MyModel", NAMES, {}))


TREES = solr_trees(whole_leaves(random_forest(2, trees=3, features=3, most=3), 2), missing=True)
ROOT = ("params", "trees", 1, "root")


@pytest.mark.parametrize(
    ("path", "odd", "place", "value"),
    [
        ((*ROOT, "feature"), "f9", "trees[1].root.feature", "f9"),
        ((*ROOT, "threshold"), "x", "trees[1].root.threshold", "x"),
        ((*ROOT, "threshold"), "-Infinity", "trees[1].root.threshold", "-Infinity"),
        ((*ROOT, "threshold"), "1e39", "trees[1].root.threshold", "1e39"),
        ((*ROOT, "left"), {}, "trees[1].root.left", "value"),
        ((*ROOT, "left"), 3, "trees[1].root.left", 3),
        ((*ROOT, "missing"), 3, "trees[1].root.missing", 3),
        (("params", "isNullSameAsZero"), "false", "params.isNullSameAsZero", "false"),
        (("params", "trees", 1, "weight"), None, "trees[1].weight", None),
        (("params", "trees"), ..., "params", "trees"),
        (("features",), [{"name": "f0"}, {"name": "f1"}, {"name": "f2"}, {"name": "f0"}], "forest", "f0"),
        (("features", 0, "norm"), {"class": "a.b.Other"}, "features[0].norm", "Other"),
        (("features", 0, "norm"), STANDARD | {"params": {"avg": "1", "std": "0"}}, "norm.params", {"avg": "1", "std": "0"}),
        (("features", 0, "norm"), MIN_MAX | {"params": {"min": "1", "max": "-1"}}, "norm.params", {"min": "1", "max": "-1"}),
    ],
)
def test_errors_have_place_and_value(path, odd, place, value, tmp_path):
    model = copy.deepcopy(TREES)
    at = model
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = odd
    if odd is ...:
        del at[path[-1]]
    assert load(tmp_path, TREES).score(np.zeros((1, 3))).tolist() == solr_scores(TREES, np.zeros((1, 3)))
    with refused(rk.DataError, place=place, value=value) as caught:
        load(tmp_path, model)
    assert caught.value.place.startswith(str(tmp_path / "model.json"))


@pytest.mark.parametrize(
    ("change", "place", "value"),
    [
        ({"activation": "relu"}, "layers[0].activation", "relu"),
        ({"activation": "sigmoid"}, "layers[0].activation", "sigmoid"),
        ({"matrix": []}, "layers[0].matrix", []),
        ({"matrix": [[1.0, 2.0]]}, "layers[0].matrix[0]", [1.0, 2.0]),
        ({"bias": [1.0, 2.0]}, "layers[0].bias", [1.0, 2.0]),
        ({"bias": [1e300]}, "net: weights", float("inf")),
    ],
)
def test_errors_of_nets_have_place_and_value(change, place, value, tmp_path):
    hidden = {"matrix": [[1.0, 2.0, 3.0]], "bias": [1.0], "activation": "tanh"}
    last = {"matrix": [[1.0]], "bias": [0.0], "activation": "identity"}
    with refused(rk.DataError, place=place, value=value):
        load(tmp_path, solr_model("NeuralNetworkModel", NAMES, {"layers": [hidden | change, last]}))
    with refused(rk.DataError, place="layers[1].activation", value="tanh"):
        load(tmp_path, solr_model("NeuralNetworkModel", NAMES, {"layers": [hidden, last | {"activation": "tanh"}]}))


def test_every_feature_of_a_linear_model_has_a_weight(tmp_path):
    with refused(rk.DataError, place="params.weights", value="f1"):
        load(tmp_path, solr_model("LinearModel", NAMES, {"weights": {"f0": 1.0, "f2": 2.0}}))
