"""Small trees that ask for given sets of categories, and words that formats may stumble over.

Missing categories go right in them, as many programs need it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankinite.data.categories import Vocabulary
from rankinite.models.forest import Forest
from rankinite.trees.structure import sets_of
from serving.every_kind import stumps
from serving.tall_trees import chain

WORDS = Vocabulary(("A", "a", 'a "b"', "it's", "say ''\n", "特"))
EVERY = list(range(len(WORDS)))


def asking(sets: list[list[int]], vocabulary: Vocabulary = WORDS) -> Forest:
    """One tree for each set of codes; the category is the feature ``a``."""
    members = [codes for one in sets for codes in (one, [], [])]
    return _with_sets(stumps([0.0] * len(sets), [False] * len(sets)), members, vocabulary)


def asking_in_turn(sets: list[list[int]], vocabulary: Vocabulary = WORDS) -> Forest:
    """One tree that asks for the first set and, of what goes left, for the next one, down to the last."""
    members = [codes for one in sets for codes in (one, [])]
    return _with_sets(chain(len(sets), to_left=True), [*members, []], vocabulary)


def _with_sets(forest: Forest, members: list[list[int]], vocabulary: Vocabulary) -> Forest:
    trees = replace(forest.trees, threshold=np.zeros(len(members)), **sets_of(members))
    return replace(forest, trees=trees, categories={"a": vocabulary})
