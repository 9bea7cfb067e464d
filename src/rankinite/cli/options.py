"""Options that several verbs share, and how data are read with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from rankinite.choices import Batches, Infinite, Missing, Ties, Unjudged
from rankinite.cli import completion as completing
from rankinite.cli.messages import busy, detail, say
from rankinite.errors import ArgumentError
from rankinite.plurals import data_size

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.data.io.read_settings import ReadSettings


ResultFormat: TypeAlias = Literal["text", "markdown", "latex", "csv", "json"]
"""How a result is printed."""
_READING = "Reading the data"


@dataclass(frozen=True)
class Reading:
    """How data are read: the options every verb shares that reads some. The names are those of ``rankinite.read``."""

    missing: Annotated[
        Missing, typer.Option(help="The value of a feature that a LETOR line leaves out.", rich_help_panel=_READING)
    ] = "zero"
    infinite: Annotated[
        Infinite, typer.Option(help="What to do with ±inf and numbers such as 1.79e308.", rich_help_panel=_READING)
    ] = "error"
    unjudged: Annotated[
        Unjudged,
        typer.Option(
            help="What to do with rows that nobody judged: of negative grade (−1), or, with keep, without a grade column.",
            rich_help_panel=_READING,
        ),
    ] = "error"
    zero_based: Annotated[bool, typer.Option("--zero-based", help="LETOR indices start at 0.", rich_help_panel=_READING)] = (
        False
    )
    qid: Annotated[str | None, typer.Option(help="The query column of a table.", rich_help_panel=_READING)] = None
    grades: Annotated[str | None, typer.Option(help="The grade column of a table.", rich_help_panel=_READING)] = None
    group: Annotated[Path | None, typer.Option(help="A file with the size of each query.", rich_help_panel=_READING)] = None
    doc_id: Annotated[str | None, typer.Option(help="The document id column of a table.", rich_help_panel=_READING)] = None
    position: Annotated[
        str | None,
        typer.Option(
            help="Where documents were shown, if the grades are clicks: a column of a table; for LETOR files, a file with one "
            "position per line (DATA.position is found by itself).",
            rich_help_panel=_READING,
        ),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option(help="letor, parquet, arrow, csv, tsv or qrels, if the name does not tell.", rich_help_panel=_READING),
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column or feature to leave out; may be repeated.", rich_help_panel=_READING)
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="A feature of whole numbers that are categories; may be repeated. Columns of text are categories anyway.",
            rich_help_panel=_READING,
        ),
    ] = None
    one_hot: Annotated[
        list[str] | None,
        typer.Option(
            help="A category that becomes columns of 0 and 1, for nets and linear rankers: those of the ranker, if it has such "
            "columns; may be repeated.",
            rich_help_panel=_READING,
        ),
    ] = None

    def read(
        self,
        paths: Sequence[Path],
        like: Dataset | None = None,
        *,
        known_features: Collection[str] = (),
        needs_queries: bool = True,
    ) -> Dataset:
        """Read the files as one data set with the features of ``like``, with a spinner on a terminal.

        ``known_features`` are not taken for grades and the like, whatever they are called. Without ``needs_queries``, rows of
        which nothing tells the queries count as one query.
        """
        with busy(f"reading {', '.join(map(str, paths))}"):
            from rankinite.data.io.reading import read_with

            settings = replace(self.settings(like), known_features=known_features, needs_queries=needs_queries)
            data = read_with(list(paths), settings, format=self.input_format, infinite=self.infinite)
        size = f"{data_size(data.queries, data.rows, len(data.feature_names))}"
        detail(f"{data.source}: {size}{'' if data.judged else ', no grades'}{_size(paths)}")
        return data

    def settings(self, like: Dataset | None = None) -> ReadSettings:
        """The same for the library."""
        from rankinite.data.io.read_settings import ReadSettings

        for name in ("qid", "grades", "doc_id", "position", "input_format"):
            if getattr(self, name) == "":
                raise ArgumentError("is empty", setting=name, value="", remedy=f"Give a name, or leave `{name}` out")
        columns = {"grades": self.grades, "qid": self.qid, "doc_id": self.doc_id, "weight": None, "batch": None}
        columns["positions"] = self.position
        return ReadSettings(
            columns,
            group=self.group,
            features=None,
            ignore=tuple(self.ignore or ()),
            missing=self.missing,
            unjudged=self.unjudged,
            zero_based=self.zero_based,
            like=like,
            categories=tuple(self.category or ()),
            one_hot=tuple(self.one_hot or ()),
        )


def folds_of(text: str, *others: str) -> int | Batches:
    """What --folds says: a number, or the batches of the data; ``others``: what else it could have said."""
    if text == "batches":
        return "batches"
    try:
        return int(text)
    except ValueError as problem:
        known = " or ".join(("a number", *others, "batches"))
        raise ArgumentError("is not understood", setting="folds", value=text, remedy=f"Give {known}") from problem


def say_odd_features(data: Dataset) -> None:
    """Print a note on features to learn from that look like ids, positions or clicks."""
    from rankinite.data.odd_features import advice, find_odd_features

    odd = find_odd_features(data)
    if odd:
        say(f"{data.source}: {advice(odd, named_documents=data.doc_ids is not None)}")


def say_odd_clicks(data: Dataset, debias: str | None) -> None:
    """Print a note on clicks to be debiased that are neither 0 nor 1."""
    odd = sorted({float(grade) for grade in set(data.grades.tolist())} - {0.0, 1.0}) if debias is not None else []
    if odd:
        known = ", ".join(f"{grade:g}" for grade in odd[:5])
        say(f"{data.source}: grades such as {known} are debiased as clicks too: every grade above 0 counts as clicked")


def _size(paths: Sequence[Path]) -> str:
    """How large files are together; nothing for pipes."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return f", {size / 1e6:,.1f} MB" if size else ""


def with_options(**groups: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the fields of dataclasses as options: ``@with_options(reading=Reading())``.

    The verb's parameter of that name receives an instance; the instance given here holds the defaults.
    """

    def expand(verb: Callable[..., None]) -> Callable[..., None]:
        ungrouped = [p for p in inspect.signature(verb, eval_str=True).parameters.values() if p.name not in groups]
        added = {
            name: [
                inspect.Parameter(
                    f.name, inspect.Parameter.KEYWORD_ONLY, default=getattr(group, f.name), annotation=hints[f.name]
                )
                for f in fields(group)
            ]
            for name, group in groups.items()
            if (hints := get_type_hints(type(group), include_extras=True))
        }

        @functools.wraps(verb)
        def call(**arguments: Any) -> None:
            filled = {
                name: type(groups[name])(**{p.name: arguments.pop(p.name) for p in parameters})
                for name, parameters in added.items()
            }
            verb(**arguments, **filled)

        first = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in ungrouped]
        parameters = first + [p for ps in added.values() for p in ps]
        vars(call)["__signature__"] = inspect.Signature(parameters)
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        return call

    return expand


DataArgument: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        help="Judged data: LETOR (.gz, .zst, .xz too), Parquet, Arrow, CSV or TREC qrels; several files are read as one."
    ),
]
MeasureOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="ndcg@10 (if left out), err, map, mrr, p@5, dcg@5:gains=0/1/3/7/10, …; may be repeated.",
        autocompletion=completing.measures,
    ),
]
ConventionOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--convention",
        help=f"Count as this tool does: {', '.join(completing.CONVENTIONS)}.",
        autocompletion=completing.conventions,
    ),
]
TiesOption: TypeAlias = Annotated[
    Ties | None,
    typer.Option("--ties", help="What tied scores mean; if left out, what the convention says."),
]
OverlapOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-overlap",
        help="Accept queries that are both learnt from and judged by. They are refused otherwise, as they make a ranker look "
        "better than it is.",
    ),
]
FormatOption: TypeAlias = Annotated[ResultFormat, typer.Option("--format", "-f", help="How to print the result.")]
JsonSummary: TypeAlias = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Short for --format json.")]

DEFAULT_MEASURES = ["ndcg@10"]
"""The measures if none is given: NDCG fits any grades."""
