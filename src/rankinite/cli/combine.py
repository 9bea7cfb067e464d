"""``rankinite combine``: one ranker from several."""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import options, rankers
from rankinite.cli.options import say
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.combine.result import Combination
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.evaluate import Scorer


class Method(StrEnum):
    """The ways to combine."""

    exact = "exact"
    cyclic = "cyclic"
    average = "average"
    powell = "powell"
    stacked = "stacked"


class Form(StrEnum):
    """What a weight does."""

    sum = "sum"
    convex = "convex"


class Scale(StrEnum):
    """What scores are compared with before they are averaged."""

    all = "all"
    query = "query"
    rank = "rank"


FITTING = {
    "tree": (Method.exact,),
    "form": (Method.exact,),
    "low": (Method.exact, Method.cyclic),
    "high": (Method.exact, Method.cyclic),
    "normalise": (Method.exact, Method.cyclic),
    "smooth": (Method.exact,),
    "folds": (Method.exact,),
    "plot": (Method.exact,),
    "scale": (Method.average,),
    "hidden": (Method.stacked,),
    "valid": (Method.stacked,),
}
"""The methods that each option is for."""


@options.with_options(reading=options.Reading())
def combine(
    models: Annotated[
        list[str],
        typer.Argument(
            help=f"The rankers to combine, at least two: {rankers.MODEL}; name=… gives one a name.", show_default=False
        ),
    ],
    data: Annotated[
        list[Path], typer.Option("--data", "-d", help="Judged data that the weights are chosen on; may be repeated.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the combined model.", show_default=False)],
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to be best for.")] = "ndcg@10",
    method: Annotated[
        Method,
        typer.Option(
            help="exact: the best weights, two rankers at a time; cyclic: one weight at a time, again and again; average: the "
            "mean of scaled scores; powell: a search over all weights; stacked: LambdaRank on the scores.",
        ),
    ] = Method.exact,
    tree: Annotated[
        str | None,
        typer.Option(
            help="exact: what is combined first, by number: '(((1,3),(2,4)),(5,6))'; if left out, the pair that gains most."
        ),
    ] = None,
    form: Annotated[Form | None, typer.Option(help="exact: a + α·b (sum), or (1−α)·a + α·b (convex). [default: sum]")] = None,
    low: Annotated[float | None, typer.Option(help="exact, cyclic: the lowest α. [default: 0]")] = None,
    high: Annotated[float | None, typer.Option(help="exact, cyclic: the highest α. [default: 5; convex: 1]")] = None,
    normalise: Annotated[
        bool | None,
        typer.Option(
            "--normalise/--no-normalise", help="exact, cyclic: divide scores by their standard deviation first. [default: yes]"
        ),
    ] = None,
    smooth: Annotated[
        float | None, typer.Option(help="exact: average the measure over windows of α this wide before the best is taken.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="exact: choose how much to smooth by so many folds of queries.")
    ] = None,
    scale: Annotated[
        Scale | None, typer.Option(help="average: scale by all scores, within each query, or by rank. [default: all]")
    ] = None,
    hidden: Annotated[str | None, typer.Option(help="stacked: hidden units, as in 10; a linear one if left out.")] = None,
    valid: Annotated[
        list[Path] | None,
        typer.Option("--valid", "-v", help="stacked: data on which the best epoch is chosen; may be repeated."),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", "-t", help="Data to evaluate all rankers on in the end; may be repeated.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="exact, two rankers: draw the measure for every α (.png, .svg or .pdf).")
    ] = None,
    json: options.JsonOption = False,
    *,
    reading: options.Reading,
) -> None:
    """Combine rankers to one that is best for a measure on judged data, and write it to a model file.

    Choose the weights on data that no ranker was trained on. More than two rankers are combined two at a time.

    Examples:

      rankinite combine a.rankinite b.rankinite --data valid.txt --out both.rankinite

      rankinite combine trees=a.rankinite net=b.rankinite bm25=feature:25 -d valid.txt --test test.txt -o all.rankinite

      rankinite combine a.rankinite b.rankinite -d valid.txt --low -1 --high 2 --plot curve.png -o both.rankinite

      rankinite combine a.rankinite b.rankinite c.rankinite -d valid.txt --method average -o mean.rankinite
    """
    from rankinite.cli.pictures import check_picture, save_picture
    from rankinite.cli.train import check_writeable

    given = {name: value for name, value in list(locals().items()) if name in FITTING and value is not None}
    for name in given:
        if method not in FITTING[name]:
            known = " and ".join(FITTING[name])
            raise ArgumentError(f"--{name} is for --method {known}, not {method}. Leave it out, or choose another method.")
    if plot is not None:
        check_picture(plot)
        if len(models) != 2:
            raise ArgumentError(f"--plot draws the curve of two rankers, but {len(models)} were given. Leave it out.")
    for path in (out, plot):
        check_writeable(path)
    named = _named(models)
    judged = rankers.read_for(named.values(), data, reading)  # type: ignore[arg-type]
    other = None if valid is None else reading.read(valid, like=judged)
    tested = None if test is None else reading.read(test, like=judged)
    with options.busy("combining"):
        found = replace(_combined(method, named, judged, measure, given, other), names=tuple(named))
    with options.busy(f"writing {out}"):
        found.ranker.save(out)
    if plot is not None:
        save_picture(plot, found.plot)
    say(f"{out}: {len(named)} rankers combined, weights chosen on {judged.queries:,} queries of {judged.source}")
    _print(found, {**named, "combined": found.ranker}, tested, measure, json=json)


def _named(models: list[str]) -> dict[str, Scorer]:
    found: dict[str, Scorer] = {}
    for model in models:
        name, what = rankers.named(model)
        if name in found:
            raise ArgumentError(f"two rankers are called {name!r}. Name them apart, as in old={what}.")
        found[name] = rankers.ranker(what)
    if len(found) < 2:
        raise ArgumentError("there is one ranker only. Give at least two to combine.")
    return found


def _combined(
    method: Method, named: dict[str, Scorer], data: Dataset, measure: str, given: dict[str, Any], valid: Dataset | None
) -> Combination:
    from rankinite import combine

    convex = given.get("form") is Form.convex
    ends = (given.get("low", 0.0), given.get("high", 1.0 if convex else 5.0))
    searching: dict[str, Any] = {"range": ends, "normalise": given.get("normalise", True)}
    match method:
        case Method.average:
            return combine.average(named, data, measure, scale=given.get("scale", Scale.all).value)
        case Method.powell:
            return combine.powell(named, data, measure)
        case Method.stacked:
            from rankinite.cli.learners import Learner, value_of

            units = value_of(Learner.lambdarank, "hidden", given.get("hidden", "none"))
            return combine.stacked(named, data, measure, hidden=units, valid=valid)
        case Method.cyclic:
            return combine.cyclic(named, data, measure, **searching)
        case Method.exact:
            searching |= {name: given[name] for name in ("smooth", "folds") if name in given}
            searching["form"] = "convex" if convex else "sum"
            if "tree" not in given and len(named) > 2:
                return combine.greedy(named, data, measure, **searching)
            nested: Any = tuple(named.values())
            if "tree" in given:
                nested = combine.nested_by_number(named, _parsed(given["tree"]))
            if not isinstance(nested, tuple) or len(nested) != 2:
                raise ArgumentError(f"--tree {given['tree']} must be a pair of pairs or numbers, such as ((1,3),2).")
            return combine.exact(nested[0], nested[1], data, measure, **searching)


def _parsed(tree: str) -> Any:
    try:
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ArgumentError(f"--tree {tree}: write nested pairs of numbers, such as '((1,3),2)'.") from error


def _print(found: Combination, every: dict[str, Scorer], test: Dataset | None, measure: str, *, json: bool) -> None:
    from rankinite.cli.printing import echo
    from rankinite.evaluation.compare import compare

    compared = None if test is None else compare(every, test, [measure])
    if json:
        import json as writer

        summary = found.to_dict() | {"test": None if compared is None else writer.loads(compared.to_json())}
        echo(writer.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False))
        return
    echo(str(found) if compared is None else f"{found}\n\n{compared}")
