"""The messages that a plan predicts are those that members send, to the byte; and a ring takes the time it should."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.members import Group, parts_of
from rankinite.engine.parallel import Team, threads
from rankinite.learners.boosting_run import BoostingRun
from rankinite.planning.exchange import Exchange, Link, round_exchange, tree_exchange
from rankinite.planning.job import Job
from rankinite.planning.speed import generated
from rankinite.trees.bins import Codes
from rankinite.trees.growth import Grower
from rankinite.trees.settings import TreeSettings

ROWS, FEATURES, ROUNDS = 800, 66, 3
KINDS = {
    "best-first": TreeSettings(leaves=12, min_rows=1),
    "two leaves": TreeSettings(leaves=2, min_rows=1),
    "rows of nodes": TreeSettings(leaves=9, min_rows=1, node_row_share=0.6),
    "rows of trees": TreeSettings(leaves=9, min_rows=1, row_share=0.6),
    "queries and rows of trees": TreeSettings(leaves=9, min_rows=1, row_share=0.6, query_share=0.7),
    "features drawn": TreeSettings(leaves=9, min_rows=1, feature_share=0.3),
    "symmetric": TreeSettings(leaves=16, shape="symmetric"),
    "symmetric of one level": TreeSettings(leaves=3, shape="symmetric"),
    "symmetric, rows of trees": TreeSettings(leaves=30, shape="symmetric", row_share=0.5),
}


def trees_of(job: Job, group: Group, shares=(0.4, 0.6)) -> list[tuple[int, int]]:
    """Splits and nodes of some trees that members have grown together."""
    parts, (codes, bins, _) = parts_of(job.rows, shares), generated(job)
    random = np.random.default_rng(1)
    push = random.normal(size=(ROUNDS, job.rows)) + codes.blocks[0, :, 0] / 100.0
    curvature, keys = random.uniform(0.5, 1.0, (ROUNDS, job.rows)), random.integers(1 << 62, size=job.rows).astype(np.uint64)

    def grow(member) -> list[tuple[int, int]]:
        part, found = parts[member.number], []
        with threads(1), Team() as team:
            own = Codes(np.ascontiguousarray(codes.blocks[:, part]), job.features)
            signs = np.zeros(job.features, np.int64)
            grower = Grower(job.settings, bins, own, signs, team, keys[part], keys[part], None, member)
            if member.number == 0:
                group.messages.clear()  # what it asked when it was made
            member.group.barrier.wait(60)
            for number in range(ROUNDS):
                grown = grower.grow(push[number, part].copy(), curvature[number, part].copy(), number)
                tree = grower.trees_of(grown, grown.values())
                found.append((int((tree.feature >= 0).sum()), len(tree.feature)))
        return found

    return group.run(grow)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_members_send_what_is_predicted(kind):
    job = Job(rows=ROWS, features=FEATURES, settings=KINDS[kind])
    group, predicted = Group(2), Exchange()
    for splits, nodes in trees_of(job, group):
        levels = ((nodes + 1) // 2).bit_length() - 1
        predicted += tree_exchange(job, levels if job.is_symmetric else splits)
        assert splits
    assert (len(group.messages), 8 * sum(group.messages)) == (predicted.messages, predicted.bytes)


def test_a_tree_that_runs_out_of_cuts_sends_a_histogram_with_every_split():
    """One feature of at most 255 values gives no more leaves than the values that 300 rows have."""
    job = Job(rows=300, features=1, settings=TreeSettings(leaves=250, min_rows=1))
    group, predicted = Group(2), Exchange()
    for splits, _ in trees_of(job, group):
        assert splits < job.leaves - 1
        predicted += tree_exchange(job, splits)
    assert (len(group.messages), 8 * sum(group.messages)) == (predicted.messages, predicted.bytes)


@pytest.mark.parametrize("shape", ["best-first", "symmetric"])
def test_by_default_a_tree_has_all_its_leaves(shape):
    job = Job(rows=10**9, features=500, settings=TreeSettings(leaves=255, shape=shape))
    made = 254 if shape == "best-first" else 7
    assert tree_exchange(job) == tree_exchange(job, made)
    histograms = 1 + 253 if shape == "best-first" else 1 + 1 + 2 + 4 + 8 + 16 + 32
    heads = 6 + 8 * 255 if shape == "best-first" else 6 + 3 * 127
    assert tree_exchange(job) == Exchange(3 + 1 + made, 8 * (histograms * 500 * 256 + heads))


@pytest.mark.parametrize("train_history", [True, False])
def test_a_round_sends_what_is_predicted(train_history, tmp_path):
    """Gathering counts as a ring does it: the lengths, then the values of all."""
    data = rk.synthesise(30, world=rk.World(features=5, documents=10, noise=0.3))
    rk.bin(data, tmp_path / "bins", shards=2)
    shards = rk.Binned(sorted((tmp_path / "bins").iterdir()))
    learner = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=1, train_history=train_history)
    job = Job(rows=data.rows, features=5, settings=learner, rows_per_query=10, train_history=train_history)
    group, gathered = Group(2), []

    def train(member) -> int:
        gather = member.gather

        def noted(content: bytes) -> list[bytes]:
            found = gather(content)
            if member.number == 0:
                gathered.append(sum(map(len, found)))
            return found

        member.gather = noted
        part = shards.part(member, member.number, (0, 1))
        with threads(1), Team() as team:
            run = BoostingRun(learner, part, None, None, (), team)
            if member.number == 0:
                group.messages.clear()
                gathered.clear()
            member.group.barrier.wait(60)
            forest = run.boost()
            return int((forest.trees.feature >= 0).sum())

    assert group.run(train)[0] == 3 * 3
    trees, rounds = 3 * tree_exchange(job).bytes, round_exchange(job, 2)
    assert rounds.messages == (3 if train_history else 1)
    sizes, values = 8 * 2, 8 * data.queries
    assert set(gathered) == ({values} if train_history else set())
    assert rounds.bytes == 8 + (sizes + values if train_history else 0)
    asked_before = 8 * sum(group.messages) - trees - 3 * 8
    assert asked_before == 8  # whether a callback resumes
    assert len(group.messages) == 3 * (tree_exchange(job).messages + 1) + 1
    assert len(gathered) == (4 if train_history else 0)  # the start is measured too


def test_a_ring_takes_the_time_of_its_bytes_and_its_hops():
    link, sent = Link(bandwidth=1e9, latency=1e-4), Exchange(10, 10**9)
    assert link.seconds(sent, 1) == 0.0
    assert link.seconds(sent, 2) == pytest.approx(1.0 + 10 * 2e-4)
    assert link.seconds(sent, 4) == pytest.approx(1.5 + 10 * 6e-4)
