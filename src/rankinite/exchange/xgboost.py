"""XGBoost's models as forests, from JSON or UBJSON.

XGBoost works in float32: it asks ``x < threshold``, which for float32 values is ``x <=`` the float32 just below it, and adds
leaves in float32, so scores agree to the last bits of that. Nodes have the sum of their rows' curvatures, but not the number of
rows. Values of inner nodes are without shrinkage there, which files do not tell; here they are the mean of their children's.

After early stopping a file holds all trees, and the best round as an attribute. ``XGBRanker.predict`` stops at that round,
``Booster.predict`` does not; what is meant to be deployed is the former.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.errors import DataError
from rankinite.exchange.ubjson import parse_ubjson
from rankinite.rankers.forest import Forest
from rankinite.trees.structure import LEAF, Trees, join

BY_LOGIT = ("binary:logistic", "reg:logistic")
"""Objectives whose first score is kept as a probability."""
BY_LOGARITHM = ("count:poisson", "reg:gamma", "reg:tweedie")
"""Objectives whose first score is kept as a mean."""
LOSSES = {"rank:ndcg": "lambda", "rank:map": "lambda", "rank:pairwise": "pairs", "reg:squarederror": "squared"}
"""XGBoost's objective → the loss by which :func:`rankinite.adapt.trada` takes it."""


def read_xgboost(content: bytes, place: str, all_trees: bool = False) -> Forest:
    """The forest of a model that ``Booster.save_model`` wrote, up to its best round unless all trees are asked for."""
    try:
        model: Any = json.loads(content) if content[1:2] in b'"\n\r\t }' else parse_ubjson(content, place)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: this is no whole JSON file ({error}). Save the model again.") from error
    try:
        return _forest(model["learner"], place, all_trees=all_trees)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{place}: this is no model of XGBoost, or is damaged ({error!r}). Save it again.") from error


def _forest(learner: dict[str, Any], place: str, *, all_trees: bool) -> Forest:
    booster, weights = learner["gradient_booster"], None
    if booster["name"] == "dart":
        weights, booster = np.asarray(booster["weight_drop"], np.float64), booster["gbtree"]
    if booster["name"] != "gbtree":
        raise DataError(f"{place}: this XGBoost model is a {booster['name']}, which has no trees. Train with booster=gbtree.")
    about = learner["learner_model_param"]
    if int(about.get("num_class", "0")) > 1 or int(about.get("num_target", "1")) > 1:
        raise DataError(f"{place}: this XGBoost model has several scores a row. Only models with one score can rank.")
    objective = learner["objective"]["name"]
    written = booster["model"]["trees"]
    trees = join([_tree(tree, f"{place}: tree {number}") for number, tree in enumerate(written)])
    if weights is not None:
        trees = replace(trees, value=np.repeat(weights, np.diff(trees.offsets)) * trees.value)
    stopping: dict[str, Any] = {}
    if not all_trees and "best_iteration" in learner.get("attributes", {}):
        best = learner["attributes"]["best_iteration"]
        kept = _trees_to(best, booster["model"], place)
        stopping = {"best_iteration": int(best), "trees_left_out": len(written) - kept}
        trees = trees.take(0, kept)
    count = int(about["num_feature"])
    names = tuple(learner.get("feature_names") or ()) or tuple(f"f{number}" for number in range(count))
    loss = {"loss": LOSSES[objective]} if objective in LOSSES else {}
    settings = {"learner": "XGBoost", "objective": objective, **loss, **stopping}
    return Forest(
        trees=trees, feature_names=names, start=np.asarray([_start(about["base_score"], objective)]), settings=settings
    )


def _trees_to(best: Any, model: dict[str, Any], place: str) -> int:
    """The number of trees up to the best round, that round included; refuses a round that there is not."""
    bounds: Any = model.get("iteration_indptr")
    if bounds is None:  # XGBoost before 2.0
        bounds = range(0, len(model["trees"]) + 1, int(model["gbtree_model_param"].get("num_parallel_tree", 0)) or 1)
    if not isinstance(best, str) or not best.isdecimal() or int(best) >= len(bounds) - 1:
        raise DataError(
            f"{place}: this XGBoost model says that its best iteration is {best!r}, but its {len(bounds) - 1} iterations are "
            "counted from 0. Set the attribute right with Booster.set_attr(best_iteration=…) and save the model again, or take "
            "all trees: load(…, all_trees=True), in the shell all-trees:FILE."
        )
    kept = int(bounds[int(best) + 1])
    if not 0 < kept <= len(model["trees"]):
        raise ValueError("iteration_indptr does not fit")
    return kept


def left_out(forest: Forest) -> str | None:
    """What was left out of a model that stopped early, for those who load it; None if nothing was."""
    count, best = forest.settings.get("trees_left_out", 0), forest.settings.get("best_iteration")
    if not count:
        return None
    return (
        f"training stopped early, so the forest ends at iteration {best}, the best, as XGBRanker.predict does: "
        f"{len(forest)} trees count, {count} behind them do not"
    )


def _start(base_score: str, objective: str) -> float:
    """The score before the first tree: as it is, or the logit of a probability, or the logarithm of a mean."""
    value = float(base_score.strip("[]"))
    if objective in BY_LOGARITHM:
        return math.log(value)
    return math.log(value / (1.0 - value)) if objective in BY_LOGIT else value


def _tree(told: dict[str, Any], place: str) -> Trees:
    left, right = _array(told, "left_children", np.int64), _array(told, "right_children", np.int64)
    if np.asarray(told.get("split_type", []), np.int64).any() or len(told.get("categories", [])):
        raise DataError(f"{place} splits by categories. Only numerical features can be taken over.")
    inner = left >= 0
    condition = _array(told, "split_conditions", np.float32)
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    order = _parents_first(left, right, inner)
    place_of = np.zeros(len(left), np.int64)
    place_of[order] = np.arange(len(order))
    curvature = _array(told, "sum_hessian", np.float64)
    value = _values(order[inner[order]], left, right, condition.astype(np.float64), curvature)
    return Trees(
        feature=np.where(inner, _array(told, "split_indices", np.int64), LEAF)[order],
        threshold=np.where(inner, below, 0.0)[order],
        missing_left=(_array(told, "default_left", np.int64).astype(bool) & inner)[order],
        left=np.where(inner, place_of[left], 0)[order],
        right=np.where(inner, place_of[right], 0)[order],
        value=value[order],
        rows=np.zeros(len(order), np.int64),
        curvature=curvature[order],
        gain=np.where(inner, np.maximum(_array(told, "loss_changes", np.float64), 0.0), 0.0)[order],
        offsets=np.asarray([0, len(order)]),
    )


def _values(inner: npt.NDArray[Any], left: Any, right: Any, value: npt.NDArray[Any], curvature: Any) -> npt.NDArray[np.float64]:
    """Leaves have their value; inner nodes, given parents first, the mean of their children by curvature."""
    found, weight = value.tolist(), curvature.tolist()
    for node in reversed(inner.tolist()):
        a, b = int(left[node]), int(right[node])
        total = weight[a] + weight[b]
        share = weight[a] / total if total > 0.0 else 0.5
        found[node] = share * found[a] + (1.0 - share) * found[b]
    return np.asarray(found, np.float64)


def _array(told: dict[str, Any], name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    values = np.asarray(told[name]).astype(dtype)
    if values.shape != (len(told["left_children"]),):
        raise ValueError(f"{name} does not fit")
    return values


def _parents_first(left: npt.NDArray[Any], right: npt.NDArray[Any], inner: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The nodes that the root leads to, each behind its parent; nodes that were pruned away are left out."""
    found, place = [0], 0
    while place < len(found):
        node = found[place]
        if inner[node]:
            found += [int(left[node]), int(right[node])]
        place += 1
        if len(found) > len(left):
            raise ValueError("a node has two parents")
    return np.asarray(found)
