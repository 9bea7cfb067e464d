"""CatBoost's JSON models as forests.

CatBoost rounds values to float32, sends a row right when ``x > border``, adds leaves in float64 in the order of the trees, then
multiplies by a scale and adds a bias. Here the bias is a last tree of one leaf, so that scores of float32 values agree to the
last bit; a scale other than 1 is multiplied into the leaves, which may change the last bits. Missing values go to one side for
a whole feature. Symmetric trees ask the same question at all nodes of a level; here they are trees like others, whose root asks
the first question. Files have the number of rows (or the sum of weights) in each leaf.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.errors import DataError
from rankinite.models.files.nested_trees import LeafNode, SplitNode, constant_tree, row_counts, tree_of
from rankinite.models.files.parsed import Parsed, splits_by_categories
from rankinite.models.forest import Forest
from rankinite.models.history import MISSING_VALUES
from rankinite.trees.structure import LEAF, Trees, join

LOSSES = {"RMSE": "squared", "YetiRank": "lambda", "LambdaMart": "lambda", "PairLogit": "pairs"}
"""CatBoost's loss → the loss by which :func:`rankinite.adapt.trada` takes it."""
MISSING_LEFT = {"AsFalse": True, "AsTrue": False, "AsIs": True}
"""Where a missing value goes; nothing is above a border as it is, so it goes left."""
OTHER_FEATURES = ("categorical_features", "text_features", "embedding_features")
"""Lists of features that are not numbers."""
DEEPEST = 20
"""Of a symmetric tree; CatBoost allows 16."""


class _FloatFeature(NamedTuple):
    """A numerical feature: its position among all, and where its missing values go."""

    position: int
    missing_left: bool


class _Question(NamedTuple):
    feature: int
    border: float
    missing_left: bool


def catboost_forest(model: Any, all_trees: bool = False) -> Forest:  # noqa: ARG001 - CatBoost cuts at the best iteration itself
    """The forest of a model that ``save_model(…, format="json")`` wrote, from the value that the file stands for."""
    whole = Parsed(model, "CatBoost")
    scale, bias = _scale_and_bias(whole["scale_and_bias"])
    names, columns = _features(whole["features_info"])
    symmetric, others = whole.get("oblivious_trees"), whole.get("trees")
    if symmetric is not None:
        trees = [_symmetric(tree, columns) for tree in symmetric.entries()]
    else:
        written = (whole["trees"] if others is None else others).entries()
        trees = [tree_of(tree, lambda node: _node(node, columns)) for tree in written]
    joined = join(trees)
    if scale != 1.0:
        with np.errstate(over="ignore", invalid="ignore"):  # a value that is not finite is refused with the forest
            joined = replace(joined, value=joined.value * scale)
    if bias != 0.0:
        joined = join([joined, constant_tree(bias, float(joined.rows[0]) if len(joined) else 0.0)])
    return Forest(trees=joined, feature_names=names, settings=_settings(whole))


def _scale_and_bias(written: Parsed) -> tuple[float, float]:
    """The scale, and the one bias; refuses models with several scores per row."""
    parts = written.entries()
    biases = parts[1].entries() if len(parts) == 2 else []
    if not biases:
        raise written.wrong("a scale and a list of one bias")
    if len(biases) > 1:
        raise DataError(
            f"this CatBoost model has {len(biases)} scores per row",
            place=parts[1].path,
            value=len(biases),
            rule="Only models with one score can rank",
            remedy="Train with a ranking or regression loss",
        )
    return parts[0].number(), biases[0].number()


def _features(info: Parsed) -> tuple[tuple[str, ...], dict[int, _FloatFeature]]:
    """The names of all features, and each numerical one by the number that splits call it."""
    for kind in OTHER_FEATURES:
        others = info.get(kind)
        if others is not None and others.value:
            raise DataError(
                f"this CatBoost model has {kind.replace('_', ' ')}",
                place=others.path,
                value=kind,
                rule="Only models over numerical features can be read",
                remedy="Train with numbers alone, for example with categories as columns of 0 and 1",
            )
    columns: dict[int, _FloatFeature] = {}
    names: dict[int, str] = {}
    for feature in info["float_features"].entries():
        position, treatment = feature["flat_feature_index"].whole(), feature.get("nan_value_treatment")
        known = "AsIs" if treatment is None else treatment.text()
        if treatment is not None and known not in MISSING_LEFT:
            raise treatment.wrong(f"one of {', '.join(MISSING_LEFT)}")
        columns[feature["feature_index"].whole()] = _FloatFeature(position, MISSING_LEFT[known])
        name = feature.get("feature_id")
        names[position] = (name.text() if name is not None else "") or str(position)
    if sorted(names) != list(range(len(names))) or len(columns) != len(names):
        raise info["float_features"].wrong("a list of features with the positions 0, 1, …")
    return tuple(names[position] for position in range(len(names))), columns


def _question(split: Parsed, columns: dict[int, _FloatFeature]) -> _Question:
    """What a split asks."""
    kind = split["split_type"].text()
    if kind != "FloatFeature":
        raise splits_by_categories(split.path)
    number, border = split["float_feature_index"], split["border"].number()
    column = columns.get(number.whole())
    if column is None:
        raise number.wrong("the number of a feature")
    with np.errstate(over="ignore"):
        return _Question(column.position, float(np.float32(border)), column.missing_left)


def _node(node: Parsed, columns: dict[int, _FloatFeature]) -> LeafNode | SplitNode:
    """A node of a tree that is not symmetric."""
    split, weight = node.get("split"), node.get("weight")
    if split is None:
        return LeafNode(node["value"].number(), 0.0 if weight is None else max(0.0, weight.number()))
    return SplitNode(*_question(split, columns), node["left"], node["right"])


def _symmetric(tree: Parsed, columns: dict[int, _FloatFeature]) -> Trees:
    """A symmetric tree, level by level. Bit k of a leaf's number in the file answers question k."""
    questions = [_question(split, columns) for split in tree["splits"].entries()]
    depth = len(questions)
    if depth > DEEPEST:
        raise DataError(
            f"this tree is {depth} levels deep", place=tree.path, value=depth, rule=f"The deepest that is read is {DEEPEST}"
        )
    leaves, counted = 1 << depth, tree.get("leaf_weights")
    place = np.arange(leaves)
    in_file = sum((place >> (depth - 1 - k) & 1) << k for k in range(depth)) + np.zeros(leaves, np.int64)
    value: Floats = tree["leaf_values"].numbers(np.float64, leaves)[in_file]
    rows: Floats = np.zeros(leaves) if counted is None else counted.numbers(np.float64, leaves)[in_file]
    values, counts = [value], [rows]
    for _ in questions:  # from the leaves to the root
        values.insert(0, _means(values[0], counts[0]))
        counts.insert(0, counts[0].reshape(-1, 2).sum(axis=1))
    nodes = np.arange(2 * leaves - 1)
    level = np.repeat(np.arange(depth + 1), 1 << np.arange(depth + 1))
    inner, asked = level < depth, [*questions, _Question(LEAF, 0.0, False)]
    return Trees(
        feature=np.asarray([question.feature for question in asked])[level],
        threshold=np.asarray([question.border for question in asked])[level],
        missing_left=np.asarray([question.missing_left for question in asked])[level],
        left=np.where(inner, 2 * nodes + 1, 0),
        right=np.where(inner, 2 * nodes + 2, 0),
        value=np.concatenate(values),
        rows=row_counts(np.concatenate(counts)),
        curvature=np.zeros(len(nodes)),
        gain=np.zeros(len(nodes)),
        offsets=np.asarray([0, len(nodes)]),
    )


def _means(value: Floats, rows: Floats) -> Floats:
    """The mean of each two nodes, by rows where there are any."""
    pairs, weights = value.reshape(-1, 2), rows.reshape(-1, 2)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with the forest
        total = weights.sum(axis=1)
        share = np.divide(weights[:, 0], total, out=np.full(len(total), 0.5), where=total > 0.0)
        return share * pairs[:, 0] + (1.0 - share) * pairs[:, 1]


def _settings(whole: Parsed) -> dict[str, Any]:
    """What the file says of the training, where it says it; nothing here changes a score."""
    info = whole.value.get("model_info")
    params: Any = info.get("params") if isinstance(info, dict) else None
    found: dict[str, Any] = {"learner": "CatBoost"}
    objective, rate = _inside(params, "loss_function", "type"), _inside(params, "boosting_options", "learning_rate")
    if isinstance(objective, str):
        found["objective"] = objective
        found |= {"loss": LOSSES[objective]} if objective in LOSSES else {}
    if isinstance(rate, float) and 0.0 < rate <= 1.0:
        found["rate"] = float(str(np.float32(rate)))  # as it was given: the file has the digits of a float32
    missing = [feature.get("has_nans") for feature in whole.value["features_info"]["float_features"]]
    return found | ({MISSING_VALUES: any(missing)} if all(isinstance(one, bool) for one in missing) else {})


def _inside(value: Any, *names: str) -> Any:
    """An entry of an entry of JSON; None where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
