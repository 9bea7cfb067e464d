"""``rankinite combine``: one ranker from several."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.choices import Form, Scale
from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import RANKER
from rankinite.cli.verbs.combine_methods import Chosen, CombineMethod
from rankinite.errors import ArgumentError, quoted
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.combine.combination import Combination
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.compare import Comparison
    from rankinite.models.base import Ranker

RESULT = "combined"
"""The name of the combination beside the rankers it is made of."""


def _default(value: str) -> str:
    """A default as Typer shows it; its own would be None, which stands for "not given"."""
    return f" [dim]\\[default: {value}][/dim]"


@options.with_options(reading=options.Reading())
def combine(
    models: Annotated[
        list[str],
        RANKER,
        typer.Argument(
            help=f"The rankers to combine, at least two: {rankers.HELP}; name=… gives one a name.",
            show_default=False,
            autocompletion=completing.rankers,
        ),
    ],
    data: Annotated[
        list[Path],
        typer.Option("--data", "-d", help="Judged data that the weights are chosen on; may be repeated.", show_default=False),
    ],
    out: Annotated[
        Path,
        files.FILE,
        typer.Option(
            "--out",
            "-o",
            help="Where to write the combined model; or, of runs and score files, the combined scores (.run, .csv, .txt, …).",
            show_default=False,
        ),
    ],
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="The measure to be best for.", autocompletion=completing.measures)
    ] = "ndcg@10",
    method: Annotated[
        CombineMethod,
        typer.Option(
            help="exact: the best weights, two rankers at a time; cyclic: one weight at a time, again and again; average: the "
            "mean of scaled scores; powell: a search over all weights; stacked: LambdaRank on the scores.",
        ),
    ] = "exact",
    tree: Annotated[
        str | None,
        typer.Option(
            help="exact: what is combined first, by number, as in '((1,3),2)'; if left out, the pair that gains most."
        ),
    ] = None,
    form: Annotated[
        Form | None, typer.Option(help="exact: a + α·b (sum), or (1−α)·a + α·b (convex)." + _default("sum"))
    ] = None,
    low: Annotated[
        float | None,
        typer.Option(help="exact, cyclic: the lowest α." + _default("every ratio, each ranker alone included; with --high: 0")),
    ] = None,
    high: Annotated[
        float | None,
        typer.Option(help="exact, cyclic: the highest α." + _default("every ratio; with --low: 5, or 1 if convex")),
    ] = None,
    normalise: Annotated[
        bool | None,
        typer.Option(
            "--normalise/--no-normalise",
            help="exact, cyclic: count α for scores divided by their standard deviation, or for scores as they are."
            + _default("normalise; with --low or --high: no-normalise"),
        ),
    ] = None,
    smooth: Annotated[
        float | None,
        typer.Option(
            help="exact: average the measure over windows this wide before the best is taken; in units of α with --low or "
            "--high, else of the second ranker's share of the weight, 0 to 1."
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="exact: choose how much to smooth by this many folds of queries.")
    ] = None,
    scale: Annotated[
        Scale | None, typer.Option(help="average: scale by all scores, within each query, or by rank." + _default("all"))
    ] = None,
    hidden: Annotated[str | None, typer.Option(help="stacked: hidden units, as in 10; a linear one if left out.")] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", "-s", min=0, help="exact: seed of the folds; stacked: seed of the net." + _default("0")),
    ] = None,
    valid: Annotated[
        list[Path] | None,
        typer.Option("--valid", "-v", help="stacked: data on which the best epoch is chosen; may be repeated."),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", "-t", help="Data to evaluate all rankers on in the end; may be repeated.")
    ] = None,
    plot: Annotated[
        Path | None, files.FILE, typer.Option(help="exact, two rankers: draw the measure for every α (.png, .svg or .pdf).")
    ] = None,
    allow_overlap: options.OverlapOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    *,
    reading: options.Reading,
) -> None:
    """Combine rankers to one that is best for a measure on judged data, and write it to a model file.

    Choose the weights on data that no ranker was trained on; a note is printed where one was. With --method exact every ratio
    of two weights is tried, each ranker alone included: on these data the result is never below its best input, unless it is
    smoothed or --low and --high bound it. More than two rankers are combined two at a time. The table printed has the weight
    and the measure of each ranker alone, then the measure of all together.

    TREC runs and files with one score per row can be combined too. They make no model: --out then gets the combined scores of
    the data, and --test needs runs that also have the queries of the test data.

    Examples:

      rankinite combine a.rankinite b.rankinite --data valid.txt --out both.rankinite

      rankinite combine trees=a.rankinite net=b.rankinite bm25=feature:25 -d valid.txt --test test.txt -o all.rankinite

      rankinite combine a.rankinite b.rankinite -d valid.txt --low -1 --high 2 --normalise --plot curve.png -o both.rankinite

      rankinite combine a.rankinite b.rankinite c.rankinite -d valid.txt --method average -o mean.rankinite

      rankinite combine bm25.run dense.run -d web.qrels -o both.run
    """
    from rankinite.cli.pictures import check_picture, save_picture
    from rankinite.data.identity import check_apart

    chosen = Chosen.checked(
        method,
        tree=tree,
        form=form,
        low=low,
        high=high,
        normalise=normalise,
        smooth=smooth,
        folds=folds,
        scale=scale,
        hidden=hidden,
        seed=seed,
        valid=valid,
        plot=plot,
    )
    if plot is not None:
        check_picture(plot)
        if len(models) != 2:
            raise ArgumentError(
                f"draws the curve of two rankers, but {len(models)} were given",
                setting="plot",
                value=str(plot),
                remedy="Leave it out",
            )
    for path in (out, plot):
        files.check_writeable(path)
    _check_names(models)
    with rankers.kept_open(models) as opened:
        _check_out(out, opened)
        judged, known = rankers.read_for(
            {name: one for name, one in opened.items() if not isinstance(one, Path)}, data, reading
        )
        named = opened | known
        like = judged if judged.feature_names else None  # judgements alone have no features to be like
        other = None if valid is None else reading.read(valid, like=like)
        tested = None if test is None else reading.read(test, like=like)
        check_apart({"--data": judged, "--valid": other}, {"--valid": other, "--test": tested}, allow_overlap=allow_overlap)
        with options.busy("combining"):
            found = chosen.combined(named, judged, measure, other)
        result = found.ranker if found.is_model else found
        compared = None if tested is None else _compared({**named, RESULT: result}, tested, measure)
    if plot is not None:  # before the model: a run that fails leaves no model behind
        save_picture(plot, lambda: chosen.drawn(found))
    with options.busy(f"writing {out}"):
        (found.ranker.save if found.is_model else found.write_scores)(out)
    say(f"{out}: {counted(len(named), 'ranker')} combined on the {counted(judged.queries, 'query')} of {judged.source}")
    if not found.is_model:
        documents = counted(found.data.rows, "document")
        say(f"{out} has the combined scores of {documents}: runs and score files make no model")
    say_all((*found.warnings, *(() if compared is None else compared.warnings)))
    about = {"model" if found.is_model else "scores": str(out), "data": judged.source, "queries": judged.queries}
    _print(chosen, found, compared, about if json else None)


def _check_out(out: Path, opened: dict[str, Ranker | Path]) -> None:
    """Refuse to call scores a model."""
    given = next((name for name, one in opened.items() if isinstance(one, Path)), None)
    if given is not None and ".rankinite" in out.suffixes:
        raise ArgumentError(
            f"is the name of a model, but {given} has only scores, of which none can be made",
            setting="out",
            value=str(out),
            remedy="Name a file for the combined scores, such as combined.run or combined.csv",
        )


def _check_names(models: list[str]) -> None:
    for model in models:
        name, what = rankers.named(model)
        if name == RESULT:
            raise ArgumentError(
                f"{quoted(name)} is the name of the result",
                place=model,
                value=name,
                remedy=f"Give the ranker another name, as in old={what}",
            )
    if len(models) < 2:
        raise ArgumentError("this is the only ranker", place=models[0], value=1, remedy="Give at least two to combine")


def _compared(every: dict[str, Any], data: Dataset, measure: str) -> Comparison:
    from rankinite.evaluation.compare import compare

    with options.busy("evaluating"):
        return compare(every, data, [measure])


def _print(chosen: Chosen, found: Combination, compared: Comparison | None, about: dict[str, Any] | None) -> None:
    """The tables, or a summary that begins with what it is ``about`` as JSON."""
    from rankinite.cli.output import echo

    if about is None:
        table = replace(found.grid(), notes=chosen.notes(found)).text()
        echo(table if compared is None else f"{table}\n\n{compared}")
        return
    import json as writer

    test = None if compared is None else {name: _mean(compared, name) for name in compared.systems}
    echo(writer.dumps({**about, **found.to_dict(), "test": test}, indent=2, ensure_ascii=False, allow_nan=False))


def _mean(compared: Comparison, name: str) -> dict[str, Any]:
    """The mean of a ranker on the test data, with its interval, null where one query has none."""
    from rankinite.frames import finite

    (result,) = compared[name].results
    return {"mean": finite(result.mean), "interval": [finite(end) for end in result.interval]}
