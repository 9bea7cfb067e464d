"""``rankinite reproduce``: the tables and figures of the papers, made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.cli import options
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.files import Output
from rankinite.cli.messages import say
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.grid import Grid


@options.with_options(placing=ClusterOptions())
def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="A paper; all if left out. 000: Wu and others 2009; 001: Gao and others 2009; 002: Burges 2010; 003: Chen and "
            "others 2008 (Trada); 004: Burges and others 2011.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        list[str] | None, typer.Argument(help="Its tables and figures, as in table-1; all if left out.", show_default=False)
    ] = None,
    list_items: Annotated[
        bool, typer.Option("--list", help="List the items with the minutes they take on two cores, and run nothing.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", "-d", help="The folder with mq2007, mq2008 and classic; without it only artificial data are used.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small data and few rounds: shows in seconds that an item runs; decides nothing.")
    ] = False,
    out: Annotated[
        Path,
        Output(is_folder=lambda _path: True),
        typer.Option("--out", "-o", help="A folder for the pages and for finished cases, from which the next run goes on."),
    ] = Path("reproduced"),
    redo: Annotated[bool, typer.Option("--redo", help="Make finished cases again.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Only write the pages anew from what is kept in --out.")] = False,
    quiet: bool = False,
    json: Annotated[bool, typer.Option("--json", help="Print the claims with their verdicts, or the list, as JSON.")] = False,
    *,
    placing: ClusterOptions,
) -> None:  # fmt: skip
    """Reproduce the tables and figures of the five papers: ours beside theirs, with a verdict for every claim.

    Experiments are made in cases, and each finished case is kept in the folder --out: a run that was ended goes on there. The
    pages reproduction.md and reproduction/000.md to 004.md are written from all cases that are kept.

    Examples:

      rankinite reproduce --list

      rankinite reproduce 000 table-1 --data judged

      rankinite reproduce 003 --quick

      rankinite reproduce --data judged --out results --workers 2
    """
    from rankinite.cli.output import echo, echo_json
    from rankinite.cli.progress import trying
    from rankinite.reproduce.running import run, write_kept

    if list_items:
        listed = _listing(paper, items or [])
        if json:
            echo_json([dict(zip(listed.header, row, strict=True)) for row in listed.rows])
        else:
            echo(listed.text())
        return
    if pages:
        written = write_kept(out, quick=quick)
        say(f"{counted(len(written), 'file')} written, {written[0]} first")
        return
    with placing.in_force(), trying(quiet=quiet) as watch:
        found = run(paper, *(items or ()), data=data, quick=quick, out=out, redo=redo, watch=watch)
    if json:
        echo_json(
            [{"paper": one.item.paper, "item": one.item.name, "claims": list(map(vars, one.findings))} for one in found.found]
        )
    else:
        echo(str(found))
    if found.left_out:
        say(f"left out {counted(len(found.left_out), 'case')} on real data; give their folder with --data")
    if quick:
        say("quick versions decide nothing; leave out --quick for the real ones")
    say(f"pages: {found.pages[0]}")


def _listing(paper: str | None, names: list[str]) -> Grid:
    """The items, and how long each takes by itself."""
    from rankinite.grid import Grid
    from rankinite.reproduce.experiment import Lab
    from rankinite.reproduce.running import asked

    rows: list[tuple[str, ...]] = []
    for item in asked(paper, names):
        times = dict.fromkeys((True, False), 0.0)
        for experiment in item.experiments:
            for case in experiment.cases(Lab()):
                times[case.real] += case.seconds / 60.0
        rows.append((item.paper, item.name, item.title, f"{times[True]:.0f}", f"{times[False]:.0f}"))
    notes = ("Minutes are about those on two cores. Items that share an experiment share its time.",)
    header = ("paper", "item", "what it shows", "min, real data", "min, artificial")
    return Grid(header, tuple(rows), "lllrr", notes=notes)
