"""XGBoost's models as forests, from JSON or UBJSON.

XGBoost works in float32: it asks ``x < threshold``, which for float32 values is ``x <=`` the float32 just below it, and adds
leaves in float32, so scores agree except for the last bits of these. Nodes have the sum of their rows' curvatures, but not the
number of rows. Values of inner nodes are without shrinkage there, which files do not give; here they are the mean of their
children's. Categories are in :mod:`rankinite.models.files.xgboost_categories`.

After early stopping a file holds all trees, and the best round as an attribute. ``XGBRanker.predict`` stops at that round,
``Booster.predict`` does not; the former is meant to be deployed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.foreign_categories import in_vocabularies
from rankinite.models.files.nested_trees import inner_values
from rankinite.models.files.parsed import (
    MOST_UNNAMED,
    SAVE_AGAIN,
    Parsed,
    is_json_object,
    number_words,
    parse_json,
)
from rankinite.models.files.ubjson import parse_ubjson
from rankinite.models.files.xgboost_categories import node_sets, xgboost_categories
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees, join, sets_of

BY_LOGIT = ("binary:logistic", "reg:logistic")
"""Objectives whose first score is kept as a probability."""
BY_LOGARITHM = ("count:poisson", "reg:gamma", "reg:tweedie")
"""Objectives whose first score is kept as a mean."""
LOSSES = {"rank:ndcg": "lambda", "rank:map": "lambda", "rank:pairwise": "pairs", "reg:squarederror": "squared"}
"""XGBoost's objective → the loss by which :func:`rankinite.adapt.trada` takes it."""


def read_xgboost(content: bytes, all_trees: bool = False) -> Forest:
    """The forest of a model that ``Booster.save_model`` wrote, up to its best round unless all trees are asked for."""
    return xgboost_forest(parse_json(content) if is_json_object(content) else parse_ubjson(content), all_trees)


def xgboost_forest(model: Any, all_trees: bool = False) -> Forest:
    """The same from the value that the file stands for."""
    return _forest(Parsed(model, "XGBoost")["learner"], all_trees=all_trees)


def _forest(learner: Parsed, *, all_trees: bool) -> Forest:
    booster, dropped = learner["gradient_booster"], None
    if booster["name"].text() == "dart":
        booster, dropped = booster["gbtree"], booster["weight_drop"]
    _refuse_others(learner, booster)
    model = booster["model"]
    trees = join([_tree(tree, f"tree {number}") for number, tree in enumerate(model["trees"].entries())])
    if dropped is not None:
        weights = dropped.numbers(np.float64, len(trees))
        with np.errstate(over="ignore", invalid="ignore"):  # a value that is not finite is refused with the forest
            trees = replace(trees, value=np.repeat(weights, np.diff(trees.offsets)) * trees.value)
    objective, stopping = learner["objective"]["name"].text(), _stopping(learner, model, len(trees), all_trees=all_trees)
    loss, names = {"loss": LOSSES[objective]} if objective in LOSSES else {}, _names(learner)
    trees, categories = in_vocabularies(trees, names, xgboost_categories(learner, model, len(names)))
    return Forest(
        trees=trees.take(0, len(trees) - stopping.get("trees_left_out", 0)),
        feature_names=names,
        start=np.asarray([_start(learner["learner_model_param"]["base_score"], objective)]),
        settings={"learner": "XGBoost", "objective": objective, **loss, **stopping},
        categories=categories,
    )


def _refuse_others(learner: Parsed, booster: Parsed) -> None:
    """Refuse models that are not a sum of trees with one score per row."""
    kind, about = booster["name"].text(), learner["learner_model_param"]
    if kind != "gbtree":
        raise DataError(
            f"this XGBoost model is a {cut(kind)}, which has no trees",
            place=booster["name"].path,
            value=kind,
            remedy="Train with booster=gbtree",
        )
    for several in filter(None, (about.get("num_class"), about.get("num_target"))):
        if several.whole() > 1:
            raise DataError(
                f"this XGBoost model has {quoted(several.value)} scores per row",
                place=several.path,
                value=several.value,
                rule="Only models with one score can rank",
                remedy="Train with a ranking or regression objective",
            )


def _names(learner: Parsed) -> tuple[str, ...]:
    """The features' names, or f0, f1, … where the file has only their number."""
    written, count = learner.get("feature_names"), learner["learner_model_param"]["num_feature"]
    names = tuple(name.text() for name in written.entries()) if written is not None else ()
    if names:
        return names
    if count.whole() > MOST_UNNAMED:
        raise DataError(
            f"this XGBoost model has {quoted(count.value)} features without names",
            place=count.path,
            value=count.value,
            rule=f"Models without names may have {MOST_UNNAMED:,}, because features are kept as a dense matrix",
            remedy="Number the features without gaps, or train with feature_names",
        )
    return tuple(f"f{number}" for number in range(count.whole()))


def _stopping(learner: Parsed, model: Parsed, trees: int, *, all_trees: bool) -> dict[str, int]:
    """The best iteration of a model that stopped early, and how many trees after it are left out."""
    attributes = learner.get("attributes")
    best = None if all_trees or attributes is None else attributes.get("best_iteration")
    if best is None:
        return {}
    kept = _trees_to(best, model, trees)
    return {"best_iteration": best.whole(), "trees_left_out": trees - kept}


def _trees_to(best: Parsed, model: Parsed, trees: int) -> int:
    """The number of trees up to the best round, that round included; refuses a round that does not exist."""
    written = model.get("iteration_indptr")
    if written is not None:
        bounds: Any = written.numbers(np.int64)
    else:  # XGBoost before 2.0
        together = model["gbtree_model_param"].get("num_parallel_tree")
        bounds = range(0, trees + 1, (0 if together is None else together.whole()) or 1)
    if not isinstance(best.value, str) or not best.value.isdecimal() or best.whole() >= len(bounds) - 1:
        correct = "Correct the attribute with Booster.set_attr(best_iteration=…) and save the model again, or take all trees:"
        raise DataError(
            f"the best iteration is given as {quoted(best.value)}, but there are {len(bounds) - 1} iterations, counted from 0",
            place=best.path,
            value=best.value,
            remedy=f"{correct} load(…, all_trees=True)",
            shell_remedy=f"{correct} all-trees:FILE",
        )
    kept = int(bounds[best.whole() + 1])
    if not 0 < kept <= trees:
        raise model.wrong(f"one whose iteration_indptr ends within its {trees} trees")
    return kept


def left_out(forest: Any) -> str | None:
    """What was left out of a model that stopped early, for those who load it; None if nothing was."""
    count, best = forest.settings.get("trees_left_out", 0), forest.settings.get("best_iteration")
    if not count:
        return None
    return (
        f"training stopped early, so the forest ends at iteration {best}, the best, as XGBRanker.predict does: "
        f"it has {len(forest)} of {len(forest) + count} trees"
    )


def _start(base_score: Parsed, objective: str) -> float:
    """The score before the first tree: as it is, or the logit of a probability, or the logarithm of a mean."""
    try:  # XGBoost 3 writes a list in a text, "[5E-1]"
        [value] = number_words(base_score.text().removeprefix("[").removesuffix("]"))
    except ValueError as error:
        raise base_score.wrong('one number in a text, such as "5E-1" or "[5E-1]"') from error
    if objective in BY_LOGARITHM and not 0.0 < value < math.inf:
        raise base_score.wrong(f"a positive number for the objective {objective}")
    if objective in BY_LOGIT and not 0.0 < value < 1.0:
        raise base_score.wrong(f"a number between 0 and 1 for the objective {objective}")
    if objective in BY_LOGARITHM:
        return math.log(value)
    return math.log(value / (1.0 - value)) if objective in BY_LOGIT else value


def _tree(written: Parsed, place: str) -> Trees:
    left = written["left_children"].numbers(np.int64)
    count = len(left)
    right = written["right_children"].numbers(np.int64, count)
    inner = left >= 0
    children = np.concatenate((left[inner], right[inner]))
    if not count or (children <= 0).any() or (children >= count).any():
        raise DataError(
            "this tree has no nodes, or a node that points outside the tree", place=place, value=count, remedy=SAVE_AGAIN
        )
    condition = written["split_conditions"].numbers(np.float32, count)
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    asked = node_sets(written, inner, place)
    swapped = asked.by_category  # what is in a set goes right there, and left here
    first, second = np.where(swapped, right, left), np.where(swapped, left, right)
    left, right = np.where(inner, first, 0), np.where(inner, second, 0)
    order = _parents_first(left, right, inner, place)
    place_of: npt.NDArray[Any] = np.zeros(count, np.int64)
    place_of[order] = np.arange(len(order))
    curvature = written["sum_hessian"].numbers(np.float64, count)
    value = inner_values(order[inner[order]], left, right, condition.astype(np.float64), curvature)
    return Trees(
        feature=np.where(inner, written["split_indices"].numbers(np.int32, count), LEAF)[order],
        threshold=np.where(inner & ~swapped, below, 0.0)[order],
        missing_left=((written["default_left"].numbers(np.int64, count).astype(bool) != swapped) & inner)[order],
        left=place_of[left][order],
        right=place_of[right][order],
        value=value[order],
        rows=np.zeros(len(order), np.int64),
        curvature=curvature[order],
        gain=np.where(inner, np.maximum(written["loss_changes"].numbers(np.float64, count), 0.0), 0.0)[order],
        offsets=np.asarray([0, len(order)]),
        **sets_of([asked.sets[node] for node in order.tolist()]),
    )


def _parents_first(
    left: npt.NDArray[Any], right: npt.NDArray[Any], inner: npt.NDArray[Any], place: str
) -> npt.NDArray[np.int64]:
    """The nodes that the root leads to, each after its parent; nodes that were pruned are left out."""
    found, at = [0], 0
    while at < len(found):
        node = found[at]
        if inner[node]:
            found += [int(left[node]), int(right[node])]
        at += 1
        if len(found) > len(left):
            raise DataError("this tree has a node with two parents", place=place, value=len(found), remedy=SAVE_AGAIN)
    return np.asarray(found)
