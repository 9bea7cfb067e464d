"""``rankinite check``: what an engine returned against what the exported model must give."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import options


@options.with_options(reading=options.Reading(unjudged="keep"))
def check(
    folder: Annotated[Path, typer.Argument(help="The folder that export wrote.", show_default=False)],
    scores: Annotated[
        Path,
        typer.Option(
            "--scores",
            help="The scores that the engine returned, one per line (or .npy): of the rows of sample.csv in the folder, or of "
            "--data.",
            show_default=False,
        ),
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", "-d", help="The rows that were scored, such as logged features; sample.csv if left out."),
    ] = None,
    json: options.JsonSummary = False,
    *,
    reading: options.Reading,
) -> None:
    """Check served scores: compare what an engine returned with what the exported model must give.

    Exit code 0 if all are equal, but for digits that were not printed; 1 if some differ. Where the cause can be told from the
    scores (a constant added, missing values taken for 0), it is printed.

    Exit code 1 also where scores are equal but features are wrong: one that no row of --data has, values outside the range of
    the sample of the export, or one score for all rows.

    Examples:

      rankinite check shop --scores served.txt

      rankinite check shop --scores served.txt --data logged.parquet
    """
    from rankinite.cli.output import echo, echo_json
    from rankinite.data.io.plain_scores import score_column
    from rankinite.serving.served_scores import check_served

    served = score_column(scores)
    rows = None if data is None else reading.read(data)
    found = check_served(folder, served, rows)
    if json:
        names = ("rows", "equal", "near", "largest_difference", "first_difference", "as_expected", "reasons", "findings")
        echo_json({name: getattr(found, name) for name in names})
    else:
        echo(found.text())
    if not found.as_expected:
        raise typer.Exit(1)
