"""The plugin of OpenSearch: three rules for missing features, and the form of the model that each needs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from oracles.ltr_plugins import plugin_scores
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from refusals import refused
from serving.consumers.opensearch_ltr import rule
from serving.parity import case_of, differing
from serving.random_rankers import forest_of
from serving.test_es_ltr import APART

ZERO, RIGHT = ("1.3", "2.19.5", "3.0", "3.1", "3.1.9"), ("3.2", "3.4.0", "3.4.0.0", "3.7")
DIRECTION = (None, "3.8", "3.8.0", "3.9.1")
PATCHED = ("3.2.1", "3.6.2", "3.6.2.0", "3.7.1")
XGBOOST, RANKLIB = "model/xgboost+json", "model/ranklib"


def kind(case):
    return json.loads(case.files["model.json"])["model"]["model"]["type"]


def all_right(forest):
    """Missing features go right as far as these versions can tell: with present ones where there is nothing to ask."""
    trees = forest.trees
    return replace(forest, trees=replace(trees, missing_left=np.isinf(trees.threshold)))


@pytest.mark.parametrize("version", ZERO)
def test_up_to_3_1_a_missing_feature_is_0(version):
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of("opensearch-ltr", APART, version=version, served_missing="nan")
    case = case_of("opensearch-ltr", APART, version=version, served_missing="zero")
    case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
    assert (kind(case), case.twin().tolist()) == (XGBOOST, [2121.0, 2121.0])
    assert differing([case], "opensearch-ltr") == []


@pytest.mark.parametrize("version", RIGHT)
def test_from_3_2_to_3_7_0_is_had_by_the_form_of_ranklib(version):
    case = case_of("opensearch-ltr", APART, version=version, served_missing="zero")
    case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
    assert (kind(case), case.twin().tolist()) == (RANKLIB, [2121.0, 2121.0])
    assert differing([case], "opensearch-ltr") == []


@pytest.mark.parametrize("version", RIGHT)
def test_from_3_2_to_3_7_missing_values_must_all_go_right(version):
    with refused(ArgumentError, setting="served_missing", value="nan") as caught:
        case_of("opensearch-ltr", APART, version=version, served_missing="nan")
    assert "2 of them" in caught.value.problem
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of("opensearch-ltr", APART, version=version)
    case = case_of("opensearch-ltr", all_right(APART), version=version, served_missing="nan")
    case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
    assert (kind(case), case.twin().tolist()) == (XGBOOST, [2222.0, 2121.0])
    assert differing([case], "opensearch-ltr") == []


@pytest.mark.parametrize("version", DIRECTION)
def test_from_3_8_on_a_split_says_where_a_missing_feature_goes(version):
    for missing, score in {"nan": 2211.0, "zero": 2121.0}.items():
        case = case_of("opensearch-ltr", APART, version=version, served_missing=missing)
        case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
        assert (kind(case), case.twin().tolist()) == (XGBOOST, [score, 2121.0])
        assert differing([case], "opensearch-ltr") == []


@pytest.mark.parametrize("version", PATCHED)
def test_patch_releases_from_3_2_to_3_7_follow_the_split_and_the_assumption_is_noted(version):
    case = case_of("opensearch-ltr", APART, version=version, served_missing="nan")
    case.matrix = np.asarray([[np.nan], [0.0]], np.float32)
    assert (kind(case), case.twin().tolist()) == (XGBOOST, [2211.0, 2121.0])
    assert differing([case], "opensearch-ltr") == []
    [note] = [note for note in case.target.notes(case.plan, case.files) if "July 2026" in note]
    assert version in note
    assert f"{version[:3]}.0" in note


@pytest.mark.parametrize("version", PATCHED)
def test_where_a_missing_feature_is_0_nothing_is_assumed_of_a_patch_release(version):
    case = case_of("opensearch-ltr", APART, version=version, served_missing="zero")
    features = case.target.companions(case.plan)["feature-set.json"]
    matrix = np.asarray([[np.nan], [0.0]], np.float32)
    for rule_of_build in ("right", "direction"):
        scores = plugin_scores(case.files["model.json"], features, case.plan.names, matrix, rule_of_build)
        assert scores.tolist() == [2121.0, 2121.0]
    assert not [note for note in case.target.notes(case.plan, case.files) if "2026" in note]


def test_without_a_version_the_assumption_is_noted_for_zeros_too():
    for missing in ("nan", "zero"):
        case = case_of("opensearch-ltr", APART, served_missing=missing)
        assert [note for note in case.target.notes(case.plan, case.files) if "3.8 or later is assumed" in note]


def test_a_model_for_another_version_would_score_otherwise():
    """So that the rules above are not all one."""
    case = case_of("opensearch-ltr", APART, served_missing="zero")
    case.matrix = np.asarray([[np.nan]], np.float32)
    features = case.target.companions(case.plan)["feature-set.json"]
    scores = {
        version: plugin_scores(case.files["model.json"], features, case.plan.names, case.matrix, rule(version)).tolist()
        for version in ((3, 1), (3, 7), (3, 8))
    }
    assert scores == {(3, 1): [2121.0], (3, 7): [2222.0], (3, 8): [2121.0]}


@pytest.mark.parametrize("version", [*ZERO, *RIGHT, *PATCHED, *DIRECTION])
def test_random_forests_score_alike_in_every_version(version):
    cases = [
        case_of("opensearch-ltr", forest_of(seed), seed, rows=30, version=version, served_missing="zero") for seed in range(6)
    ]
    cases += [
        case_of("opensearch-ltr", all_right(forest_of(seed)), seed, rows=30, version=version, served_missing="nan")
        for seed in range(6)
        if version not in ZERO
    ]
    assert differing(cases, "opensearch-ltr") == []


@pytest.mark.parametrize("version", ["3", "0.9", "4.0", "7.10", "three"])
def test_other_versions_are_refused(version):
    with refused(ArgumentError, setting="engine_version", value=version):
        case_of("opensearch-ltr", APART, version=version)


def test_a_split_that_asks_only_whether_a_feature_is_missing_is_refused_where_all_go_right():
    forest = all_right(random_forest(1))
    trees = replace(forest.trees, threshold=np.where(forest.trees.feature >= 0, np.inf, 0.0))
    with refused(ArgumentError, setting="served_missing", value="nan"):
        case_of("opensearch-ltr", replace(forest, trees=trees), version="3.4", served_missing="nan")
    case_of("opensearch-ltr", replace(forest, trees=trees), version="3.8", served_missing="nan")
