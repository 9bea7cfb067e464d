"""Exchange: the messages by which machines grow a tree together, counted as the kernels send them; and the network's time.

    seconds of a sum of n bytes over m machines = 2 · (m − 1)/m · n / bandwidth + 2 · (m − 1) · latency

as it takes in a ring: every machine sends and gets a part of the numbers m − 1 times to add them up, and m − 1 times more to
hand the sums round.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.planning.job import Job
from rankinite.trees._member_growth_kernels import HEAD
from rankinite.trees._state import BINS

NUMBER = 8
"""Bytes of every number that is sent."""
_QUANTISING = (2, 2, 2)
"""Numbers in the messages before a tree: largest push and curvature, their sums, and the sums of the cells."""
_COUNTS = 3
"""Numbers that a cut of a symmetric tree adds to the message of its level: rows, curvature and cells that go left."""


@dataclass(frozen=True)
class Exchange:
    """What every machine sends, and gets back summed."""

    messages: int = 0
    bytes: int = 0

    def __add__(self, other: Exchange) -> Exchange:
        return Exchange(self.messages + other.messages, self.bytes + other.bytes)


def _sent(lengths: list[int]) -> Exchange:
    return Exchange(len(lengths), NUMBER * sum(lengths))


def tree_exchange(job: Job, splits: int | None = None) -> Exchange:
    """The messages of a tree with so many splits (of a symmetric one, levels); if left out, of one that has all its leaves.

    Left out are the short messages that ask whether a cut leaves too few rows on a side, which is so in small nodes alone.
    """
    made = job.splits if splits is None else splits
    drawing = (1, 1) if job.settings.draws_for_trees else ()  # rows drawn, by those who draw and by those who grow
    lengths = _level_lengths(job, made) if job.is_symmetric else _split_lengths(job, made)
    return _sent([*drawing, *_QUANTISING, *lengths])


def _split_lengths(job: Job, splits: int) -> list[int]:
    """The root's histogram; then one child's at each split, or both where rows are drawn at nodes. The last has none."""
    cells = job.features * BINS
    opened = (2 if job.settings.node_row_share < 1.0 else 1) * cells
    return [HEAD + cells, *(HEAD + (opened if split < job.leaves - 1 else 0) for split in range(1, splits + 1))]


def _level_lengths(job: Job, levels: int) -> list[int]:
    """At each level the counts of the cuts that made it, and histograms of the lighter children; at the last, counts alone."""
    cells, lengths = job.features * BINS, list[int]()
    for level in range(levels + 1):
        pairs = (1 << level) // 2
        lengths.append(_COUNTS * pairs + (max(1, pairs) * cells if level < job.splits else 0))
    return lengths


def round_exchange(job: Job, machines: int) -> Exchange:
    """Besides the tree: whether callbacks go on, and the watched measure's value of every query.

    Over a ring, values are gathered by two sums: of how many each machine has, and of the values, each at its place.
    """
    watched = Exchange(2, NUMBER * (machines + job.queries)) if job.train_history else Exchange()
    return Exchange(1, NUMBER) + watched


@dataclass(frozen=True)
class Link:
    """The network between two machines."""

    bandwidth: float
    """Bytes in a second."""
    latency: float
    """Seconds until the first byte arrives."""

    def seconds(self, sent: Exchange, machines: int) -> float:
        """The time that sums over a ring of machines take; one machine alone sends nothing."""
        hops = 2 * (machines - 1)
        return hops / machines * sent.bytes / self.bandwidth + hops * self.latency * sent.messages
