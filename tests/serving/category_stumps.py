"""Trees of two leaves that ask for given sets of categories, and words that formats may stumble over."""

from __future__ import annotations

from dataclasses import replace

from rankinite.data.categories import Vocabulary
from rankinite.models.forest import Forest
from rankinite.trees.structure import sets_of
from serving.every_kind import stumps

WORDS = Vocabulary(("A", "a", 'a "b"', "it's", "say ''\n", "特"))
EVERY = list(range(len(WORDS)))


def asking(sets: list[list[int]], missing_left: list[bool], vocabulary: Vocabulary = WORDS) -> Forest:
    """One tree for each set of codes; the category is the feature ``a``."""
    forest = stumps([0.0] * len(sets), missing_left)
    members = [codes for one in sets for codes in (one, [], [])]
    return replace(forest, trees=replace(forest.trees, **sets_of(members)), categories={"a": vocabulary})
