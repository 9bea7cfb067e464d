"""KeptOutcomes: finished cases in a folder, one file each, from which pages are written and an interrupted run goes on."""

from __future__ import annotations

import json
import lzma
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.sealed_files import DAMAGE
from rankinite.installed import code_key, version_line
from rankinite.reproduce.experiment import Case, Experiment
from rankinite.reproduce.machine import processor
from rankinite.reproduce.outcome import Outcome


@dataclass(frozen=True)
class Made:
    """When, on what and by which code an outcome was made."""

    date: str
    machine: str
    versions: str
    code: str
    seconds: float


@dataclass(frozen=True)
class KeptOutcomes:
    """A folder of outcomes; none where nothing is to be kept."""

    folder: Path | None

    def get(self, experiment: Experiment, case: Case) -> tuple[Outcome, Made] | None:
        """The outcome of a case, if it was made with today's version and settings; damaged ones count as missing."""
        if self.folder is None:
            return None
        try:
            head, _, body = self._path(experiment, case).read_bytes().partition(b"\n")
            facts: dict[str, Any] = json.loads(head)
            if facts["key"] != _key(experiment, case):
                return None
            return Outcome.from_bytes(body), Made(**facts["made"])
        except (*DAMAGE, lzma.LZMAError):
            return None

    def put(self, experiment: Experiment, case: Case, outcome: Outcome, seconds: float) -> Made:
        """Keep an outcome, with the circumstances."""
        made = Made(f"{datetime.now(UTC):%Y-%m-%d}", processor(), version_line(), code_key(), round(seconds, 1))
        if self.folder is not None:
            path = self._path(experiment, case)
            path.parent.mkdir(parents=True, exist_ok=True)
            head = json.dumps({"key": _key(experiment, case), "made": vars(made)})
            with write_atomically(path) as handle:
                handle.write(head.encode() + b"\n" + outcome.to_bytes())
        return made

    def _path(self, experiment: Experiment, case: Case) -> Path:
        assert self.folder is not None
        return self.folder / experiment.name / f"{re.sub('[^A-Za-z0-9.]+', '-', case.name).strip('-')}.outcome"


def _key(experiment: Experiment, case: Case) -> list[Any]:
    """What decides an outcome, besides the code: another version of the experiment, or other settings, need another run."""
    return json.loads(json.dumps([experiment.version, case.name, case.unit, dict(case.settings)]))
