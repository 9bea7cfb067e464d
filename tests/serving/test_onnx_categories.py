"""Categories in ONNX: lists of codes in TreeEnsemble, in onnxruntime; unknown codes go right, and so do missing ones."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.errors import DataError
from rankinite.models.files.onnx import read_onnx
from rankinite.serving.proof import WrongExportError, prove
from refusals import refused
from serving.category_stumps import EVERY, WORDS, asking
from serving.consumers.onnx import scored
from serving.every_kind import linear_of
from serving.parity import case_of, differing
from serving.random_rankers import with_sets


def ensemble_of(content):
    """The model, and the attributes of its trees by name."""
    model = onnx.load_from_string(content)
    [node] = [node for node in model.graph.node if node.op_type == "TreeEnsemble"]
    return model, {attribute.name: attribute for attribute in node.attribute}


def test_sets_are_lists_of_codes_and_missing_ones_are_on_no_list():
    content = case_of("onnx", asking([[0, 3], [1, 2], EVERY])).files["model.onnx"]
    onnx.checker.check_model(content, full_check=True)
    _, attributes = ensemble_of(content)
    lists = onnx.numpy_helper.to_array(attributes["membership_values"].t)
    np.testing.assert_array_equal(lists, [0, 3, np.nan, 1, 2, np.nan, *EVERY, np.nan])
    assert not any(attributes["nodes_missing_value_tracks_true"].ints)


def test_forests_of_numbers_have_no_lists():
    assert "membership_values" not in ensemble_of(case_of("onnx", random_forest(0)).files["model.onnx"])[1]


def test_unknown_codes_and_missing_ones_go_right():
    content = case_of("onnx", asking([[0, 3], [1, 2], EVERY])).files["model.onnx"]
    found = scored(content, np.asarray([[0.0], [1.0], [4.0], [-1.0], [6.0], [1e300], [np.nan]]))
    assert found.tolist() == [1 - 2 + 3, -1 + 2 + 3, -1 - 2 + 3, *[-1 - 2 - 3] * 4]


@pytest.mark.parametrize("missing", ["nan", "zero"])
@pytest.mark.parametrize("seed", range(3))
def test_categories_beside_numbers_grades_and_other_rankers(seed, missing):
    sets = {0: WORDS, 2: Vocabulary(("-3", "7", "400"), numeric=True)}
    random = np.random.default_rng(seed)
    forest, grades = (
        with_sets(random_forest(seed), sets, random),
        with_sets(random_forest(seed, grades=(0.0, 1.0)), sets, random),
    )
    case = case_of("onnx", 0.5 * forest + grades + linear_of(seed, ("f1",)), rows=200, served_missing=missing)
    assert not differing([case], "onnx")


def test_thousands_of_categories():
    vocabulary = Vocabulary(tuple(sorted(f"v{number}" for number in range(5000))))
    forest = with_sets(random_forest(1, trees=8), {0: vocabulary, 1: vocabulary}, np.random.default_rng(1))
    assert not differing([case_of("onnx", forest, rows=500)], "onnx")


@pytest.mark.parametrize("changed", ["list", "mode", "missing"])
def test_a_wrong_model_is_found_out(changed):
    case = case_of("onnx", asking([[0, 3], [1, 2]]))
    model, attributes = ensemble_of(case.files["model.onnx"])
    if changed == "list":
        lists = onnx.numpy_helper.to_array(attributes["membership_values"].t).copy()
        lists[1] = 4
        attributes["membership_values"].t.CopyFrom(onnx.numpy_helper.from_array(lists))
    if changed == "mode":
        attributes["nodes_modes"].t.CopyFrom(onnx.numpy_helper.from_array(np.asarray([6, 0], np.uint8)))
    if changed == "missing":
        attributes["nodes_missing_value_tracks_true"].ints[0] = 1
    with pytest.raises((WrongExportError, AssertionError)):
        prove(case.target, {"model.onnx": model.SerializeToString()}, case.plan)


def test_such_a_file_is_not_read_as_if_it_asked_for_numbers():
    with refused(DataError):
        read_onnx(case_of("onnx", asking([[0, 3]])).files["model.onnx"])
