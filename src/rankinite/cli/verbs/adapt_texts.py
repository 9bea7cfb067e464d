"""Texts of ``rankinite adapt``: what is printed, the evidence as Markdown, the gains as CSV."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankinite.cli.output import echo
from rankinite.cli.ranker_arguments import named
from rankinite.grid import Grid, markdown_text, number
from rankinite.measures.base import sign_of
from rankinite.plurals import agreeing, counted
from rankinite.safe_text import for_spreadsheet, for_terminal
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice
    from rankinite.cli.verbs.adapt_results import Folder
    from rankinite.evaluation.compare import Comparison

WIDTH = 100
"""The widest that tables and lines may be, where that is possible."""
MODEL_IS = {"deploy": "the ranker to deploy", "try online": "the ranker to try online", "keep": "the ranker to keep"}
"""What model.rankinite is, by the decision."""
CANDIDATE = "candidate.rankinite"
"""The method chosen, where the advice is to keep the background."""


def _paragraphs(choice: Choice) -> list[str]:
    """The decision, and then what else to know, if there is anything."""
    lead, *others = choice.recommendation()
    return [lead, *([" ".join(others)] if others else [])]


def gain_sentences(choice: Choice) -> list[str]:
    """For all data that were compared on: how many queries gain and lose against the background, and which the most."""
    return [_gain_sentence(choice, name, seen) for name, seen in _comparisons(choice).items()]


def printed(choice: Choice, evidence: dict[str, Any], folder: Folder, *, as_json: bool) -> None:
    """The decision, and the tables below it; or the evidence as JSON."""
    if as_json:
        echo(json_text(evidence))
        return
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    tables = [_narrow(choice.grid(), choice, width)]
    for name, seen in list(_comparisons(choice).items())[1:]:
        grid = replace(choice.grid(seen, f"{name}: {short_source(seen[choice.name].source)}"), notes=())
        tables.append(_narrow(grid, choice, width, ("size", "seconds")))
    if choice.curve is not None:
        tables.append(_narrow(choice.curve.grid(), choice, width))
    words = [textwrap.fill(part, width, break_on_hyphens=False) for part in _paragraphs(choice)]
    gains = "\n".join(textwrap.fill(gain, width, break_on_hyphens=False) for gain in gain_sentences(choice))
    ends = gains, _files_text(choice, evidence, folder), _next_steps(choice, evidence, folder)
    echo("\n\n".join([*words, *(grid.text() for grid in tables), *ends]))


def _comparisons(choice: Choice) -> dict[str, Comparison]:
    """All comparisons by their data, the target first."""
    every = {"target": choice.unseen, "test": choice.test, "shifted": choice.shifted}
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


def _gain_sentence(choice: Choice, name: str, seen: Comparison) -> str:
    sign = sign_of(choice.measure)
    changes = [(qid, after - before) for qid, before, after in choice.gains(seen)]
    better, worse = (sum(side * change > 0.0 for _, change in changes) for side in (sign, -sign))
    (first, most), (last, least) = changes[0], changes[-1]
    ends = [f"most {first} ({number(most, signed=True)})"] * bool(better)
    ends += [f"worst {last} ({number(least, signed=True)})"] * bool(worse)
    examples = f": {', '.join(ends)}" if ends else ""
    gain, lose = agreeing(better, "gains"), agreeing(worse, "loses")
    return f"Of {counted(len(changes), f'{name} query')} {better} {gain} by {choice.name} and {worse} {lose}{examples}."


def _files_text(choice: Choice, evidence: Mapping[str, Any], folder: Folder) -> str:
    """The files of the folder, and what each is."""
    best, forest = evidence["background"], evidence["background_forest"]
    several = [] if best is None else [f"'background' is {best}, the best of them on the target."]
    if forest not in {None, best}:
        several.append(f"Trada and additive start from {forest}, the best forest of them.")
    lines = {
        "model.rankinite": f"{MODEL_IS[choice.verdict.decision]}: {choice.verdict.recommended}",
        CANDIDATE: f"{choice.name}, which is not recommended",
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


def _next_steps(choice: Choice, evidence: Mapping[str, Any], folder: Folder) -> str:
    """Commands to run next."""
    from rankinite.adapt.methods.catalogue import NO_DATA

    lines = [f"  rankinite score {shlex.quote(str(folder.model))} NEW.txt"]
    place = evidence["settings"].get("deployable")
    if place is not None:
        lines.append(f"  rankinite export {shlex.quote(str(folder.model))} --to {place} -o FOLDER")
    kinds = {trial.method.name: trial.method.kind for trial in choice.trials}
    if kinds[choice.name] == "tuned trees":
        tuned, background = (shlex.quote(name) for name in (evidence["candidate"] or evidence["model"], _tuned_file(evidence)))
        lines.append(f"  rankinite inspect {tuned} --moved {background}    # what was tuned")
    without_data = [name for name, error in choice.refusals.items() if error.value == NO_DATA]
    if without_data:
        lines.append(f"  give --background-data to try {', '.join(without_data)} too, with --overwrite in the same folder")
    if choice.test is None:
        lines.append("  give --test to see all methods on queries that decided nothing, with --overwrite in the same folder")
    return "\n".join(["Next:", *lines])


# ---- files ----------------------------------------------------------------------------------------------------------


def evidence_markdown(choice: Choice, evidence: Mapping[str, Any]) -> str:
    """All tables with all measures, and the inputs and settings of the run."""
    from rankinite.adapt.serving_costs import costs_grid
    from rankinite.evaluation.sentences import MEANING

    titles = {
        "target": "On target queries, each judged by rankers that had not seen it",
        "test": "On the test data",
        "shifted": "On the shifted data",
    }
    parts = [f"# {choice.name}, adapted to {markdown_text(short_source(choice.unseen[choice.name].source))}"]
    parts += [markdown_text(part) for part in _paragraphs(choice)]
    parts.append("\n".join(f"- {markdown_text(gain)}" for gain in gain_sentences(choice)))
    for name, seen in _comparisons(choice).items():
        parts += [
            f"## {titles[name]}",
            choice.grid(None if name == "target" else seen, short_source(seen[choice.name].source)).markdown(),
        ]
    parts += [f"## {MEANING}", "\n".join(f"- {markdown_text(sentence)}" for sentence in choice.explanation())]
    if choice.curve is not None:
        parts += ["## By the number of target queries", choice.curve.grid().markdown()]
    if choice.costs:
        parts += ["## What serving each would take", costs_grid(choice.costs).markdown()]
    rows = tuple((trial.method.name, trial.method.what, trial.method.kind) for trial in choice.trials)
    parts += ["## The methods", Grid(("method", "what it is", "kind"), rows, "lll").markdown()]
    about = {
        name: evidence[name]
        for name in ("command", "inputs", "sha256", "settings", "background", "background_forest", "versions", "seconds")
    }
    parts += ["## How this was made", f"```json\n{for_terminal(json_text(about))}```"]
    return "\n\n".join(parts) + "\n"


def gains_csv(choice: Choice) -> str:
    """One line per query, the largest gain first; qids that a spreadsheet would take for formulas are made safe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "qid", "background", "chosen", "change"])
    for name, seen in _comparisons(choice).items():
        for qid, before, after in choice.gains(seen):
            writer.writerow([name, for_spreadsheet(qid), repr(before), repr(after), repr(after - before)])
    return text.getvalue()


def json_text(content: Mapping[str, Any]) -> str:
    """The evidence as JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
