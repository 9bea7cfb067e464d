"""What XGBoost's files say of categories.

At a node with categories, those that the file lists go right; all others go left, also those that no training row had; missing
ones go where ``default_left`` says. Our sets go left, so the children of these nodes change places.
The words of a data frame's categories, in the order of their codes, are in ``cats`` (from XGBoost 3.1 on).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.engine.kernel import Flags, Indices
from rankinite.errors import DataError
from rankinite.models.files.foreign_categories import ForeignCategories
from rankinite.models.files.parsed import SAVE_AGAIN, Parsed

CATEGORY = "c"
"""The type of a feature that is a category."""
MOST_CODES = 1 << 24
"""Codes that XGBoost can tell apart."""


@dataclass(frozen=True, eq=False)
class WrittenSets:
    """The nodes of a tree that ask for a category."""

    by_category: Flags
    """Whether each node does."""
    sets: list[list[int]]
    """The codes that go right there; none elsewhere."""


def node_sets(tree: Parsed, inner: Flags, place: str) -> WrittenSets:
    """The sets of a tree as the file has them; leaves, which pruning may have made of such nodes, have none."""
    kinds = tree.get("split_type")
    by_category = inner & (kinds.numbers(np.int64, len(inner)) > 0 if kinds is not None else False)
    sets: list[list[int]] = [[] for _ in inner]
    if not by_category.any():
        return WrittenSets(by_category, sets)
    codes = tree["categories"].numbers(np.int64)
    nodes = tree["categories_nodes"].numbers(np.int64)
    starts = tree["categories_segments"].numbers(np.int64, len(nodes))
    sizes = tree["categories_sizes"].numbers(np.int64, len(nodes))
    inside = (starts >= 0) & (sizes >= 0) & (starts <= len(codes)) & (sizes <= len(codes) - np.clip(starts, 0, len(codes)))
    if not inside.all():
        raise _wrong(f"{place}: categories_segments", f"a set lies outside the {len(codes)} categories of its tree", starts)
    if ((codes < 0) | (codes >= MOST_CODES)).any():
        raise _wrong(f"{place}: categories", f"a category is not a whole number from 0 to {MOST_CODES - 1:,}", codes)
    for node, start, size in zip(nodes.tolist(), starts.tolist(), sizes.tolist(), strict=True):
        if not 0 <= node < len(inner):
            raise _wrong(f"{place}: categories_nodes", f"there is no node {node}", node)
        if by_category[node]:
            sets[node] = np.unique(codes[start : start + size]).tolist()
    without = [node for node in np.flatnonzero(by_category).tolist() if not sets[node]]
    if without:
        raise _wrong(f"{place}: categories_nodes", f"node {without[0]} asks for a category, but has none", without[0])
    return WrittenSets(by_category, sets)


def xgboost_categories(learner: Parsed, model: Parsed, features: int) -> dict[int, ForeignCategories]:
    """What a file says of each feature that is a category."""
    types, cats = learner.get("feature_types"), model.get("cats")
    kinds = [one.text() for one in types.entries()] if types is not None else []
    known = {number: ForeignCategories("feature_types") for number, kind in enumerate(kinds) if kind == CATEGORY}
    written = cats["enc"].entries() if cats is not None else []
    if len(kinds) not in (0, features) or len(written) not in (0, features):
        raise _wrong("feature_types, cats", f"they do not have one entry for each of {features} features", len(written))
    for number, one in enumerate(written):
        words = _words(one)
        if words:
            known[number] = ForeignCategories(one.path, words)
    return known


def _words(written: Parsed) -> list[object]:
    """The categories of a feature: texts, cut out of their bytes, or numbers."""
    offsets, values = written.get("offsets"), written["values"]
    if offsets is None:
        found = values.numbers(np.float64)
        whole: Any = values.numbers(np.int64) if (np.floor(found) == found).all() else found
        return whole.tolist()
    letters, cuts = values.numbers(np.int64), offsets.numbers(np.int64)
    if len(cuts) and (cuts[0] or (np.diff(cuts) < 0).any() or cuts[-1] != len(letters)):
        raise offsets.wrong(f"a list that rises from 0 to {len(letters)}")
    _refuse_beyond_ascii(letters, values.path)
    text = letters.astype(np.uint8).tobytes().decode("ascii")
    return [text[first:last] for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)]


def _refuse_beyond_ascii(letters: Indices, place: str) -> None:
    """Refuse words with letters that take several bytes.

    XGBoost 3.1 and 3.2 count the letters of a pandas frame's words, but cut bytes: what the file has are then other words.
    """
    if ((letters < 0) | (letters > 127)).any():
        raise DataError(
            "the names of categories have letters beyond ASCII",
            place=place,
            rule="XGBoost cuts such names at wrong places, so that the file does not have them as they were",
            remedy="Train on whole numbers in place of the names, or on names in plain letters",
        )


def _wrong(place: str, problem: str, value: object) -> DataError:
    return DataError(problem, place=place, value=value, remedy=SAVE_AGAIN)
