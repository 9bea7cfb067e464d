"""``rankinite export``: a ranker written for the program that will serve it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.choices import ServedMissing
from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say, say_all
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.models.base import Ranker
    from rankinite.serving.exporting import Export


@options.with_options(reading=options.Reading(unjudged="keep"))
def export(
    model: Annotated[
        str | None,
        RANKER,
        typer.Argument(
            help=f"The ranker: {rankers.MODEL}. It may be left out with --list only.",
            show_default=False,
            autocompletion=completing.rankers,
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="Where it will be served; --list shows all.", autocompletion=completing.targets),
    ] = None,
    out: Annotated[
        Path | None,
        files.Output(is_folder=lambda _path: True),
        typer.Option("--out", "-o", help="A folder for the model and what goes with it.", show_default=False),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the model is called there; the folder's name if left out.")] = None,
    feature_queries: Annotated[
        Path | None,
        typer.Option(help="A JSON file: how the engine computes each feature, by name. Placeholders are written for others."),
    ] = None,
    served_missing: Annotated[
        ServedMissing | None,
        typer.Option(help="What a missing feature counts as there: nan, so that trees send it their way, or zero."),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            help="What is added to every score: a number, none, or auto: enough that none is below 0, which engines of Lucene "
            "forbid; if left out, auto for these and none for others."
        ),
    ] = None,
    sample: Annotated[
        list[Path] | None,
        typer.Option(
            help="Data to try the exported model on; its first rows and their scores are written beside it. May be repeated."
        ),
    ] = None,
    engine_version: Annotated[
        str | None, typer.Option(help="The version of the engine with its patch, as in 3.4.1; the newest if left out.")
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List all targets and, with a model, what each can do for it.")] = False,
    overwrite: files.OverwriteOption = False,
    json: options.JsonSummary = False,
    *,
    reading: options.Reading,
) -> None:
    """Export a ranker: write it for the engine or library that will serve it, exactly, or say why that cannot be.

    The file is read back as that program reads it, on rows made of the model's own thresholds and on those of --sample; it is
    written only if every score is as predicted. Beside it are what an engineer needs: feature set, upload script, rescore
    query, sample rows with their scores, a model card.

    Examples:

      rankinite export --list

      rankinite export web.rankinite --list

      rankinite export web.rankinite --to es-ltr --feature-queries queries.json --sample test.txt.gz -o shop

      rankinite export web.rankinite --to opensearch-ltr --engine-version 3.4.0 --served-missing zero -o shop

      rankinite export lightgbm.txt --to onnx -o shop
    """
    ranker: Any = None if model is None else rankers.ranker(model)
    if every:
        _list(ranker, as_json=json)
        return
    if model is None:
        raise ArgumentError(
            "there is no model to export", value=None, remedy="Give one as the first argument, or --list to see the targets"
        )
    if to is None or out is None:
        lacking = "to" if to is None else "out"
        raise ArgumentError(
            f"must be given as `{lacking}`",
            place=model,
            rule="A ranker is exported for one target, into one folder",
            remedy="Give --to TARGET and -o DIR, or --list to see the targets",
        )
    data = None
    if sample:
        data, named = rankers.read_for({model: ranker}, sample, reading)
        ranker = named[model]
    from rankinite.serving.exporting import export as exported

    with options.busy(f"exporting to {out}"):
        made = exported(
            ranker,
            out,
            to=to,
            name=name,
            feature_queries=feature_queries,
            served_missing=served_missing,
            shift=shift,
            sample=data,
            engine_version=engine_version,
            overwrite=overwrite,
        )
    _print(made, as_json=json)


def _list(ranker: Ranker | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from rankinite.cli.output import echo, echo_json
    from rankinite.grid import Grid
    from rankinite.serving.offers import grid_of, targets
    from rankinite.serving.target import TARGETS, target_named

    if ranker is None:
        titles = {name: target_named(name).title for name in TARGETS}
        if as_json:
            echo_json([{"target": name, "title": title} for name, title in titles.items()])
        else:
            echo(Grid(("target", "what it is"), tuple(titles.items()), "ll").text())
        return
    offers = targets(ranker)
    if as_json:
        echo_json([asdict(offer) for offer in offers])
    else:
        echo(grid_of(offers).text())


def _print(made: Export, *, as_json: bool) -> None:
    from rankinite.cli.output import echo, echo_json

    if as_json:
        facts = {
            name: getattr(made, name) for name in ("target", "name", "files", "exactness", "served_missing", "shift", "notes")
        }
        echo_json({"folder": str(made.folder), **facts, "check": made.check.facts()})
        return
    say(f"{made.folder}: {made.name} for {made.target}; scores: {made.exactness}")
    say(made.check.sentence())
    say_all(made.notes)
    echo("\n".join(str(made.folder / name) for name in made.files))
