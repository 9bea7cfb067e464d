"""Elasticsearch's own learning to rank: the trained model, its extractors, and how it adds up."""

from __future__ import annotations

import base64
import gzip
import json
import math

import numpy as np
import pytest

import rankinite as rk
from oracles.elastic_ltr import added, elastic_scores, trees_of
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.forest import Forest
from rankinite.serving.float32 import above32, floor32, shortest
from rankinite.serving.served_scores import check_served
from rankinite.serving.targets.elastic import between32, java_sum
from rankinite.trees.structure import no_trees
from refusals import refused
from serving.engine_stand_in import engine_that_answers, fill_in, run_check, run_upload
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of, differing
from serving.random_rankers import forest_of
from serving.test_es_ltr import APART

THRESHOLDS = (0.1, 1 / 3, 0.0, -2.7, 1e-40, 5e-324, 16777217.0, 1e38, float(np.float32(0.3)))


def definition(case):
    return json.loads(gzip.decompress(base64.b64decode(json.loads(case.files["model.json"])["compressed_definition"])))


def test_the_definition_to_be_read_is_the_one_that_is_sent():
    case = case_of("elastic", forest_of(5), served_missing="nan")
    assert json.loads(case.files["definition.json"]) == definition(case)
    assert len(trees_of(definition(case))) == len(forest_of(5))


def test_the_same_ranker_gives_the_same_bytes():
    first, second = (case_of("elastic", forest_of(5), served_missing="nan").files for _ in range(2))
    assert first == second
    packed = base64.b64decode(json.loads(first["model.json"])["compressed_definition"])
    assert packed[4:8] == b"\0\0\0\0"  # no time
    assert packed[9] == 255  # no platform


def test_the_text_has_this_form():
    case = case_of("elastic", stumps([0.5], [True], [(1.25, 2.5)], names=("bm25",)), served_missing="nan")
    [tree] = trees_of(definition(case))
    middle = 0.5 + 2.0**-25  # the next float32 is odd
    assert tree["tree_structure"] == [
        {
            "node_index": 0,
            "number_samples": 0,
            "decision_type": "lte",
            "threshold": middle,
            "split_feature": 0,
            "default_left": True,
            "left_child": 1,
            "right_child": 2,
        },
        {"node_index": 1, "number_samples": 0, "leaf_value": 1.25},
        {"node_index": 2, "number_samples": 0, "leaf_value": 2.5},
    ]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_values_on_a_threshold_and_one_float32_beside_it(threshold):
    case = case_of("elastic", stumps([threshold], [True], [(1.0, 2.0)]), served_missing="nan")
    case.matrix = np.asarray([[floor32(threshold)], [above32(threshold)]], np.float32)
    assert case.twin().tolist() == [1.0, 2.0]
    assert differing([case], "elastic") == []


@pytest.mark.parametrize("seed", range(3))
def test_a_float32_decides_alike_by_its_bits_and_by_its_digits(seed):
    """Programs that widen a float by way of text have 0.1 where others have 0.10000000149."""
    thresholds = np.random.default_rng(seed).normal(size=2000) * 10.0 ** np.random.default_rng(seed).integers(-8, 9, 2000)
    written = between32(thresholds)
    for value, side in ((floor32(thresholds), np.less_equal), (above32(thresholds), np.greater)):
        digits = np.asarray([float(shortest(number)) for number in value])
        assert side(value.astype(np.float64), written).all()
        assert side(digits, written).all()
        assert (digits != value).mean() > 0.5


@pytest.mark.parametrize("missing_left", [True, False])
@pytest.mark.parametrize("threshold", [np.inf, 3.5e38, -3.5e38, -np.inf])
def test_thresholds_beyond_float32_are_finite_numbers(threshold, missing_left):
    case = case_of("elastic", stumps([threshold], [missing_left], [(1.0, 2.0)]), served_missing="nan")
    assert math.isfinite(trees_of(definition(case))[0]["tree_structure"][0]["threshold"])
    largest = np.finfo(np.float32).max
    case.matrix = np.asarray([[-largest], [0.0], [largest], [np.nan]], np.float32)
    numbers = 1.0 if threshold > 0 else 2.0
    assert case.twin().tolist() == [numbers] * 3 + [1.0 if missing_left else 2.0]
    assert differing([case], "elastic") == []


def test_absent_and_infinite_features_are_missing():
    for missing, score in {"nan": 2211.0, "zero": 2121.0}.items():
        case = case_of("elastic", APART, served_missing=missing)
        case.matrix = np.asarray([[np.nan], [np.inf], [-np.inf], [0.0]], np.float32)
        assert case.twin().tolist() == [score, score, score, 2121.0]
        assert case.target.predicted(case.plan, case.matrix).tolist() == case.twin().tolist()
        assert differing([case], "elastic") == []


# ---- sums -------------------------------------------------------------------------------------------------------------


def test_sums_carry_their_rounding_errors_along_as_java_does():
    """0.1 ten times is 1 by Java's streams, and 0.9999999999999999 by plain addition."""
    tenths = np.full((1, 10), 0.1)
    assert java_sum(tenths).tolist() == [1.0]
    assert sum(tenths[0].tolist()) != 1.0
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 30)) * 10.0 ** random.integers(-8, 9, (200, 30))
    assert java_sum(rows).tolist() == [added(row) for row in rows.tolist()]
    exact = np.asarray([math.fsum(row) for row in rows.tolist()])
    np.testing.assert_allclose(java_sum(rows), exact, atol=0.0, rtol=1e-14)


def test_a_sum_that_plain_addition_gets_wrong_is_predicted():
    """Leaves whose errors decide the last bit of a float32."""
    leaf = 2.0**-54
    values = [(1.0 + 2.0**-24, 0.0), *([(leaf, 0.0)] * 8)]  # halfway between two float32, and a little more
    case = case_of("elastic", stumps([0.5] * 9, [True] * 9, values), served_missing="nan", shift="none")
    case.matrix = np.asarray([[0.0]], np.float32)
    plain = 0.0
    for value, _ in values:
        plain += value
    assert np.float32(plain) == 1.0
    assert case.twin().tolist() == [1.0 + 2.0**-23]
    assert differing([case], "elastic") == []


@pytest.mark.parametrize(
    ("version", "lifted"),
    [("8.12", False), ("8.18.9", False), ("8.19", True), ("9.0.0", False), ("9.0.1", True), ("9.2", True), (None, True)],
)
def test_versions_that_lift_scores_by_themselves_leave_shifted_ones_alone(version, lifted):
    forest = stumps([0.5, 0.7], [True, True], [(-1.5, 2.0), (-0.25, 1.0)])
    case = case_of("elastic", forest, version=version, served_missing="nan", shift="none")
    case.matrix = np.asarray([[0.0], [1.0]], np.float32)
    assert case.twin().tolist() == ([0.0, 4.75] if lifted else [-1.75, 3.0])
    assert differing([case], "elastic") == []
    noted = [note for note in case.target.notes(case.plan, case.files) if "adds 1.75" in note]
    assert bool(noted) is lifted
    shifted = case_of("elastic", forest, version=version, served_missing="nan")
    shifted.matrix = case.matrix
    assert shifted.twin().tolist() == [0.25, 5.0]
    assert differing([shifted], "elastic") == []


@pytest.mark.parametrize("trees", [0, 2])
def test_forests_without_splits(trees):
    leaves = random_forest(2, trees=trees, features=0).trees if trees else no_trees()
    case = case_of("elastic", Forest(leaves, ("a",), start=np.asarray([3.25])), shift="none")
    assert len(trees_of(definition(case))) == max(trees, 1)
    np.testing.assert_allclose(case.twin(), max(0.0, 3.25 + leaves.value.sum()), rtol=1e-6)
    assert differing([case], "elastic") == []


# ---- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["7.17", "8.11.4", "8", "10.1", "8.12-rc1"])
def test_versions_without_it_are_refused(version):
    with refused(ArgumentError, setting="engine_version", value=version):
        case_of("elastic", APART, version=version)


@pytest.mark.parametrize("name", ["", "Shop", "_shop", "shop-", "a b", "n" * 65, "é"])
def test_names_that_no_trained_model_can_have_are_refused(name, tmp_path):
    with refused(ArgumentError, setting="name", value=name):
        rk.export(APART, tmp_path / "out", to="elastic", name=name, served_missing="nan")
    rk.export(APART, tmp_path / "out", to="elastic", name="shop_2.v-1", served_missing="nan")


@pytest.mark.parametrize("ranker", [net_of(1), linear_of(2), rk.Feature("f0")], ids=["net", "linear", "feature"])
def test_there_is_nothing_but_trees(ranker):
    with refused(ArgumentError):
        case_of("elastic", ranker)


def test_a_feature_query_that_is_no_object_is_refused():
    with refused(ArgumentError, setting="feature_queries", value="title"):
        case_of("elastic", APART, feature_queries={"a": "title"}, served_missing="nan")


# ---- what is beside the model -----------------------------------------------------------------------------------------


def test_extractors_are_made_of_the_queries_of_either_form(tmp_path):
    queries = {"bm25": {"match": {"title": "{{words}}"}}, "age": {"template": {"match_all": {}}, "params": []}}
    forest = random_forest(3).renamed(["bm25", "age", "clicks"])
    made = rk.export(forest, tmp_path / "shop", to="elastic", served_missing="nan", feature_queries=queries)
    body = json.loads((tmp_path / "shop" / "model.json").read_text())
    extractors = [entry["query_extractor"] for entry in body["inference_config"]["learning_to_rank"]["feature_extractors"]]
    assert [entry["feature_name"] for entry in extractors] == ["bm25", "age", "clicks"]
    assert [entry["query"] for entry in extractors[:2]] == [{"match": {"title": "{{words}}"}}, {"match_all": {}}]
    assert [note for note in made.notes if "placeholders for the queries of 1 of 3 features" in note]
    rescore = json.loads((tmp_path / "shop" / "rescore.json").read_text())["rescore"]
    assert rescore["learning_to_rank"]["model_id"] == "shop"
    assert set(rescore["learning_to_rank"]["params"]) == {"words", "keywords"}
    assert rescore["window_size"] == 100


def test_the_upload_script_sends_the_model_and_ends_with_the_engines_errors(tmp_path):
    rk.export(APART, tmp_path / "shop", to="elastic", served_missing="nan")
    done, asked = run_upload(tmp_path / "shop")
    assert (done.returncode, asked) == (1, [])
    assert "FIELD_OF_a" in done.stderr
    fill_in(tmp_path / "shop" / "model.json")
    done, asked = run_upload(tmp_path / "shop")
    assert done.returncode == 0
    assert asked[0].endswith("--request PUT --data-binary @model.json http://engine:1/_ml/trained_models/shop")
    assert "--fail-with-body" in asked[0]
    assert run_upload(tmp_path / "shop", failing="trained_models")[0].returncode != 0


def test_logged_features_and_scores_are_compared_with_the_model(tmp_path):
    queries = {"a": {"match": {"title": "{{keywords}}"}}}
    forest = random_forest(3).renamed(["a", "b", "c"])
    rk.export(forest, tmp_path / "shop", to="elastic", served_missing="nan", feature_queries=queries)
    folder, names = tmp_path / "shop", ("a", "b", "c")
    rows = np.random.default_rng(5).normal(size=(12, 3)).astype(np.float32).round(1)
    rows[::3, 1] = np.nan
    scores = elastic_scores((folder / "model.json").read_bytes(), names, rows, lifts=True)

    def answer(path, body):
        if "rescore" in body:
            return [{"_id": f"d{number}", "_score": float(str(score))} for number, score in enumerate(scores)]
        assert path.endswith("include_named_queries_score=true")
        asked = {entry["bool"]["_name"]: entry["bool"]["must"] for entry in body["query"]["bool"]["should"]}
        assert asked["a"] == {"match": {"title": "VALUE_OF_keywords"}}
        found = [
            {name: float(str(value)) for name, value in zip(names, row, strict=True) if not np.isnan(value)} for row in rows
        ]
        return [{"_id": f"d{number}", "matched_queries": matched} for number, matched in reversed(list(enumerate(found)))]

    with engine_that_answers(answer) as address:
        run_check(folder, address)
    found = check_served(folder, np.loadtxt(folder / "served.txt"), rk.read(folder / "logged.csv", unjudged="keep"))
    assert found.as_expected
    assert found.equal == 12
