"""PMML documents: trees in PMML4S, to the bit; what XML, the standard and its programs cannot hold."""

from __future__ import annotations

import runpy
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.forest import Forest
from rankinite.serving.exporting import plan_for
from rankinite.serving.plan import one_leaf
from rankinite.serving.target import target_named
from rankinite.trees.structure import LEAF, Trees, no_trees
from refusals import refused
from serving.consumers.pmml import scored
from serving.every_kind import ODD_NAMES, beside, net_of, stumps
from serving.parity import case_of, differing

pytestmark = [pytest.mark.slow, pytest.mark.tools("a Java runtime")]


def served(ranker, matrix, **choices):
    """What PMML4S says of rows × the ranker's features."""
    case = case_of("pmml", ranker, **choices)
    return scored(case.files["model.pmml"], case.plan.names, np.asarray(matrix, np.float64))


@pytest.mark.parametrize("threshold", [0.1, 1.0 + 2.0**-40, -3.0, 0.0, 1e-300, 1e300])
def test_thresholds_and_missing_values(threshold):
    found = served(stumps([threshold, threshold], [True, False]), beside(threshold))
    assert found.tolist() == [3.0, 3.0, -3.0, -1.0]


def test_missing_values_that_count_as_0():
    forest = stumps([-1.0, 1.0], [True, False])
    assert served(forest, [[np.nan]], served_missing="zero").tolist() == [-1.0 + 2.0]


def test_trees_are_added_in_order_from_the_start_on():
    values = [(1e16, 0.0), (1.0, 0.0), (1.0, 0.0), (-1e16, 0.0), (0.3, 0.0)]
    expected = 0.7
    for left, _ in values:
        expected += left
    assert served(stumps([0.0] * 5, [False] * 5, values, start=0.7), [[-1.0]]).tolist() == [expected]


def test_zero_trees_and_trees_that_are_a_leaf():
    empty = Forest(no_trees(), ("a", "b"), start=np.asarray([0.25]))
    assert served(empty, [[1.0, np.nan]]).tolist() == [0.25]
    leaf = Forest(one_leaf(0.5), ("a",), start=np.asarray([0.25]))
    assert served(leaf + stumps([1.0], [True]), [[1.0], [2.0], [np.nan]]).tolist() == [1.75, -0.25, 1.75]


def test_infinite_thresholds_are_written_as_numbers():
    forest, largest = stumps([np.inf, -np.inf], [True, True]), np.finfo(np.float64).max
    assert served(forest, [[largest], [-largest], [np.nan]]).tolist() == [-1.0, -1.0, 3.0]
    assert b"nf" not in case_of("pmml", forest).files["model.pmml"].replace(b"nfo", b"")


def test_names_of_all_kinds_are_kept():
    forest = replace(random_forest(3, features=len(ODD_NAMES)), feature_names=ODD_NAMES)
    case = case_of("pmml", forest)
    assert differing([case], "pmml") == []
    document = ET.fromstring(case.files["model.pmml"])
    space = "{http://www.dmg.org/PMML-4_4}"
    assert tuple(field.get("name") for field in document.iter(f"{space}DataField")) == ODD_NAMES
    assert [field.get("name") for field in document.iter(f"{space}OutputField")] == ["score_0"]  # a feature is called score


def test_blends_of_forests_are_one_sum():
    case = case_of("pmml", 0.3 * random_forest(0) + 0.7 * random_forest(1))
    assert differing([case], "pmml") == []


@pytest.mark.parametrize("name", ["", "a\x00b", "\x1b", "￾"])
def test_names_that_xml_cannot_hold_are_refused(name):
    target = target_named("pmml")
    with refused(ArgumentError, setting="name", value=name):
        plan_for(random_forest(0), target, name=name)


def test_other_kinds_are_refused_with_a_remedy():
    for ranker in (net_of(0), 0.5 * random_forest(0) + net_of(0), random_forest(0, grades=(0.0, 1.0))):
        with refused(ArgumentError) as caught:
            case_of("pmml", ranker)
        assert "onnx" in caught.value.remedy
    with refused(ArgumentError):
        case_of("pmml", Forest(no_trees(), ()))


def chain(levels):
    """A tree whose every right child splits again."""
    nodes = np.arange(2 * levels + 1)
    inner = (nodes % 2 == 0) & (nodes < 2 * levels)
    numbers = np.where(inner, nodes, 0).astype(np.float64)
    children = {"left": np.where(inner, nodes + 1, 0), "right": np.where(inner, nodes + 2, 0)}
    rest = {name: np.zeros(len(nodes)) for name in ("rows", "curvature", "gain")}
    feature = np.where(inner, 0, LEAF)
    offsets = np.asarray([0, len(nodes)])
    trees = Trees(feature, numbers, inner & (nodes % 4 == 0), **children, value=nodes * 0.1, **rest, offsets=offsets)
    return Forest(trees, ("a",))


def test_trees_too_deep_for_the_evaluator_are_refused():
    assert served(chain(300), [[1e9]]).tolist() == [600 * 0.1]
    with refused(ArgumentError, value=301) as caught:
        case_of("pmml", chain(301))
    assert "onnx" in caught.value.remedy


def test_the_same_ranker_gives_the_same_bytes_in_the_form_of_the_standard():
    files = case_of("pmml", stumps([0.1], [True], [(1.5, -2.0)], names=("a&b",))).files
    assert files == case_of("pmml", stumps([0.1], [True], [(1.5, -2.0)], names=("a&b",))).files
    lines = files["model.pmml"].decode().splitlines()
    tree = lines[lines.index('<Segment id="1"><True/>') + 2 : -4]
    assert tree == [
        '<Node id="0" defaultChild="1"><True/>',
        '<Node id="1" score="1.5"><SimplePredicate field="a&amp;b" operator="lessOrEqual" value="0.1"/></Node>',
        '<Node id="2" score="-2.0"><SimplePredicate field="a&amp;b" operator="greaterThan" value="0.1"/></Node>',
        "</Node>",
        "</TreeModel>",
    ]


def test_the_program_beside_the_model_compares_scores(tmp_path, monkeypatch):
    rk.export(random_forest(0), tmp_path / "made", to="pmml", sample=random_dataset(1))
    monkeypatch.chdir(tmp_path / "made")
    runpy.run_path("check.py")
    assert rk.check_served(".", np.loadtxt("served.txt", ndmin=1)).as_expected
