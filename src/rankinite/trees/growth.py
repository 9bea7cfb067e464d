"""Growth: a ``Grower`` grows trees on one data set, round after round, and adds them to scores.

The state that serves all trees is made here once and handed to one kernel per tree (``_growth_kernels``; with other members
``_member_growth_kernels``), which all workers of the team run together. What comes back is a :class:`GrownTree`, whose nodes
still ask for codes; :meth:`Grower.trees_of` turns these into thresholds and sets, and :func:`add_known_trees` turns the
thresholds and sets of trees grown before back into codes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from rankinite.engine.barriers import shared
from rankinite.engine.kernel import SCORE, Bytes, Flags, Floats, Indices, frozen
from rankinite.engine.memory import memory_left
from rankinite.engine.over_members import exact_sum, gathered, is_any, total
from rankinite.engine.parallel import Team
from rankinite.engine.reducer import Members, Reducer
from rankinite.errors import DataError
from rankinite.trees import _growth_kernels, _member_growth_kernels
from rankinite.trees._growth_kernels import add_by_codes, add_to_leaves
from rankinite.trees._member_growth_kernels import HEAD
from rankinite.trees._row_kernels import AHEAD, copy_columns, draw_tree_rows
from rankinite.trees._state import (
    BINS,
    LOW,
    NOT_FINITE,
    SET,
    WIDTH,
    WIDTH_SHIFT,
    Coded,
    Growth,
    Keys,
    Nodes,
    Short,
    Workspace,
    mix,
    nodes_of,
)
from rankinite.trees.bins import Bins, Codes
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import Trees, sets_of

PRECISE = 100_000_000
"""Rows of a tree beyond which quantised pushes lose precision."""

_NO_KEYS = frozen(np.empty(0, np.uint64))
_NO_SEEDS = np.zeros(4, np.uint64)
_NO_FLAGS = np.empty(0, np.bool_)
_NUMBERS = frozen(np.arange(1 << 14, dtype=np.int32))
_SMALL_COPY = 64 << 20  # a copy of so many bytes is made without asking for memory, which takes half a millisecond
_COPY_SHARE = 4  # a copy of the codes may take a quarter of the memory left
_LARGEST_COPY = 128 << 20  # beyond, a tenth of a tree's time is not worth half as much memory again
_FEW = 65_536  # the leaves of fewer rows are visited sooner than a thread wakes up


class NotFiniteError(Exception):
    """A push or a curvature is not a finite number; the learner finds out why."""


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree just grown: its nodes still know the codes they ask for and the rows they hold."""

    nodes: Nodes
    size: int
    drawn: Flags
    """(rows,) the rows it was grown from; empty: all."""

    def values(self) -> Floats:
        """The Newton step of every node, without shrinkage."""
        return self.nodes.value[: self.size].copy()


class Grower:
    """Grows trees on the same coded rows. Memory is taken once; a tree must be used before the next is grown."""

    def __init__(
        self,
        settings: TreeSettings,
        bins: Bins,
        codes: Codes,
        monotone: Indices,
        team: Team,
        keys: Keys | None,
        query_keys: Keys | None,
        weights: Floats | None = None,
        members: Members | None = None,
        *,
        copies: bool | None = None,
    ) -> None:
        """``weights``: how often each row counts, which is in its push and curvature already; once if left out.

        ``members``: those who have the other rows, and grow the same trees at the same time.
        ``copies``: whether to keep the codes feature by feature too, which takes as much memory again and is faster where there
        are many rows; if left out, where it is little, and there is memory for it. The trees are the same.
        """
        self.settings, self.bins, self.team = settings, bins, team
        self.rows, self.features = codes.rows, codes.features
        self.reducer = Reducer(members)
        self.all_rows = total(members, self.rows)
        _check_count(self.all_rows, settings)
        self.copies = _copy_is_affordable(codes) if copies is None else copies
        self._words = codes.words
        self._singles = (_columns_of(codes, team) if self.copies else codes.blocks).reshape(-1)
        self._keys = _NO_KEYS if keys is None else frozen(keys)
        self._query_keys = None if query_keys is None else frozen(query_keys)
        self._bin_counts, self._category = frozen(bins.counts), frozen(bins.is_category)
        self._has_missing, self._monotone = frozen(bins.has_missing), frozen(monotone)
        symmetric = settings.shape == "symmetric"
        kernels = _growth_kernels if members is None else _member_growth_kernels
        self._grow_tree = kernels.grow_symmetric_tree if symmetric else kernels.grow_best_first_tree
        self._leaves = 1 << settings.levels() if symmetric else min(settings.leaves, max(2, self.all_rows))
        self._nodes = nodes_of(self._leaves)
        counts, self._weight_unit = quantised_weights(weights, members)
        self._work = _workspace(
            self.rows, self.features, self._leaves, team.size, counts,
            drawn=settings.node_row_share < 1.0, together=members is not None, symmetric=symmetric,
        )  # fmt: skip
        self._drawn = np.empty(self.rows, np.bool_)

    def room_for_pushes(self) -> Floats:
        """Memory for the pushes of one output, shape (1, rows), to be given to :meth:`grow`, which then writes over them.

        It is the half of the cells that the root does not have: a tree fills it only when it has read all pushes.
        """
        return self._work.cells[1:].view(SCORE)

    @np.errstate(all="ignore")  # words wrap around and empty sides divide by 0 on purpose; only plain Python would warn of it
    def grow(self, push: Floats, curvature: Floats, number: int) -> GrownTree:
        """The tree of that number: what it draws at random follows from the seed and the number alone."""
        settings, work, nodes = self.settings, self._work, self._nodes
        row_seed, query_seed, feature_seed, node_seed = _seeds(settings.seed, number) if settings.is_random else _NO_SEEDS
        drawn = self._draw_rows(row_seed, query_seed)
        if len(drawn):
            push, curvature = push[drawn], curvature[drawn]
        coded = Coded(
            words=self._words,
            singles=self._singles,
            shift=0 if self.copies else WIDTH_SHIFT,
            bins=self._bin_counts,
            has_missing=self._has_missing,
            monotone=self._monotone,
            category=self._category,
            used=self._draw_features(feature_seed),
            keys=self._keys,
        )
        growth = Growth(
            leaves=self._leaves,
            depth=settings.levels() if settings.shape == "symmetric" else (settings.depth or 0),
            min_rows=settings.min_rows,
            min_curvature=settings.min_curvature,
            l2=settings.l2,
            newton=settings.criterion == "newton",
            random_thresholds=settings.thresholds == "random",
            row_share=settings.node_row_share,
            feature_share=settings.node_feature_share,
            seed=node_seed,
            rows=total(self.reducer.members, len(push)) if settings.draws_for_trees else self.all_rows,
            smooth=settings.category_smooth,
            reducer=self.reducer.address,
        )
        sizes = [0] * self.team.size

        def grow_with(worker: int, workers: int) -> None:
            sizes[worker] = self._grow_tree(push, curvature, coded, growth, nodes, work, worker, workers)

        self.team.run(grow_with)
        self.reducer.raise_problem()
        if sizes[0] == NOT_FINITE:
            raise NotFiniteError
        return GrownTree(nodes, sizes[0], drawn)

    def means(self, grown: GrownTree) -> Floats:
        """The mean push of the rows of every node, each counting its weight; 0 where there is no weight."""
        nodes, size, counts = grown.nodes, grown.size, self._work.weights
        if len(counts):
            sums = np.zeros(size, np.int64)
            for node in range(size - 1, -1, -1):  # children come behind their parents
                if nodes.feature[node] >= 0:
                    sums[node] = sums[nodes.left[node]] + sums[nodes.right[node]]
                else:
                    sums[node] = counts[self._work.order[nodes.half[node], nodes.start[node] : nodes.end[node]]].sum()
            weight = sums.astype(SCORE) * self._weight_unit
        else:
            weight = nodes.rows[:size].astype(SCORE)
        means = np.zeros(size)
        np.divide(nodes.push[:size] * self._work.scales[0], weight, out=means, where=weight > 0.0)
        return means

    def add(self, grown: GrownTree, values: Floats, scores: Floats) -> None:
        """Add a tree's values, one per node, to the scores of all rows: of those it was grown from leaf by leaf."""

        def add_with(worker: int, workers: int) -> None:
            add_to_leaves(grown.nodes, grown.size, values, self._work, worker, workers, scores)
            if len(grown.drawn):
                _add_part(self._words, grown.nodes, values, grown.drawn, scores, worker, workers)

        if self.rows < _FEW:
            add_with(0, 1)
        else:
            self.team.run(add_with)

    def trees_of(self, grown: GrownTree, values: Floats) -> Trees:
        """The tree as it is kept, with these values, one per node."""
        nodes, size = grown.nodes, grown.size
        inner = nodes.feature[:size] >= 0
        has_set = inner & (nodes.code[:size] == SET)
        cut = inner & ~has_set
        threshold = np.zeros(size)
        threshold[cut] = self.bins.thresholds(nodes.feature[:size][cut], nodes.code[:size][cut])
        sets: list[list[int]] = [[] for _ in range(size)]
        for node in np.flatnonzero(has_set).tolist():
            goes_left = np.unpackbits(nodes.members[node].view(np.uint8), bitorder="little").astype(np.bool_)
            sets[node] = np.flatnonzero(goes_left[self.bins.categories[int(nodes.feature[node])]]).tolist()
        push_unit, curvature_unit = self._work.scales
        unit = push_unit * (push_unit / (curvature_unit if self.settings.criterion == "newton" else self._weight_unit))
        return Trees(
            feature=nodes.feature[:size].astype(np.int32),
            threshold=threshold,
            missing_left=nodes.missing_left[:size] & inner,
            left=np.where(inner, nodes.left[:size], 0),
            right=np.where(inner, nodes.right[:size], 0),
            value=values,
            rows=nodes.rows[:size].copy(),
            curvature=nodes.curvature[:size] * curvature_unit,
            gain=np.where(inner, nodes.gain[:size] * unit, 0.0),
            offsets=np.asarray([0, size]),
            **sets_of(sets),
        )

    def _draw_rows(self, row_word: np.uint64, query_word: np.uint64) -> Flags:
        """Fill the order with the rows of the next tree; returns which they are (empty: all)."""
        order, settings = self._work.order[0], self.settings
        if not settings.draws_for_trees:
            for first in range(0, self.rows, len(_NUMBERS)):  # neither keeps a copy of all numbers nor makes one for every tree
                part = order[first : min(first + len(_NUMBERS), self.rows)]
                np.add(_NUMBERS[: len(part)], first, out=part)
            return _NO_FLAGS
        drawn = self._drawn
        if settings.query_share < 1.0:
            assert self._query_keys is not None
            draw_tree_rows(self._query_keys, settings.query_share, query_word, drawn)
        if settings.row_share < 1.0:
            of_queries = drawn.copy() if settings.query_share < 1.0 else True
            draw_tree_rows(self._keys, settings.row_share, row_word, drawn)
            drawn &= of_queries
        if not total(self.reducer.members, int(drawn.sum())):
            drawn[:] = True  # of very few rows, none may be drawn
        numbers = np.flatnonzero(drawn)
        order[: len(numbers)] = numbers
        return drawn

    def _draw_features(self, word: np.uint64) -> Flags:
        used = np.ones(self.features, np.bool_)
        if self.settings.feature_share < 1.0:
            count = max(1, round(self.settings.feature_share * self.features))
            used[np.random.default_rng(int(word)).permutation(self.features)[count:]] = False
        return used


# ---- what all trees share -------------------------------------------------------------------------------------------


def _check_count(rows: int, settings: TreeSettings) -> None:
    """Refuse more rows than cells can add up, and say where their precision ends."""
    if rows >= 1 << LOW:
        problem = f"{rows} rows are too many for one forest"
        raise DataError(problem, value=rows, remedy=f"Train on fewer than {1 << LOW}")
    if rows * settings.row_share * settings.query_share <= PRECISE:
        return
    warnings.warn(
        f"{rows:,} rows: beyond {PRECISE:,} in a tree, the whole numbers that pushes are rounded to become coarse, and trees "
        f"worse; let each tree draw some of the queries, as with query_share={PRECISE / rows:.2g}",
        stacklevel=3,
    )


def _seeds(seed: int, number: int) -> Keys:
    """What the draws of a tree begin with: rows, queries, features, and what is drawn at its nodes."""
    word = int(mix(np.uint64(seed), np.uint64(number)))
    return np.random.SeedSequence(word).generate_state(4, np.uint64).astype(np.uint64, copy=False)


def _copy_is_affordable(codes: Codes) -> bool:
    """Whether to keep the codes feature by feature too: where that is little, and there is memory for it."""
    size = codes.rows * codes.features
    return size <= _SMALL_COPY or size <= min(_LARGEST_COPY, memory_left().left // _COPY_SHARE)


def _columns_of(codes: Codes, team: Team) -> Bytes:
    """The codes feature by feature, shape (features, rows)."""
    columns = np.empty((codes.features, codes.rows), np.uint8)

    def copy_with(worker: int, workers: int) -> None:
        first, last = codes.rows * worker // workers, codes.rows * (worker + 1) // workers
        copy_columns(codes.blocks, first, last, columns)

    team.run(copy_with)
    return frozen(columns)


def quantised_weights(weights: Floats | None, members: Members | None) -> tuple[Short, float]:
    """Weights as whole numbers whose sum fits the low bits of a cell, and what one unit is worth; (empty, 1) where all are 1.

    The unit is a power of two that follows from an exact sum, so it depends on no order, nor on who has which rows, and weights
    such as 1, 2 and ½ are not rounded.
    """
    if weights is None or not is_any(members, (weights != 1.0).any()):  # all members have weights, or none
        return np.empty(0, np.int32), 1.0
    exponent = math.frexp(float(gathered(members, weights.max(initial=0.0, keepdims=True)).max()))[1]
    shares = np.ldexp(weights, -exponent)  # in [0, 1]: sums of huge weights would overflow
    bits = math.frexp(((1 << LOW) - total(members, len(weights))) / exact_sum(members, shares.tolist()))[1] - 1
    return np.floor(np.ldexp(shares, bits) + 0.5).astype(np.int32), math.ldexp(1.0, exponent - bits)


def _workspace(
    rows: int, features: int, leaves: int, workers: int, weights: Short, *, drawn: bool, together: bool, symmetric: bool
) -> Workspace:
    """Memory for trees of so many leaves. ``drawn``: rows are drawn at nodes; ``together``: other members have rows too."""
    nodes, blocks = 2 * leaves, -(-features // WIDTH)
    sent = leaves // 2 if symmetric else 1 + drawn  # histograms in a message
    message = max(HEAD, 3 * leaves) + max(1, sent) * features * BINS if together else 0
    return Workspace(
        order=np.zeros((2, rows + AHEAD), np.int32),
        cells=np.empty((2, rows), np.int64),
        curvature=np.empty(rows, np.int32),
        weights=weights,
        goes_left=np.empty(rows, np.uint8),
        drawn_order=np.zeros(rows + AHEAD if drawn else 0, np.int32),
        drawn_cells=np.empty(rows if drawn else 0, np.int64),
        histograms=np.empty((leaves + together, blocks * WIDTH * BINS), np.int64),  # members need a spare one
        gains=np.empty((nodes, features)),
        codes=np.empty((nodes, features), np.int64),
        exact=np.empty((nodes, features), np.bool_),
        allowed=np.empty((nodes, features), np.bool_),
        counts=np.zeros((4, workers), np.int64),
        partial=np.zeros((2, workers)),
        limits=np.zeros((2, BINS), np.int64),
        level_gains=np.zeros((workers, 2, BINS)),
        left=np.zeros((workers, BINS + 16), np.int64),
        terms=np.zeros((workers, BINS + 16)),
        sums=np.zeros((workers, BINS + 16), np.int64),
        places=np.zeros((workers, BINS + 16), np.int64),
        tables=np.zeros((workers, BINS + 64), np.uint8),
        plan=np.zeros(4, np.int64),
        message=np.zeros(message, np.int64),
        scales=np.ones(2),
        sync=shared(),
    )


# ---- trees and rows known by their codes ----------------------------------------------------------------------------


def add_tree(words: Keys, grown: GrownTree, values: Floats, scores: Floats, team: Team) -> None:
    """Add a tree's values to the scores of other rows that were coded with the same bins."""
    team.run(partial(_add_part, words, grown.nodes, values, _NO_FLAGS, scores))


def _add_part(words: Keys, nodes: Nodes, values: Floats, skip: Flags, scores: Floats, worker: int, workers: int) -> None:
    """What one worker adds: a tree's values to the scores of its share of the rows, but for those to skip."""
    first, last = len(scores) * worker // workers, len(scores) * (worker + 1) // workers
    add_by_codes(words, nodes, values, skip, first, last, scores)


def add_known_trees(bins: Bins, words: Keys, trees: Trees, scores: Floats, team: Team) -> None:
    """Add trees that were grown before in these bins to the scores, shape (outputs, rows), of rows with these codes, tree by
    tree as they were grown.
    """
    for number in range(len(trees)):
        tree = trees.take(number, number + 1)
        grown = GrownTree(_nodes_by_code(bins, tree), len(tree.feature), _NO_FLAGS)
        add_tree(words, grown, np.array(tree.value), scores[number % len(scores)], team)


def _nodes_by_code(bins: Bins, tree: Trees) -> Nodes:
    """The nodes of a tree, asking for codes: the inverse of :meth:`Grower.trees_of`."""
    size, sizes = len(tree.feature), tree.set_sizes
    nodes = nodes_of((size + 1) // 2)
    nodes.feature[:size], nodes.missing_left[:size] = tree.feature, tree.missing_left
    nodes.left[:size], nodes.right[:size] = tree.left, tree.right
    cut = (tree.feature >= 0) & (sizes == 0)
    features, thresholds = tree.feature[cut].astype(np.int64), tree.threshold[cut]
    starts, ends = bins.starts[features].tolist(), bins.starts[features + 1].tolist()
    places = [np.searchsorted(bins.edges[s:e], t) for s, e, t in zip(starts, ends, thresholds.tolist(), strict=True)]
    codes = np.asarray(places, np.int64)
    if not np.array_equal(bins.thresholds(features, codes), thresholds):
        raise _strange("thresholds that are no edges of the training data's bins")
    nodes.code[:size][cut] = codes
    for node in np.flatnonzero(sizes).tolist():
        categories, table = bins.categories.get(int(tree.feature[node])), np.zeros(BINS, np.uint8)
        if categories is not None:
            table[categories[tree.set_of(node)]] = 1
        if categories is None or not np.array_equal(np.flatnonzero(table[categories]), tree.set_of(node)):
            raise _strange("sets of categories that the training data do not code apart")
        nodes.code[node], nodes.members[node] = SET, np.packbits(table, bitorder="little").view(np.uint64)
    return nodes


def _strange(questions: str) -> DataError:
    return DataError(
        f"trees of a checkpoint ask for {questions}",
        value=questions,
        rule="A run goes on from trees that were grown in the same bins",
        remedy="Delete the checkpoint to start afresh",
    )
