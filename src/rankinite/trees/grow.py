"""Grower: grows trees on one data set, round after round."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from rankinite.engine.kernel import SCORE, Bytes, Flags, Floats, Indices, frozen
from rankinite.engine.memory import memory_left
from rankinite.engine.over_members import total
from rankinite.engine.parallel import Team
from rankinite.engine.reducer import Members, Reducer
from rankinite.errors import DataError
from rankinite.trees import _member_tree_kernels, _tree_kernels
from rankinite.trees._partition_kernels import copy_columns
from rankinite.trees._scan_kernels import mix
from rankinite.trees._state import LOW, NOT_FINITE, SET, WIDTH_SHIFT, Coded, Growth, Keys, Nodes, Short, Workspace, nodes_of
from rankinite.trees.bins import Bins, Codes
from rankinite.trees.category_bins import grown_sets
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import Trees, sets_of
from rankinite.trees.workspace import quantised_weights, workspace

_NO_KEYS = frozen(np.empty(0, np.uint64))
_NO_SEEDS = np.zeros(4, np.uint64)
_NO_FLAGS = np.empty(0, np.bool_)
_NUMBERS = frozen(np.arange(1 << 14, dtype=np.int32))
_SMALL_COPY = 64 << 20  # a copy of so many bytes is made without asking for memory, which takes half a millisecond
_COPY_SHARE = 4  # a copy of the codes may take a quarter of the memory left
_LARGEST_COPY = 128 << 20  # beyond, a tenth of a tree's time is not worth half as much memory again
PRECISE = 100_000_000
"""Rows of a tree beyond which quantised pushes lose precision."""
_FEW = 65_536  # the leaves of fewer rows are visited sooner than a thread wakes up


@dataclass(frozen=True, eq=False)
class Grown:
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
        self.copies = _fits(codes) if copies is None else copies
        self._words = words_of(codes)
        self._singles = (_columns_of(codes, team) if self.copies else codes.blocks).reshape(-1)
        self._keys = _NO_KEYS if keys is None else frozen(keys)
        self._query_keys = None if query_keys is None else frozen(query_keys)
        self._bin_counts, self._category = frozen(bins.counts), frozen(bins.is_category)
        self._has_missing, self._monotone = frozen(bins.has_missing), frozen(monotone)
        symmetric = settings.shape == "symmetric"
        self._leaves = 1 << settings.levels() if symmetric else min(settings.leaves, max(2, self.all_rows))
        self._nodes = nodes_of(self._leaves)
        counts, self._weight_unit = quantised_weights(weights, members)
        self._work = workspace(
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
    def grow(self, push: Floats, curvature: Floats, number: int) -> Grown:
        """The tree of that number: what it draws at random follows from the seed and the number alone."""
        settings, work, nodes = self.settings, self._work, self._nodes
        seeds = _seeds(settings.seed, number) if settings.is_random else _NO_SEEDS
        drawn = self._draw_rows(seeds[0], seeds[1])
        if len(drawn):
            push, curvature = push[drawn], curvature[drawn]
        used = self._draw_features(seeds[2])
        coded = Coded(
            self._words, self._singles, 0 if self.copies else WIDTH_SHIFT,
            self._bin_counts, self._has_missing, self._monotone, self._category, used, self._keys,
        )  # fmt: skip
        growth = Growth(
            self._leaves,
            settings.levels() if settings.shape == "symmetric" else (settings.depth or 0),
            settings.min_rows,
            float(settings.min_curvature),
            float(settings.l2),
            settings.criterion == "newton",
            settings.thresholds == "random",
            float(settings.node_row_share),
            float(settings.node_feature_share),
            seeds[3],
            total(self.reducer.members, len(push)) if settings.draws_for_trees else self.all_rows,
            float(settings.category_smooth),
            self.reducer.address,
        )
        kernels = _tree_kernels if self.reducer.members is None else _member_tree_kernels
        symmetric = settings.shape == "symmetric"
        grow_tree = kernels.grow_symmetric_tree if symmetric else kernels.grow_best_first_tree
        sizes = [0] * self.team.size

        def work_on(worker: int, workers: int) -> None:
            sizes[worker] = grow_tree(push, curvature, coded, growth, nodes, work, worker, workers)

        self.team.run(work_on)
        self.reducer.raise_problem()
        if sizes[0] == NOT_FINITE:
            raise NotFiniteError
        return Grown(nodes, sizes[0], drawn)

    def means(self, grown: Grown) -> Floats:
        """The mean push of the rows of every node, each counting its weight; 0 where there is no weight."""
        means, weight = np.zeros(grown.size), self._weights_of(grown)
        np.divide(grown.nodes.push[: grown.size] * self._work.scales[0], weight, out=means, where=weight > 0.0)
        return means

    def _weights_of(self, grown: Grown) -> Floats:
        """The weight of the rows of every node: their number, where all count once."""
        nodes, size, counts = grown.nodes, grown.size, self._work.weights
        if not len(counts):
            return nodes.rows[:size].astype(SCORE)
        sums = np.zeros(size, np.int64)
        for node in range(size - 1, -1, -1):  # children come behind their parents
            if nodes.feature[node] >= 0:
                sums[node] = sums[nodes.left[node]] + sums[nodes.right[node]]
            else:
                sums[node] = counts[self._work.order[nodes.half[node], nodes.start[node] : nodes.end[node]]].sum()
        return sums.astype(SCORE) * self._weight_unit

    def add(self, grown: Grown, values: Floats, scores: Floats) -> None:
        """Add a tree's values, one per node, to the scores of all rows."""
        add = partial(_add, self._words, grown, values, self._work, scores)
        if self.rows < _FEW:
            add(0, 1)
        else:
            self.team.run(add)

    def trees_of(self, grown: Grown, values: Floats) -> Trees:
        """The tree as it is kept, with these values, one per node."""
        nodes, size = grown.nodes, grown.size
        chosen = nodes.feature[:size] >= 0
        cut = chosen & (nodes.code[:size] != SET)
        threshold = np.zeros(size)
        threshold[cut] = self.bins.thresholds(nodes.feature[:size][cut], nodes.code[:size][cut])
        push_unit, curvature_unit = self._work.scales
        unit = push_unit * (push_unit / (curvature_unit if self.settings.criterion == "newton" else self._weight_unit))
        return Trees(
            feature=nodes.feature[:size].astype(np.int32),
            threshold=threshold,
            missing_left=nodes.missing_left[:size] & chosen,
            left=np.where(chosen, nodes.left[:size], 0),
            right=np.where(chosen, nodes.right[:size], 0),
            value=values,
            rows=nodes.rows[:size].copy(),
            curvature=nodes.curvature[:size] * curvature_unit,
            gain=np.where(chosen, nodes.gain[:size] * unit, 0.0),
            offsets=np.asarray([0, size]),
            **sets_of(grown_sets(self.bins, nodes, size)),
        )

    def _draw_rows(self, row_word: np.uint64, query_word: np.uint64) -> Flags:
        """Fill the order with the rows of the next tree; returns which they are (empty: all)."""
        order, settings = self._work.order[0], self.settings
        if not settings.draws_for_trees:
            _number(order[: self.rows])
            return _NO_FLAGS
        drawn = self._drawn
        if settings.query_share < 1.0:
            assert self._query_keys is not None
            _tree_kernels.draw_tree_rows(self._query_keys, settings.query_share, query_word, drawn)
        if settings.row_share < 1.0:
            of_queries = drawn.copy() if settings.query_share < 1.0 else True
            _tree_kernels.draw_tree_rows(self._keys, settings.row_share, row_word, drawn)
            drawn &= of_queries
        if not total(self.reducer.members, int(drawn.sum())):
            drawn[:] = True  # of very few rows, none may be drawn
        chosen = np.flatnonzero(drawn)
        order[: len(chosen)] = chosen
        return drawn

    def _draw_features(self, word: np.uint64) -> Flags:
        used = np.ones(self.features, np.bool_)
        if self.settings.feature_share < 1.0:
            count = max(1, round(self.settings.feature_share * self.features))
            used[np.random.default_rng(int(word)).permutation(self.features)[count:]] = False
        return used


def _seeds(seed: int, number: int) -> Keys:
    """What the draws of a tree begin with: rows, queries, features, and what is drawn at its nodes."""
    word = int(mix(np.uint64(seed), np.uint64(number)))
    return np.random.SeedSequence(word).generate_state(4, np.uint64).astype(np.uint64, copy=False)


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


def _number(order: Short) -> None:
    """Fill with 0, 1, 2, …, some at a time: neither a copy of all of them is kept nor one made for every tree."""
    for first in range(0, len(order), len(_NUMBERS)):
        part = order[first : first + len(_NUMBERS)]
        np.add(_NUMBERS[: len(part)], first, out=part)


class NotFiniteError(Exception):
    """A push or a curvature is not a finite number; the learner finds out why."""


def words_of(codes: Codes) -> Keys:
    """The codes as the kernels read them, shape (blocks, rows, WORDS)."""
    return frozen(codes.blocks.view(np.uint64))


def _fits(codes: Codes) -> bool:
    """Whether to keep the codes feature by feature too: where that is little, and there is memory for it."""
    size = codes.rows * codes.features
    return size <= _SMALL_COPY or size <= min(_LARGEST_COPY, memory_left().left // _COPY_SHARE)


def _columns_of(codes: Codes, team: Team) -> Bytes:
    """The codes feature by feature, shape (features, rows)."""
    columns = np.empty((codes.features, codes.rows), np.uint8)

    def work(worker: int, workers: int) -> None:
        first, last = codes.rows * worker // workers, codes.rows * (worker + 1) // workers
        copy_columns(codes.blocks, first, last, columns)

    team.run(work)
    return frozen(columns)


def add_tree(words: Keys, grown: Grown, values: Floats, scores: Floats, team: Team) -> None:
    """Add a tree's values to the scores of other rows that were coded with the same bins."""

    def work(worker: int, workers: int) -> None:
        rows = len(scores)
        first, last = rows * worker // workers, rows * (worker + 1) // workers
        _tree_kernels.add_by_codes(words, grown.nodes, values, _NO_FLAGS, first, last, scores)

    team.run(work)


def _add(words: Keys, grown: Grown, values: Floats, work: Workspace, scores: Floats, worker: int, workers: int) -> None:
    _tree_kernels.add_to_leaves(grown.nodes, grown.size, values, work, worker, workers, scores)
    if len(grown.drawn):
        rows = len(scores)
        first, last = rows * worker // workers, rows * (worker + 1) // workers
        _tree_kernels.add_by_codes(words, grown.nodes, values, grown.drawn, first, last, scores)
