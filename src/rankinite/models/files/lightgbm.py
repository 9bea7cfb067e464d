"""LightGBM's text models as forests.

LightGBM asks ``x <= threshold`` as we do, and adds leaves in float64 from the first tree on, so scores agree to the last bit.
Two things differ. Values next to nothing count as 0 there, so thresholds among them are moved to their ends. And a node says of
missing values that NaN goes left or right, or that NaN is 0, or (``zero_as_missing``) that 0 is missing, which our trees cannot
say unless 0 goes the same way anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats
from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.parsed import fitting, number_words
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees, join

CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of ``decision_type``; the two above them say what is missing."""
ZERO, NAN = 1, 2
"""What is missing: 0, or NaN. Else NaN counts as 0."""
NOTHING = float(np.float32(1e-35))
"""Values up to this size are 0 to LightGBM."""
LOSSES = {"lambdarank": "lambda", "rank_xendcg": "lambda", "regression": "squared", "l2": "squared", "mse": "squared"}
"""LightGBM's objective → the loss by which :func:`rankinite.adapt.trada` takes it."""


def read_lightgbm(content: bytes, place: str, all_trees: bool = False) -> Forest:  # noqa: ARG001 - see below
    """The forest of a model that ``Booster.save_model`` wrote.

    All trees of the file count in either case: LightGBM leaves those behind the best iteration out when it saves, unless told
    otherwise, and its files do not say which iteration was best.
    """
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: this is no text ({cut(error)}). Save the model again.") from error
    head, *blocks = text.split("\nTree=")
    about = dict(_pairs(head))
    _refuse_others(about, head, place)
    names = tuple(about.get("feature_names", "").split(" "))
    last = about.get("max_feature_idx", "")
    if last != str(len(names) - 1):
        raise DataError(
            f"{place}: this LightGBM model names {len(names)} features, but its max_feature_idx is {quoted(last)}. The file is "
            "damaged; save the model again."
        )
    trees = [_Tree(dict(_pairs(block.split("\n\n")[0])), f"{place}: tree {number}") for number, block in enumerate(blocks)]
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


def _refuse_others(about: dict[str, str], head: str, place: str) -> None:
    several = about.get("num_tree_per_iteration", about.get("num_class", "1"))
    if several != "1":
        raise DataError(
            f"{place}: this LightGBM model has {cut(several)} scores a row. Only models with one score can rank; train with a "
            "ranking or regression objective."
        )
    if "average_output" in head.split("\n"):
        raise DataError(f"{place}: this LightGBM model is a random forest, whose trees are averaged. Train with boosting=gbdt.")
    if "feature_names" not in about:
        raise DataError(f"{place}: this LightGBM model names no features. The file is damaged, or older than version 2.")


def _beyond_nothing(threshold: Floats) -> Floats:
    """Thresholds such that all values up to ``NOTHING`` go where 0 goes."""
    low = (threshold >= -NOTHING) & (threshold < 0.0)
    high = (threshold >= 0.0) & (threshold < NOTHING)
    return np.where(low, np.nextafter(-NOTHING, -np.inf), np.where(high, NOTHING, threshold))


@dataclass(frozen=True)
class _Tree:
    """One tree as the file has it: inner nodes and leaves are numbered apart."""

    written: dict[str, str]
    place: str

    def numbers(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """One entry per node; 0 where the file has none, so ``count`` must be one that the file justifies."""
        text = self.written.get(name, "")
        try:
            values = np.fromiter(number_words(text), np.float64) if text else np.zeros(count)
        except ValueError as error:
            raise DataError(f"{self.place}: {name} has an entry that is no number ({error}). The file is damaged.") from error
        if len(values) != count:
            raise DataError(f"{self.place}: there are {len(values)} entries of {name} for {count} nodes. The file is damaged.")
        fitted = fitting(values, dtype)
        if fitted is None:
            raise DataError(f"{self.place}: {name} has an entry that is no {np.dtype(dtype)}. The file is damaged.")
        return fitted

    def number(self, name: str) -> float:
        """One finite number of the whole tree."""
        value = float(self.numbers(name, np.float64, 1)[0])
        if not np.isfinite(value):
            raise DataError(f"{self.place}: {name} is {value}, which is no finite number. The file is damaged.")
        return value

    def leaves(self) -> int:
        """The number of leaves, which is announced and must be that of their values."""
        announced, count = self.written.get("num_leaves", ""), len(self.written.get("leaf_value", "").split())
        if announced != str(count) or not count:
            raise DataError(
                f"{self.place}: num_leaves is {quoted(announced)}, but there are {count} entries of leaf_value. There must be "
                "one per leaf, and one leaf at least. The file is damaged; save the model again."
            )
        return count

    def converted(self) -> Trees:
        """The same tree: inner nodes first, as they are numbered, then the leaves."""
        if self.written.get("is_linear", "0") != "0":
            raise DataError(f"{self.place} has linear models in its leaves. Train with linear_tree=false.")
        if self.written.get("num_cat", "0") != "0":
            raise DataError(f"{self.place} splits by categories. Only numerical features can be taken over.")
        leaves = self.leaves()
        inner = leaves - 1
        decision = self.numbers("decision_type", np.int64, inner)
        threshold = _beyond_nothing(self.numbers("threshold", np.float64, inner))
        zero_left = threshold >= 0.0
        default_left = (decision & DEFAULT_LEFT) > 0
        kind = (decision >> 2) & 3
        if (decision & CATEGORICAL).any():
            raise DataError(f"{self.place} splits by categories. Only numerical features can be taken over.")
        if ((kind == ZERO) & (zero_left != default_left)).any():
            raise DataError(f"{self.place} takes 0 for a missing value. Train with zero_as_missing=false.")
        both = {
            "value": ("internal_value", "leaf_value", np.float64),
            "rows": ("internal_count", "leaf_count", np.int64),
            "curvature": ("internal_weight", "leaf_weight", np.float64),
        }
        joined = {
            name: np.concatenate((self.numbers(first, dtype, inner), self.numbers(second, dtype, leaves)))
            for name, (first, second, dtype) in both.items()
        }
        nothing = np.zeros(leaves)
        return Trees(
            feature=np.concatenate((self.numbers("split_feature", np.int32, inner), np.full(leaves, LEAF))),
            threshold=np.concatenate((threshold, nothing)),
            missing_left=np.concatenate((np.where(kind == NAN, default_left, zero_left), nothing > 0)),
            left=self._children("left_child", inner, leaves),
            right=self._children("right_child", inner, leaves),
            gain=np.concatenate((np.maximum(self.numbers("split_gain", np.float64, inner), 0.0), nothing)),
            offsets=np.asarray([0, inner + leaves]),
            value=joined["value"],
            rows=joined["rows"],
            curvature=joined["curvature"],
        )

    def _children(self, name: str, inner: int, leaves: int) -> npt.NDArray[np.int32]:
        """Negative numbers are leaves: −1 is leaf 0."""
        children = self.numbers(name, np.int32, inner).astype(np.int64)
        places = np.where(children < 0, inner - 1 - children, children)
        return np.concatenate((places, np.zeros(leaves, np.int64))).astype(np.int32)
