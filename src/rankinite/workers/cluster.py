"""Cluster: processes that fits are sent to while it is in force."""

from __future__ import annotations

import contextvars
import shutil
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar
from uuid import uuid4

from rankinite.checks import check_count
from rankinite.engine.cores import available_cores
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.workers.collectives import Traffic
from rankinite.workers.messages import packed
from rankinite.workers.mpi_group import MpiGroup, mpi_group
from rankinite.workers.orders import Order, answer_of, carry_out, installed
from rankinite.workers.shared_data import SharedData

T = TypeVar("T")
R = TypeVar("R")
Done = Callable[[int, Any], None]
"""Is given the number and the result of each piece of work that is done, one after the other."""
Where = str | int | Executor
"""The address of a scheduler, a number of processes on this machine, or any executor."""
_in_force: ContextVar[Cluster | None] = ContextVar("rankinite_cluster", default=None)

DEATHS = ("KilledWorker", "BrokenProcessPool")
"""What Dask raises when one piece of work has ended several workers, and a process pool when one of its processes ended."""


class Cluster:
    """Workers, and the folder they share with this process."""

    def __init__(self, executor: Executor, folder: Path, threads: int, size: int) -> None:
        self.folder = folder
        """Where data and finished work are."""
        self.size = size
        """How many pieces of work are done at once, about."""
        self.threads = threads
        """How many a fit may use, or a member of a group."""
        self.asked: int | None = None
        """The same if the user said how many; members of a group use all cores of their machines otherwise."""
        self.client: Any = getattr(executor, "_client", None)
        """Dask's, where the workers are Dask's: they can also train one model together."""
        self.traffic: Traffic | None = None
        """What the first member of the last such training sent."""
        self._executor = executor
        self._waiting: dict[str, list[Future[bytes]]] = {}
        self._lock = threading.Lock()

    def run(self, work: Callable[[T], R], pieces: Iterable[T], done: Done | None = None) -> list[R]:
        """Apply ``work``, a function that workers can import, to every piece; results come in the order of the pieces."""
        name, listed, found = uuid4().hex, list(pieces), dict[int, Any]()
        stop, shared, own = self.folder / "stops" / name, SharedData(self.folder), installed()
        orders = [Order(str(self.folder), self.threads, str(stop), own, packed((work, piece), shared)) for piece in listed]
        futures = {self._executor.submit(carry_out, order): number for number, order in enumerate(orders)}
        with self._lock:
            self._waiting[name] = list(futures)
        try:
            for future in as_completed(futures):
                number = futures[future]
                found[number] = answer_of(future.result())
                if done is not None:
                    done(number, found[number])
        except BaseException as problem:
            self._give_up(None if isinstance(problem, KeyboardInterrupt) else name)
            if type(problem).__name__ in DEATHS:
                raise _workers_died(problem) from problem
            raise
        finally:
            with self._lock:
                self._waiting.pop(name, None)
        return [found[number] for number in range(len(listed))]

    def _give_up(self, only: str | None) -> None:
        """Take back what is not begun, and tell workers that nobody waits for what is; without a name, all of it."""
        with self._lock:
            given_up = {name: futures for name, futures in self._waiting.items() if only in {None, name}}
        (self.folder / "stops").mkdir(parents=True, exist_ok=True)
        for name, futures in given_up.items():
            (self.folder / "stops" / name).touch()
            for future in futures:
                future.cancel()

    def run_here(self, works: Sequence[Callable[[], None]]) -> None:
        """Do work that hands out work itself: each on a thread here, which does little but wait."""
        with ThreadPoolExecutor(max(1, len(works))) as pool:
            futures = [pool.submit(contextvars.copy_context().run, work) for work in works]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException as problem:  # noqa: BLE001 - raised again below
                self._give_up(None)
                for future in futures:
                    future.cancel()
                raise (_first_cause(futures) if isinstance(problem, CancelledError) else problem) from None


def _workers_died(problem: BaseException) -> RankiniteError:
    return RankiniteError(
        f"workers ended while they were at a fit ({type(problem).__name__})",
        value=type(problem).__name__,
        rule="A fit that ends several workers most often takes more memory than they have",
        remedy="Start fewer workers on each machine, or give them more memory; finished fits are kept in the shared folder",
    )


def _first_cause(futures: Iterable[Future[Any]]) -> BaseException:
    """The error that made others be taken back."""
    problems = [future.exception() for future in futures if future.done() and not future.cancelled()]
    return next((one for one in problems if one is not None and not isinstance(one, CancelledError)), KeyboardInterrupt())


def in_force() -> Cluster | None:
    """The cluster of the ``with`` block this is in; None outside, and on workers."""
    return _in_force.get()


@contextmanager
def cluster(where: Where, *, share: Path | str | None = None, threads: int | None = None) -> Generator[Cluster | MpiGroup]:
    """Send fits to other processes inside the ``with`` block; the results are the same bytes.

    ``where``: the address of a Dask scheduler (``"tcp://host:8786"``) or the JSON file it writes, a number of processes on this
    machine, any ``concurrent.futures.Executor`` (of Dask, MPI, or a process pool), or ``"mpi"`` in a program that ``mpiexec``
    started. On Dask's workers and over MPI, one model is trained by all together where the data are :class:`rankinite.Binned`;
    the result has the same bytes. ``share``: a folder that all workers see
    under the same path, for data and finished work; without it a temporary one, which does for this machine alone.
    ``threads``: how many each fit may use; if left out, this machine's cores are divided among its processes, and workers
    elsewhere use one for each fit. Workers that train one model together share the cores of their machines.

    >>> with cluster("tcp://head:8786", share="/mnt/shared/rankinite"):                        # doctest: +SKIP
    ...     ranker = Bag(LambdaMART()).fit(train)
    """
    if threads is not None:
        check_count("cluster", "threads", threads)
    if where == "mpi":
        with mpi_group() as group:
            yield group
        return
    temporary = None if share is not None else Path(mkdtemp(prefix="rankinite-"))
    folder = temporary or _made(Path(share))  # pyright: ignore[reportArgumentType] - one of them is there
    try:
        with _executor(where) as executor:
            cores = max(1, available_cores() // where) if isinstance(where, int) else 1
            found = Cluster(executor, folder, threads or cores, _size(executor))
            found.asked = threads
            token = _in_force.set(found)
            try:
                yield found
            finally:
                _in_force.reset(token)
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def using(where: Where | None) -> AbstractContextManager[Cluster | MpiGroup | None]:
    """What a function's ``cluster`` argument means: None leaves in force what is."""
    return nullcontext(in_force()) if where is None else cluster(where)


def _executor(where: Where) -> AbstractContextManager[Executor]:
    if isinstance(where, Executor):
        return nullcontext(where)  # it is the caller's, who shuts it down
    from rankinite.workers.dask_client import connected, local_processes

    if isinstance(where, str):
        return connected(where)
    check_count("cluster", "where", where)
    return local_processes(where)


def _size(executor: Executor) -> int:
    """How many pieces of work an executor does at once; executors need not say, but those of Python and Dask do."""
    client: Any = getattr(executor, "_client", None)
    if client is not None:
        return max(1, sum(client.nthreads().values()))
    return int(getattr(executor, "_max_workers", available_cores()))


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ArgumentError(
            f"is a folder that cannot be made ({problem})",
            owner="cluster",
            setting="share",
            value=str(folder),
            remedy="Give one that all workers see",
        ) from problem
    return folder.resolve()
