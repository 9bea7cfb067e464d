"""MLflow folders: every kind of ranker, those that need the query too, with the bits of ``score``."""

from __future__ import annotations

import re
import runpy

import numpy as np
import pandas as pd
import pytest
import yaml

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.errors import ArgumentError, DataError
from rankinite.models.feature import Feature
from rankinite.models.normalised import Normalised
from rankinite.serving.exporting import plan_for
from rankinite.serving.mlflow_loader import ServedRanker
from rankinite.serving.offers import offer
from rankinite.serving.target import target_named
from refusals import refused
from serving.consumers.mlflow import scored
from serving.every_kind import ODD_NAMES, beside, net_of, one_by_one, query_by_query, stumps
from serving.parity import case_of, differing

BY_QUERY = query_by_query()


def served(ranker, frame, **choices):
    """What MLflow says of a data frame."""
    return scored(case_of("mlflow", ranker, **choices).files, frame)


def frame_of(data, names=("f0", "f1", "f2")):
    """The features of a data set, as users have them."""
    return pd.DataFrame(data.features, columns=list(data.feature_names))[list(names)]


def test_every_kind_has_the_bits_of_the_ranker_itself():
    kinds = one_by_one() | BY_QUERY
    choices = [{"served_missing": "nan"}, {"served_missing": "zero", "shift": 1.5}]
    cases = [case_of("mlflow", ranker, **choices[number % 2]) for number, ranker in enumerate(kinds.values())]
    assert differing(cases, "mlflow") == []
    assert all(offer(ranker, "mlflow").exactness == "exact" for ranker in kinds.values())
    assert {case.plan.names[-1] == "qid" for case in cases[-len(BY_QUERY) :]} == {True}


@pytest.mark.parametrize("kind", list(BY_QUERY))
def test_queries_are_a_column_of_any_type_in_any_order(kind):
    data, ranker = random_dataset(5), BY_QUERY[kind]
    expected, order = ranker.score(data), np.random.default_rng(0).permutation(data.rows)
    frame = frame_of(data).assign(qid=[f"query {number}" for number in data.query_of_row()]).iloc[order]
    model = ServedRanker(ranker, {})
    assert (model.predict(frame) == expected[order]).all()
    assert (model.predict(frame.assign(qid=data.query_of_row()[order])) == expected[order]).all()
    assert (model.predict(frame.assign(qid=1)) != expected[order]).any()  # the queries do count


def test_a_sample_with_queries_is_compared_and_written(tmp_path, monkeypatch):
    data = random_dataset(6)
    made = rk.export(BY_QUERY["summaries"], tmp_path / "made", to="mlflow", sample=data)
    assert made.check.sample_rows == data.rows
    assert made.check.largest_difference == 0.0
    assert made.files.count("model.rankinite") == 1
    monkeypatch.chdir(tmp_path / "made")
    runpy.run_path("check.py")
    found = np.loadtxt("served.txt", ndmin=1)
    first = data.select_queries([0])  # the sample may end within a query
    assert (found[: first.rows] == BY_QUERY["summaries"].score(first)).all()
    assert rk.check_served(".", found).as_expected


def test_thresholds_missing_values_and_shifts():
    forest = stumps([0.1, 0.1], [True, False])
    frame = pd.DataFrame(beside(0.1), columns=["a"])
    assert served(forest, frame).tolist() == [3.0, 3.0, -3.0, -1.0]
    assert served(forest, frame, served_missing="zero").tolist() == [3.0, 3.0, -3.0, 3.0]
    shifted = served(forest, frame, shift="auto")
    assert shifted.min() >= 0.0
    assert (shifted - shifted[0]).tolist() == [0.0, 0.0, -6.0, -4.0]
    assert served(forest, frame, shift=1e-7).tolist() == [3.0 + 1e-7, 3.0 + 1e-7, -3.0 + 1e-7, -1.0 + 1e-7]


def test_columns_are_found_by_name_and_may_be_whole_numbers():
    ranker = random_forest(1)
    frame = pd.DataFrame({"f2": [1, 2], "text": ["a", "b"], "f0": [3, 4], "f1": [0, 7]})
    assert (served(ranker, frame) == ranker.score(np.asarray([[3.0, 0.0, 1.0], [4.0, 7.0, 2.0]]))).all()
    with refused(DataError, value="f1"):
        served(ranker, frame.drop(columns="f1"))


def test_names_of_all_kinds_are_kept():
    ranker = 0.5 * net_of(1, ODD_NAMES) + Normalised(net_of(2, ODD_NAMES[::-1]), "rank")
    assert differing([case_of("mlflow", ranker)], "mlflow") == []


def test_frames_without_queries_are_refused():
    model, frame = ServedRanker(BY_QUERY["peak"], {}), frame_of(random_dataset(1))
    with refused(DataError, value="qid"):
        model.predict(frame)
    queries = ["a"] * len(frame)
    with refused(DataError, value=1):
        model.predict(frame.assign(qid=[queries[0], None, *queries[2:]]))
    with refused(DataError, value="qid"):
        model.predict(frame.assign(qid=[[1], "a", *queries[2:]]))


def test_what_cannot_be_found_or_saved_is_refused():
    feature = Normalised(Feature("qid"), "query") + Feature("f0")
    with refused(ArgumentError, value="qid"):
        plan_for(feature, target_named("mlflow"), name="model")
    assert case_of("mlflow", Feature("qid") + Feature("f0")).plan.names == ("qid", "f0")  # a feature like others
    with refused(ArgumentError, value=0):
        plan_for(0.5 * Feature(0) + random_forest(0), target_named("mlflow"), name="model")
    with refused(ArgumentError, value="Foreign"):
        plan_for(0.5 * random_forest(0) + Foreign(), target_named("mlflow"), name="model")


class Foreign:
    """A ranker that is not ours."""

    feature_names = ("f0",)

    def score(self, data):
        return np.zeros(len(data))


def test_the_description_is_plain_and_always_the_same():
    files = case_of("mlflow", random_forest(0), shift=1e-7).files
    assert files == case_of("mlflow", random_forest(0), shift=1e-7).files
    function = yaml.safe_load(files["MLmodel"])["flavors"]["python_function"]
    assert function["config"] == {"served_missing": "nan", "shift": 1e-7}
    assert function["loader_module"] == "rankinite.serving.mlflow_loader"
    assert set(function["env"].values()) <= set(files)
    needed = files["requirements.txt"].decode().split()
    assert all(re.fullmatch(r"[\w-]+([=>]=[\w.+]+)?", line) for line in needed)
    assert yaml.safe_load(files["conda.yaml"])["dependencies"][-1]["pip"] == needed
    assert yaml.safe_load(files["python_env.yaml"])["dependencies"] == ["-r requirements.txt"]
