"""Batches of inputs in child processes under limits; a batch that dies or hangs is gone through one input at a time.

A child has a limit of memory, compiles with bounds checks into a cache of its own, and says after every input how it
ended. The parent waits a limited time for each line.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from fuzz.target import DiffersError, Target

TESTS = Path(__file__).parents[1]
READ, REFUSED = "read", "refused"
FAULT, DIFFERS, MEMORY, DIED, HUNG = "fault", "differs", "memory", "died", "hung"
OUTCOMES = (READ, REFUSED, FAULT, DIFFERS, MEMORY, DIED, HUNG)
MEMORY_LIMIT = 6 << 30
"""Bytes of address space: what Python, Numba and three libraries of trees map, and room for honest work."""
WAITS, PEER_WAITS = (600.0, 150.0), (60.0, 20.0)
"""Seconds for the first input of a child, and for every other; ours may still compile something then, peers' need not."""
Job = tuple[str, int]
"""A target and the seed of an input for it."""


def targets() -> dict[str, Target]:
    """Our own readers by name; imported here, as a parent needs their names alone and a child one of them."""
    from fuzz import data_targets, model_targets, text_targets

    return {target.name: target for home in (data_targets, model_targets, text_targets) for target in home.TARGETS}


def peer_targets() -> dict[str, Target]:
    """Readers of other libraries by name."""
    from fuzz.peer_targets import TARGETS

    return {target.name: target for target in TARGETS}


# ---- in a child -----------------------------------------------------------------------------------------------------------


def outcome_of(target: Target, seed: int, folder: Path) -> tuple[str, str]:
    """How one input ends, with the last line of what was said."""
    path = target.prepared(seed, folder)
    try:
        target.run(path)
    except DiffersError as problem:
        return DIFFERS, str(problem)
    except target.refusals as problem:
        return REFUSED, str(problem)
    except MemoryError as problem:
        return MEMORY, str(problem)
    except Exception as problem:  # noqa: BLE001 - that is what is looked for
        place = traceback.extract_tb(problem.__traceback__)[-1]
        return FAULT, f"{type(problem).__name__}: {problem} ({Path(place.filename).name}:{place.lineno})"
    return READ, ""


def work(jobs: list[Job]) -> None:
    """A child: one line per input on standard output."""
    import resource  # absent on Windows

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    known = targets() | peer_targets()
    for name, seed in jobs:
        with tempfile.TemporaryDirectory() as folder:
            how, what = outcome_of(known[name], seed, Path(folder))
        print(how, " ".join(what.split())[:300].encode("ascii", "backslashreplace").decode(), sep="\t", flush=True)


# ---- in the parent ----------------------------------------------------------------------------------------------------------


@dataclass
class Results:
    """How all inputs of all targets ended, and what ended badly."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)

    def add(self, name: str, seed: int, how: str, what: str = "") -> None:
        self.counts.setdefault(name, Counter())[how] += 1
        if how not in (READ, REFUSED):
            self.bad.append(f"{name}, seed {seed}: {how} {what}".rstrip())

    def table(self) -> str:
        """Target × inputs × outcome, in Markdown."""
        rows = [("target", "inputs", *OUTCOMES), ("---", *("--:" for _ in range(len(OUTCOMES) + 1)))]
        for name, own in self.counts.items():
            rows.append((name, f"{own.total():,}", *(f"{own[how]:,}" for how in OUTCOMES)))
        total = sum(self.counts.values(), Counter())
        rows.append(("all", f"{total.total():,}", *(f"{total[how]:,}" for how in OUTCOMES)))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def run_batch(jobs: list[Job], results: Results, waits: tuple[float, float] = WAITS) -> None:
    """Run a batch; a child that dies or hangs is followed by one that tries its last input alone, and one for the rest."""
    while jobs:
        child = Child(jobs, waits)
        done = 0
        for (how, what), (name, seed) in zip(child.lines(), jobs, strict=False):
            results.add(name, seed, how, what)
            done += 1
        jobs = jobs[done:]
        if not jobs:
            return
        repeated = list(Child(jobs[:1], waits).lines())
        results.add(*jobs[0], child.ended, "among others, but not alone" if repeated else "")
        jobs = jobs[1:]


class Child:
    """A process that goes through some inputs."""

    def __init__(self, jobs: list[Job], waits: tuple[float, float]) -> None:
        self.jobs, self.waits = jobs, waits
        self.ended = DIED
        """How it ended, if before the last input."""

    def lines(self) -> Iterator[tuple[str, str]]:
        """What it says of one input after the other, until it ends or says nothing for too long."""
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": path}
        with subprocess.Popen(
            [sys.executable, "-m", "fuzz", "--child", json.dumps(self.jobs)],
            cwd=TESTS,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            lines: queue.Queue[str | None] = queue.Queue()
            threading.Thread(target=_pass_on, args=(process.stdout, lines), daemon=True).start()
            wait, later = self.waits
            try:
                while (line := lines.get(timeout=wait)) is not None:
                    how, what = line.rstrip("\n").split("\t", 1)
                    yield how, what
                    wait = later
            except queue.Empty:
                self.ended = HUNG
                process.kill()


def _pass_on(stream, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def run(names: list[str], *, first: int, batch: int, until: float, waits: tuple[float, float] = WAITS) -> Results:
    """Batches of every target in turn, until the time is up."""
    results = Results()
    for number in count():
        for name in names:
            if time.monotonic() > until:
                return results
            start = first + number * batch
            run_batch([(name, seed) for seed in range(start, start + batch)], results, waits)
    return results
