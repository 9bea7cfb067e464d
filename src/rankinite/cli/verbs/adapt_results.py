"""Results of ``rankinite adapt``: the folder with the model and the evidence."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli.ranker_arguments import named
from rankinite.cli.report_option import command_given
from rankinite.cli.verbs.adapt_texts import CANDIDATE, evidence_markdown, gains_csv, json_text
from rankinite.data.io.output_files import write_atomically
from rankinite.errors import ArgumentError, DataError
from rankinite.installed import versions

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice

RESULTS = ("model.rankinite", "report.html", "report.json", "evidence.md", "evidence.json", "gains.csv", CANDIDATE)
FILES = (*RESULTS, "adapt.toml")


@dataclass(frozen=True)
class Run:
    """The inputs and settings of a run."""

    inputs: Mapping[str, Any]
    settings: Mapping[str, Any]
    seconds: float
    identity: str
    """A hash by which the same run is known again."""

    def to_dict(self) -> dict[str, Any]:
        """All that is needed to repeat it."""
        files = {path for entry in self.inputs.values() for path in entry["files"]}
        return {
            "command": command_given(),
            "versions": versions(),
            "inputs": self.inputs,
            "sha256": {path: digest for path in sorted(files) if (digest := digest_of(path)) is not None},
            "settings": self.settings,
            "run": self.identity,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Folder:
    """The folder that receives everything."""

    path: Path

    @classmethod
    def checked(cls, path: Path) -> Folder:
        """Refuse a folder that could not be written to, before time is spent on what should go there. Makes nothing."""
        from rankinite.cli.verbs.train import check_writeable

        folder = cls(path)
        try:
            target = path.resolve()
            for place in (target, target / "trials", target / "models"):
                if place.exists() and not place.is_dir():
                    raise DataError("this is a file", place=place, remedy="`out` needs a folder, which may exist already")
            if not target.is_dir() and not target.parent.is_dir():
                problem = f"there is no folder {target.parent}"
                raise DataError(problem, place=path, value=str(target.parent), remedy="Make it first, or write elsewhere")
            with tempfile.TemporaryFile(dir=target if target.is_dir() else target.parent):
                pass
        except (OSError, ValueError, RuntimeError) as problem:
            remedy = "Check the permissions, or write elsewhere"
            raise DataError(f"it cannot be written ({problem})", place=path, value=str(problem), remedy=remedy) from problem
        if target.is_dir():
            for name in FILES:
                check_writeable(path / name)
        return folder

    def check_free(self, identity: Callable[[], str], *, overwrite: bool) -> None:
        """Refuse a folder with the results of another run; the same run may be made again."""
        held = [name for name in RESULTS if (self.path / name).exists()]
        if held and not overwrite and self._identity() != identity():
            raise ArgumentError(
                f"this folder holds the results of another run ({', '.join(held)})",
                place=self.path,
                value=held,
                remedy="Write elsewhere, or give `overwrite=True` to replace them; finished methods of the same data in "
                "trials/ are used either way",
            )

    def _identity(self) -> str | None:
        """Which run the results are of; None if they do not record it."""
        try:
            evidence = json.loads((self.path / "evidence.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return evidence.get("run") if isinstance(evidence, dict) else None

    @property
    def model(self) -> Path:
        """The ranker to deploy."""
        return self.path / FILES[0]

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.path / FILES[1]

    @property
    def settings(self) -> Path:
        """The settings of the run."""
        return self.path / "adapt.toml"

    @property
    def trials(self) -> Path:
        """Finished work of this run and others."""
        return self.path / "trials"

    def hint(self) -> str:
        """What to do after Ctrl-C."""
        if not self.trials.is_dir():
            return "interrupted before the first method was finished"
        return f"interrupted; what is finished is kept in {self.trials}, and the same command goes on from there"

    def make(self) -> None:
        """Make the folder, unless it exists."""
        self.path.mkdir(exist_ok=True)

    def write(self, choice: Choice, run: Run, *, all_models: bool) -> dict[str, Any]:
        """Write all but the page, the model last; returns the content of evidence.json."""
        models = {name: self.path / "models" / f"{name}.rankinite" for name in choice.models} if all_models else {}
        if models:
            (self.path / "models").mkdir(exist_ok=True)
        for name, path in models.items():
            choice.models[name].save(path)
        candidate = None if choice.verdict.recommended == choice.name else self.path / CANDIDATE
        files = {
            "model": str(self.model),
            "candidate": None if candidate is None else str(candidate),
            "models": {name: str(path) for name, path in models.items()},
        }
        evidence = {**run.to_dict(), **_adapted(choice), **files, **choice.to_dict()}
        _write(self.path / "gains.csv", gains_csv(choice))
        _write(self.path / "evidence.md", evidence_markdown(choice, evidence))
        _write(self.path / "evidence.json", json_text(evidence))
        if candidate is not None:
            choice.models[choice.name].save(candidate)
        choice.ranker.save(self.model)
        if candidate is None:
            (self.path / CANDIDATE).unlink(missing_ok=True)  # of an earlier run
        return evidence


def _adapted(choice: Choice) -> dict[str, str | None]:
    """Of several backgrounds, those that are adapted by methods that adapt only one: the best, and the best forest."""
    several = len(choice.backgrounds) > 1
    names = (choice.background_name(choice.models["background"]), choice.background_name(choice.forest))
    return {key: name if several else None for key, name in zip(("background", "background_forest"), names, strict=True)}


# ---- files ----------------------------------------------------------------------------------------------------------


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as handle:
        handle.write(text.encode())


def digest_of(spec: str) -> str | None:
    """The hash of a file; None for what cannot be read again, such as a pipe."""
    path = Path(named(spec)[1])
    if not path.is_file():
        return None
    about = path.stat()
    return _digest(path, about.st_size, about.st_mtime_ns)


@cache
def _digest(path: Path, _size: int, _changed: int) -> str:
    """The hash of a file, taken once as long as its size and time stay the same."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
