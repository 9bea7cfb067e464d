"""Timing contenders honestly: one process each, in turn, several rounds; and the page that keeps the results.

A contender is a run of a script: ``python script --contender NAME …``. It prints one line of JSON with what it measured
(``seconds`` at least, timed inside, so that imports and warming up do not count). Its memory is watched from outside,
as a contender that holds Python's lock could not watch itself.

``RANKINITE_SMOKE=FOLDER`` shows in seconds that a benchmark still runs: on tiny data, once, and with all that it writes in that
folder, its page of results too.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

SMOKE = Path(os.environ["RANKINITE_SMOKE"]) if os.environ.get("RANKINITE_SMOKE") else None
RESULTS = (SMOKE or Path(__file__).parent) / "RESULTS.md"
SCRATCH = SMOKE / "scratch" if SMOKE else Path(__file__).parents[1] / ".bench"
"""Where benchmarks keep large files; not part of the repository."""
T = TypeVar("T")


def sized(usual: T, tiny: T) -> T:
    """What a benchmark works on, or how often; the tiny value where it shall only show that it runs."""
    return tiny if SMOKE else usual


@dataclass
class Runs:
    """What one contender measured in all rounds."""

    name: str
    reports: list[dict[str, float]] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(report["seconds"] for report in self.reports)

    @property
    def median(self) -> float:
        return statistics.median(report["seconds"] for report in self.reports)

    def largest(self, key: str) -> float:
        return max(report[key] for report in self.reports)


def race(script: str, names: list[str], arguments: list[str], rounds: int = 3) -> tuple[list[Runs], float]:
    """Run every contender once a round, in turn; also the share of the machine that others used meanwhile."""
    contenders = [Runs(name) for name in names]
    before, started = _busy_seconds(), time.perf_counter()
    own = 0.0
    for _ in range(sized(rounds, 1)):
        for contender in contenders:
            used = os.times()
            contender.reports.append(_report([sys.executable, script, "--contender", contender.name, *arguments]))
            now = os.times()
            own += now.children_user + now.children_system - used.children_user - used.children_system
            print(f"{contender.name:32} {contender.reports[-1]['seconds']:8.3f} s", flush=True)
    elapsed = time.perf_counter() - started
    return contenders, max(0.0, _busy_seconds() - before - own) / (elapsed * (os.cpu_count() or 1))


def _report(command: list[str]) -> dict[str, float]:
    """Run a contender; to what it prints, add its highest private memory (RssAnon: mapped files do not count)."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, private_memory(process.pid))
            time.sleep(0.002)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with code {process.returncode}.")
    return {**json.loads(output.splitlines()[-1]), "peak": peak}


def private_memory(pid: int | str = "self") -> int:
    """Bytes of a process that are its own, not pages of mapped files; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def _busy_seconds() -> float:
    try:
        numbers = [int(n) for n in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, interrupt, soft = numbers[:7]
    return (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")


@contextmanager
def claimed(path: Path) -> Iterator[bool]:
    """Whether this process has the making of a file to itself; a process that ends gives it back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_suffix(".lock")
    with lock.open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
        lock.unlink()


def machine(packages: list[str]) -> str:
    """Date, processor and versions, as a line for the results."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    versions = ", ".join(f"{name} {installed[name]}" for name in packages if name in installed)
    return f"{datetime.now(UTC):%Y-%m-%d}, {processor}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}."


def write_section(title: str, text: str) -> None:
    """Put ``## title`` with its text into RESULTS.md, in place of the section of that title if there is one."""
    page = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Benchmark results\n"
    head, *sections = page.split("\n## ")
    kept = [section.strip("\n") for section in sections]
    place = next((i for i, section in enumerate(kept) if section.split("\n")[0] == title), len(kept))
    kept[place : place + 1] = [f"{title}\n\n{text.strip()}"]
    RESULTS.write_text("\n\n## ".join([head.strip("\n"), *kept]) + "\n", encoding="utf-8")
