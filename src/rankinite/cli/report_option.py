"""Reports on the command line: ``--report PATH`` and ``--summary PATH``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from rankinite.cli.files import FILE, Output, check_writeable
from rankinite.cli.messages import busy, say

if TYPE_CHECKING:
    from rankinite.adapt.choice import Choice
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


SummaryOption: TypeAlias = Annotated[
    Path | None,
    FILE,
    typer.Option(
        "--summary",
        help="Write half a page here for those who decide: the verdict, one number, how sure it is, what serving costs, and "
        "what to do next. The name ends in .md or .html.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class ReportFiles:
    """The files that a verb writes about its result."""

    report: ReportOption = None
    summary: SummaryOption = None

    def __bool__(self) -> bool:
        return self.report is not None or self.summary is not None

    def check(self) -> None:
        """Refuse what could not be written, before time is spent on training or comparing."""
        from rankinite.report.html import check_path

        if self.report is not None:
            target = check_path(self.report)
            check_writeable(target)
            check_writeable(target.with_suffix(".json"))
        check_summary(self.summary)

    def write(self, report: Report) -> None:
        """Write those asked for, and print a note where they are."""
        if self.report is not None:
            _write(report, self.report)
            say(f"{self.report}: the report; its data are in {self.report.with_suffix('.json').name}")
        if self.summary is not None:
            _write_summary(report, self.summary)


def check_summary(path: Path | None) -> None:
    """Refuse a summary that could not be written."""
    from rankinite.report.summary import check_summary_path

    if path is not None:
        check_writeable(check_summary_path(path))


def command_given() -> str:
    """The command line that was typed."""
    return shlex.join(["rankinite", *sys.argv[1:]])


def run_facts(settings: Mapping[str, Any] | None = None) -> dict[str, Mapping[str, Any]]:
    """The command that was given, for a report's last part; ``settings``: what else to list beside it."""
    return {"Run": {"command": command_given(), **(settings or {})}}


def write_choice(
    choice: Choice, data: Mapping[str, Dataset], path: Path, settings: Mapping[str, Any], summary: Path | None = None
) -> None:
    """Write the report of an adaptation; ``data`` by the options that named them: train, perhaps test, valid, shifted, …."""
    from rankinite.report.builders import of_choice

    with busy("making the report"):
        others = {name.replace("_", " "): other for name, other in data.items() if name not in {"train", "test"}}
        report = of_choice(choice, data["train"], test=data.get("test"), data=others, facts=run_facts(settings))
    _write(report, path)
    if summary is not None:
        _write_summary(report, summary)


def _write(report: Report, path: Path) -> None:
    from rankinite.report.html import write

    with busy(f"writing {path}"):
        write(report, path)


def _write_summary(report: Report, path: Path) -> None:
    from rankinite.report.summary import write_summary

    write_summary(report, path)
    say(f"{path}: half a page for those who decide")
