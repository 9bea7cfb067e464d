"""Trees that were grown before, for rows of which only the codes are known: thresholds turned back into codes."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Bytes, Floats, Indices
from rankinite.engine.parallel import Team
from rankinite.errors import DataError
from rankinite.trees._state import BINS, SET, Keys, nodes_of
from rankinite.trees.bins import Bins
from rankinite.trees.grow import Grown, add_tree
from rankinite.trees.structure import Trees


def add_coded(bins: Bins, words: Keys, trees: Trees, scores: Floats, team: Team) -> None:
    """Add trees to the scores, shape (outputs, rows), of rows with these codes, tree by tree as they were grown."""
    for number in range(len(trees)):
        tree = trees.take(number, number + 1)
        add_tree(words, _coded(bins, tree), np.array(tree.value), scores[number % len(scores)], team)


def _coded(bins: Bins, tree: Trees) -> Grown:
    """A tree whose nodes ask for codes."""
    size = len(tree.feature)
    nodes = nodes_of((size + 1) // 2)
    inner = (tree.feature >= 0) & (tree.set_sizes == 0)
    nodes.feature[:size], nodes.missing_left[:size] = tree.feature, tree.missing_left
    nodes.left[:size], nodes.right[:size] = tree.left, tree.right
    nodes.code[:size][inner] = _codes_of(bins, tree.feature[inner].astype(np.int64), tree.threshold[inner])
    for node in np.flatnonzero(tree.set_sizes).tolist():
        nodes.code[node] = SET
        nodes.members[node] = _members_of(bins.categories.get(int(tree.feature[node])), tree.set_of(node))
    return Grown(nodes, size, np.empty(0, np.bool_))


def _members_of(codes: Bytes | None, categories: list[int]) -> Keys:
    """The codes that go left, one bit each: those of these categories, and of no others."""
    table = np.zeros(BINS, np.uint8)
    if codes is not None:
        table[codes[categories]] = 1
    if codes is None or not np.array_equal(np.flatnonzero(table[codes]), categories):
        raise _strange("sets of categories that the training data do not code apart")
    return np.packbits(table, bitorder="little").view(np.uint64)


def _codes_of(bins: Bins, features: Indices, thresholds: Floats) -> Indices:
    """The codes that thresholds part: the inverse of ``Bins.thresholds``."""
    starts, ends = bins.starts[features].tolist(), bins.starts[features + 1].tolist()
    places = [np.searchsorted(bins.edges[s:e], t) for s, e, t in zip(starts, ends, thresholds.tolist(), strict=True)]
    codes = np.asarray(places, np.int64)
    if not np.array_equal(bins.thresholds(features, codes), thresholds):
        raise _strange("thresholds that are no edges of the training data's bins")
    return codes


def _strange(asked: str) -> DataError:
    return DataError(
        f"trees of a checkpoint ask for {asked}",
        value=asked,
        rule="A run goes on from trees that were grown in the same bins",
        remedy="Delete the checkpoint to start afresh",
    )
