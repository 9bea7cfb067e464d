"""Threads that run a kernel together: they count every piece once, wait for each other, and come back when one fails."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rankinite as rk
from rankinite.engine.barriers import CLAIMED, claim, shared, wait
from rankinite.engine.kernel import kernel
from rankinite.engine.parallel import Team, run, thread_count, threads

pytestmark = pytest.mark.posix("signals")


@kernel
def take_turns(sync, rounds, worker, workers, out_seen, out_claims):
    """Each round: everyone writes, all wait, everyone sums what all wrote, all wait; then pieces are claimed."""
    for step in range(rounds):
        out_seen[worker] += step + worker
        wait(sync, workers)
        total = 0
        for other in range(workers):
            total += out_seen[other]
        if worker == 0:
            sync[CLAIMED] = 0
        wait(sync, workers)
        out_claims[worker, 0] += total
        while True:
            piece = claim(sync)
            if piece >= 7:
                break
            out_claims[worker, 1 + piece] += 1
        wait(sync, workers)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_nobody_runs_ahead_and_every_piece_is_claimed_once(workers):
    rounds = 300
    with threads(workers), Team() as team:
        sync, seen, claims = shared(), np.zeros(team.size, np.int64), np.zeros((team.size, 8), np.int64)
        team.run(lambda worker, size: take_turns(sync, rounds, worker, size, seen, claims))
    written = sum(step + worker for step in range(rounds) for worker in range(workers))
    assert seen.sum() == written
    sums = sum((step + 1) * worker + step * (step + 1) // 2 for step in range(rounds) for worker in range(workers))
    assert claims[:, 0].tolist() == [sums] * workers
    assert claims[:, 1:].sum(axis=0).tolist() == [rounds] * 7


def test_a_team_waits_for_all_before_it_raises():
    finished, gate = [], threading.Event()

    def work(worker, workers):
        if worker == 0:
            gate.set()
            raise ValueError("the first one")
        gate.wait()
        finished.append(worker)

    def second_fails(worker, workers):
        if worker == 1:
            raise IndexError("the second one")
        time.sleep(0.05)
        finished.append(worker)

    with threads(3), Team() as team:
        with pytest.raises(ValueError, match="the first one"):
            team.run(work)
        assert sorted(finished) == [1, 2]
        with pytest.raises(KeyError):
            team.run(lambda worker, workers: {}[worker])
        finished.clear()
        with pytest.raises(IndexError, match="the second one"):
            team.run(second_fails)
        assert sorted(finished) == [0, 2]
        team.run(lambda worker, workers: finished.append(workers))  # and can be used again
    assert finished[2:] == [3, 3, 3]


def test_a_team_serves_other_work_too_and_teams_nest():
    data = rk.synthesise(200, world=rk.World(features=3, documents=100))
    alone = rk.evaluate(rk.Feature(0), data, "ndcg@10")["ndcg@10"].mean
    with threads(2), Team() as team:
        assert rk.evaluate(rk.Feature(0), data, "ndcg@10")["ndcg@10"].mean == alone
        assert run(lambda piece: (piece, thread_count()), range(5)) == [(piece, 1) for piece in range(5)]
        with Team() as inner:
            seen = set()
            inner.run(lambda worker, workers: seen.add((worker, workers)))
        assert seen == {(0, 2), (1, 2)}
        inside = []
        team.run(lambda worker, workers: inside.append(rk.evaluate(rk.Feature(0), data, "ndcg@10")["ndcg@10"].mean))
    assert inside == [alone, alone]


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_no_thread_behind():
    """Rounds so short that the signal often comes while work is handed out: a worker would wait at a barrier for ever."""
    program = """
import os, signal, threading, numpy, rankinite as rk
data = rk.read(numpy.arange(40.0)[:, None], grades=numpy.arange(40) % 3, qid=numpy.arange(40) % 8)
learner = rk.LambdaMART.plain(trees=100_000, leaves=2, min_rows=2, train_history=False)
learner.fit(data, callbacks=[lambda progress: True])
for attempt in range(150):
    timer = threading.Timer(0.0001 * attempt, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        learner.fit(data)
    except KeyboardInterrupt:
        pass
    timer.join()
print(threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1"]


def test_one_thread_needs_no_pool():
    with threads(1), Team() as team:
        assert team.pool is None
        seen = []
        team.run(lambda worker, workers: seen.append((worker, workers)))
    assert seen == [(0, 1)]
