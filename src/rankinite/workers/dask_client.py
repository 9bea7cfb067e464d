"""Dask: schedulers that run elsewhere, and processes on this machine."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from rankinite.errors import ArgumentError, RankiniteError

WAIT = 10
"""Seconds to wait for a scheduler, and for its first worker."""


@contextmanager
def connected(address: str) -> Generator[Executor]:
    """The workers of a running scheduler."""
    library = _library()
    try:
        client = library.Client(address, timeout=WAIT, set_as_default=False)
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
    with (
        library.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="ERROR"
        ) as local,
        library.Client(local, set_as_default=False) as client,
    ):
        yield client.get_executor(pure=False)


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
