"""``rankinite convert``: the same judged data in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import options


@options.with_options(reading=options.Reading())
def convert(
    data: options.DataArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Where to write: .parquet, or LETOR text (.txt, .gz, .zst, .xz).", show_default=False),
    ],
    *,
    reading: options.Reading,
) -> None:
    """Rewrite judged data, cleaned on the way: rows of a query together, odd values handled as the options say.

    Examples:

      rankinite convert train.txt.gz -o train.parquet

      rankinite convert S1.txt S2.txt S3.txt -o train.txt.zst --unjudged drop
    """
    from rankinite.data.writing import write

    judged = reading.read(data)
    with options.busy(f"writing {out}"):
        write(judged, out)
    print(f"{out}: {judged.queries} queries, {judged.rows} rows, {len(judged.feature_names)} features")
