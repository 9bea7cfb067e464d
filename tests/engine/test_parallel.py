"""Threads: how many there may be, what happens where there are none, and forks."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

import rankinite as rk
from rankinite.engine.parallel import MOST_THREADS, Team, run, run_ahead, run_briefly, thread_count
from refusals import refused

pytestmark = pytest.mark.posix("forks")

PATIENCE = 120
"""Seconds to wait for work that takes one."""


@pytest.mark.parametrize("count", [0, -1, MOST_THREADS + 1, 40_000, 2**70, 1.5, "two", None, True])
def test_a_number_of_threads_that_cannot_be_is_refused(count):
    with refused(rk.ArgumentError, owner="threads", setting="count", value=count), rk.threads(count):
        pass


def test_the_most_threads_may_be_asked_for():
    with rk.threads(MOST_THREADS):
        assert thread_count() == MOST_THREADS


@pytest.fixture
def no_threads(monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)


def together():
    with Team() as team:
        team.run(lambda *_: None)


@pytest.mark.parametrize("work", [together, lambda: run(abs, range(9)), lambda: list(run_ahead(abs, range(9)))])
@pytest.mark.usefixtures("no_threads")
def test_a_system_without_threads_is_an_error(work):
    before = signal.getsignal(signal.SIGINT)
    with rk.threads(3), refused(rk.ArgumentError, owner="threads", setting="count", value=3):
        work()
    assert signal.getsignal(signal.SIGINT) is before


def test_results_that_are_abandoned_wait_for_no_thread():
    """The garbage collector may close them in a thread that is just starting, where to wait is to wait for ever."""
    gate, before = threading.Event(), {*threading.enumerate()}

    def work(piece):
        if piece:
            gate.wait(PATIENCE)
        return piece

    with rk.threads(2):
        results = run_ahead(work, range(9))
        assert next(results) == 0
        closing = threading.Thread(target=results.close, daemon=True)
        closing.start()
        closing.join(PATIENCE / 4)
        closed = not closing.is_alive()
        gate.set()
    assert closed
    for thread in {*threading.enumerate()} - before:
        thread.join(PATIENCE)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_brief_work_is_done_once_and_by_the_caller_too(count):
    done, gate, before = [], threading.Barrier(count), threading.active_count()

    def work(piece):
        if piece < count:
            gate.wait(PATIENCE)  # as many threads as there may be, or nobody gets on
        done.append((piece, threading.current_thread(), thread_count()))

    with rk.threads(count):
        run_briefly(work, range(40))
    assert sorted(piece for piece, _, _ in done) == list(range(40))
    assert len({thread for _, thread, _ in done}) == count
    assert threading.current_thread() in {thread for _, thread, _ in done}
    assert {threads for _, _, threads in done} == {1}
    assert threading.active_count() == before


def test_an_error_in_brief_work_is_raised_when_all_is_done():
    done = []

    def work(piece):
        done.append(piece)
        if piece == 3:
            raise LookupError(piece)

    with rk.threads(2), pytest.raises(LookupError, match="3"):
        run_briefly(work, range(9))
    assert sorted(done) == list(range(9))


@pytest.mark.usefixtures("no_threads")
def test_brief_work_needs_no_threads():
    done = []
    with rk.threads(3):
        run_briefly(done.append, range(9))
    assert done == list(range(9))


def test_brief_work_inside_a_team_is_shared_by_it():
    done = []
    with rk.threads(3), Team():
        run_briefly(done.append, range(9))
    assert sorted(done) == list(range(9))


FORKING = """
import os, sys, warnings
import rankinite as rk

warnings.simplefilter("ignore")  # newer Pythons warn of any fork beside threads
world = rk.World(features=6, documents=20, noise=0.3)
train, valid = rk.synthesise(40, world=world), rk.synthesise(20, part="valid", world=world)
learner = rk.LambdaMART.plain(trees=4, leaves=6, min_rows=5)
child = None

def fork(progress):
    global child
    if progress.round == 2 and child is None:
        child = os.fork()
        if not child:
            learner.fit(train, valid)  # a team inside the team

with rk.threads(2):
    learner.fit(train, valid, callbacks=[fork]).save(sys.argv[1] + ("parent" if child else "child"))
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there are no forks")
def test_a_child_of_a_callback_trains_on_with_threads_of_its_own(tmp_path):
    done = subprocess.run([sys.executable, "-c", FORKING, f"{tmp_path}/"], timeout=PATIENCE, check=False)
    assert done.returncode == 0
    assert (tmp_path / "child").read_bytes() == (tmp_path / "parent").read_bytes()
