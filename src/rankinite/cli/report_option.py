"""Reports on the command line: ``--report PATH``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from rankinite.cli.files import Output, check_writeable
from rankinite.cli.messages import busy, say

if TYPE_CHECKING:
    from rankinite.adapt.result import Choice
    from rankinite.data.dataset import Dataset
    from rankinite.report.document import Report

ReportOption: TypeAlias = Annotated[
    Path | None,
    Output(also=lambda path: [path.with_suffix(".json")]),
    typer.Option(
        "--report",
        help="Write a report here: one HTML file to look at and pass on; its data go beside it as JSON.",
        show_default=False,
    ),
]


def check_report(path: Path | None) -> None:
    """Refuse a report that could not be written, before time is spent on training or comparing."""
    from rankinite.report.html import check_path

    if path is not None:
        target = check_path(path)
        check_writeable(target)
        check_writeable(target.with_suffix(".json"))


def command_given() -> str:
    """The command line that was typed."""
    return shlex.join(["rankinite", *sys.argv[1:]])


def run_facts(settings: Mapping[str, Any] | None = None) -> dict[str, Mapping[str, Any]]:
    """The command that was given, for a report's last part; ``settings``: what else to list beside it."""
    return {"Run": {"command": command_given(), **(settings or {})}}


def write_report(report: Report, path: Path) -> None:
    """Write a report, and print a note where it is."""
    _write(report, path)
    say(f"{path}: the report; its data are in {path.with_suffix('.json').name}")


def write_choice(choice: Choice, data: Mapping[str, Dataset], path: Path, settings: Mapping[str, Any]) -> None:
    """Write the report of an adaptation; ``data`` by the options that named them: train, perhaps test, valid, shifted, …."""
    from rankinite.report.builders import of_choice

    with busy("making the report"):
        others = {name.replace("_", " "): other for name, other in data.items() if name not in {"train", "test"}}
        report = of_choice(choice, data["train"], test=data.get("test"), data=others, facts=run_facts(settings))
    _write(report, path)


def _write(report: Report, path: Path) -> None:
    from rankinite.report.html import write

    with busy(f"writing {path}"):
        write(report, path)
