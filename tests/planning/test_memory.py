"""The memory that a plan predicts is what the grower and the training loop allocate, to the byte."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.members import Group, parts_of
from rankinite.engine.parallel import Team, threads
from rankinite.learners.boosting_run import BoostingRun
from rankinite.planning.job import Job
from rankinite.planning.memory import grower_rows, memory_of, message_cells, node_bytes, run_rows, thread_bytes
from rankinite.planning.speed import generated
from rankinite.trees.bins import Codes
from rankinite.trees.growth import Grower
from rankinite.trees.settings import TreeSettings

JOBS = {
    "plain": Job(rows=700, features=20, settings=TreeSettings(leaves=7)),
    "two blocks": Job(rows=300, features=65, settings=TreeSettings(leaves=31), rows_per_query=7),
    "rows of nodes": Job(rows=900, features=10, settings=TreeSettings(leaves=12, node_row_share=0.5)),
    "rows of trees": Job(rows=900, features=10, settings=TreeSettings(leaves=12, row_share=0.5)),
    "symmetric": Job(rows=500, features=70, settings=TreeSettings(leaves=40, shape="symmetric")),
    "more leaves than rows": Job(rows=5, features=3, settings=TreeSettings(leaves=40), rows_per_query=5),
}
CUTS = ("gains", "codes", "exact", "allowed")
SMALL = ("counts", "partial", "limits", "level_gains", "left", "terms", "sums", "places", "tables", "plan", "scales", "sync")
ROWS = ("order", "cells", "curvature", "weights", "goes_left", "drawn_order", "drawn_cells")


def bytes_of(record, names=None) -> int:
    return sum(getattr(record, name).nbytes for name in names or record._fields)


def grower_of(job: Job, part: slice, team: Team, members=None) -> Grower:
    codes, bins, _ = generated(job)
    own = Codes(np.ascontiguousarray(codes.blocks[:, part]), job.features)
    keys = np.arange(job.rows, dtype=np.uint64)[part] if job.settings.draws else None
    return Grower(job.settings, bins, own, np.zeros(job.features, np.int64), team, keys, keys, None, members)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", JOBS)
def test_a_grower_takes_what_is_predicted(kind, workers):
    job = JOBS[kind]
    with threads(workers), Team() as team:
        grower = grower_of(job, slice(0, job.rows), team)
        found, work = memory_of(job, 1, team.size), grower._work
        assert found.codes == grower._words.nbytes
        assert found.columns == grower._singles.nbytes
        assert found.histograms == work.histograms.nbytes
        assert found.cuts == bytes_of(work, CUTS)
        assert found.messages == work.message.nbytes == 0
        assert thread_bytes(team.size) == bytes_of(work, SMALL)
        assert node_bytes(job.leaves) == bytes_of(grower._nodes)
        keys = 2 * grower._keys.nbytes
        assert grower_rows(job, job.rows) == bytes_of(work, ROWS) + grower._drawn.nbytes + keys
        assert {*CUTS, *SMALL, *ROWS, "histograms", "message"} == set(work._fields)


@pytest.mark.parametrize("kind", [name for name in JOBS if name != "more leaves than rows"])
def test_a_member_takes_what_is_predicted(kind):
    job = JOBS[kind]
    parts = parts_of(job.rows, (0.5, 0.5))

    def sizes(member) -> tuple[int, ...]:
        with threads(1), Team() as team:
            work = grower_of(job, parts[member.number], team, member)._work
            return work.histograms.nbytes, work.message.nbytes, bytes_of(work, CUTS)

    found = memory_of(job, 2, 1)
    assert set(Group(2).run(sizes)) == {(found.histograms, found.messages, found.cuts)}
    assert found.messages == 8 * message_cells(job)


@pytest.mark.parametrize("settings", [{}, {"row_share": 0.5}, {"node_row_share": 0.5}], ids=["all", "trees", "nodes"])
def test_training_takes_what_is_predicted(settings):
    learner = rk.LambdaMART.plain(trees=1, leaves=5, **settings)
    data = rk.synthesise(30, world=rk.World(features=6, documents=20, noise=0.3))
    job = Job(rows=data.rows, features=6, settings=learner, rows_per_query=20)
    with threads(1), Team() as team:
        run = BoostingRun(learner, data, None, None, (), team)
        pairs = run.objective.pairs.arrays
        assert np.shares_memory(pairs.grades, data.grades)  # counted once
        of_rows = (pairs.rows, pairs.relevance, pairs.order, data.grades)
        assert np.shares_memory(run.push, run.grower._work.cells)  # likewise
        kept = sum(array.nbytes for array in (run.scores, run.curvature, *of_rows))
        drawn = 2 * 8 * data.rows * learner.row_share if learner.draws_for_trees else 0
        assert run_rows(job, data.rows) == kept + drawn
        found = memory_of(job, 1, 1)
        of_queries = (pairs.scales, pairs.weights, data.offsets, data.qids)
        assert sum(array.nbytes for array in of_queries) == found.queries
        assert found.rows == kept + drawn + grower_rows(job, data.rows)
        assert found.total == found.codes + found.needed
