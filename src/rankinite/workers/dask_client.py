"""Dask: schedulers that run elsewhere, and processes on this machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from rankinite.errors import ArgumentError, RankiniteError

WAIT = 10
"""Seconds to wait for a scheduler, and for its first worker."""


@contextmanager
def connected(address: str) -> Generator[Executor]:
    """The workers of a running scheduler, by its address or the file that it writes (``dask scheduler --scheduler-file``)."""
    library = _library()
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = library.Client(**where, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError, library.TimeoutError, TypeError) as problem:
        raise ArgumentError(
            f"is not the address of a scheduler that answers ({_short(problem)})",
            owner="cluster",
            setting="cluster",
            value=address,
            remedy="Start one with 'dask scheduler', and give the address that it prints, as in tcp://host:8786",
        ) from problem
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except (OSError, library.TimeoutError) as problem:
            raise ArgumentError(
                "is a scheduler without workers",
                owner="cluster",
                setting="cluster",
                value=address,
                remedy=f"Start some with 'dask worker {address}'",
            ) from problem
        yield client.get_executor(pure=False)


@contextmanager
def local_processes(count: int) -> Generator[Executor]:
    """Processes on this machine, one fit at a time each; one that dies is started again."""
    library = _library()
    with _ignored_interrupts():  # a terminal sends Ctrl-C to all processes; ours alone answers it
        local = library.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,  # Dask would end a worker whose fit takes more than its share of the memory
            dashboard_address="127.0.0.1:0",  # a port of its own, as there may be other clusters
            silence_logs="ERROR",
        )
    with local, library.Client(local, set_as_default=False) as client:
        yield client.get_executor(pure=False)


@contextmanager
def _ignored_interrupts() -> Generator[None]:
    """Let processes that are started meanwhile ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _library() -> Any:
    try:
        import distributed
    except ImportError as problem:
        raise RankiniteError(
            "workers need Dask, which is not installed",
            value="distributed",
            remedy="Install it with: pip install 'rankinite[cluster]'",
        ) from problem
    return distributed


def _short(problem: BaseException) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__
