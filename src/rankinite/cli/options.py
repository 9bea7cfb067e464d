"""Options that several verbs share, and what they do."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


class Missing(StrEnum):
    """What an absent LETOR feature is worth."""

    zero = "zero"
    nan = "nan"


class Infinite(StrEnum):
    """What becomes of infinite values."""

    error = "error"
    missing = "missing"
    clip = "clip"
    keep = "keep"


class Unjudged(StrEnum):
    """What becomes of negative grades."""

    error = "error"
    drop = "drop"
    keep = "keep"


class Layout(StrEnum):
    """How a result is printed."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    json = "json"


_READING = "Reading the data"
MissingOption: TypeAlias = Annotated[
    Missing, typer.Option(help="What a feature that a LETOR line leaves out is.", rich_help_panel=_READING)
]
InfiniteOption: TypeAlias = Annotated[
    Infinite, typer.Option(help="What to do with ±inf and numbers such as 1.79e308.", rich_help_panel=_READING)
]
UnjudgedOption: TypeAlias = Annotated[
    Unjudged, typer.Option(help="What to do with rows of negative grade (−1).", rich_help_panel=_READING)
]
ZeroBasedOption: TypeAlias = Annotated[
    bool, typer.Option("--zero-based", help="LETOR indices start at 0.", rich_help_panel=_READING)
]
QidOption: TypeAlias = Annotated[
    str | None, typer.Option("--qid", help="The query column of a table.", rich_help_panel=_READING)
]
GradesOption: TypeAlias = Annotated[
    str | None, typer.Option("--grades", help="The grade column of a table.", rich_help_panel=_READING)
]
GroupOption: TypeAlias = Annotated[
    Path | None, typer.Option("--group", help="A file with the size of each query.", rich_help_panel=_READING)
]
IgnoreOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--ignore", help="A table's column to leave out; may be repeated.", rich_help_panel=_READING)
]

DataArgument: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        help="Judged data: LETOR (.gz, .zst, .xz too), Parquet, Arrow, CSV or TREC qrels; several files are read as one."
    ),
]
MeasureOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="ndcg@10, err, map, mrr, p@5, dcg@5:gains=0/1/3/7/10, …; may be repeated."),
]
ConventionOption: TypeAlias = Annotated[
    str,
    typer.Option("--convention", help="Count as this tool does: rankinite, lightgbm, xgboost, ranklib, trec, sklearn, letor."),
]
TiesOption: TypeAlias = Annotated[
    str | None, typer.Option("--ties", help="What tied scores mean: expected, lowest, highest, order, doc_id.")
]
LayoutOption: TypeAlias = Annotated[Layout, typer.Option("--format", "-f", help="How to print the result.")]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Short for --format json.")]

DEFAULT_MEASURES = ["ndcg@10", "err", "ap", "rr"]


def reading(
    missing: Missing,
    infinite: Infinite,
    unjudged: Unjudged,
    zero_based: bool,
    qid: str | None,
    grades: str | None,
    group: Path | None,
    ignore: Sequence[str] | None,
) -> dict[str, Any]:
    """The keyword arguments of ``rankinite.read`` that these options stand for."""
    return {
        "missing": missing.value,
        "infinite": infinite.value,
        "unjudged": unjudged.value,
        "zero_based": zero_based,
        "qid": qid,
        "grades": grades,
        "group": group,
        "ignore": tuple(ignore or ()),
    }


def read_data(paths: Sequence[Path], settings: dict[str, Any]) -> Dataset:
    """Read the data, saying so on a terminal while it lasts."""
    with busy(f"reading {', '.join(map(str, paths))}"):
        from rankinite.data.reading import read

        return read(list(paths), **settings)


@contextmanager
def busy(what: str) -> Generator[None]:
    """Show on a terminal's standard error what is going on; say nothing when piped."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"[dim]{what} …[/dim] (the first run also compiles)", spinner="dots"):
        yield
