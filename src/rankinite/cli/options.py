"""Options that several verbs share, and how data are read with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from rankinite.choices import Batches, Ties
from rankinite.cli import completion as completing
from rankinite.cli import messages, reading_options
from rankinite.cli.error_text import in_shell
from rankinite.cli.messages import say
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


ResultFormat: TypeAlias = Literal["text", "markdown", "latex", "csv", "json"]
"""How a result is printed."""
Reading: TypeAlias = reading_options.Reading
"""How data are read."""
busy = messages.busy
"""Shows what is going on."""


def refuse_count(features: Sequence[str] | None) -> None:
    """Refuse a number with --features, which said how many features to list before it named them."""
    for text in features or ():
        if text.isascii() and text.isdecimal():
            raise ArgumentError(
                "names the features to read",
                setting="features",
                value=text,
                remedy=f"For the number of features to list give `show_features={text}`; write {text}, (with a comma) for the "
                f"feature called {text} alone",
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
        say(f"{data.source}: {in_shell(advice(odd, named_documents=data.doc_ids is not None))}")


def say_odd_clicks(data: Dataset, debias: str | None) -> None:
    """Print a note on clicks to be debiased that are neither 0 nor 1."""
    odd = sorted({float(grade) for grade in set(data.grades.tolist())} - {0.0, 1.0}) if debias is not None else []
    if odd:
        known = ", ".join(f"{grade:g}" for grade in odd[:5])
        say(f"{data.source}: grades such as {known} are debiased as clicks too: every grade above 0 counts as clicked")


def with_options(**groups: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the fields of dataclasses as options: ``@with_options(reading=Reading())``.

    The verb's parameter of that name receives an instance; the instance given here holds the defaults. A field that is called
    like a parameter of the verb is no option there.
    """

    def expand(verb: Callable[..., None]) -> Callable[..., None]:
        ungrouped = [p for p in inspect.signature(verb, eval_str=True).parameters.values() if p.name not in groups]
        own = {parameter.name for parameter in ungrouped}
        added = {
            name: [
                inspect.Parameter(
                    f.name, inspect.Parameter.KEYWORD_ONLY, default=getattr(group, f.name), annotation=hints[f.name]
                )
                for f in fields(group)
                if f.name not in own
            ]
            for name, group in groups.items()
            if (hints := get_type_hints(type(group), include_extras=True))
        }

        @functools.wraps(verb)
        def call(**arguments: Any) -> None:
            filled = {
                name: replace(groups[name], **{p.name: arguments.pop(p.name) for p in parameters})
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
    typer.Argument(help="Judged data: LETOR (.gz, .zst, .xz too), Parquet, Arrow or CSV; several files are read as one."),
]
DataOrQrelsArgument: TypeAlias = Annotated[
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
        help="ndcg@10 (if left out), err, map, mrr, p@5, success@1, bpref, dcg@5:gains=0/1/3/7/10, …, or as trec_eval and "
        "ir-measures write them: AP(rel=2), ndcg_cut_10 (linear gains; ndcg@10 has exponential ones). May be repeated.",
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
