"""``rankinite convert``: the same judged data in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankinite.cli import files, options
from rankinite.cli.messages import say
from rankinite.plurals import data_size

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


@options.with_options(reading=options.Reading())
def convert(
    data: options.DataOrQrelsArgument,
    out: Annotated[
        Path,
        files.FILE,
        typer.Option(
            "--out",
            "-o",
            help="Where to write: .parquet, .arrow, .csv, .tsv, LETOR text (.txt), or the judgements alone (.qrels); text may "
            "be compressed (.gz, .zst, .xz).",
            show_default=False,
        ),
    ],
    json: options.JsonSummary = False,
    *,
    reading: options.Reading,
) -> None:
    """Rewrite judged data, cleaned on the way: rows of a query together, odd values handled as the options say.

    Examples:

      rankinite convert train.txt.gz -o train.parquet

      rankinite convert S1.txt S2.txt S3.txt -o train.txt.zst --unjudged drop

      rankinite convert test.txt -o test.qrels
    """
    from rankinite.cli.output import echo_json, summary
    from rankinite.data.io.formats import LETOR, QRELS, written_format
    from rankinite.data.io.writing import write

    judged = reading.read(data)
    with options.busy(f"writing {out}"):
        write(judged, out)
    say(f"{out}: {data_size(judged.queries, judged.rows, len(judged.feature_names))}")
    form = written_format(out)
    lost = lost_in_letor(judged) if form == LETOR else lost_in_qrels(judged) if form == QRELS else []
    if lost:
        say(f"{'LETOR has' if form == LETOR else 'Qrels have'} no place for {' and '.join(lost)}; Parquet has.")
    if json:
        echo_json({**summary(out, judged), "lost": lost})


def lost_in_letor(data: Dataset) -> list[str]:
    """What these data have that a LETOR file has no place for."""
    numbered = tuple(str(number) for number in range(1, len(data.feature_names) + 1))
    has = {
        "feature names": data.feature_names != numbered,
        "weights": data.weights is not None,
        "batches": data.batches is not None,
    }
    return [what for what, present in has.items() if present]


def lost_in_qrels(data: Dataset) -> list[str]:
    """What these data have that judgements in TREC's format have no place for."""
    has = {"features": bool(data.feature_names), "weights": data.weights is not None, "batches": data.batches is not None}
    return [what for what, present in has.items() if present]
