"""``rankinite distil``: one small forest in place of a large ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import completion as completing
from rankinite.cli import options


@options.with_options(reading=options.Reading())
def distil(
    model: Annotated[
        Path, typer.Argument(help="The teacher: a model file.", show_default=False, autocompletion=completing.rankers)
    ],
    data: Annotated[
        list[Path],
        typer.Option(
            "--data", "-d", help="Queries to learn from, judged for the baseline; may be repeated.", show_default=False
        ),
    ],
    out: options.OutOption,
    unjudged: Annotated[
        list[Path] | None,
        typer.Option(help="Further rows to grow trees from; their grades are not looked at. May be repeated."),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test",
            "-t",
            help="Queries that the table is about, which teacher and student were not trained on; folds of the data if left out.",
        ),
    ] = None,
    trees: Annotated[int, typer.Option(min=1, help="Trees of the student, at most.")] = 100,
    leaves: Annotated[int, typer.Option(min=2, help="Leaves of trees that are grown, and of the baseline.")] = 31,
    how: Annotated[
        str,
        typer.Option(
            help="select: trees of the teacher, weighed anew; grow: new trees towards its scores; best: both, and the one that "
            "is nearer the teacher on queries held out."
        ),
    ] = "best",
    made: Annotated[int, typer.Option(min=0, help="Copies of all rows with mixed features to grow from too.")] = 0,
    folds: Annotated[int, typer.Option(min=2, help="Folds that choose, and judge without --test.")] = 3,
    measure: options.OneMeasureOption = "ndcg@10",
    seed: Annotated[int, typer.Option("--seed", "-s", help="Seed of all that is drawn.")] = 0,
    json: options.JsonOption = False,
    *,
    reading: options.Reading,
) -> None:
    """Distil a large ranker into one small forest that ranks alike and scores faster.

    The table shows size, time and quality of the teacher, the student and a forest of the student's size that had no teacher.

    Examples:

      rankinite distil ensemble.rankinite --data train.txt.gz --test test.txt.gz --trees 100 --out small.rankinite

      rankinite distil ensemble.rankinite --data train.txt.gz --unjudged log.parquet --how grow --made 2 --out small.rankinite
    """
