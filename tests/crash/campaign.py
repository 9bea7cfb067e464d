"""Jobs, the signals that interrupt them, and what must hold after each signal and after the last, undisturbed run.

After a signal: every file with the name of a result is the result to the byte; or, where the verb promises to save what it
has trained so far, a model that loads. After the undisturbed run: the same files as if there had been no signal, with the
same bytes, and no others.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import rankinite as rk

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PATIENCE = 300
"""Seconds after which an undisturbed run counts as hung."""
TREES = ("--valid={inputs}/valid.txt", "--trees=150", "--patience=none", "--leaves=4", "--min-rows=5", "--threads=1")
RESUMABLE = ("--checkpoint=run.checkpoint", "--every=10", "--out=model.rankinite")
UNFINISHED = ("model.rankinite", "run.checkpoint")
QUICKLY = ("--methods=trada", "--methods=additive", "--no-curve", "--threads=1")


@dataclass(frozen=True)
class Job:
    """A verb with its arguments; ``{inputs}`` is the folder of what it reads, and it runs in the folder that it writes to."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    """Files whose bytes must not depend on signals."""
    saves: tuple[str, ...] = ()
    """Models that an interrupted run may leave unfinished, but sound."""


JOBS = (
    Job("synth", ("synth", "--queries=400", "--out=data.txt.gz"), ("data.txt.gz",)),
    Job("convert", ("convert", "{inputs}/train.txt", "--out=data.parquet"), ("data.parquet",)),
    Job("convert to zst", ("convert", "{inputs}/train.txt", "--out=data.txt.zst"), ("data.txt.zst",)),
    Job("train", ("train", "{inputs}/train.txt", *TREES, *RESUMABLE), ("model.rankinite", "model.toml"), saves=UNFINISHED),
    Job(
        "train a net",
        ("train", "{inputs}/train.txt", "--learner=ranknet", "--epochs=100", "--out=model.rankinite"),
        ("model.rankinite", "model.toml"),
        saves=("model.rankinite",),
    ),
    Job("score", ("score", "{inputs}/model.rankinite", "{inputs}/train.txt", "--out=scores.npy"), ("scores.npy",)),
    Job(
        "evaluate",
        ("evaluate", "{inputs}/model.rankinite", "{inputs}/valid.txt", "--per-query=queries.csv"),
        ("queries.csv",),
    ),
    Job(
        "compare",
        ("compare", "{inputs}/model.rankinite", "column:0", "--data={inputs}/valid.txt", "--report=report.html"),
        ("report.html",),
    ),
    Job(
        "combine",
        ("combine", "{inputs}/model.rankinite", "column:0", "--data={inputs}/valid.txt", "--out=both.rankinite"),
        ("both.rankinite",),
    ),
    Job(
        "adapt",
        ("adapt", "{inputs}/model.rankinite", "--train={inputs}/market.txt", *QUICKLY, "--out=market"),
        ("market/model.rankinite", "market/gains.csv"),
    ),
)


@dataclass
class Tally:
    """Signals by verb, and what went wrong."""

    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    """Signals that came after the run had ended."""
    problems: list[str] = field(default_factory=list)

    def table(self) -> str:
        names = list(dict.fromkeys(name for name, _ in self.sent))
        head = ("verb", *(sent.name for sent in SIGNALS), "too late")
        rows = [head, ("---", *("--:" for _ in head[1:]))]
        rows += [(name, *(str(self.sent[name, one.name]) for one in SIGNALS), str(self.late[name])) for name in names]
        totals = [str(sum(count for (_, how), count in self.sent.items() if how == one.name)) for one in SIGNALS]
        rows.append(("all", *totals, str(self.late.total())))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


class Campaign:
    """Inputs, and for each job its undisturbed result and how long it takes."""

    def __init__(self, folder: Path, jobs: tuple[Job, ...] = JOBS) -> None:
        self.folder, self.jobs = folder, jobs
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        small = rk.World(features=8, documents=12)
        for name, part, domain, queries in (
            ("train", "train", 0, 120),
            ("valid", "valid", 0, 40),
            ("market", "train", 1, 24),
        ):
            rk.write(rk.synthesise(queries, part=part, domain=domain, world=small), self.inputs / f"{name}.txt")
        learner = rk.LambdaMART.plain(trees=20, leaves=4, min_rows=5, rate=0.3)
        learner.fit(rk.read(self.inputs / "train.txt")).save(self.inputs / "model.rankinite")
        self.expected = {job.name: self._undisturbed(job) for job in jobs}

    def _undisturbed(self, job: Job) -> tuple[float, dict[str, bytes], set[str]]:
        place = self.folder / f"expected {job.name}"
        place.mkdir()
        self._start(job, place).wait(PATIENCE)  # compiles what is not compiled yet
        shutil.rmtree(place)
        place.mkdir()
        started = time.monotonic()
        assert self._start(job, place).wait(PATIENCE) == 0, f"{job.name} fails undisturbed"
        took = time.monotonic() - started
        return took, {name: (place / name).read_bytes() for name in job.results}, files_in(place)

    def _start(self, job: Job, place: Path) -> subprocess.Popen[bytes]:
        arguments = [argument.replace("{inputs}", str(self.inputs)) for argument in job.arguments]
        command = [sys.executable, "-c", "from rankinite.cli import main; main()", *arguments]
        return subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def disturb(self, job: Job, rng: Random, tally: Tally) -> None:
        """One to three signals in one folder, then an undisturbed run."""
        took, results, files = self.expected[job.name]
        place = self.folder / f"disturbed {job.name}"
        place.mkdir()
        history: list[str] = []
        for _ in range(rng.randrange(1, 4)):
            sent, after = rng.choice(SIGNALS), rng.uniform(0.0, 1.05 * took)
            history.append(f"{sent.name} after {after:.3f} s")
            process = self._start(job, place)
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                process.send_signal(sent)
                tally.sent[job.name, sent.name] += 1
            else:
                tally.late[job.name] += 1
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                tally.problems.append(f"{job.name}: {', '.join(history)}: does not end")
            tally.problems += [f"{job.name}: {', '.join(history)}: {problem}" for problem in self._damage(job, place, results)]
        if self._start(job, place).wait(PATIENCE) != 0:
            tally.problems.append(f"{job.name}: {', '.join(history)}: the run after it fails")
        different = [name for name, content in results.items() if not same(place / name, content)]
        more = sorted(files_in(place) - files)
        if different or more:
            tally.problems.append(f"{job.name}: {', '.join(history)}: in the end {different} differ, {more} are left over")
        shutil.rmtree(place)

    def _damage(self, job: Job, place: Path, results: dict[str, bytes]) -> list[str]:
        """What is neither whole nor absent after a signal."""
        problems = []
        for name in {*results, *job.saves}:
            path = place / name
            if not path.exists() or (name in results and same(path, results[name])):
                continue
            if name not in job.saves:
                problems.append(f"{name} is there and differs")
                continue
            try:
                rk.load(path)
            except rk.RankiniteError as problem:
                problems.append(f"{name} does not load ({problem})")
        return problems

    def run(self, *, seed: int, until: float, signals: int) -> Tally:
        """Every job in turn, until the time is up or so many signals are sent."""
        tally, rng = Tally(), Random(seed)
        while time.monotonic() < until:
            for job in self.jobs:
                self.disturb(job, rng, tally)
                if sum(tally.sent.values()) >= signals or time.monotonic() > until:
                    return tally
        return tally


def same(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


def files_in(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
