"""Words of categories in the files of programs that are given categories by name: what goes left, and what can be written."""

from __future__ import annotations

import re

import numpy as np

from rankinite.errors import ArgumentError, quoted
from rankinite.serving.categories import Vocabularies
from rankinite.trees.structure import Trees


def left_codes(trees: Trees, node: int, size: int) -> list[int]:
    """The codes that go left at a node whose feature has so many categories; it may have a threshold in place of a set."""
    return trees.set_of(node) or np.flatnonzero(np.arange(size) <= trees.threshold[node]).tolist()


def check_words(categories: Vocabularies, program: str, pattern: str, rule: str) -> None:
    """Refuse categories whose names are not as a whole of this pattern."""
    for feature, vocabulary in categories.items():
        for word in vocabulary.names:
            if not re.fullmatch(pattern, word):
                raise ArgumentError(
                    f"{program} cannot hold the category {quoted(word)} of {quoted(feature)}",
                    value=word,
                    rule=rule,
                    remedy="Train on data where this category has another name",
                )
