"""Memory: the bytes that one machine needs to train its share of a job.

The terms follow ``trees.growth.Grower``, ``learners.boosting_run.BoostingRun`` and
``gradients.pairs.GradedPairs`` array by array; a test compares them with what these allocate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.binned.folder import block_count
from rankinite.data.grouping import TEXT
from rankinite.engine.barriers import shared
from rankinite.engine.kernel import GRADE, INDEX, SCORE
from rankinite.planning.job import Job
from rankinite.trees._member_growth_kernels import HEAD
from rankinite.trees._row_kernels import AHEAD
from rankinite.trees._state import BINS, WIDTH, Nodes, nodes_of

_INDEX, _SCORE, _GRADE = (np.dtype(kind).itemsize for kind in (INDEX, SCORE, GRADE))
_SHORT, _CELL, _FLAG, _KEY = 4, 8, 1, 8
"""Bytes of numbers of rows and quantised curvatures, of cells, of truth values and of content keys."""


@dataclass(frozen=True)
class Memory:
    """Bytes on one machine, by what they are for."""

    codes: int
    """The codes, mapped from disk: they may be dropped and read again, which is slow."""
    columns: int
    """The codes once more, feature by feature; made only where this is at most 128 MiB and a quarter of the memory left."""
    rows: int
    """What every row has besides: scores, gradients, cells, order, and the arrays of the objective."""
    queries: int
    """What every query has: offsets, names, weights and scales; and the watched measure's values of all queries, gathered."""
    histograms: int
    """One per leaf, and a spare one where there are several machines."""
    cuts: int
    """The best cut of every feature at every node."""
    messages: int
    """What is sent at a split, or at a level."""
    other: int
    """Nodes, and what each thread has."""

    @property
    def needed(self) -> int:
        """All but the codes and their copy: what must be in memory whatever happens."""
        return self.rows + self.queries + self.histograms + self.cuts + self.messages + self.other

    @property
    def total(self) -> int:
        """With the codes, all of which are read for every tree; without their copy."""
        return self.codes + self.needed


def memory_of(job: Job, machines: int, threads: int) -> Memory:
    """The memory of the machine that has most rows."""
    rows, blocks = job.rows_of(machines), block_count(job.features)
    together, nodes = machines > 1, 2 * job.leaves
    return Memory(
        codes=rows * blocks * WIDTH,
        columns=rows * job.features,
        rows=grower_rows(job, rows) + run_rows(job, rows),
        queries=query_bytes(job, machines),
        histograms=(job.leaves + together) * blocks * WIDTH * BINS * _CELL,
        cuts=nodes * job.features * (_SCORE + _INDEX + 2 * _FLAG),
        messages=message_cells(job) * _CELL if together else 0,
        other=thread_bytes(threads) + node_bytes(job.leaves),
    )


def grower_rows(job: Job, rows: int) -> int:
    """What a grower keeps for its rows, keys included."""
    workspace = 2 * (rows + AHEAD) * _SHORT + 2 * rows * _CELL + rows * _SHORT + rows * _FLAG
    if job.settings.node_row_share < 1.0:
        workspace += (rows + AHEAD) * _SHORT + rows * _CELL
    keys = 2 * rows * _KEY if job.settings.draws else 0
    return workspace + rows * _FLAG + keys


def run_rows(job: Job, rows: int) -> int:
    """What training keeps for its rows besides: scores and curvature; grades; three arrays of the objective."""
    drawn = int(2 * rows * job.tree_share) * _SCORE if job.settings.draws_for_trees else 0  # gradients, picked out
    return rows * (2 * _SCORE + _GRADE + _SHORT + _SCORE + _INDEX) + drawn


def query_bytes(job: Job, machines: int) -> int:
    """What training keeps for its queries; a machine has the values of all others' queries too while their mean is taken."""
    gathered = 2 * _SCORE * job.queries if machines > 1 and job.train_history else 0
    return job.queries_of(machines) * (_INDEX + 2 * _SCORE + TEXT.itemsize) + _INDEX + gathered


def message_cells(job: Job) -> int:
    """The numbers of the longest message."""
    sent = job.leaves // 2 if job.is_symmetric else 1 + (job.settings.node_row_share < 1.0)
    return max(HEAD, 3 * job.leaves) + max(1, sent) * job.features * BINS


def thread_bytes(threads: int) -> int:
    """The small arrays of a workspace: partial sums, limits, gains of a level, the plan and the barrier."""
    of_each = 4 * _CELL + 2 * _SCORE + 2 * BINS * _SCORE + (BINS + 16) * (3 * _CELL + _SCORE) + (BINS + 64) * _FLAG
    return threads * of_each + 2 * BINS * _CELL + 4 * _CELL + 2 * _SCORE + shared().nbytes


def node_bytes(leaves: int) -> int:
    """The nodes of a tree in the making."""
    return leaves * sum(getattr(nodes_of(1), name).nbytes for name in Nodes._fields)
