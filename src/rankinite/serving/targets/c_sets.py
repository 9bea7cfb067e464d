"""SetLayout: sets of categories as the tables of an exported C file.

Categories that no set of a forest tells apart are one *group*, so that a set has one bit per group and not per category.
Missing and unknown categories are one more group, the last. A row's groups are looked up once, and a set is asked
for one bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.engine.kernel import Indices
from rankinite.seeds import generator
from rankinite.serving.categories import bit_words
from rankinite.trees.structure import Trees


class SetLayout:
    """The categories, groups and sets of trees, and where each node finds its own."""

    def __init__(self, trees: Trees, columns: Sequence[int], sizes: Sequence[int]) -> None:
        """``columns``: where each feature is in a row; ``sizes``: how many categories it has."""
        self.categories, self.groups, self.words = list[str](), list[str](), list[str]()
        self.slot, self.start = dict[int, int](), dict[int, int]()
        known = dict[bytes, int]()
        for feature in np.unique(trees.feature[trees.set_sizes > 0]).tolist():
            nodes = np.flatnonzero((trees.set_sizes > 0) & (trees.feature == feature)).tolist()
            sets = [trees.set_of(node) for node in nodes]
            group, missing = categories_alike(sets, sizes[feature])
            self.categories.append(f"{{{columns[feature]},{sizes[feature]},{len(self.groups)},{missing}}}")
            self.groups += map(str, group.tolist())
            for node, codes in zip(nodes, sets, strict=True):
                left = np.unique(group[codes]).tolist()
                words = bit_words([*left, missing] if trees.missing_left[node] else left, missing + 1)
                if words.tobytes() not in known:
                    known[words.tobytes()] = len(self.words)
                    self.words += map(str, words.tolist())
                self.slot[node], self.start[node] = len(self.categories) - 1, known[words.tobytes()]


def categories_alike(sets: Sequence[Sequence[int]], size: int) -> tuple[Indices, int]:
    """For each category the number of its group, and how many groups there are: those of a group are in the same sets."""
    owners = np.repeat(np.arange(len(sets)), [len(codes) for codes in sets])
    codes = np.asarray([code for one in sets for code in one], np.int64)
    marks = generator(0).integers(1 << 63, size=(len(sets), 2), dtype=np.uint64)
    sums = np.zeros((size, 2), np.uint64)
    np.add.at(sums, codes, marks[owners])  # sums of random marks: equal where the sets are, and hardly ever elsewhere
    _, first, group = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # by the first category of each, so that chance decides no number
    group = rank[group.reshape(-1)]
    members = np.bincount(group)
    whole = all(members[np.unique(group[list(one)])].sum() == len(one) for one in sets)
    return (group, len(members)) if whole else (np.arange(size), size)
