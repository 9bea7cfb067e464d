"""ONNX's ensembles of trees as forests: onnxruntime's scores, and refusals of any other graph."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import catboost
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import rankinite as rk
from oracles.foreign_models import beside_thresholds, onnx_ensemble, onnx_file, onnx_regressor, onnx_scores, whole_leaves
from oracles.trees import random_forest, random_matrix
from refusals import refused

SEEDS = range(4)
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]


def load(folder, content: bytes) -> rk.Forest:
    (folder / "model.onnx").write_bytes(content)
    return rk.load(folder / "model.onnx")


def plain_forest(seed: int, trees: int = 10) -> rk.Forest:
    forest = random_forest(seed, trees=trees, features=3)
    thresholds = forest.trees.threshold.astype(np.float32).astype(np.float64)
    return replace(forest, start=np.zeros(1), trees=replace(forest.trees, threshold=thresholds))


def rows_for(forest: rk.Forest, dtype: type, seed: int) -> np.ndarray:
    rows = random_matrix(seed, 60, 3, dtype)
    return np.concatenate((rows, beside_thresholds(forest, rows)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", SEEDS)
def test_ensembles_of_doubles_agree_to_the_last_bit(seed, mode, tmp_path):
    forest = replace(random_forest(seed, trees=10, features=3), start=np.zeros(1))
    node = onnx_ensemble(forest, double=True, mode=MODES.index(mode))
    content = onnx_file([node], 3, double=True, doubles_out=True)
    rows = rows_for(forest, np.float64, seed)
    loaded = load(tmp_path, content)
    assert (loaded.score(rows) == onnx_scores(content, rows)).all()
    assert mode != "BRANCH_LEQ" or (loaded.score(rows) == forest.score(rows)).all()
    assert len(loaded) == len(forest)


@pytest.mark.parametrize("op", ["TreeEnsembleRegressor", "TreeEnsemble"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", SEEDS)
def test_floats_end_in_the_same_leaves(seed, mode, op, tmp_path):
    forest = whole_leaves(random_forest(seed, trees=10, features=3), seed)
    node = onnx_ensemble(forest, mode=MODES.index(mode)) if op == "TreeEnsemble" else onnx_regressor(forest, mode=mode)
    content = onnx_file([node], 3)
    rows = rows_for(forest, np.float32, seed)
    assert load(tmp_path, content).score(rows).tolist() == onnx_scores(content, rows).tolist()


@pytest.mark.parametrize("attributes", [{}, {"aggregate_function": "AVERAGE"}, {"base_values": [0.37]}], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_sums_means_and_base_values(seed, attributes, tmp_path):
    forest = plain_forest(seed)
    rows = rows_for(forest, np.float32, seed)
    content = onnx_file([onnx_regressor(forest, **attributes)], 3)
    assert load(tmp_path, content).score(rows) == pytest.approx(onnx_scores(content, rows), rel=3e-6, abs=3e-6)
    if "base_values" in attributes:
        attributes = {"base_values_as_tensor": helper.make_tensor("b", TensorProto.DOUBLE, [1], [0.37])}
    content = onnx_file([onnx_regressor(forest, double=True, **attributes)], 3, double=True)
    rows = rows_for(forest, np.float64, seed)
    near = load(tmp_path, content).score(rows)
    assert near.astype(np.float32) == pytest.approx(onnx_scores(content, rows), rel=1e-7)
    assert "aggregate_function" in attributes or (near.astype(np.float32) == onnx_scores(content, rows)).all()


def test_a_file_of_catboost(tmp_path):
    random = np.random.default_rng(0)
    features = random.normal(size=(150, 4)).astype(np.float32)
    settings = {"iterations": 8, "depth": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(**settings).fit(features, features[:, 0] + random.normal(size=150))
    model.save_model(str(tmp_path / "model.onnx"), format="onnx")
    forest = rk.load(tmp_path / "model.onnx")
    rows = np.concatenate((features, beside_thresholds(forest, features)))
    assert forest.score(rows) == pytest.approx(model.predict(rows), rel=3e-6, abs=3e-6)


def test_nodes_that_pass_numbers_on_are_tolerated(tmp_path):
    forest = plain_forest(1)
    before = [helper.make_node("Cast", ["X"], ["C"], to=TensorProto.FLOAT), helper.make_node("Identity", ["C"], ["I"])]
    tree = onnx_regressor(forest)
    tree.input[0] = "I"
    behind = [
        helper.make_node("Constant", [], ["shape"], value=helper.make_tensor("s", TensorProto.INT64, [1], [-1])),
        helper.make_node("Reshape", ["Y", "shape"], ["R"]),
        helper.make_node("Cast", ["R"], ["Z"], to=TensorProto.DOUBLE),
    ]
    content = onnx_file([*before, tree, *behind], 3, double=True, output="Z", doubles_out=True)
    rows = random_matrix(2, 40, 3).astype(np.float64)
    assert load(tmp_path, content).score(rows) == pytest.approx(onnx_scores(content, rows), rel=3e-6, abs=3e-6)


def test_names_of_features(tmp_path):
    forest = plain_forest(1)
    used = int(forest.trees.feature.max()) + 1
    assert load(tmp_path, onnx_file([onnx_regressor(forest)], 7)).feature_names == tuple(f"f{k}" for k in range(7))
    assert load(tmp_path, onnx_file([onnx_regressor(forest)], None)).feature_names == tuple(f"f{k}" for k in range(used))
    model = onnx.load_model_from_string(onnx_file([onnx_regressor(forest)], 3))
    model.metadata_props.add(key="feature_names", value=json.dumps(["a", "b", "c"]))
    assert load(tmp_path, model.SerializeToString()).feature_names == ("a", "b", "c")
    model.metadata_props[0].value = "[1, 2, 3]"
    assert load(tmp_path, model.SerializeToString()).feature_names == ("f0", "f1", "f2")


SIMPLE = whole_leaves(random_forest(4, trees=3, features=3, most=6), 1)


def changed(node, **attributes):
    kept = [one for one in node.attribute if one.name not in attributes]
    del node.attribute[:]
    node.attribute.extend([*kept, *(helper.make_attribute(name, value) for name, value in attributes.items())])
    return node


@pytest.mark.parametrize(
    ("node", "place", "value"),
    [
        (onnx_regressor(SIMPLE, n_targets=3), "n_targets", 3),
        (onnx_regressor(SIMPLE, post_transform="LOGISTIC"), "post_transform", "LOGISTIC"),
        (onnx_regressor(SIMPLE, aggregate_function="MIN"), "aggregate_function", "MIN"),
        (onnx_ensemble(SIMPLE, aggregate_function=3), "aggregate_function", "MAX"),
        (onnx_ensemble(SIMPLE, post_transform=2), "post_transform", "LOGISTIC"),
        (onnx_ensemble(SIMPLE, n_targets=2), "n_targets", 2),
        (onnx_regressor(SIMPLE, mode="BRANCH_EQ"), "node 0 of tree 0", "BRANCH_EQ"),
        (onnx_ensemble(SIMPLE, mode=6), "node 0", "BRANCH_MEMBER"),
        (onnx_ensemble(SIMPLE, mode=99), "node 0", "99"),
        (changed(onnx_regressor(SIMPLE), nodes_values=[0.5]), "nodes_values", 1),
        (changed(onnx_regressor(SIMPLE), target_weights=[0.5]), "target_weights", 1),
        (
            changed(onnx_regressor(SIMPLE), nodes_nodeids=[0] * len(SIMPLE.trees.feature)),
            "nodes_nodeids",
            len(SIMPLE.trees.feature),
        ),
        (changed(onnx_regressor(SIMPLE), nodes_falsenodeids=[99] * len(SIMPLE.trees.feature)), "node 0 of tree 0", 0),
        (changed(onnx_regressor(SIMPLE), nodes_featureids=[-5] * len(SIMPLE.trees.feature)), "node 0 of tree 0", -5),
        (changed(onnx_regressor(SIMPLE), nodes_featureids=[3] * len(SIMPLE.trees.feature)), "graph.input 'X'", 3),
        (changed(onnx_ensemble(SIMPLE), tree_roots=[10**15]), f"node {10**15}", 10**15),
        (changed(onnx_ensemble(SIMPLE), leaf_targetids=[1] * (SIMPLE.trees.feature == -1).sum()), "leaf_targetids", ...),
    ],
)
def test_other_ensembles_and_damage_are_refused(node, place, value, tmp_path):
    with refused(rk.DataError, place=place, **({} if value is ... else {"value": value})) as caught:
        load(tmp_path, onnx_file([node], 3))
    assert caught.value.place.startswith(str(tmp_path / "model.onnx"))


def test_circles_come_to_an_end(tmp_path):
    node = onnx_ensemble(SIMPLE)
    count = len(next(one for one in node.attribute if one.name == "nodes_trueleafs").ints)
    with refused(rk.DataError, place="tree 0"):
        load(tmp_path, onnx_file([changed(node, nodes_trueleafs=[0] * count, nodes_truenodeids=[0] * count)], 3))
    with refused(rk.DataError) as caught:
        load(tmp_path, onnx_file([changed(onnx_ensemble(SIMPLE), tree_roots=[0] * 1_000_000)], 3))
    assert ": tree " in caught.value.place
    count = len(SIMPLE.trees.feature)
    with refused(rk.DataError, place="tree 0", value=count):
        load(tmp_path, onnx_file([changed(onnx_regressor(SIMPLE), nodes_truenodeids=[0] * count)], 3))


def test_any_other_graph_is_refused_by_what_it_has(tmp_path):
    scaled = [
        helper.make_node("Constant", [], ["two"], value=helper.make_tensor("two", TensorProto.FLOAT, [1], [2.0])),
        helper.make_node("Mul", ["X", "two"], ["I"]),
        onnx_regressor(SIMPLE),
    ]
    scaled[2].input[0] = "I"
    to_int = [helper.make_node("Cast", ["X"], ["I"], to=TensorProto.INT64), scaled[2]]
    two = [onnx_regressor(SIMPLE), onnx_regressor(SIMPLE)]
    two[1].output[0] = "Z"
    net = [helper.make_node("Tanh", ["X"], ["Y"])]
    apart = [helper.make_node("Tanh", ["X"], ["T"]), onnx_regressor(SIMPLE)]
    for nodes in (scaled, to_int, two, net, apart, []):
        found = [node.op_type for node in nodes if node.op_type != "Constant"]
        with refused(rk.DataError, place="graph", value=found):
            load(tmp_path, onnx_file(nodes, 3))


def test_nothing_outside_the_file_is_read(tmp_path):
    (tmp_path / "weights.bin").write_bytes(np.zeros(99, np.float64).tobytes())
    node = onnx_ensemble(SIMPLE, double=True)
    tensor = next(one for one in node.attribute if one.name == "leaf_weights").t
    tensor.ClearField("double_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    with refused(rk.DataError, place="leaf_weights", value=TensorProto.DOUBLE):
        load(tmp_path, onnx_file([node], 3, double=True, doubles_out=True))


def test_damaged_files_are_data_errors(tmp_path):
    content = onnx_file([onnx_ensemble(SIMPLE)], 3)
    for length in range(3, len(content), 23):
        with refused(rk.DataError):
            load(tmp_path, content[:length])


def test_without_the_package_the_remedy_is_named(tmp_path, monkeypatch):
    content = onnx_file([onnx_ensemble(SIMPLE)], 3)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with refused(rk.DataError, value="onnx") as caught:
        load(tmp_path, content)
    assert "rankinite[onnx]" in caught.value.remedy
