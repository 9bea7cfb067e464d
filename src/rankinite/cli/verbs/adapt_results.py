"""What ``rankinite adapt`` leaves behind: the folder with the model and the evidence, and what is printed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shlex
import shutil
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli.output import echo
from rankinite.cli.ranker_arguments import named
from rankinite.cli.report_option import command_given
from rankinite.data.io.output_files import write_atomically
from rankinite.errors import ArgumentError, DataError
from rankinite.grid import Grid, markdown_text, number
from rankinite.installed import versions
from rankinite.measures.base import sign_of
from rankinite.safe_text import for_spreadsheet, for_terminal

if TYPE_CHECKING:
    from rankinite.adapt.result import Choice
    from rankinite.evaluation.compare import Comparison

WIDTH = 100
"""No table and no line is wider, where that is possible."""
CANDIDATE = "candidate.rankinite"
"""The method chosen, where the advice is to keep the background."""
RESULTS = ("model.rankinite", "report.html", "report.json", "evidence.md", "evidence.json", "gains.csv", CANDIDATE)
FILES = (*RESULTS, "adapt.toml")


@dataclass(frozen=True)
class Run:
    """What a run was made from."""

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
    """Where everything goes."""

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
                    raise DataError(f"{place}: this is a file. --out needs a folder, which may be there already.")
            if not target.is_dir() and not target.parent.is_dir():
                raise DataError(f"{path}: there is no folder {target.parent}. Make it first, or write elsewhere.")
            with tempfile.TemporaryFile(dir=target if target.is_dir() else target.parent):
                pass
        except (OSError, ValueError, RuntimeError) as problem:
            raise DataError(f"{path}: cannot be written ({problem}). Check the permissions, or write elsewhere.") from problem
        if target.is_dir():
            for name in FILES:
                check_writeable(path / name)
        return folder

    def check_free(self, identity: Callable[[], str], *, overwrite: bool) -> None:
        """Refuse a folder with the results of another run; the same run may be made again."""
        held = [name for name in RESULTS if (self.path / name).exists()]
        if held and not overwrite and self._identity() != identity():
            raise ArgumentError(
                f"--out {self.path}: this folder holds the results of another run ({', '.join(held)}). Write elsewhere, or "
                "give --overwrite to replace them; finished methods of the same data in trials/ are used either way."
            )

    def _identity(self) -> str | None:
        """Which run the results are of; None where they do not say so."""
        try:
            told = json.loads((self.path / "evidence.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return told.get("run") if isinstance(told, dict) else None

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
        """Make the folder, if it is not there."""
        self.path.mkdir(exist_ok=True)

    def write(self, choice: Choice, run: Run, *, all_models: bool) -> dict[str, Any]:
        """Write all but the page, the model last; returns what evidence.json holds."""
        models = {name: self.path / "models" / f"{name}.rankinite" for name in choice.models} if all_models else {}
        if models:
            (self.path / "models").mkdir(exist_ok=True)
        for name, path in models.items():
            choice.models[name].save(path)
        told = choice.to_dict()
        told["open"] = told.pop("shifted")  # as the option is called
        candidate = None if choice.verdict.recommended == choice.name else self.path / CANDIDATE
        files = {
            "model": str(self.model),
            "candidate": None if candidate is None else str(candidate),
            "models": {name: str(path) for name, path in models.items()},
        }
        evidence = {**run.to_dict(), **_adapted(choice), **files, **told, "recommendation": list(sentences(choice))}
        _write(self.path / "gains.csv", _gains_csv(choice))
        _write(self.path / "evidence.md", _markdown(choice, evidence))
        _write(self.path / "evidence.json", _json(evidence))
        if candidate is not None:
            choice.models[choice.name].save(candidate)
        choice.ranker.save(self.model)
        if candidate is None:
            (self.path / CANDIDATE).unlink(missing_ok=True)  # of an earlier run
        return evidence


def _adapted(choice: Choice) -> dict[str, str | None]:
    """Which of several backgrounds methods adapt that adapt one: the best, and the best forest."""
    several = len(choice.backgrounds) > 1
    names = (choice.background_name(choice.models["background"]), choice.background_name(choice.forest))
    return {name: own if several else None for name, own in zip(("background", "background_forest"), names, strict=True)}


# ---- words and tables -----------------------------------------------------------------------------------------------


def sentences(choice: Choice) -> tuple[str, ...]:
    """The recommendation, with the names that things have in the shell."""
    return tuple(sentence.replace("the shifted data", "the open data") for sentence in choice.recommendation())


def _paragraphs(choice: Choice) -> list[str]:
    """The decision, and then what else to know, if there is anything."""
    lead, *others = sentences(choice)
    return [lead, *([" ".join(others)] if others else [])]


def gains_told(choice: Choice) -> list[str]:
    """For all that was compared on, how many queries gain and lose against the background, and which the most."""
    return [_gains_told(choice, name, seen) for name, seen in _comparisons(choice).items()]


def printed(choice: Choice, evidence: dict[str, Any], folder: Folder, *, as_json: bool) -> None:
    """The decision, and the tables below it; or the evidence as JSON."""
    if as_json:
        echo(_json(evidence))
        return
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    tables = [_narrow(choice.grid(), choice, width)]
    for name, seen in list(_comparisons(choice).items())[1:]:
        grid = replace(choice.grid(seen, f"{name}: {seen[choice.name].source}"), notes=())
        tables.append(_narrow(grid, choice, width, ("size", "seconds")))
    if choice.curve is not None:
        tables.append(_narrow(choice.curve.grid(), choice, width))
    words = [textwrap.fill(part, width, break_on_hyphens=False) for part in _paragraphs(choice)]
    gains = "\n".join(textwrap.fill(told, width, break_on_hyphens=False) for told in gains_told(choice))
    ends = gains, _files_told(choice, evidence, folder), _next_told(choice, evidence, folder)
    echo("\n\n".join([*words, *(grid.text() for grid in tables), *ends]))


def _comparisons(choice: Choice) -> dict[str, Comparison]:
    """All that was compared on, the target first."""
    every = {"target": choice.unseen, "test": choice.test, "open": choice.shifted}
    return {name: seen for name, seen in every.items() if seen is not None}


def _narrow(grid: Grid, choice: Choice, width: int, without: Sequence[str] = ()) -> Grid:
    """A table for a terminal: one measure, and no more columns than fit."""
    others = {str(measure) for measure in choice.unseen.measures[1:]}
    found = _with_columns(grid, [name for name in grid.header if name not in {*others, *without}])
    for name in ("seconds", "size"):
        if name in found.header and max(map(len, replace(found, title="", notes=()).text().split("\n"))) > width:
            found = _with_columns(found, [other for other in found.header if other != name])
    notes = tuple(line for note in found.notes for line in textwrap.wrap(note, width))
    return replace(found, notes=notes)


def _with_columns(grid: Grid, names: Sequence[str]) -> Grid:
    places = [place for place, name in enumerate(grid.header) if name in names]
    return replace(
        grid,
        header=tuple(grid.header[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in grid.rows),
        align="".join(grid.align[place] for place in places),
        strong=frozenset((row, places.index(column)) for row, column in grid.strong if column in places),
    )


def _gains_told(choice: Choice, name: str, seen: Comparison) -> str:
    sign = sign_of(choice.measure)
    changes = [(qid, after - before) for qid, before, after in choice.gains(seen)]
    better, worse = (sum(sign * way * change > 0.0 for _, change in changes) for way in (1.0, -1.0))
    (first, most), (last, least) = changes[0], changes[-1]
    ends = [f"most {first} ({number(most, signed=True)})"] * bool(better)
    ends += [f"worst {last} ({number(least, signed=True)})"] * bool(worse)
    told = f": {', '.join(ends)}" if ends else ""
    return f"Of {len(changes)} {name} queries {better} gain by {choice.name} and {worse} lose{told}."


def _files_told(choice: Choice, evidence: Mapping[str, Any], folder: Folder) -> str:
    """What is where."""
    best, forest = evidence["background"], evidence["background_forest"]
    several = [] if best is None else [f"'background' is {best}, the best of them on the target."]
    if forest not in {None, best}:
        several.append(f"Trada and additive start from {forest}, the best forest of them.")
    lines = {
        "model.rankinite": f"the ranker to deploy: {choice.verdict.recommended}",
        CANDIDATE: f"the candidate, {choice.name}, which is not to be deployed",
        "report.html": "all of this as a page to look at, query by query too",
        "evidence.md": "these tables, with all measures and settings; evidence.json: in all digits",
        "gains.csv": "what every query gains or loses against the background",
        "adapt.toml": "the settings: rankinite adapt --config repeats the run",
        "models/": "the ranker of every method" if evidence["models"] else "rankers of an earlier run",
        "trials/": "finished methods, from which the same command goes on; remove it when done",
    }
    shown = {name: what for name, what in lines.items() if (folder.path / name).exists()}
    width = max(map(len, shown))
    return "\n".join([*several, f"In {folder.path}:", *(f"  {name:<{width}}  {what}" for name, what in shown.items())])


def _tuned_file(evidence: Mapping[str, Any]) -> str:
    """The file of the forest that was tuned."""
    files = dict(named(spec) for spec in evidence["inputs"]["backgrounds"]["files"])
    return files.get(evidence["background_forest"], next(iter(files.values())))


def _next_told(choice: Choice, evidence: Mapping[str, Any], folder: Folder) -> str:
    """What to do now."""
    lines = [f"  rankinite score {shlex.quote(str(folder.model))} NEW.txt"]
    kinds = {trial.method.name: trial.method.kind for trial in choice.trials}
    if kinds[choice.name] == "tuned trees":
        tuned, background = (shlex.quote(name) for name in (evidence["candidate"] or evidence["model"], _tuned_file(evidence)))
        lines.append(f"  rankinite inspect {tuned} --moved {background}    # what was tuned")
    missing = [name for name, why in choice.refused.items() if "background's data" in why]
    if missing:
        lines.append(f"  give --background-data to try {', '.join(missing)} too, with --overwrite in the same folder")
    if choice.test is None:
        lines.append("  give --test to see all methods on queries that decided nothing, with --overwrite in the same folder")
    return "\n".join(["Next:", *lines])


# ---- files ----------------------------------------------------------------------------------------------------------


def _markdown(choice: Choice, evidence: Mapping[str, Any]) -> str:
    """All tables with all measures, and what they were made from."""
    from rankinite.evaluation.meaning import MEANING

    titles = {
        "target": "On target queries, each judged by rankers that had not seen it: this decides",
        "test": "On the test data",
        "open": "On the open data",
    }
    parts = [f"# {choice.name}, adapted to {markdown_text(choice.unseen[choice.name].source)}"]
    parts += [markdown_text(part) for part in _paragraphs(choice)]
    parts.append("\n".join(f"- {markdown_text(told)}" for told in gains_told(choice)))
    for name, seen in _comparisons(choice).items():
        parts += [f"## {titles[name]}", choice.grid(None if name == "target" else seen, seen[choice.name].source).markdown()]
    parts += [f"## {MEANING}", "\n".join(f"- {markdown_text(sentence)}" for sentence in choice.explanation())]
    if choice.curve is not None:
        parts += ["## By the number of target queries", choice.curve.grid().markdown()]
    rows = tuple((trial.method.name, trial.method.what, trial.method.kind) for trial in choice.trials)
    parts += ["## The methods", Grid(("method", "what it is", "kind"), rows, "lll").markdown()]
    about = {
        name: evidence[name]
        for name in ("command", "inputs", "sha256", "settings", "background", "background_forest", "versions", "seconds")
    }
    parts += ["## How this was made", f"```json\n{for_terminal(_json(about))}```"]
    return "\n\n".join(parts) + "\n"


def _gains_csv(choice: Choice) -> str:
    """One line a query, the largest gain first; for spreadsheets, to which some qids would be formulas."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "qid", "background", "chosen", "change"])
    for name, seen in _comparisons(choice).items():
        for qid, before, after in choice.gains(seen):
            writer.writerow([name, for_spreadsheet(qid), repr(before), repr(after), repr(after - before)])
    return text.getvalue()


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as handle:
        handle.write(text.encode())


def digest_of(spec: str) -> str | None:
    """The hash of a file, if it is one that is still there: pipes are not."""
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
