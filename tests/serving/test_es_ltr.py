"""The plugin of Elasticsearch: what its versions take a missing feature for."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankinite.errors import ArgumentError
from refusals import refused
from serving.every_kind import linear_of, stumps
from serving.parity import case_of, differing
from serving.random_rankers import forest_of

OLD, NEW = ("6.8", "7.17.7", "8.10.4", "8.11"), (None, "8.12", "8.17.3", "9.3.5")
APART = stumps([1.0, -1.0, 1.0, -1.0], [True, True, False, False], [(1.0, 2.0), (10.0, 20.0), (100.0, 200.0), (1000.0, 2000.0)])
"""Trees that send a missing value left and right, where 0 goes and where it does not."""


@pytest.mark.parametrize("version", OLD)
def test_before_8_12_a_missing_feature_is_0_and_nothing_else_can_be_had(version):
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of("es-ltr", APART, version=version, served_missing="nan")
    with refused(ArgumentError, setting="served_missing", value=None):
        case_of("es-ltr", APART, version=version)
    case = case_of("es-ltr", APART, version=version, served_missing="zero")
    case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
    assert case.twin().tolist() == [2121.0, 2121.0]
    assert differing([case], "es-ltr") == []


@pytest.mark.parametrize("version", NEW)
def test_from_8_12_on_a_split_says_where_a_missing_feature_goes(version):
    expected = {"nan": 2211.0, "zero": 2121.0}
    for missing, score in expected.items():
        case = case_of("es-ltr", APART, version=version, served_missing=missing)
        case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
        assert case.twin().tolist() == [score, 2121.0]
        assert differing([case], "es-ltr") == []
        assumed = [note for note in case.target.notes(case.plan, case.files) if "Elasticsearch 8.12 and later" in note]
        assert bool(assumed) is (version is None and missing == "nan")


@pytest.mark.parametrize("seed", range(5))
def test_a_file_for_zero_scores_alike_in_all_versions(seed):
    files = {}
    for version in (*OLD, *NEW):
        case = case_of("es-ltr", forest_of(seed), seed, version=version, served_missing="zero")
        files[case.files["model.json"]] = case
        assert differing([case], "es-ltr") == []
    assert len(files) == 1


def test_linear_rankers_do_not_depend_on_the_version():
    cases = [case_of("es-ltr", linear_of(1, nan="refuse"), version=version) for version in (*OLD, *NEW)]
    assert len({case.files["model.json"] for case in cases}) == 1
    assert differing(cases, "es-ltr") == []


def test_a_linear_ranker_with_means_is_asked_about_0_where_nothing_else_can_be_had():
    with refused(ArgumentError, setting="served_missing", value=None):
        case_of("es-ltr", linear_of(1), version="7.10")


@pytest.mark.parametrize("version", ["8", "9", "5.6", "2.0", "10.0", "latest", "8.x"])
def test_other_versions_are_refused(version):
    with refused(ArgumentError, setting="engine_version", value=version):
        case_of("es-ltr", APART, version=version)


def test_directions_are_those_of_0_where_that_is_asked_for():
    [tree, *_] = json.loads(case_of("es-ltr", APART, served_missing="zero").files["model.json"])["model"]["model"]["definition"]
    assert tree["missing"] == tree["yes"]
    trees = json.loads(case_of("es-ltr", APART, served_missing="nan").files["model.json"])["model"]["model"]["definition"]
    assert [tree["missing"] == tree["yes"] for tree in trees] == [True, True, False, False]
