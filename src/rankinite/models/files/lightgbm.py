"""LightGBM's text models as forests.

LightGBM asks ``x <= threshold`` as we do, and adds leaves in float64 from the first tree on, so scores agree to the last bit.
Two things differ. Tiny values count as 0 there, so thresholds among them are moved to the ends of their range. And a node says
of missing values that NaN goes left or right, or that NaN is 0, or (``zero_as_missing``) that 0 is missing, which our trees
cannot express unless 0 goes the same way anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Floats
from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.parsed import SAVE_AGAIN, fitting, number_words, splits_by_categories
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees, join

CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of ``decision_type``; the two above them say what is missing."""
ZERO, NAN = 1, 2
"""Which value is missing: 0, or NaN. Otherwise NaN counts as 0."""
NOTHING = float(np.float32(1e-35))
"""Values up to this size count as 0 in LightGBM."""
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
            f"this LightGBM model names {len(names)} features, but its max_feature_idx is {quoted(last)}",
            place="max_feature_idx",
            value=last,
            remedy=SAVE_AGAIN,
        )
    trees = [_Tree(dict(_pairs(block.split("\n\n")[0])), f"tree {number}") for number, block in enumerate(blocks)]
    objective = about.get("objective", "").split(" ")[0]
    settings: dict[str, Any] = {
        "learner": "LightGBM",
        "objective": objective,
        **({"loss": LOSSES[objective]} if objective in LOSSES else {}),
    }
    rates = {tree.number("shrinkage") for tree in trees} - {1.0}  # a first tree may hold the mean, unshrunken
    if len(rates) == 1:
        settings["rate"] = rates.pop()
    forest = join([tree.converted() for tree in trees])
    return Forest(trees=forest, feature_names=names, settings=settings)


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


def _beyond_nothing(threshold: Floats) -> Floats:
    """Thresholds such that all values up to ``NOTHING`` go where 0 goes."""
    low = (threshold >= -NOTHING) & (threshold < 0.0)
    high = (threshold >= 0.0) & (threshold < NOTHING)
    return np.where(low, np.nextafter(-NOTHING, -np.inf), np.where(high, NOTHING, threshold))


@dataclass(frozen=True)
class _Tree:
    """One tree as the file has it: inner nodes and leaves are numbered separately."""

    written: dict[str, str]
    place: str

    def numbers(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """One entry per node; 0 where the file has none, so ``count`` must be one that the file justifies."""
        text = self.written.get(name, "")
        try:
            values = np.fromiter(number_words(text), np.float64) if text else np.zeros(count)
        except ValueError as error:
            raise self.wrong(name, f"the entry {error} is not a number", text) from error
        if len(values) != count:
            raise self.wrong(name, f"there are {len(values)} entries for {count} nodes", len(values))
        fitted = fitting(values, dtype)
        if fitted is None:
            raise self.wrong(name, f"an entry is not of type {np.dtype(dtype)}", text)
        return fitted

    def wrong(self, name: str, why: str, value: object) -> DataError:
        """The error for entries that cannot be those of a tree."""
        return DataError(why, place=f"{self.place}: {name}", value=value, remedy=SAVE_AGAIN)

    def number(self, name: str) -> float:
        """One finite number of the whole tree."""
        value = float(self.numbers(name, np.float64, 1)[0])
        if not np.isfinite(value):
            raise self.wrong(name, f"{value} is not a finite number", value)
        return value

    def leaves(self) -> int:
        """The number of leaves, which is announced and must be that of their values."""
        announced, count = self.written.get("num_leaves", ""), len(self.written.get("leaf_value", "").split())
        if announced != str(count) or not count:
            raise DataError(
                f"num_leaves is {quoted(announced)}, but there are {count} entries of leaf_value",
                place=f"{self.place}: num_leaves",
                value=announced,
                rule="There must be one per leaf, and at least one leaf",
                remedy=SAVE_AGAIN,
            )
        return count

    def converted(self) -> Trees:
        """The same tree: inner nodes first, as they are numbered, then the leaves."""
        if self.written.get("is_linear", "0") != "0":
            raise DataError(
                "this tree has linear models in its leaves",
                place=f"{self.place}: is_linear",
                remedy="Train with linear_tree=false",
            )
        if self.written.get("num_cat", "0") != "0":
            raise splits_by_categories(self.place)
        leaves = self.leaves()
        inner = leaves - 1
        threshold = _beyond_nothing(self.numbers("threshold", np.float64, inner))
        nothing = np.zeros(leaves)
        return Trees(
            feature=np.concatenate((self.numbers("split_feature", np.int32, inner), np.full(leaves, LEAF))),
            threshold=np.concatenate((threshold, nothing)),
            missing_left=np.concatenate((self._missing_left(threshold), nothing > 0)),
            left=self._children("left_child", inner, leaves),
            right=self._children("right_child", inner, leaves),
            gain=np.concatenate((np.maximum(self.numbers("split_gain", np.float64, inner), 0.0), nothing)),
            offsets=np.asarray([0, inner + leaves]),
            value=self._of_both("value", np.float64, leaves),
            rows=self._of_both("count", np.int64, leaves),
            curvature=self._of_both("weight", np.float64, leaves),
        )

    def _missing_left(self, threshold: Floats) -> Flags:
        """Whether NaN goes left at each inner node."""
        decision = self.numbers("decision_type", np.int64, len(threshold))
        zero_left = threshold >= 0.0
        default_left = (decision & DEFAULT_LEFT) > 0
        kind = (decision >> 2) & 3
        if (decision & CATEGORICAL).any():
            raise splits_by_categories(self.place)
        if ((kind == ZERO) & (zero_left != default_left)).any():
            raise DataError(
                "this tree takes 0 for a missing value",
                place=f"{self.place}: decision_type",
                remedy="Train with zero_as_missing=false",
            )
        return np.where(kind == NAN, default_left, zero_left)

    def _of_both(self, what: str, dtype: npt.DTypeLike, leaves: int) -> npt.NDArray[Any]:
        """A number per inner node, then one per leaf."""
        return np.concatenate(
            (self.numbers(f"internal_{what}", dtype, leaves - 1), self.numbers(f"leaf_{what}", dtype, leaves))
        )

    def _children(self, name: str, inner: int, leaves: int) -> npt.NDArray[np.int32]:
        """Negative numbers are leaves: −1 is leaf 0."""
        children = self.numbers(name, np.int32, inner).astype(np.int64)
        places = np.where(children < 0, inner - 1 - children, children)
        return np.concatenate((places, np.zeros(leaves, np.int64))).astype(np.int32)
