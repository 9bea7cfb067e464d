"""Models of engines and libraries: written from forests, and scored one row at a time by the rules of their formats.

RankLib and Solr cannot run here. What they do with a model is written down twice: as a reader in ``rankinite.models.files``,
and here as a program that walks through the file for every row, rounding to float32 wherever theirs does.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np

import rankinite as rk
from rankinite.trees.structure import LEAF


def beside_thresholds(forest: rk.Forest, rows: np.ndarray, most: int = 150) -> np.ndarray:
    """Rows in which a feature has the value of a threshold, or that of the float next to it on either side, or is missing."""
    random = np.random.default_rng(0)
    found = []
    for node in np.flatnonzero(forest.trees.feature >= 0)[:most]:
        cut = forest.trees.threshold[node].astype(rows.dtype)
        with np.errstate(over="ignore"):
            sides = [np.nextafter(cut, rows.dtype.type(end)) for end in (-np.inf, np.inf)]
        for value in (cut, *sides, np.nan):
            row = rows[random.integers(len(rows))].copy()
            row[forest.trees.feature[node]] = value
            found.append(row)
    return np.asarray(found)


def whole_leaves(forest: rk.Forest, seed: int) -> rk.Forest:
    """The same trees with whole numbers in their leaves, whose sums are exact in float32, and thresholds of float32."""
    random = np.random.default_rng(seed)
    value = random.integers(-500, 500, len(forest.trees.value)).astype(np.float64)
    threshold = forest.trees.threshold.astype(np.float32).astype(np.float64)
    return replace(forest, trees=replace(forest.trees, value=value, threshold=threshold), start=np.zeros(1))


# ---- RankLib ----------------------------------------------------------------------------------------------------------


def ranklib_text(forest: rk.Forest, weight: float = 1.0, learner: str = "LambdaMART", ensembles: int = 1) -> str:
    """A forest as RankLib writes it; of a random forest, the trees are dealt to so many ensembles."""
    parts = [f"## {learner}", "## No. of trees = 3", "## Learning rate = 0.1", ""]
    for first in range(ensembles):
        parts.append("<ensemble>")
        for number in range(first, len(forest), ensembles):
            parts.append(f'\t<tree id="{number + 1}" weight="{weight}">')
            parts += ["\t\t<split>", *_ranklib_node(forest, int(forest.trees.offsets[number]), 0), "\t\t</split>", "\t</tree>"]
        parts.append("</ensemble>\n")
    return "\n".join(parts)


def _ranklib_node(forest: rk.Forest, root: int, node: int) -> list[str]:
    trees = forest.trees
    if trees.feature[root + node] == LEAF:
        return [f"<output> {trees.value[root + node]} </output>"]
    sides = [("left", trees.left[root + node]), ("right", trees.right[root + node])]
    found = [
        f"<feature> {trees.feature[root + node] + 1} </feature>",
        f"<threshold> {trees.threshold[root + node]} </threshold>",
    ]
    for side, child in sides:
        found += [f'<split pos="{side}">', *_ranklib_node(forest, root, int(child)), "</split>"]
    return found


def ranklib_scores(text: str, rows: np.ndarray) -> list[float]:
    """What RankLib makes of rows, whose columns are the features 1, 2, …."""
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if "<ensemble>" not in plain:
        return [_ranklib_linear(text, plain, row) for row in rows]
    ensembles = ET.fromstring(f"<all>{plain}</all>").findall("ensemble")
    return [sum(_ranklib_sum(one, row) for one in ensembles) / len(ensembles) for row in rows]


def _ranklib_value(row: np.ndarray, feature: int) -> np.float32:
    return np.float32(0) if math.isnan(row[feature - 1]) else np.float32(row[feature - 1])


def _ranklib_sum(ensemble: ET.Element, row: np.ndarray) -> float:
    total = np.float32(0)
    for tree in ensemble:
        node = tree[0]
        while node[0].tag == "feature":
            feature, threshold, left, right = node
            node = left if _ranklib_value(row, int(feature.text)) <= np.float32(threshold.text) else right
        total = np.float32(float(total) + float(np.float32(node[0].text)) * float(np.float32(tree.get("weight"))))
    return float(total)


def _ranklib_linear(text: str, plain: str, row: np.ndarray) -> float:
    pairs = [word.split(":") for word in plain.split()]
    constant = "Linear Regression" in text
    total = sum(float(weight) for feature, weight in pairs if constant and feature == "0")
    return total + sum(float(weight) * float(_ranklib_value(row, int(f))) for f, weight in pairs if f != "0")


# ---- Solr -------------------------------------------------------------------------------------------------------------


def solr_trees(forest: rk.Forest, weight: str = "1", *, missing: bool = False, norms: dict[str, dict] | None = None) -> dict:
    """A forest as a model of Solr; ``missing``: with directions of missing values."""
    trees = [
        {"weight": weight, "root": _solr_node(forest, int(forest.trees.offsets[number]), 0, missing)}
        for number in range(len(forest))
    ]
    params = {"trees": trees, **({"isNullSameAsZero": False} if missing else {})}
    return solr_model("MultipleAdditiveTreesModel", forest.feature_names, params, norms)


def solr_model(kind: str, names: tuple[str, ...], params: dict, norms: dict[str, dict] | None = None) -> dict:
    features = [{"name": name, **({"norm": norms[name]} if norms and name in norms else {})} for name in names]
    return {"class": f"org.apache.solr.ltr.model.{kind}", "name": "mine", "features": features, "params": params}


def _solr_node(forest: rk.Forest, root: int, node: int, missing: bool) -> dict:
    trees, at = forest.trees, root + node
    if trees.feature[at] == LEAF:
        return {"value": str(trees.value[at])}
    return {
        "feature": forest.feature_names[trees.feature[at]],
        "threshold": str(trees.threshold[at]),
        **({"missing": "left" if trees.missing_left[at] else "right"} if missing else {}),
        "left": _solr_node(forest, root, int(trees.left[at]), missing),
        "right": _solr_node(forest, root, int(trees.right[at]), missing),
    }


def solr_scores(model: dict, rows: np.ndarray) -> list[float]:
    """What Solr makes of rows, whose columns are the model's features in order."""
    scorer = {
        "MultipleAdditiveTreesModel": _solr_tree_sum,
        "LinearModel": _solr_linear,
        "NeuralNetworkModel": _solr_net,
    }[model["class"].rpartition(".")[2]]
    return [float(scorer(model, _solr_values(model, row))) for row in rows]


def _solr_values(model: dict, row: np.ndarray) -> dict[str, np.float32]:
    """The normalised values; a missing one is 0 before that, unless the model tells it from 0."""
    keeps = model["params"].get("isNullSameAsZero") is False
    found = {}
    for feature, x in zip(model["features"], row, strict=True):
        value = np.float32(x)
        if math.isnan(x) and not keeps:
            value = np.float32(0)
        norm = feature.get("norm")
        with np.errstate(over="ignore"):
            if norm and norm["class"].endswith("StandardNormalizer"):
                value = (value - np.float32(norm["params"]["avg"])) / np.float32(norm["params"]["std"])
            elif norm and norm["class"].endswith("MinMaxNormalizer"):
                low, high = (np.float32(norm["params"][name]) for name in ("min", "max"))
                value = (value - low) / (high - low)
        found[feature["name"]] = value
    return found


def _solr_tree_sum(model: dict, values: dict[str, np.float32]) -> np.float32:
    total = np.float32(0)
    for tree in model["params"]["trees"]:
        node = tree["root"]
        while "feature" in node:
            x, slackened = values[node["feature"]], np.float32(node["threshold"]) + np.float32(1e-6)
            side = node["missing"] if math.isnan(x) else "left" if x <= slackened else "right"
            node = node[side]
        total += np.float32(tree["weight"]) * np.float32(node["value"])
    return total


def _solr_linear(model: dict, values: dict[str, np.float32]) -> np.float32:
    total = np.float32(0)
    for name, value in values.items():
        total += value * np.float32(model["params"]["weights"][name])
    return total


def _solr_net(model: dict, values: dict[str, np.float32]) -> np.float32:
    inputs = list(values.values())
    for layer in model["params"]["layers"]:
        outputs = []
        for row, bias in zip(layer["matrix"], layer["bias"], strict=True):
            total = np.float32(bias)
            for weight, value in zip(row, inputs, strict=True):
                total += np.float32(weight) * value
            outputs.append(np.float32(math.tanh(total)) if layer["activation"] == "tanh" else total)
        inputs = outputs
    return inputs[0]


# ---- ONNX -------------------------------------------------------------------------------------------------------------


def onnx_regressor(forest: rk.Forest, *, double: bool = False, mode: str = "BRANCH_LEQ", **attributes: object):
    """The node ``TreeEnsembleRegressor`` of a forest without start."""
    from onnx import TensorProto, helper

    trees, root = forest.trees, np.repeat(forest.trees.offsets[:-1], np.diff(forest.trees.offsets))
    leaf, tree = trees.feature == LEAF, np.repeat(np.arange(len(trees)), np.diff(trees.offsets))
    node = np.arange(len(root)) - root
    numbers = {"nodes_values": trees.threshold.tolist(), "target_weights": trees.value[leaf].tolist()}
    if double:
        kind = TensorProto.DOUBLE
        numbers = {f"{k}_as_tensor": helper.make_tensor(k, kind, [len(v)], v) for k, v in numbers.items()}
    common = {
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": node.tolist(),
        "nodes_featureids": np.where(leaf, 0, trees.feature).tolist(),
        "nodes_modes": np.where(leaf, "LEAF", mode).tolist(),
        "nodes_truenodeids": trees.left.tolist(),
        "nodes_falsenodeids": trees.right.tolist(),
        "nodes_missing_value_tracks_true": trees.missing_left.astype(int).tolist(),
        "target_treeids": tree[leaf].tolist(),
        "target_nodeids": node[leaf].tolist(),
        "target_ids": [0] * int(leaf.sum()),
        "n_targets": 1,
    }
    return helper.make_node("TreeEnsembleRegressor", ["X"], ["Y"], domain="ai.onnx.ml", **{**common, **numbers, **attributes})


def onnx_ensemble(forest: rk.Forest, *, double: bool = False, mode: int = 0, **attributes: object):
    """The node ``TreeEnsemble`` of a forest without start; a tree of one leaf is a split whose children are that leaf."""
    from onnx import TensorProto, helper

    trees = forest.trees
    splits, leaves, roots = [], [], []
    for first, last in zip(trees.offsets[:-1].tolist(), trees.offsets[1:].tolist(), strict=True):
        roots.append(len(splits))
        inner = [node for node in range(first, last) if trees.feature[node] != LEAF]
        place = {node: roots[-1] + k for k, node in enumerate(inner)}
        number = {node: len(leaves) + k for k, node in enumerate(n for n in range(first, last) if n not in place)}
        leaves += [float(trees.value[node]) for node in number]
        for node in inner or [first]:
            children = [first + int(trees.left[node]), first + int(trees.right[node])]
            ends = [(int(child in number), number.get(child, place.get(child))) for child in children]
            threshold, missing = float(trees.threshold[node]), int(trees.missing_left[node])
            splits.append((max(0, int(trees.feature[node])), threshold, missing, *ends[0], *ends[1]))
    columns = list(zip(*splits, strict=True))
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    common = {
        "nodes_featureids": columns[0],
        "nodes_splits": helper.make_tensor("splits", kind, [len(splits)], columns[1]),
        "nodes_missing_value_tracks_true": columns[2],
        "nodes_trueleafs": columns[3],
        "nodes_truenodeids": columns[4],
        "nodes_falseleafs": columns[5],
        "nodes_falsenodeids": columns[6],
        "nodes_modes": helper.make_tensor("modes", TensorProto.UINT8, [len(splits)], [mode] * len(splits)),
        "leaf_targetids": [0] * len(leaves),
        "leaf_weights": helper.make_tensor("weights", kind, [len(leaves)], leaves),
        "tree_roots": roots,
        "n_targets": 1,
    }
    return helper.make_node("TreeEnsemble", ["X"], ["Y"], domain="ai.onnx.ml", **{**common, **attributes})


def onnx_file(
    nodes: list, features: int | None, *, double: bool = False, output: str = "Y", doubles_out: bool = False
) -> bytes:
    """A model of these nodes from the input X to an output; ``features``: the columns of X, or any."""
    from onnx import TensorProto, helper

    kinds = {False: TensorProto.FLOAT, True: TensorProto.DOUBLE}
    source = helper.make_tensor_value_info("X", kinds[double], [None, features])
    result = helper.make_tensor_value_info(output, kinds[doubles_out], None)
    version = 5 if any(node.op_type == "TreeEnsemble" for node in nodes) else 3
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    graph = helper.make_graph(nodes, "trees", [source], [result])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def onnx_scores(content: bytes, rows: np.ndarray) -> np.ndarray:
    """What onnxruntime makes of rows, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options).run(None, {"X": rows})[0].ravel()
