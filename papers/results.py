"""Kept results: one file per paper, one line per case, from which pages are written and an interrupted run goes on.

A line is an object of JSON: the experiment and the case with the settings that decide its outcome, when, on what and by which
code it was made, and the outcome. Lines are sorted, so that a case made anew is a change of one line.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from papers.experiment import Case, Experiment, Outcome
from rankinite.data.io.output_files import write_atomically
from rankinite.installed import code_key, version_line

Record = dict[str, Any]
DAMAGE = ValueError, TypeError, KeyError, AttributeError
"""What a damaged line may raise."""


@dataclass(frozen=True)
class Made:
    """When, on what and by which code an outcome was made."""

    date: str
    machine: str
    versions: str
    code: str
    seconds: float


@dataclass(frozen=True)
class KeptResults:
    """The files of a folder; without a folder nothing is kept."""

    folder: Path | None
    _read: dict[Path, dict[tuple[str, str], Record]] = field(default_factory=dict[Path, Any])

    def get(self, experiment: Experiment, case: Case) -> tuple[Outcome, Made] | None:
        """The outcome of a case, if it was made with today's version and settings; damaged lines count as missing."""
        if self.folder is None:
            return None
        path = self._path(experiment)
        if path not in self._read:
            self._read[path] = _records(path)
        record = self._read[path].get((experiment.name, case.name), {})
        try:
            if record["decided by"] != _what_decides(experiment, case):
                return None
            return Outcome.from_record(record), Made(**record["made"])
        except DAMAGE:
            return None

    def put(self, experiment: Experiment, case: Case, outcome: Mapping[str, Any], seconds: float) -> Made:
        """Keep the record of an outcome, with the circumstances."""
        made = Made(f"{datetime.now(UTC):%Y-%m-%d}", processor(), version_line(), code_key(), round(seconds, 1))
        if self.folder is not None:
            path = self._path(experiment)
            path.parent.mkdir(parents=True, exist_ok=True)
            records = _records(path)  # read again: another run may have added cases
            records[experiment.name, case.name] = {
                "experiment": experiment.name, "case": case.name, "decided by": _what_decides(experiment, case),
                "made": vars(made), **outcome,
            }  # fmt: skip
            with write_atomically(path) as handle:
                for _, record in sorted(records.items()):
                    handle.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            self._read[path] = records
        return made

    def _path(self, experiment: Experiment) -> Path:
        assert self.folder is not None
        return self.folder / f"{experiment.name.split('-')[0]}.jsonl"


def _records(path: Path) -> dict[tuple[str, str], Record]:
    records: dict[tuple[str, str], Record] = {}
    for line in path.read_bytes().splitlines() if path.exists() else ():
        with suppress(*DAMAGE):
            record: Record = json.loads(line)
            records[record["experiment"], record["case"]] = record
    return records


def _what_decides(experiment: Experiment, case: Case) -> list[Any]:
    """What decides an outcome, besides the code: another version of the experiment, or other settings, need another run."""
    return json.loads(json.dumps([experiment.version, case.unit, dict(case.settings)]))


def processor() -> str:
    """The name of the processor, and how many cores there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"
