"""``rankinite bin``: data of any size coded on disk."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli.error_text import in_shell
from rankinite.cli.messages import say
from rankinite.cli.settings_file import RANKER
from rankinite.plurals import counted, data_size

EVERY = 5.0
"""Seconds between two lines on how far it is."""


def _is_folder(_path: Path) -> bool:
    return True


@options.with_options(reading=options.Reading())
def bin(  # noqa: A001 - the name of the verb
    data: options.DataArgument,
    out: Annotated[
        Path,
        files.Output(is_folder=_is_folder),
        typer.Option("--out", "-o", help="The folder to make, as in train.bins.", show_default=False),
    ],
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Make this many folders of about equal rows in --out, 00.bins, 01.bins, …: one or more for each machine.",
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="Take the edges and categories of this folder of bins: for validation data, or to append a shard."),
    ] = None,
    bins: Annotated[int, typer.Option(min=2, max=255, help="Bins of a feature, at most; as in train.")] = 255,
    bin_sample: Annotated[int, typer.Option(min=1, help="Rows that edges are made from, at most; as in train.")] = 100_000,
    category_rows: Annotated[
        int, typer.Option(min=1, help="Rows that a category needs to be told apart from rare ones; as in train.")
    ] = 5,
    base: Annotated[
        str | None,
        RANKER,
        typer.Option(
            "--base",
            "-b",
            help="A ranker that training is to go on from (a model file, feature:NAME or column:0): its scores are kept, as "
            "the features are not.",
            autocompletion=completing.rankers,
        ),
    ] = None,
    json: options.JsonSummary = False,
    quiet: bool = False,
    *,
    reading: options.Reading,
) -> None:
    """Code data of any size into a folder that trees are trained from, without ever holding the features.

    Two passes: the first picks the rows that edges are made from, the second writes the bin of every value, one byte each.
    rankinite train takes the folder in place of the data and gives the same model, to the last byte, in a fifth of the memory.
    The rows of a query must be adjacent. A folder that is not finished has no manifest.json; the same command makes it anew.
    Columns of text, and features that --category names, are categories: their names are kept in the folder.

    Examples:

      rankinite bin train.letor.gz -o train.bins

      rankinite bin valid.letor.gz -o valid.bins --like train.bins

      rankinite bin part-*.parquet -o shards --shards 8

      rankinite bin new.parquet -o shards/08.bins --like shards/00.bins

      rankinite bin market.parquet -o market.bins --base web.rankinite
    """
    from rankinite.binned.making import bin_files, id_warning
    from rankinite.cli.output import echo_json
    from rankinite.cli.ranker_arguments import ranker

    start = monotonic()
    found = bin_files(
        data,
        out,
        shards=shards,
        like=like,
        bins=bins,
        bin_sample=bin_sample,
        category_rows=category_rows,
        base=None if base is None else ranker(base),
        settings=reading.settings(),
        format=reading.input_format,
        infinite=reading.infinite,
        tell=_silent if quiet else _Lines(),
        say=say,
    )
    size = sum(length for manifest in found.manifests for length, _ in manifest.files.values())
    folders = f", {counted(len(found.manifests), 'folder')}" if shards is not None else ""
    categories = f", of which {counted(len(found.categories), 'category')}" if found.categories else ""
    facts = f"{data_size(found.queries, found.rows, len(found.feature_names))}{categories}{folders}"
    warning = id_warning(found) if like is None else ""
    if warning:
        say(in_shell(warning))
    say(f"{out}: {facts}, {size / 1e6:,.1f} MB, {monotonic() - start:.1f} s")
    if json:
        echo_json(_summary(found, out, size))


def _summary(found: Any, out: Path, size: int) -> dict[str, Any]:
    return {
        "out": str(out),
        "folders": [str(manifest.folder) for manifest in found.manifests],
        "queries": found.queries,
        "rows": found.rows,
        "features": len(found.feature_names),
        "categories": {name: len(vocabulary) for name, vocabulary in found.categories.items()},
        "bytes": size,
        "bins": found.manifests[0].bins,
    }


class _Lines:
    """Says every few seconds how far it is."""

    def __init__(self) -> None:
        self._said = self._begun = monotonic()
        self._doing = ""

    def __call__(self, doing: str, rows: int) -> None:
        now = monotonic()
        if doing != self._doing:
            self._doing, self._begun = doing, now
        if now - self._said >= EVERY:
            self._said = now
            say(f"{doing}: {counted(rows, 'row')}, {now - self._begun:.0f} s")


def _silent(_doing: str, _rows: int) -> None:
    """Say nothing."""
