"""Models for Solr, and the traps of its format."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from urllib.parse import parse_qs

import numpy as np
import pyarrow as pa
import pytest

import rankinite as rk
from oracles import solr
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.files.solr import solr_model
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.float32 import floor32
from rankinite.serving.served_scores import check_served
from rankinite.serving.targets import solr_ltr
from rankinite.serving.targets.solr_thresholds import SLACK, before_slack
from refusals import refused
from serving.every_kind import linear_of, net_of, one_by_one, stumps
from serving.parity import case_of, random_case
from serving.recording_server import recording_server, run_script

FOREST = random_forest(2, trees=6)
f32 = np.float32


def model_of(case):
    return json.loads(case.files["model.json"])


def features_of(case):
    return json.loads(case.files["features.json"])


def nodes(model):
    waiting = [tree["root"] for tree in model["params"]["trees"]]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [node[side] for side in ("left", "right") if side in node]


def splits(model):
    return [node for node in nodes(model) if "feature" in node]


def beside(threshold):
    """A threshold's float32 neighbours on both sides, three deep, and what the slack would let pass."""
    near = f32(threshold)
    found = [near]
    for side in (-np.inf, np.inf):
        value = near
        for _ in range(3):
            value = np.nextafter(value, f32(side))
            found.append(value)
    return np.asarray([[value] for value in (*found, near + f32(5e-7), near + f32(1e-6), 0.0, -0.0)], np.float32)


# ---- the slack --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.5, 0.1, 1 / 3, -0.3, 7.0, 0.0, 1e-3, 123456.7])
def test_the_slack_lets_no_value_pass(threshold):
    case = case_of("solr-ltr", stumps((threshold,), (True,)))
    rows = beside(threshold)
    own = case.plan.ranker.score(rows)
    np.testing.assert_array_equal(solr.scores_of(case.files, ("a",), rows), own)
    naive = model_of(case)
    naive["params"]["trees"][0]["root"]["threshold"] = repr(threshold)
    served = solr.scores_of({**case.files, "model.json": json.dumps(naive)}, ("a",), rows)
    assert abs(threshold) > 100.0 or not np.array_equal(served, own)


@pytest.mark.parametrize("threshold", [1e-4, 3e-5, 1e-6, -1e-6, 1e-7, 4.2e-8, -1e-9, 1e-20, 1e-30, -1e-38, 1e-44])
def test_thresholds_near_0_are_reached_by_scaling(threshold):
    thresholds = (threshold, 0.25, -3.0, 0.0)
    case = case_of("solr-ltr", stumps(thresholds, (True, False, True, False)))
    rows = np.concatenate([beside(one) for one in thresholds])
    np.testing.assert_array_equal(solr.scores_of(case.files, ("a",), rows), case.plan.ranker.score(rows))
    norm = model_of(case)["features"][0].get("norm")
    if norm is not None:
        assert norm["params"]["avg"] == "0.0"
        assert math.frexp(solr.parse_float(norm["params"]["std"]))[0] == 0.5  # a power of two


def test_features_that_need_no_scaling_have_none():
    case = case_of("solr-ltr", stumps((0.5, 0.0, 1 / 3, 7.0, 1e30), (True,) * 5))
    assert model_of(case)["features"] == [{"name": "a"}]


def test_values_far_beyond_the_scaled_thresholds_keep_their_side():
    case = case_of("solr-ltr", stumps((1e-20, 1e300), (True, False)))
    assert "norm" in model_of(case)["features"][0]
    largest = np.finfo(np.float32).max
    rows = np.asarray([[largest], [-largest], [1e30], [-1e30], [np.nan]], np.float32)
    np.testing.assert_array_equal(solr.scores_of(case.files, ("a",), rows), case.plan.ranker.score(rows))


def test_thresholds_that_no_scale_suits_are_refused_by_name():
    with refused(ArgumentError, place="a", value=float(floor32(1e-30))):
        case_of("solr-ltr", stumps((1e-30, 1e30), (True, False)))


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e4])
def test_a_text_is_found_wherever_there_is_one(size):
    wanted = (np.random.default_rng(3).normal(size=500) * size).astype(np.float32)
    found, reached = before_slack(wanted)
    assert (found[reached] + SLACK == wanted[reached]).all()
    for number in wanted[~reached]:  # by trying all floats near by
        candidate = number - SLACK
        for _ in range(20):
            candidate = np.nextafter(candidate, f32(-np.inf))
        for _ in range(40):
            assert candidate + SLACK != number
            candidate = np.nextafter(candidate, f32(np.inf))


# ---- the form of trees ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_numbers_of_trees_are_texts(missing):
    model = model_of(case_of("solr-ltr", FOREST, served_missing=missing))
    texts = [node["threshold" if "feature" in node else "value"] for node in nodes(model)]
    texts += [tree["weight"] for tree in model["params"]["trees"]]
    assert all(isinstance(text, str) for text in texts)
    with pytest.raises(TypeError):
        solr.parse_float(0.5)


def test_every_split_says_where_missing_values_go():
    case = case_of("solr-ltr", FOREST, served_missing="nan")
    model = model_of(case)
    assert {node["missing"] for node in splits(model)} == {"left", "right"}
    assert model["params"]["isNullSameAsZero"] is False
    assert all(feature["params"]["defaultValue"] == "NaN" for feature in features_of(case))
    for node in splits(model):
        del node["missing"]
    with pytest.raises(KeyError):
        solr.scores_of({**case.files, "model.json": json.dumps(model)}, case.plan.names, np.full((1, 3), np.nan))


def test_without_missing_values_nothing_is_there_that_older_versions_refuse():
    case = case_of("solr-ltr", FOREST, served_missing="zero", version="8.11")
    model = model_of(case)
    assert not any("missing" in node for node in splits(model))
    assert set(model["params"]) == {"trees"}
    assert not any("defaultValue" in feature["params"] for feature in features_of(case))


@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_missing_values_go_where_they_should(missing):
    trees = replace(FOREST.trees, missing_left=np.arange(len(FOREST.trees.feature)) % 2 == 0)
    ranker = replace(FOREST, trees=trees)
    case = case_of("solr-ltr", ranker, served_missing=missing)
    rows = np.asarray([[np.nan, np.nan, np.nan], [0.3, np.nan, -1.0], [np.nan, 0.1, np.nan]], np.float32)
    counted = rows if missing == "nan" else np.nan_to_num(rows)
    np.testing.assert_allclose(solr.scores_of(case.files, case.plan.names, rows), ranker.score(counted), rtol=1e-5)


def test_features_are_defined_completely():
    for seed in range(20):
        case = random_case("solr-ltr", seed)
        model = model_of(case)
        listed = [entry["name"] for entry in model["features"]]
        assert {node["feature"] for node in splits(model)} <= set(listed)
        assert listed == [feature["name"] for feature in features_of(case)]
        assert {feature["store"] for feature in features_of(case)} == {model["store"]}


def test_a_forest_without_splits_has_a_feature_all_the_same():
    case = case_of("solr-ltr", Forest(FOREST.trees.take(0, 0), FOREST.feature_names, start=np.asarray([0.7])))
    assert solr.scores_of(case.files, (), np.empty((1, 0)))[0] == f32(0.7)


def test_scores_may_be_negative_and_shifted():
    for shift in (None, "none", "auto", 10):
        case = case_of("solr-ltr", stumps((0.5,), (True,), [(-3.0, 2.0)]), shift=shift)
        assert solr.scores_of(case.files, ("a",), [[0.0]])[0] == -3.0 + case.plan.shift
        assert case.plan.shift == {"auto": case.plan.shift, 10: 10.0}.get(shift, 0.0)
        assert shift != "auto" or case.plan.shift >= 3.0


def test_what_is_exported_can_be_imported():
    for seed in range(10):
        case = random_case("solr-ltr", seed)
        again = solr_model(model_of(case))
        rows = np.nan_to_num(case.matrix) if case.plan.missing == "zero" else case.matrix
        rows = rows if case.plan.names else np.ones((len(rows), 1), np.float32)
        np.testing.assert_allclose(again.score(rows), case.twin(), rtol=1e-5, atol=1e-4)


# ---- nets and linear rankers ------------------------------------------------------------------------------------------


def layer_kinds():
    rankers = {name: ranker for name, ranker in one_by_one(3).items() if "linear" in name or "net" in name}
    return {name: ranker for name, ranker in rankers.items() if "stack" not in name}


@pytest.mark.parametrize("name", layer_kinds())
@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_nets_and_linear_rankers_have_the_bits_of_the_twin_and_nearly_their_own_scores(name, missing):
    ranker = layer_kinds()[name]
    if missing == "nan" and ranker.nan == "refuse":
        with refused(ArgumentError, setting="served_missing", value="nan"):
            case_of("solr-ltr", ranker, served_missing=missing)
        return
    case = case_of("solr-ltr", ranker, served_missing=missing)
    served = solr.scores_of(case.files, case.plan.names, case.matrix)
    np.testing.assert_array_equal(served, case.twin())
    columns = [ranker.feature_names.index(one) for one in case.plan.names]
    rows = np.zeros((len(case.matrix), len(ranker.feature_names)))
    rows[:, columns] = case.matrix if missing == "nan" else np.nan_to_num(case.matrix)
    np.testing.assert_allclose(served, ranker.score(rows), rtol=2e-6, atol=2e-6)


def test_whole_numbers_in_nets_are_written_with_a_point():
    net = Net(("a",), (1,), np.asarray([2.0, 0.0, 3.0, 1.0]), np.zeros(1), np.ones(1))
    case = case_of("solr-ltr", net)
    text = case.files["model.json"].decode()
    numbers = re.findall(r"-?[0-9][^\],]*", text[text.index('"layers"') :])
    assert numbers == ["2.0", "0.0", "3.0", "1.0"]
    with pytest.raises(TypeError):
        solr.double_to_float(2)


def test_a_missing_input_of_a_net_is_at_its_centre():
    case = case_of("solr-ltr", net_of(1))
    centre = dict(zip(case.plan.ranker.feature_names, case.plan.ranker.centre, strict=True))
    for feature in features_of(case):
        assert solr.parse_float(feature["params"]["defaultValue"]) == f32(centre[feature["name"]])


def test_a_large_centre_costs_no_digits():
    random = np.random.default_rng(5)
    rows = (1.7e9 + 1e6 * random.normal(size=(50, 1))).astype(np.float32)
    net = Net(("a",), (2,), random.normal(size=7), rows.mean(axis=0, dtype=np.float64), np.asarray([1e-6]))
    case = case_of("solr-ltr", net)
    own, served = net.score(rows), solr.scores_of(case.files, ("a",), rows)
    np.testing.assert_allclose(served, own, rtol=0, atol=1e-6)
    first, second = net.layers()
    folded = (first[0] * net.scale).astype(np.float32), (first[1] - first[0] @ (net.scale * net.centre)).astype(np.float32)
    hidden = np.tanh(rows * folded[0].T + folded[1])
    assert np.abs(hidden @ second[0].T.astype(np.float32) + second[1] - own[:, None]).max() > 1e-5


def test_the_bias_of_a_linear_ranker_is_the_weight_of_a_constant():
    case = case_of("solr-ltr", Linear(("constant", "b"), np.asarray([2.0, -1.0]), 0.25))
    model, (constant, *_) = model_of(case), features_of(case)
    assert model["params"]["weights"] == {"constant_": 0.25, "constant": 2.0, "b": -1.0}
    assert (constant["name"], constant["params"]) == ("constant_", {"value": 1.0})
    assert solr.scores_of(case.files, ("constant", "b"), [[1.0, 2.0]])[0] == 0.25
    plain = case_of("solr-ltr", Linear(("a", "b"), np.asarray([2.0, -1.0])))
    assert [entry["name"] for entry in model_of(plain)["features"]] == ["a", "b"]


def test_sums_of_linear_rankers_and_features_are_one_linear_model():
    ranker = 0.5 * linear_of(1, nan="refuse") + 2.0 * rk.Feature("f1")
    case = case_of("solr-ltr", ranker, served_missing="zero")
    rows = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    own = ranker.score(pa.table(dict(zip(case.plan.names, rows.T, strict=True))))
    np.testing.assert_allclose(solr.scores_of(case.files, case.plan.names, rows), own, rtol=1e-5, atol=1e-6)
    for one in (ranker, rk.Feature("f1"), linear_of(1) + linear_of(2)):
        with refused(ArgumentError, setting="served_missing", value="nan"):
            case_of("solr-ltr", one, served_missing="nan")


# ---- versions, names, limits ------------------------------------------------------------------------------------------


def test_versions():
    for version in ("9.1", "8.11", "7.3"):
        with refused(ArgumentError, setting="served_missing", value="nan"):
            case_of("solr-ltr", FOREST, served_missing="nan", version=version)
        assert case_of("solr-ltr", FOREST, served_missing="zero", version=version).plan.missing == "zero"
    for version in ("9.2", "10.0"):
        assert case_of("solr-ltr", FOREST, served_missing="nan", version=version).plan.missing == "nan"
    with refused(ArgumentError, setting="engine_version", value="7.2"):
        case_of("solr-ltr", FOREST, version="7.2")


def test_kinds_and_numbers_that_solr_cannot_hold():
    with refused(ArgumentError, value=("a forest of McRank",)):
        case_of("solr-ltr", random_forest(1, grades=(0.0, 1.0)))
    with refused(ArgumentError, value=("a net over scores",)):
        case_of("solr-ltr", one_by_one()["stack"])
    with refused(ArgumentError, value=()):
        case_of("solr-ltr", Net(("a",), (1,), np.ones(4), np.zeros(1), np.zeros(1)))
    with refused(ArgumentError, value=1e39):
        case_of("solr-ltr", stumps((0.5,), (True,), [(1.0, 1e39)]))


def test_names_of_models(tmp_path):
    for name in ("my model", "a}b", "", "1st"):
        with refused(ArgumentError, setting="name", value=name):
            rk.export(FOREST, tmp_path / "model", to="solr-ltr", name=name)


def test_a_model_too_large_for_zookeeper_is_wrapped(tmp_path, monkeypatch):
    monkeypatch.setattr(solr_ltr, "LIMIT", 100)
    made = rk.export(FOREST, tmp_path / "shop", to="solr-ltr")
    wrapper = json.loads((tmp_path / "shop" / "wrapper.json").read_text())
    model = json.loads((tmp_path / "shop" / "model.json").read_text())
    assert wrapper["class"] == "org.apache.solr.ltr.model.DefaultWrapperModel"
    assert wrapper["params"] == {"resource": "shop.json"}
    assert (wrapper["name"], wrapper["store"]) == (model["name"], model["store"])
    assert "features" not in wrapper
    assert any("ZooKeeper" in note for note in made.notes)


# ---- features and scripts ---------------------------------------------------------------------------------------------


def test_queries_of_features(tmp_path):
    queries = {"f0": "{!func}log(${user_text})", "f1": {"class": "org.apache.solr.ltr.feature.FieldValueFeature"}}
    queries["f1"]["params"] = {"field": "price"}
    case = case_of("solr-ltr", FOREST, served_missing="nan", feature_queries=queries)
    first, second, third = features_of(case)
    assert first["class"].endswith(".SolrFeature")
    assert first["params"] == {"q": queries["f0"], "defaultValue": "NaN"}
    assert (second["class"], second["params"]) == (queries["f1"]["class"], {"field": "price", "defaultValue": "NaN"})
    assert third["params"]["q"] == "${fill_in_f2}"
    request = json.loads(case.target.companions(case.plan)["query.json"])
    assert request["params"]["rq"] == "{!ltr model=model reRankDocs=100 efi.user_text='…'}"
    assert request["fields"][-1] == "[features store=model]"
    assert any("1 of 3 features" in note for note in case.target.notes(case.plan, case.files))
    for query in (3, [], {"class": 5, "params": {}}, {}):
        with refused(ArgumentError, setting="feature_queries", value=query):
            case_of("solr-ltr", FOREST, feature_queries={"f0": query})
    with refused(ArgumentError, setting="feature_queries", value="0"):
        case_of("solr-ltr", FOREST, feature_queries={"f0": {"q": "x", "defaultValue": "0"}})


class StandIn:
    """Solr's stores and a collection of one document."""

    def __init__(self):
        self.stores = {"feature-store": {}, "model-store": {}}

    def answer(self, method, path, body):
        if path.endswith("/select"):
            asked = {name: entry[0] for name, entry in parse_qs(body.decode()).items()}
            name = re.search(r"model=(\S+)", asked["rq"])[1]
            given = dict(re.findall(r"efi\.(\w+)=([^ }]+)", asked["rq"]))
            return 200, {"response": {"docs": [{"score": float(str(self.score(name, given)))}]}}
        found = re.search(r"/schema/([a-z]+-store)(?:/(\w+))?$", path)
        if found and method == "DELETE":
            return (200, {}) if self.stores[found[1]].pop(found[2], None) is not None else (404, {})
        if found:
            content = json.loads(body)
            name = content["name"] if found[1] == "model-store" else content[0]["store"]
            self.stores[found[1]][name] = content
        return 200, {}

    def score(self, name, given):
        """The score for values given with the request; those that are not count as the feature's default."""
        model = self.stores["model-store"][name]
        features = self.stores["feature-store"][model["store"]]
        row, kept = {}, []
        for feature in features:
            written = feature["params"].get("value")
            external = isinstance(written, str)
            if external and written[2:-1] in given:
                row[feature["name"]] = solr.parse_float(given[written[2:-1]])
            assert feature["class"].endswith(".ValueFeature")
            kept.append({**feature, "class": "given"} if external else feature)
        return solr.score(model, kept, row)


@pytest.mark.parametrize("missing", ["nan", "zero"])
@pytest.mark.parametrize("kind", ["forest", "linear"])
def test_scripts_upload_and_check(tmp_path, missing, kind):
    ranker = FOREST if kind == "forest" else linear_of(1)
    folder = tmp_path / "shop"
    rk.export(ranker, folder, to="solr-ltr", served_missing=missing)
    engine = StandIn()
    with recording_server(engine.answer) as (address, asked):
        code, said = run_script(folder, "upload.sh", ENGINE=address, COLLECTION="products")
        assert code == 0, said
        assert json.loads((folder / "model.json").read_text()) == engine.stores["model-store"]["shop"]
        assert asked[-1][1] == "/solr/admin/collections?action=RELOAD&name=products"
        code, said = run_script(folder, "check.py", ENGINE=address, COLLECTION="products")
        assert code == 0, said
    assert set(engine.stores["model-store"]) == {"shop"}
    found = check_served(folder, np.loadtxt(folder / "served.txt"))
    assert found.as_expected
    assert found.equal == found.rows == 20


def test_an_upload_that_fails_says_so(tmp_path):
    rk.export(FOREST, tmp_path / "shop", to="solr-ltr")
    with recording_server(lambda method, *_: (400 if method == "PUT" else 200, {"error": "no such field"})) as (address, _):
        code, said = run_script(tmp_path / "shop", "upload.sh", ENGINE=address, COLLECTION="products")
    assert code != 0
    assert "no such field" in said
    assert run_script(tmp_path / "shop", "upload.sh")[0] != 0
