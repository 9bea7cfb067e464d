"""Helpers: processes that compile kernels, beside a verb or ahead of all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from rankinite.checks import check_count
from rankinite.engine.file_locks import lock
from rankinite.engine.kernel_folder import cache_folder, set_ready
from rankinite.errors import ArgumentError, listed
from rankinite.warming.jobs import JOBS, VERBS

_START = "from rankinite.warming.helpers import work; work()"


def warm_up(
    jobs: Sequence[str] | None = None, *, processes: int | None = None, told: Callable[[str], None] | None = None
) -> None:
    """Compile the kernels of these jobs (all, if left out) and keep them on disk, so that no later run has to.

    For images and continuous integration, or before a demonstration. ``jobs``: names from
    ``rankinite.warming.jobs.JOBS``; ``processes``: how many compile side by side, one per thread in force if left out;
    ``told`` is called with the name of each job that is done.
    """
    from rankinite.engine.parallel import thread_count

    chosen = tuple(JOBS if jobs is None else jobs)
    unknown = [name for name in chosen if name not in JOBS]
    if unknown:
        rule = f"Jobs are {listed(tuple(JOBS))}"
        raise ArgumentError("is no job", owner="warm_up", setting="jobs", value=unknown[0], rule=rule)
    count = thread_count() if processes is None else processes
    check_count("warm_up", "processes", count)
    reading, writing = os.pipe()
    started = [_start(chosen, stdout=writing, stderr=subprocess.PIPE) for _ in range(min(count, len(chosen)))]
    os.close(writing)
    done = set[str]()
    with os.fdopen(reading, encoding="utf-8") as lines:
        for name in map(str.strip, lines):
            if told is not None and name not in done:  # a helper may come late, and find what another one has done
                told(name)
            done.add(name)
    problems = [process.communicate()[1] for process in started]
    failed = [text for process, text in zip(started, problems, strict=True) if process.returncode]
    if failed:
        raise RuntimeError(f"compiling failed:\n{failed[0].decode(errors='replace')}")
    for verb, needed in VERBS.items():
        if set(needed) <= set(chosen):
            set_ready(verb)


@contextmanager
def helped(jobs: Sequence[str], processes: int) -> Generator[None]:
    """Compile the kernels of these jobs in other processes while the block runs; what is not done at its end is left."""
    silent = subprocess.DEVNULL
    started = [_start(jobs, stdout=silent, stderr=silent) for _ in range(min(processes, len(jobs))) if sys.executable]
    try:
        yield
    finally:
        for process in started:
            process.terminate()  # files are written whole or not at all, and locks end with their process
        for process in started:
            process.wait()


def _start(jobs: Sequence[str], **streams: Any) -> subprocess.Popen[Any]:
    # -P: a file in the working folder must not be taken for a library.
    return subprocess.Popen([sys.executable, "-P", "-c", _START, *jobs], stdin=subprocess.DEVNULL, **streams)  # noqa: S603 - our own code


def work() -> None:
    """What a helper does: each job on the command line that no other helper is at; prints the names of those done."""
    folder = cache_folder()
    with ExitStack() as held:
        for name in sys.argv[1:]:
            if folder is not None:
                claimed = lock(folder / f"{name}.job")
                if claimed is None:
                    continue
                held.enter_context(claimed)  # until all is done, so that nobody does it again
            JOBS[name]()
            print(name, flush=True)  # noqa: T201 - to the process that started this one
