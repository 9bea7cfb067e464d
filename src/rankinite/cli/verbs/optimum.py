"""``rankinite optimum``: whether a model's weights are a local optimum."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError

CURVES = 12
"""Weights whose curves --plot draws."""


@options.with_options(reading=options.Reading())
def optimum(
    model: Annotated[str, RANKER, typer.Argument(help="A model file: a net, a linear ranker, or a blend that ends in one.")],
    data: options.DataArgument,
    measure: Annotated[
        str,
        typer.Option("--measure", "-m", help="The measure, such as ndcg@10 or err.", autocompletion=completing.measures),
    ] = "ndcg@10",
    steps: Annotated[
        str | None,
        typer.Option(
            help="How far weights are moved, as shares of the length of all of them together; the shortest step at which fewer "
            "than 5 % of the directions leave the measure unchanged gives the verdict. "
            r"[dim]\[default: 0.005,0.01,0.02,0.05,0.1][/dim]",
        ),
    ] = None,
    step: Annotated[
        float | None, typer.Option(min=0.0, help="Give the verdict at this step, not at the shortest that can tell.")
    ] = None,
    share: Annotated[float, typer.Option(help="The verdict is about this share of directions leading up.")] = 0.01,
    confidence: Annotated[float, typer.Option(help="How sure the verdict should be.")] = 0.99,
    directions: Annotated[
        int | None,
        typer.Option(min=1, help="Random directions to try; if left out, as many as share and confidence take: 459."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of the directions.")] = 0,
    plot: Annotated[
        Path | None,
        files.FILE,
        typer.Option(help=f"Draw the measure as each of the {CURVES} largest weights is moved (.png, .svg or .pdf)."),
    ] = None,
    json: options.JsonSummary = False,
    quiet: bool = False,
    *,
    reading: options.Reading,
) -> None:
    """Test whether the weights of a net or a linear ranker are a local optimum of a measure.

    Measures such as NDCG have no gradient, so the weights are moved a little in many random directions: if the measure rises
    along none of 459, then with 99 % confidence fewer than 1 % of all directions lead up. Give the data the model was
    trained on, at least a thousand queries: on few the measure is a step function.

    Long steps lead over an optimum that is near, short ones change nothing. So several are tried, and the verdict is that of
    the shortest at which fewer than 5 % of the directions leave the measure unchanged; if there is none, there is no verdict.
    The table shows where directions lead at each step, and how many lead up on parts of the queries.

    Examples:

      rankinite optimum net.rankinite train.txt.gz --measure ndcg@10

      rankinite optimum net.rankinite train.txt.gz -m err --steps 0.01,0.03,0.1 --plot curves.png
    """
    from rankinite.cli.output import echo
    from rankinite.cli.pictures import check_picture, save_picture
    from rankinite.models.local_optimum import STEPS, local_optimum

    if plot is not None:
        check_picture(plot)
        files.check_writeable(plot)
    judged, models = rankers.read_for({model: rankers.ranker(model)}, data, reading)
    with _progress_bar(quiet) as show:
        found = local_optimum(
            models[model],
            judged,
            measure,
            step=step,
            steps=STEPS if steps is None else _lengths(steps),
            share=share,
            confidence=confidence,
            directions=directions,
            curves=0 if plot is None else CURVES,
            seed=seed,
            told=show,
        )
    if plot is not None:
        save_picture(plot, found.plot)
    if json:
        import json as writer

        echo(writer.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        echo(str(found))


def _lengths(text: str) -> list[float]:
    try:
        return [float(length) for length in text.split(",")]
    except ValueError as error:
        remedy = "Write numbers above 0 with commas between them, such as 0.01,0.03,0.1"
        raise ArgumentError("are no steps", setting="steps", value=text, remedy=remedy) from error


@contextmanager
def _progress_bar(quiet: bool) -> Generator[Callable[[int, int], None] | None]:
    """A callback that moves a bar on a terminal; None elsewhere."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with Bars(console=console) as bars:
        task = bars.add_task("trying directions", total=None)
        yield lambda done, every: bars.update(task, completed=done, total=every)
