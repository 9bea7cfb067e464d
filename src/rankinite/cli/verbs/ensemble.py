"""``rankinite ensemble``: many fits, one ranker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import files, options
from rankinite.cli import trainer_arguments as trainers
from rankinite.cli.messages import say, say_all
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.ensembles import Average
    from rankinite.models.blend import Blend

CHALLENGE = "challenge"
MODEL, MEMBERS = "model.rankinite", "members"


@options.with_options(reading=options.Reading())
def ensemble(
    data: Annotated[list[Path], typer.Argument(help="Judged data; several files are joined.", show_default=False)],
    out: Annotated[
        Path,
        files.Output(is_folder=lambda _path: True, also=lambda path: [path / MODEL]),
        typer.Option("--out", "-o", help="A folder for the model and its members.", show_default=False),
    ],
    recipe: Annotated[
        str,
        typer.Option(
            help="challenge: the twelve models of paper 004; or a TOML file with a table \\[members] of names and learners "
            "with settings, as in trees = 'lambdamart leaves=63 bags=10'."
        ),
    ] = CHALLENGE,
    trees: Annotated[str, typer.Option(help="challenge: LambdaMART with its settings.")] = "lambdamart trees=1000",
    net: Annotated[str, typer.Option(help="challenge: LambdaRank with its settings.")] = "lambdarank hidden=25 restarts=1",
    points: Annotated[str, typer.Option(help="challenge: MART with its settings.")] = "mart trees=500",
    max_grade: Annotated[int, typer.Option(min=1, help="challenge: the highest grade of the scale, for ERR and MART.")] = 4,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", "-t", help="Data to evaluate the ensemble and its members on; may be repeated."),
    ] = None,
    measure: options.MeasureOption = None,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    quiet: bool = False,
    *,
    reading: options.Reading,
) -> None:
    """Train an ensemble: many fits, each scaled to unit variance, averaged into one model.

    Finished members are kept in the folder --out: the same command goes on after an interruption, to the same bytes. Bags deal
    the queries themselves, so that no validation data are needed. Distil the model to serve it faster.

    Examples:

      rankinite ensemble train.txt.gz --test test.txt.gz --out twelve

      rankinite ensemble train.txt.gz --trees 'lambdamart trees=300 leaves=16 row_share=0.7' --out twelve

      rankinite ensemble train.txt.gz --recipe mine.toml --test test.txt.gz --out mine
    """
    from rankinite.cli.output import echo_comparison
    from rankinite.cli.progress import watching
    from rankinite.evaluation.compare import compare

    judged = reading.read(data)
    tested = None if test is None else reading.read(test, like=judged)
    average = _trainer(recipe, (trees, net, points), max_grade, out / MEMBERS)
    _make_folder(out)
    with watching(len(average.trainers), "member", quiet=quiet) as callbacks:
        model: Any = average.fit(judged, callbacks=callbacks)
    model.save(out / MODEL)
    say(f"{out / MODEL}: {len(average.trainers)} members, {_size(model)}")
    if tested is not None:
        members = {name: part.ranker for name, (_, part) in zip(average.trainers, model.parts, strict=True)}
        result = compare({**members, "ensemble": model}, tested, measure or options.DEFAULT_MEASURES, against=["ensemble"])
        say_all(result.warnings)
        echo_comparison(result, "json" if json else layout, pairs=False)


def _trainer(recipe: str, settings: tuple[str, str, str], max_grade: int, keep: Path) -> Average:
    from rankinite.ensembles import Average, challenge

    if recipe != CHALLENGE:
        return Average(trainers.recipe(Path(recipe)), keep)
    kinds = {"trees": "lambdamart", "net": "lambdarank", "points": "mart"}
    made = [trainers.learner(option, text, kind) for (option, kind), text in zip(kinds.items(), settings, strict=True)]
    return challenge(*made, max_grade=max_grade, keep=keep)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(exist_ok=True)
    except OSError as problem:
        raise DataError(
            f"this folder cannot be made ({problem})", place=out, value=str(out), remedy="Give another, whose parent exists"
        ) from problem
    if not out.is_dir():
        raise ArgumentError("is a file", setting="out", value=str(out), remedy="Give a folder")


def _size(model: Blend) -> str:
    return ", ".join(f"{count:,} {kind}{'s' * (not kind.endswith('s') and count > 1)}" for kind, count in model.sizes().items())
