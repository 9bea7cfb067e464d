"""``rankinite describe``: what is in judged data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import options


@options.with_options(reading=options.Reading(infinite="keep", unjudged="keep"))
def describe(
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Judged data, each described by itself: LETOR (.gz, .zst, .xz too), Parquet, Arrow, CSV, TREC qrels, or a "
            "folder of bins."
        ),
    ],
    show_features: Annotated[
        int, typer.Option("--show-features", min=0, help="How many features to list; 0: all of them.")
    ] = 12,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    *,
    reading: options.Reading,
) -> None:
    """Show queries, documents, grades and features of each file, and what is odd: duplicates, constant features, features
    that look like ids, positions or clicks, and queries that teach nothing. Several files must have the same features, as
    train and test data do. Of a folder of bins it shows what codes tell: bins, missing values, categories.

    Examples:

      rankinite describe train.txt.gz

      rankinite describe train.txt valid.txt test.txt --show-features 0
    """
    from rankinite.binned.data import Binned
    from rankinite.binned.description import CodedDescription, describe_bins
    from rankinite.binned.folder import is_bins
    from rankinite.cli.error_text import spelled
    from rankinite.cli.output import echo, laid_out
    from rankinite.data.describe import describe as describe_data
    from rankinite.data.joining import check_same_features

    options.refuse_count(reading.features)
    read = [Binned(path) if is_bins(path) else reading.read([path]) for path in data]
    for other in read[1:]:
        check_same_features(read[0], other)
    found = [describe_bins(judged) if isinstance(judged, Binned) else describe_data(judged) for judged in read]
    if json or layout == "json":
        import json as writer

        echo(writer.dumps([description.to_dict() for description in found], indent=2, allow_nan=False))
        return
    for number, description in enumerate(found):
        if number:
            print()
        tables = description.grids(show_features or None, "--show-features 0 lists all")
        own = slice(1, 2) if isinstance(read[number], Binned) else slice(2, 3)
        for grid in tables[own] if layout == "csv" else tables:  # CSV: one table per stream
            echo(laid_out(grid, layout) + "\n\n")
        if layout in {"text", "markdown"}:
            coded = isinstance(description, CodedDescription)
            echo("\n".join(description.oddities() if coded else description.oddities(spelled)))
