"""Threads: how many, and the one way work is handed to them.

Kernels release the GIL, so ordinary threads run them side by side. Every piece of work writes to its own
part of the output, so results do not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn, Self, TypeVar

from rankinite.checks import check_count
from rankinite.engine.barriers import TOGETHER
from rankinite.engine.cores import available_cores
from rankinite.engine.held_interrupts import HeldInterrupts
from rankinite.engine.kernel import Indices
from rankinite.errors import ArgumentError

MOST_THREADS = 1024
"""More are refused, however many cores there are: they would take memory and gain nothing."""

T = TypeVar("T")
R = TypeVar("R")

_threads: ContextVar[int | None] = ContextVar("rankinite_threads", default=None)


def chosen_threads() -> int | None:
    """What :func:`threads` set; None where nothing did."""
    return _threads.get()


def thread_count() -> int:
    """The number of threads in force: what :func:`threads` set, else all cores."""
    return _threads.get() or min(available_cores(), MOST_THREADS)


@contextmanager
def threads(count: int) -> Generator[None]:
    """Use ``count`` threads, at most 1,024, inside the ``with`` block; results stay the same, only the time changes.

    >>> with threads(1):
    ...     thread_count()
    1
    """
    check_count("threads", "count", count, most=MOST_THREADS)
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


def run(work: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
    """Apply ``work`` to every piece on the threads in force; results come in the order of the pieces.

    Work that hands out work itself does so on its own thread alone.
    """
    listed = list(pieces)
    count = min(thread_count(), len(listed))
    if count <= 1:
        return [work(piece) for piece in listed]

    team = _team.get()
    if team is not None and team.size > 1:
        return team.share(_alone(work), listed)
    with _Pool(count) as pool:
        return list(pool.map(_alone(work), listed))


def run_briefly(work: Callable[[T], None], pieces: Sequence[T]) -> None:
    """Apply ``work`` to every piece, where all of it takes milliseconds: the calling thread takes pieces too.

    The other threads are started for this call alone. Threads that wait for the next call would start sooner, but a process
    that has any is no longer safe to fork. Where the system gives no more of them, fewer do the work.
    """
    count = min(thread_count(), len(pieces))
    if count <= 1 or _team.get() is not None:
        run(work, pieces)
        return
    alone, waiting, problems, started = _alone(work), deque(pieces), list[BaseException](), list[threading.Thread]()

    def take_pieces() -> None:
        while waiting:
            try:
                piece = waiting.popleft()
            except IndexError:  # another thread has just taken the last
                return
            try:
                alone(piece)
            except BaseException as problem:  # noqa: BLE001 - raised again when all threads are done
                problems.append(problem)

    with suppress(RuntimeError):
        for _ in range(count - 1):
            helper = threading.Thread(target=take_pieces)
            helper.start()
            started.append(helper)
    take_pieces()
    for helper in started:
        helper.join()
    for problem in problems:
        raise problem


class _Pool(ThreadPoolExecutor):
    """Threads with an error that names a remedy where the system gives no more of them."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """As usual; starts a thread if there are not yet enough."""
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as problem:
            self.shutdown(wait=False, cancel_futures=True)
            raise no_more_threads(len(self._threads), problem) from problem


def no_more_threads(started: int, problem: RuntimeError) -> ArgumentError:
    """The error where a limit of the system, on memory or on processes, is reached."""
    return ArgumentError(
        f"is more than the system allows: it started {started} threads and then no more ({problem})",
        owner="threads",
        setting="count",
        value=thread_count(),
        remedy="Use fewer, as in threads(1), or raise the system's limits (ulimit -v, ulimit -u)",
        shell_remedy="Use fewer, as in --threads 1, or raise the system's limits (ulimit -v, ulimit -u)",
    )


def _alone(work: Callable[[T], R]) -> Callable[[T], R]:
    """The same work, on one thread wherever it hands out work itself."""

    def call(piece: T) -> R:
        with threads(1):
            return work(piece)

    return call


@dataclass(frozen=True)
class _Raised:
    """The error that ended a stream of pieces, kept until its turn."""

    error: Exception

    def throw(self) -> NoReturn:
        raise self.error


def _with_error(pieces: Iterable[T]) -> Iterator[T | _Raised]:
    try:
        yield from pieces
    except Exception as error:  # noqa: BLE001 - whatever it is, it is raised again in its turn
        yield _Raised(error)


def run_ahead(work: Callable[[T], R], pieces: Iterable[T], ahead: int = 2) -> Iterator[R]:
    """Like :func:`run`, but pieces are taken and results given one by one, ``ahead`` more in work than threads.

    For pieces that come from a stream and results too large to keep. What a piece or the stream raises is raised
    in its turn: after the results before it.
    """
    count = thread_count()
    if count <= 1:
        yield from map(work, pieces)
        return
    pool, abandoned = _Pool(count), False
    waiting: deque[Future[R]] = deque()
    try:
        for piece in _with_error(pieces):
            waiting.append(pool.submit(piece.throw) if isinstance(piece, _Raised) else pool.submit(_alone(work), piece))
            if len(waiting) >= count + ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except GeneratorExit:
        abandoned = True  # perhaps by the garbage collector, in a thread that others wait for: it must wait for none of them
        raise
    finally:
        pool.shutdown(wait=not abandoned, cancel_futures=True)


class Team:
    """Threads that stay together for many short calls, such as the trees of a forest: ``with Team() as team: team.run(work)``.

    Meanwhile :func:`run` uses them too. The calling thread is one of them.
    """

    def __init__(self) -> None:
        self.size = thread_count() if TOGETHER else 1
        self.pool: ThreadPoolExecutor | None = None
        """None also in a forked child, until it needs threads."""
        self.outer: Team | None = None
        """The team in force before this one."""
        self._interrupts = HeldInterrupts()

    def __enter__(self) -> Self:
        if self.size > 1:
            with self._interrupts.watched():
                self.pool = _started(self.size - 1)
        self.outer = _team.get()
        self._before = _team.set(self)
        return self

    def __exit__(self, *_problem: object) -> None:
        _team.reset(self._before)
        if self.pool is not None:
            self.pool.shutdown()
            self._interrupts.forget()

    def run(self, work: Callable[[int, int], None]) -> None:
        """Call ``work(worker, workers)`` on all threads at once, and wait for all, whatever one of them raises."""
        if self.size == 1:
            work(0, 1)
            return
        with self._interrupts.held():
            self.pool = self.pool or _started(self.size - 1)
            waiting = [self.pool.submit(work, worker, self.size) for worker in range(1, self.size)]
            try:
                work(0, self.size)
            finally:
                problems = [future.exception() for future in waiting]
        for problem in problems:
            if problem is not None:
                raise problem

    def share(self, work: Callable[[T], R], pieces: Sequence[T]) -> list[R]:
        """Apply ``work`` to every piece, each thread to every n-th of them; results in the order of the pieces."""
        results: list[Any] = [None] * len(pieces)

        def work_on_share(worker: int, workers: int) -> None:
            for place in range(worker, len(pieces), workers):
                results[place] = work(pieces[place])

        self.run(work_on_share)
        return results


def _started(count: int) -> ThreadPoolExecutor:
    """A pool whose threads all run already: were one missing later, the others would wait for it at a barrier for ever."""
    pool, gate = _Pool(count), threading.Barrier(count + 1)
    try:
        for _ in range(count):
            pool.submit(gate.wait)
        gate.wait()
    except ArgumentError:  # no more threads are to be had
        gate.abort()
        pool.shutdown()
        raise
    return pool


_team: ContextVar[Team | None] = ContextVar("rankinite_team", default=None)


def _forget_threads() -> None:
    """A forked child has the teams of its parent but none of their threads: it starts its own when it needs them."""
    team = _team.get()
    while team is not None:
        team.pool, team = None, team.outer


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


SMALLEST = 8192
"""Fewer rows are not worth a thread of their own."""


def query_chunks(offsets: Indices, per_thread: int = 2) -> list[tuple[int, int]]:
    """Cut the queries into ranges of about equal rows: one for a single thread, else ``per_thread`` for each.

    More pieces would even out the threads better, but each piece costs them a wait for Python's lock.
    """
    queries, count = len(offsets) - 1, thread_count()
    chunks = min(queries, count * per_thread, int(offsets[-1]) // SMALLEST) if count > 1 else 1
    if chunks <= 1:
        return [(0, queries)]
    start, rows = int(offsets[0]), int(offsets[-1] - offsets[0])
    cuts = [0, *(int(offsets.searchsorted(start + rows * k / chunks)) for k in range(1, chunks)), queries]
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def over_queries(work: Callable[[int, int], R], offsets: Indices) -> list[R]:
    """Call ``work(first, last)`` on ranges of queries that together cover them all."""
    return run(lambda chunk: work(*chunk), query_chunks(offsets))
