"""Speed: what a machine does in a second, measured on this one by growing a few trees from generated codes."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rankinite.binned.folder import block_count
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT
from rankinite.engine.kernel import FEATURE, GRADE, INDEX, SCORE
from rankinite.engine.parallel import Team, thread_count
from rankinite.evaluation.values import mean_value
from rankinite.learners.lambdamart import LambdaMART
from rankinite.planning.job import Job
from rankinite.trees._state import BINS, WIDTH
from rankinite.trees.bins import Bins, Codes
from rankinite.trees.growth import Grower

SETS = ((400_000, 128, 31), (200_000, 16, 31), (100_000, 128, 255), (10_000, 256, 255), (20_000, 16, 31))
"""Rows, features and leaves of the generated sets: large ones tell what rows cost, small ones what scans do."""
TELLING = 8
"""Features that the grades of the generated sets depend on."""
ROUNDS = 4
"""Trees that are timed on each set, after one that is not; the quickest counts, as others may use the machine too."""


@dataclass(frozen=True)
class TreeWork:
    """What one tree asks of a machine, in units whose cost is about the same everywhere."""

    filled: float
    """Codes added to histograms: the root's, and of half the rows at each level, as the larger child is a difference."""
    moved: float
    """Rows that get gradients, and are parted at each level."""
    scanned: float
    """Histograms of one feature that are scanned for a cut."""


@dataclass(frozen=True)
class Speed:
    """Seconds that a machine needs for a unit of each kind of work, with so many threads."""

    fill: float
    """Per code added to a histogram."""
    move: float
    """Per row and level."""
    scan: float
    """Per leaf and feature."""
    threads: int = 1

    def seconds(self, work: TreeWork) -> float:
        """The time of a tree."""
        return self.fill * work.filled + self.move * work.moved + self.scan * work.scanned


def work_of(job: Job, rows: int) -> TreeWork:
    """What a tree asks of a machine that has so many rows."""
    drawn, levels, share = rows * job.tree_share, job.levels, job.settings.node_row_share
    filled = (1.0 + levels) * share if share < 1.0 else 1.0 + levels / 2.0  # what is drawn at a node is no difference
    return TreeWork(
        filled=drawn * filled * job.features,
        moved=rows + drawn * levels,
        scanned=float(job.leaves * job.features),
    )


def measure_speed(rows_per_query: int = 100, *, train_history: bool = True, sets: Any = SETS) -> Speed:
    """Time a few trees with the threads in force, and fit the three constants; takes some seconds."""
    from scipy.optimize import nnls

    equations, times = list[list[float]](), list[float]()
    for rows, features, leaves in sets:
        learner = LambdaMART.plain(leaves=leaves, train_history=train_history)
        job = Job(
            rows=rows, features=features, settings=learner, rows_per_query=rows_per_query, train_history=train_history
        )  # fmt: skip
        work = work_of(job, rows)
        equations.append([work.filled, work.moved, work.scanned])
        times.append(_quickest(job, learner))
    relative = np.asarray(equations) / np.asarray(times)[:, None]  # each set counts by its relative error
    units = relative.max(axis=0)
    fill, move, scan = (nnls(relative / units, np.ones(len(times)))[0] / units).tolist()
    return Speed(fill, move, scan, thread_count())


def _quickest(job: Job, learner: LambdaMART) -> float:
    """The seconds of a round on a generated set."""
    codes, bins, data = generated(job)
    objective, measure = learner.objective(data), learner.watched()
    scores = np.zeros((1, data.rows))
    push, curvature = np.empty_like(scores), np.empty_like(scores)
    found = list[float]()
    with Team() as team:
        grower = Grower(learner, bins, codes, np.zeros(job.features, INDEX), team, None, None, copies=False)
        for number in range(ROUNDS + 1):
            start = perf_counter()
            objective.gradients(scores, push, curvature)
            grown = grower.grow(push[0], curvature[0], number)
            grower.add(grown, learner.rate * grown.values(), scores[0])
            if job.train_history:
                mean_value(scores[0], data, measure)
            found.append(perf_counter() - start)
    return min(found[1:])


def generated(job: Job) -> tuple[Codes, Bins, Dataset]:
    """Random codes, their bins, and a data set of grades that depend on some of them; its one feature is there for its form."""
    random = np.random.default_rng(0)
    blocks = random.integers(0, BINS - 1, (block_count(job.features), job.rows, WIDTH), np.uint8)
    told = blocks[0, :, : min(TELLING, job.features)].astype(np.float64)
    worth = told @ random.normal(size=told.shape[1]) / BINS + random.normal(0.0, 0.5, job.rows)
    grades = np.searchsorted(np.quantile(worth, (0.5, 0.75, 0.9, 0.97)), worth).astype(GRADE)
    offsets = np.append(np.arange(0, job.rows, job.rows_per_query, dtype=INDEX), INDEX(job.rows))
    edges = BINS - 2
    bins = Bins(
        edges=np.tile(np.arange(edges, dtype=SCORE) + 0.5, job.features).astype(SCORE),
        starts=np.arange(job.features + 1, dtype=INDEX) * edges,
        has_missing=np.zeros(job.features, np.bool_),
    )
    data = Dataset(
        features=worth[:, None].astype(FEATURE),
        grades=grades,
        offsets=offsets,
        qids=np.asarray([str(query) for query in range(len(offsets) - 1)], TEXT),
        feature_names=("1",),
        source="generated rows",
    )
    return Codes(blocks, job.features), bins, data
