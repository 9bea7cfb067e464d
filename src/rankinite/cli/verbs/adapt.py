"""``rankinite adapt``: from a background ranker and a few judged queries to the ranker to deploy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import as_options, files, options
from rankinite.cli import completion as completing
from rankinite.cli.files import Output
from rankinite.cli.messages import say_all
from rankinite.cli.settings_file import RANKER, Record
from rankinite.cli.verbs.adapt_inputs import Material
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.adapt.result import Choice
    from rankinite.cli.verbs.adapt_results import Folder


class Loss(StrEnum):
    """What a forest may be trained for."""

    squared = "squared"
    lambdas = "lambda"
    pairs = "pairs"


def _files_in(folder: Path) -> Iterator[Path]:
    """What a run writes to its folder; adapt.toml aside, which is written over only where a run has written it."""
    from rankinite.cli.verbs.adapt_results import RESULTS

    yield from (folder / name for name in RESULTS)
    for inside in ("models", "trials"):
        yield from (folder / inside).rglob("*")


_MATERIAL, _CHOICE = "What there is besides", "How the choice is made"


@options.with_options(reading=options.Reading())
def adapt(
    background: Annotated[
        list[str],
        RANKER,
        typer.Argument(
            help="The rankers you have, one or more: a model file (ours, LightGBM's text, XGBoost's JSON or UBJSON), or "
            "feature:NAME or column:0; name=… gives one a name.",
            autocompletion=completing.rankers,
            show_default=False,
        ),
    ],
    train: Annotated[
        list[Path],
        typer.Option(
            "--train", "-d", help="Judged queries of the new domain, the target; may be repeated.", show_default=False
        ),
    ],
    out: Annotated[
        Path,
        Output(also=_files_in, is_folder=lambda _path: True),
        typer.Option("--out", "-o", help="A folder for the model, the evidence and finished work.", show_default=False),
    ],
    valid: Annotated[
        list[Path] | None,
        typer.Option(
            "--valid",
            "-v",
            help="Further judged queries that say when to stop and how much to weigh; without them folds of --train do. May be "
            "repeated.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test",
            "-t",
            help="Queries to report all methods on; they decide nothing. May be repeated.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    open_data: Annotated[
        list[Path] | None,
        typer.Option(
            "--open",
            help="Queries unlike those of --train, of a later time say: what the future may bring. Reported apart; they decide "
            "nothing. May be repeated.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    background_data: Annotated[
        list[Path] | None,
        typer.Option(
            "--background-data",
            "-B",
            help="What the background was trained on, or some of it: pooling and neighbours need it. May be repeated.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    map_grades: Annotated[
        str | None,
        typer.Option(
            help="Put the grades of --background-data on the scale of --train: 0=0,1=0,2=1,3=1,4=1 makes two grades of five.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    same_scale: Annotated[
        bool,
        typer.Option(
            "--same-scale",
            help="The grades of the background and of --train mean the same, though they do not look so.",
            rich_help_panel=_MATERIAL,
        ),
    ] = False,
    background_rate: Annotated[
        float | None,
        typer.Option(
            help="The learning rate of the background's training, where it does not say so, as XGBoost's: Trada needs it.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    background_loss: Annotated[
        Loss | None,
        typer.Option(
            help="The loss that the background was trained for, or one that is near, where it does not say so: Trada needs it.",
            rich_help_panel=_MATERIAL,
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            "-m",
            help="The measure to be best for.",
            rich_help_panel=_CHOICE,
            autocompletion=completing.measures,
        ),
    ] = "ndcg@10",
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Further measures to report, as in ndcg@1,ndcg@3,err.",
            rich_help_panel=_CHOICE,
            autocompletion=completing.measures,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these methods, as in smart,trada. If left out, all that suit the background, but not the papers' "
            "variants interpolate-lambdarank, trada-leaves, trada-trim, smart-paper, smart-nodes and pool-20. Background and "
            "target alone are always there.",
            rich_help_panel=_CHOICE,
            autocompletion=completing.methods,
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            min=2, help="Parts that queries are held out in; below ten queries each is alone.", rich_help_panel=_CHOICE
        ),
    ] = 5,
    confidence: Annotated[
        float,
        typer.Option(help="One-sided confidence in a gain over the background that a change needs.", rich_help_panel=_CHOICE),
    ] = 0.8,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", "-s", min=0, help="Seed of folds and training; the same gives the same model.", rich_help_panel=_CHOICE
        ),
    ] = 0,
    all_models: Annotated[bool, typer.Option("--all-models", help="Write the model of every method, in models/.")] = False,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve/--no-curve", help="See how the gain grows with the number of target queries; takes a part of the time."
        ),
    ] = True,
    overwrite: files.OverwriteOption = False,
    allow_overlap: options.OverlapOption = False,
    quiet: bool = False,
    json: Annotated[bool, typer.Option("--json", help="Print the evidence as JSON, and nothing else.")] = False,
    *,
    reading: options.Reading,
    record: Record,
) -> None:
    """Adapt a ranker to a new domain with few judged queries: try every method, choose one, show the evidence.

    BACKGROUND is the ranker of a big market, --train are the judged queries of the new one. Every method that
    the material allows is fitted and judged on target queries that it did not see, by folds of queries; the test
    data decide nothing. The folder --out receives model.rankinite, the ranker to deploy: the one chosen, or the
    background where that is not surely better (then candidate.rankinite is the one chosen); report.html, to look at;
    evidence.md and evidence.json, with all methods, intervals, and corrected tests against the background and the
    target alone; gains.csv, query by query; and adapt.toml, the settings, which --config reads. Finished methods are
    kept in trials/ there: Ctrl-C ends the run, and the same command goes on. A folder with the results of another run
    is left alone unless --overwrite is given.

    Examples:

      rankinite adapt web.rankinite --train market.txt --out market

      rankinite adapt web.rankinite --train market.txt -B web.parquet --test test.txt --out market

      rankinite adapt lightgbm.txt -d market.txt --also ndcg@1,err --methods trada,smart -o market

      rankinite adapt us=us.rankinite uk=uk.rankinite bm25=feature:25 -d market.txt --open later.txt -o market

      rankinite adapt web.rankinite -d market.txt -B web.txt --map-grades 0=0,1=0,2=1,3=1,4=1 -o market

      rankinite adapt --config market/adapt.toml --seed 1 --out again
    """
    from rankinite.cli.report_option import write_choice
    from rankinite.cli.verbs.adapt_results import Folder, Run, digest_of
    from rankinite.cli.verbs.adapt_texts import printed

    mapping = _grade_map(map_grades)
    if background_rate is not None and not 0.0 < background_rate <= 1.0:
        raise ArgumentError(f"--background-rate {background_rate:g} must be above 0 and at most 1, such as 0.1.")
    if mapping and background_data is None:
        raise ArgumentError("--map-grades is about the grades of --background-data, which is not given. Leave it out.")
    folder = Folder.checked(out)
    folder.check_free(partial(record.identity, digest_of), overwrite=overwrite)
    settings: dict[str, Any] = {
        "measure": measure,
        "also": _split(also) or [],
        "methods": _split(methods),
        "folds": folds,
        "confidence": confidence,
        "seed": seed,
        "same_scale": same_scale,
        "curve": curve,
    }
    material = Material.read(
        background, train, valid, test, open_data, background_data, mapping, reading, allow_overlap=allow_overlap
    )
    material.check_measures([measure, *settings["also"]])
    trained_with = {"rate": background_rate, "loss": None if background_loss is None else background_loss.value}
    start = monotonic()
    choice = _chosen(material, settings, trained_with, folder, quiet)
    about = Run(
        material.named(),
        {
            **settings,
            "map_grades": map_grades,
            **{f"background_{name}": told for name, told in trained_with.items()},
            "allow_overlap": allow_overlap,
        },
        monotonic() - start,
        record.identity(digest_of),
    )
    folder.make()
    write_choice(choice, material.data, folder.report, about.settings)
    with options.busy(f"writing to {out}"):
        evidence = folder.write(choice, about, all_models=all_models)
        record.write(folder.settings)
    say_all(choice.warnings)
    printed(choice, evidence, folder, as_json=json)


def _chosen(material: Material, settings: dict[str, Any], trained_with: dict[str, Any], folder: Folder, quiet: bool) -> Choice:
    from rankinite.adapt.choosing import choose
    from rankinite.adapt.methods.trada import Trada
    from rankinite.cli.interrupts import INTERRUPTED, leaving_promptly
    from rankinite.cli.progress import trying

    data = material.data
    others: dict[str, Any] = {name: data.get(name) for name in ("valid", "background_data", "test")}
    try:
        with trying(quiet=quiet) as watch, leaving_promptly(folder.hint):
            choice = choose(
                material.backgrounds,
                data["train"],
                shifted=data.get("open"),
                keep=folder.trials,
                watch=watch,
                tuning=Trada(**trained_with),
                allow_overlap=True,  # it was checked when they were read
                **others,
                **settings,
            )
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    return replace(choice, refused={name: as_options(why) for name, why in choice.refused.items()})


def _split(given: list[str] | None) -> list[str] | None:
    """Names that stand in options, one after the other or with commas: ``["a,b", "c"]`` → a, b, c."""
    return None if given is None else [name.strip() for entry in given for name in entry.split(",") if name.strip()]


def _grade_map(given: str | None) -> dict[float, float] | None:
    """``0=0,1=1`` as a mapping."""
    if given is None:
        return None
    found: dict[float, float] = {}
    for entry in given.split(","):
        old, _, new = entry.partition("=")
        try:
            grade, other = float(old), float(new)
        except ValueError:
            grade = other = math.nan
        if not (math.isfinite(grade) and math.isfinite(other)) or grade in found:
            raise ArgumentError(
                f"--map-grades {given}: {entry!r} does not give a grade its new one. Name every grade of --background-data "
                "once, as in 0=0,1=0,2=1."
            )
        found[grade] = other
    return found
