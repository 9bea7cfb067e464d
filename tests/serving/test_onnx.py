"""ONNX models: every kind of ranker, in onnxruntime; thresholds, missing values and sums to the bit."""

from __future__ import annotations

import json
import runpy
import sys
from dataclasses import replace

import numpy as np
import onnx
import pyarrow as pa
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.errors import ArgumentError, DataError
from rankinite.models.feature import Feature
from rankinite.models.files.onnx import read_onnx
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.normalised import Normalised
from rankinite.serving.exporting import plan_for
from rankinite.serving.offers import offer
from rankinite.serving.plan import one_leaf
from rankinite.serving.proof import alike, allowed, own_scores
from rankinite.serving.target import exactness_of, target_named
from rankinite.trees.structure import no_trees
from refusals import refused
from serving.consumers.onnx import scored
from serving.every_kind import ODD_NAMES, beside, linear_of, net_of, one_by_one, query_by_query, stumps
from serving.parity import case_of, differing

KINDS = one_by_one()


def served(ranker, matrix, **choices):
    """What onnxruntime says of rows × the ranker's features."""
    case = case_of("onnx", ranker, **choices)
    return scored(case.files["model.onnx"], np.asarray(matrix, np.float64))


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("missing", ["nan", "zero"])
def test_every_kind_scores_as_the_ranker_itself(kind, missing):
    case = case_of("onnx", KINDS[kind], served_missing=missing, shift=0.25, rows=200)
    assert differing([case], "onnx") == []
    found, own = scored(case.files["model.onnx"], case.matrix), own_scores(case.plan, case.matrix) + 0.25
    assert alike(found, own, 1e-13 * np.maximum(np.abs(own), 10.0)).all()
    assert missing == "nan" or np.isnan(case.matrix).any()


@pytest.mark.parametrize("kind", list(KINDS))
def test_exactness_is_what_is_found(kind):
    case = case_of("onnx", KINDS[kind], rows=200)
    exactness = exactness_of(case.target, case.plan.flat)
    assert exactness == ("exact" if kind in {"forest", "another forest", "feature", "ascending feature"} else "last bits")
    same = scored(case.files["model.onnx"], case.matrix) == own_scores(case.plan, case.matrix)
    assert same.all() or exactness == "last bits"


@pytest.mark.parametrize("kind", ["forest", "blend of forests", "blend of features", "normalised feature"])
def test_trees_and_columns_have_no_tolerance(kind):
    case = case_of("onnx", KINDS[kind])
    assert not allowed(case.target, case.plan, case.matrix).any()
    assert (scored(case.files["model.onnx"], case.matrix) == case.target.predicted(case.plan, case.matrix)).all()


@pytest.mark.parametrize("threshold", [0.1, 1.0 + 2.0**-40, -3.0, 0.0, 1e-300, 1e300])  # most are no float32
def test_thresholds_are_compared_in_double(threshold):
    found = served(stumps([threshold, threshold], [True, False]), beside(threshold))
    assert found.tolist() == [1.0 + 2.0, 1.0 + 2.0, -1.0 - 2.0, 1.0 - 2.0]


def test_trees_are_added_in_order_from_the_start_on():
    values = [(1e16, 0.0), (1.0, 0.0), (1.0, 0.0), (-1e16, 0.0), (0.3, 0.0)]
    expected = 0.7
    for left, _ in values:
        expected += left
    assert expected != 0.7 + sum(left for left, _ in reversed(values))
    forest = stumps([0.0] * 5, [False] * 5, values, start=0.7)
    assert served(forest, [[-1.0]]).tolist() == [expected]


def test_zero_trees_and_trees_that_are_a_leaf():
    empty = Forest(no_trees(), ("a", "b"), start=np.asarray([0.25]))
    assert served(empty, [[1.0, np.nan]]).tolist() == [0.25]
    leaf = Forest(one_leaf(0.5), ("a",), start=np.asarray([0.25]))
    assert served(leaf + stumps([1.0], [True]), [[1.0], [2.0], [np.nan]]).tolist() == [1.75, -0.25, 1.75]
    grades = Forest(no_trees(), ("a",), start=np.zeros(2), grades=np.asarray([0.0, 3.0]))
    assert served(grades, [[1.0]]).tolist() == [1.5]


def test_infinite_thresholds():
    assert served(stumps([np.inf, -np.inf], [True, True]), [[1e308], [-1e308], [np.nan]]).tolist() == [-1.0, -1.0, 3.0]


def test_missing_values_count_as_the_centre_or_as_0_or_are_lowest():
    linear, lowest = Linear(("a",), [2.0], 1.0, [3.0], "mean"), np.finfo(np.float64).min
    assert served(linear, [[np.nan], [5.0]]).tolist() == [1.0, 5.0]
    assert served(linear, [[np.nan]], served_missing="zero").tolist() == [-5.0]
    assert served(Feature("a"), [[np.nan], [5.0]]).tolist() == [lowest, 5.0]
    assert served(Feature("a", ascending=True), [[np.nan], [5.0]]).tolist() == [lowest, -5.0]
    assert served(Feature("a", ascending=True), [[np.nan]], served_missing="zero").tolist() == [0.0]
    assert served(3.0 * Feature("a") + linear, [[np.nan]]).tolist() == [lowest]  # not −inf
    nested = Normalised(stumps([-1.0], [True]), "probability") + linear
    at_zero = nested.score(pa.table({"a": [0.0]}))
    assert np.allclose(served(nested, [[np.nan]], served_missing="zero"), at_zero, rtol=1e-15)


def test_rankers_that_refuse_missing_values_score_none_and_say_so(tmp_path):
    ranker = linear_of(0, ("a", "b"), "refuse")
    found = served(ranker, [[1.0, np.nan], [1.0, 2.0]])
    assert np.isnan(found).tolist() == [True, False]
    made = rk.export(ranker, tmp_path / "made", to="onnx")
    assert any("NaN" in note for note in made.notes)
    assert not any("NaN" in note for note in rk.export(net_of(0), tmp_path / "net", to="onnx").notes)


def test_small_probabilities_stay_apart():
    ranker = Normalised(stumps([0.0], [True], [(-20.0, -21.0)]), "probability")
    high, low = served(ranker, [[-1.0], [1.0]])
    assert high > low > 0.0
    assert np.allclose([high, low], ranker.score([[-1.0], [1.0]]), rtol=1e-14, atol=0.0)


def test_names_of_all_kinds_are_kept():
    forest = replace(random_forest(3, features=len(ODD_NAMES)), feature_names=ODD_NAMES)
    case = case_of("onnx", 0.5 * forest + net_of(1, ODD_NAMES[::-1]))
    assert differing([case], "onnx") == []
    model = onnx.load_from_string(case.files["model.onnx"])
    assert tuple(json.loads({entry.key: entry.value for entry in model.metadata_props}["feature_names"])) == ODD_NAMES


def test_the_model_is_valid_and_the_same_ranker_gives_the_same_bytes():
    for ranker in KINDS.values():
        content = case_of("onnx", ranker).files["model.onnx"]
        onnx.checker.check_model(content, full_check=True)
        assert content == case_of("onnx", ranker).files["model.onnx"]


@pytest.mark.parametrize("seed", range(5))
def test_an_exported_forest_is_read_again(seed):
    forest, data = random_forest(seed), random_dataset(seed)
    again = read_onnx(case_of("onnx", forest).files["model.onnx"])
    assert again.feature_names == forest.feature_names
    assert (again.score(data) == forest.score(data)).all()


@pytest.mark.parametrize("kind", list(query_by_query()))
def test_rankers_that_need_the_query_are_refused(kind):
    ranker = query_by_query()[kind]
    with refused(ArgumentError) as caught:
        plan_for(ranker, target_named("onnx"), name="model")
    assert "distil" in caught.value.remedy
    assert "mlflow" in caught.value.remedy


def test_a_last_scaling_within_queries_is_left_out(tmp_path):
    forest = random_forest(0)
    case = case_of("onnx", Normalised(forest, "query"))
    assert exactness_of(case.target, case.plan.flat) == "same order"
    assert (scored(case.files["model.onnx"], case.matrix) == forest.score(case.matrix)).all()
    made = rk.export(Normalised(forest, "query"), tmp_path / "made", to="onnx", sample=random_dataset(1))
    assert np.isnan(made.check.largest_difference)  # they are other scores


def test_a_score_that_is_no_number_is_a_difference(monkeypatch):
    case = case_of("onnx", random_forest(0))
    monkeypatch.setattr("serving.consumers.onnx.scores", lambda cases: [np.full(len(case.matrix), np.nan)])
    assert differing([case], "onnx") == [0]


def test_rankers_without_named_features_are_refused():
    with refused(ArgumentError, value=3):
        case_of("onnx", Feature(3))
    with refused(ArgumentError):
        case_of("onnx", Forest(no_trees(), ()))


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with refused(DataError, value="onnx") as caught:
        case_of("onnx", random_forest(0))
    assert "rankinite[onnx]" in caught.value.remedy
    assert offer(random_forest(0), "onnx").exactness is None


def test_the_program_beside_the_model_compares_scores(tmp_path, monkeypatch):
    rk.export(0.5 * random_forest(0) + net_of(0), tmp_path / "made", to="onnx", sample=random_dataset(1))
    monkeypatch.chdir(tmp_path / "made")
    runpy.run_path("check.py")
    assert rk.check_served(".", np.loadtxt("served.txt", ndmin=1)).as_expected
