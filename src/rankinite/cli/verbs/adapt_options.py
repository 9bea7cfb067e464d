"""Options of ``rankinite adapt``."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rankinite.cli import completion as completing
from rankinite.cli.files import Output
from rankinite.cli.settings_file import RANKER

_MATERIAL, _CHOICE = "What there is besides", "How the choice is made"


class Loss(StrEnum):
    """What a forest may be trained for."""

    squared = "squared"
    lambdas = "lambda"
    pairs = "pairs"


def _files_in(folder: Path) -> Iterator[Path]:
    """What a run writes to its folder, except adapt.toml, which is overwritten only if a run has written it."""
    from rankinite.cli.verbs.adapt_results import RESULTS

    yield from (folder / name for name in RESULTS)
    for inside in ("models", "trials"):
        yield from (folder / inside).rglob("*")


BackgroundArgument: TypeAlias = Annotated[
    list[str],
    RANKER,
    typer.Argument(
        help="The rankers you have, one or more: a model file (ours, or of LightGBM, XGBoost, CatBoost, RankLib, Solr or "
        "ONNX), or feature:NAME or column:0; name=… gives one a name.",
        autocompletion=completing.rankers,
        show_default=False,
    ),
]
TrainOption: TypeAlias = Annotated[
    list[Path],
    typer.Option("--train", help="Judged queries of the new domain, the target; may be repeated.", show_default=False),
]
OutOption: TypeAlias = Annotated[
    Path,
    Output(also=_files_in, is_folder=lambda _path: True),
    typer.Option("--out", "-o", help="A folder for the model, the evidence and finished work.", show_default=False),
]
ValidOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--valid",
        "-v",
        help="Further judged queries that decide when to stop and how much to weigh; without them folds of --train do. May be "
        "repeated.",
        rich_help_panel=_MATERIAL,
    ),
]
TestOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--test",
        "-t",
        help="Queries to report all methods on; they decide nothing. May be repeated.",
        rich_help_panel=_MATERIAL,
    ),
]
ShiftedOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--shifted",
        help="Queries unlike those of --train, of a later time say: what the future may bring. Reported apart; they decide "
        "nothing. May be repeated.",
        rich_help_panel=_MATERIAL,
    ),
]
BackgroundDataOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--background-data",
        "-B",
        help="What the background was trained on, or some of it: pooling and neighbours need it. May be repeated.",
        rich_help_panel=_MATERIAL,
    ),
]
MapGradesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Put the grades of --background-data on the scale of --train: 0=0,1=0,2=1,3=1,4=1 makes two grades of five; words "
        "too, as in Good=1,Bad=0.",
        rich_help_panel=_MATERIAL,
    ),
]
MapTargetGradesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The same for --train, --valid, --test and --shifted: the grades that words or numbers stand for there.",
        rich_help_panel=_MATERIAL,
    ),
]
SameScaleOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--same-scale",
        help="The grades of the background and of --train mean the same, though they do not look so.",
        rich_help_panel=_MATERIAL,
    ),
]
BackgroundRateOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="The learning rate of the background's training, where its file has none, as XGBoost's: Trada needs it.",
        rich_help_panel=_MATERIAL,
    ),
]
BackgroundLossOption: TypeAlias = Annotated[
    Loss | None,
    typer.Option(
        help="The loss that the background was trained for, or one that is near, where its file has none: Trada needs it.",
        rich_help_panel=_MATERIAL,
    ),
]
MeasureOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--measure",
        "-m",
        help="The measure to be best for.",
        rich_help_panel=_CHOICE,
        autocompletion=completing.measures,
    ),
]
AlsoOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Further measures to report, as in ndcg@1,ndcg@3,err.",
        rich_help_panel=_CHOICE,
        autocompletion=completing.measures,
    ),
]
MethodsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Only these methods, as in smart,trada. If left out, all that suit the background, but not the papers' "
        "variants interpolate-lambdarank, trada-leaves, trada-trim, smart-paper, smart-nodes and pool-20. Background and "
        "target alone are always there.",
        rich_help_panel=_CHOICE,
        autocompletion=completing.methods,
    ),
]
DeployableOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Where the ranker will be served, as in es-ltr or onnx (rankinite export --list): only methods whose ranker can "
        "be exported there compete.",
        rich_help_panel=_CHOICE,
        autocompletion=completing.targets,
    ),
]
FoldsOption: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Parts that queries are held out in; below ten queries each is held out alone. batches: the batches of the data, "
        "each judged by rankers of all others.",
        rich_help_panel=_CHOICE,
    ),
]
RiskOption: TypeAlias = Annotated[
    float,
    typer.Option(
        help="A change that promises a gain is recommended unless the chance of losing more than --tolerate is above this.",
        rich_help_panel=_CHOICE,
    ),
]
TolerateOption: TypeAlias = Annotated[
    float,
    typer.Option(help="The loss that does not count, in the unit of --measure.", rich_help_panel=_CHOICE),
]
SeedOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seed", "-s", min=0, help="Seed of folds and training; the same gives the same model.", rich_help_panel=_CHOICE
    ),
]
AllModelsOption: TypeAlias = Annotated[bool, typer.Option("--all-models", help="Write the model of every method, in models/.")]
CurveOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--curve/--no-curve", help="See how the gain grows with the number of target queries; takes a part of the time."
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the evidence as JSON, and nothing else.")]
