"""The command and its verbs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import typer

import rankinite
from rankinite.cli import adapt, combine, compare, convert, demo, describe, evaluate, inspect, optimum, score, synth, train

app = typer.Typer(
    name="rankinite",
    help="Learning to rank: make, describe and convert judged data; train, adapt, evaluate and compare rankers.",
    epilog="Exit codes: 0 all went well, 1 a fault of the program, 2 bad input (the message says what, where and what to do), "
    "130 ended by Ctrl-C.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankinite {rankinite.__version__}")
        raise typer.Exit


@contextmanager
def _threads(count: int | None) -> Generator[None]:
    if count is None:
        yield
        return
    from rankinite.parallel import threads

    with threads(count):
        yield


@app.callback()
def options(
    context: typer.Context,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Threads to use; all cores if left out.")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Settings shared by all verbs."""
    context.with_resource(_threads(threads))


DATA, RANKERS, FIRST = "Data", "Rankers", "First steps"
app.command("demo", rich_help_panel=FIRST)(demo.demo)
app.command("synth", rich_help_panel=DATA)(synth.synth)
app.command("describe", rich_help_panel=DATA)(describe.describe)
app.command("convert", rich_help_panel=DATA)(convert.convert)
app.command("train", rich_help_panel=RANKERS)(train.train)
app.command("adapt", rich_help_panel=RANKERS)(adapt.adapt)
app.command("score", rich_help_panel=RANKERS)(score.score)
app.command("inspect", rich_help_panel=RANKERS)(inspect.inspect)
app.command("evaluate", rich_help_panel=RANKERS)(evaluate.evaluate)
app.command("compare", rich_help_panel=RANKERS)(compare.compare)
app.command("combine", rich_help_panel=RANKERS)(combine.combine)
app.command("optimum", rich_help_panel=RANKERS)(optimum.optimum)
