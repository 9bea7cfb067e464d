"""``python -m papers``: the tables and figures of the papers, made again."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

import rankinite as rk
from papers.experiment import RunContext
from papers.item import items_of
from papers.results import processor
from papers.running import Step, run, write_kept
from rankinite.grid import Grid
from rankinite.installed import version_line
from rankinite.plurals import counted

PLACES = "Where cases are run"
app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.command()
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
        typer.Option("--out", "-o", help="A folder for the pages and for finished cases, from which the next run goes on."),
    ] = Path("reproduced"),
    redo: Annotated[bool, typer.Option("--redo", help="Make finished cases again.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Only write the pages anew from what is kept in --out.")] = False,
    print_json: Annotated[
        bool, typer.Option("--json", help="Print the claims with their verdicts, or the list, as JSON.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes on this machine, each with its share of the cores.", rich_help_panel=PLACES),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="The address of a running Dask scheduler, as in tcp://head:8786, or the JSON file it writes.",
            rich_help_panel=PLACES,
        ),
    ] = None,
    share: Annotated[
        Path | None,
        typer.Option(
            help="A folder for data and finished fits that all machines of --cluster see under the same path.",
            rich_help_panel=PLACES,
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; all cores if left out.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors, nothing else.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Also print the versions and the machine.")] = False,
) -> None:  # fmt: skip
    """Reproduce the tables and figures of the five papers: ours beside theirs, with a verdict for every claim.

    Experiments are made in cases, and each finished case is kept in the folder --out: a run that was ended goes on there. The
    pages reproduction.md and reproduction/000.md to 004.md are written from all cases that are kept.

    Examples:

      python -m papers --list

      python -m papers 000 table-1 --data judged

      python -m papers 003 --quick

      python -m papers --data judged --out results --workers 2
    """

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr)

    def show(step: Step) -> None:
        took = "kept from an earlier run" if step.kept else f"{step.seconds:.1f} s"
        say(f"{step.experiment}: {step.case}: {took}; {step.done:.0%} of the work is done")

    if list_items:
        listed = _listing(paper, items or [])
        print(_json([dict(zip(listed.header, row, strict=True)) for row in listed.rows]) if print_json else listed.text())
        return
    if pages:
        written = write_kept(out, quick=quick)
        say(f"{counted(len(written), 'file')} written, {written[0]} first")
        return
    if workers is not None and cluster is not None:
        raise typer.BadParameter("--workers does not go with --cluster, which has workers of its own")
    if share is not None and workers is None and cluster is None:
        raise typer.BadParameter("--share is for workers, but there are none: give --workers or --cluster too")
    if cluster is not None and share is None:
        raise typer.BadParameter("--cluster needs a folder that its workers share with this machine: give --share")
    if verbose:
        say(f"{version_line()}; {processor()}")
    where = workers or cluster
    with (
        nullcontext() if threads is None else rk.threads(threads),
        nullcontext() if where is None else rk.cluster(where, share=share, threads=threads),
    ):
        found = run(paper, *(items or ()), data=data, quick=quick, out=out, redo=redo, watch=show)
    if print_json:
        claims = [{"paper": r.item.paper, "item": r.item.name, "claims": list(map(vars, r.findings))} for r in found.found]
        print(_json(claims))
    else:
        print(found)
    if found.left_out:
        say(f"left out {counted(len(found.left_out), 'case')} on real data; give their folder with --data")
    if quick:
        say("quick versions decide nothing; leave out --quick for the real ones")
    say(f"pages: {found.pages[0]}")


def _listing(paper: str | None, names: list[str]) -> Grid:
    """The items, and how long each takes by itself."""
    rows: list[tuple[str, ...]] = []
    for item in items_of(paper, names):
        minutes = {True: 0.0, False: 0.0}
        for experiment in item.experiments:
            for case in experiment.cases(RunContext()):
                minutes[case.real] += case.seconds / 60.0
        rows.append((item.paper, item.name, item.title, f"{minutes[True]:.0f}", f"{minutes[False]:.0f}"))
    notes = ("Minutes are about those on two cores. Items that share an experiment share its time.",)
    header = ("paper", "item", "what it shows", "min, real data", "min, artificial")
    return Grid(header, tuple(rows), "lllrr", notes=notes)


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def main(arguments: list[str] | None = None) -> None:
    try:
        app(arguments, prog_name="python -m papers")
    except rk.RankiniteError as problem:
        print(f"papers: {problem}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
