"""LightGBM's text models as forests.

LightGBM adds leaves in float64 from the first tree on, as we do, so scores agree to the last bit. What its trees ask is in
:mod:`rankinite.models.files.lightgbm_tree`, what the file says of categories in
:mod:`rankinite.models.files.lightgbm_categories`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.foreign_categories import in_vocabularies
from rankinite.models.files.lightgbm_categories import lightgbm_categories
from rankinite.models.files.lightgbm_tree import CATEGORICAL, DEFAULT_LEFT, NAN, NOTHING, ZERO, WrittenTree
from rankinite.models.files.parsed import SAVE_AGAIN
from rankinite.models.forest import Forest
from rankinite.plurals import counted
from rankinite.trees.structure import join

__all__ = ["CATEGORICAL", "DEFAULT_LEFT", "LOSSES", "NAN", "NOTHING", "ZERO", "read_lightgbm"]

LOSSES = {"lambdarank": "lambda", "rank_xendcg": "lambda", "regression": "squared", "l2": "squared", "mse": "squared"}
"""LightGBM's objective → the loss by which :func:`rankinite.adapt.trada` takes it."""


def read_lightgbm(content: bytes, all_trees: bool = False) -> Forest:  # noqa: ARG001 - see below
    """The forest of a model that ``Booster.save_model`` wrote.

    All trees of the file count in either case: LightGBM leaves out those after the best iteration when it saves, unless asked
    not to, and its files do not say which iteration was best.
    """
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"this is not text ({cut(error)})", place=f"byte {error.start}", remedy="Save the model again"
        ) from error
    head, *blocks = text.split("\nTree=")
    about = dict(_pairs(head))
    _refuse_others(about, head)
    names = tuple(about.get("feature_names", "").split(" "))
    last = about.get("max_feature_idx", "")
    if last != str(len(names) - 1):
        raise DataError(
            f"this LightGBM model names {counted(len(names), 'feature')}, but its max_feature_idx is {quoted(last)}",
            place="max_feature_idx",
            value=last,
            remedy=SAVE_AGAIN,
        )
    trees = [WrittenTree(dict(_pairs(block.split("\n\n")[0])), f"tree {number}") for number, block in enumerate(blocks)]
    objective = about.get("objective", "").split(" ")[0]
    settings: dict[str, Any] = {
        "learner": "LightGBM",
        "objective": objective,
        **({"loss": LOSSES[objective]} if objective in LOSSES else {}),
    }
    rates = {tree.number("shrinkage") for tree in trees} - {1.0}  # a first tree may hold the mean, unshrunken
    if len(rates) == 1:
        settings["rate"] = rates.pop()
    known = lightgbm_categories(about.get("feature_infos", ""), text, len(names))
    forest, categories = in_vocabularies(join([tree.converted() for tree in trees]), names, known)
    return Forest(trees=forest, feature_names=names, settings=settings, categories=categories)


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    for line in block.split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            yield name, value


def _refuse_others(about: dict[str, str], head: str) -> None:
    """Refuse models that are not a sum of trees with one score per row."""
    several = about.get("num_tree_per_iteration", about.get("num_class", "1"))
    if several != "1":
        raise DataError(
            f"this LightGBM model has {cut(several)} scores per row",
            place="num_tree_per_iteration",
            value=several,
            rule="Only models with one score can rank",
            remedy="Train with a ranking or regression objective",
        )
    if "average_output" in head.split("\n"):
        raise DataError(
            "this LightGBM model is a random forest, whose trees are averaged",
            place="average_output",
            remedy="Train with boosting=gbdt",
        )
    if "feature_names" not in about:
        raise DataError(
            "this LightGBM model names no features",
            place="feature_names",
            remedy="The file is damaged, or older than version 2; save the model again with a later version",
        )
