"""``rankinite cross-validate``: trainers compared on queries that they did not see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import options
from rankinite.cli import report_option as reporting
from rankinite.cli import trainer_arguments as trainers
from rankinite.cli.cluster_options import ClusterOptions
from rankinite.cli.options import folds_of
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

LETOR = "letor"
"""Folds whose parts are files."""


@options.with_options(report_files=reporting.ReportFiles(), placing=ClusterOptions(), reading=options.Reading())
def cross_validate(
    data: Annotated[list[Path], typer.Argument(help="Judged data; several files are joined, or parts.", show_default=False)],
    system: Annotated[
        list[str],
        typer.Option("--system", "-S", help=f"What to train: {trainers.HELP}. Write name=… to name it; may be repeated."),
    ],
    folds: Annotated[
        str,
        typer.Option(
            help="A number: folds dealt by query, each tested once; letor: the files are LETOR's parts S1 … S5; batches: each "
            "batch is tested by rankers of all others."
        ),
    ] = "5",
    measure: options.MeasureOption = None,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of the dealing and of the tests.")] = 0,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also show every pair with all three tests and wins, ties, losses.")
    ] = False,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    quiet: bool = False,
    *,
    report_files: reporting.ReportFiles,
    placing: ClusterOptions,
    reading: options.Reading,
) -> None:
    """Compare learners by cross-validation: every query is scored by rankers that did not see it, and all folds are pooled.

    Of k folds, fold i is tested, the next one says when to stop, and the others train. Differences are tested as by compare.

    Examples:

      rankinite cross-validate judged.txt.gz -S lambdamart -S mart -m ndcg@10 -m err

      rankinite cross-validate S1.txt S2.txt S3.txt S4.txt S5.txt --folds letor -S lambdamart -S 'bag=lambdamart bags=10'

      rankinite cross-validate judged.txt.gz -S 'one=lambdamart row_share=0.7' -S 'five=lambdamart row_share=0.7 seeds=5'

      rankinite cross-validate judged.txt.gz -S lambdamart -S mart --report folds.html --summary folds.md

      rankinite cross-validate judged.txt.gz -S lambdamart -S 'bag=lambdamart bags=10' --workers 8
    """
    from rankinite.cli.output import echo_comparison
    from rankinite.cli.progress import trying
    from rankinite.ensembles.cross_validation import cross_validate as validated

    report_files.check()
    named = trainers.trainers(system)
    judged, count = _read(data, folds, reading)
    with placing.in_force(), trying(quiet=quiet) as watch:
        result = validated(named, judged, count, measures=measure or options.DEFAULT_MEASURES, seed=seed, watch=watch)
    if report_files:
        from rankinite.report.cross_validations import of_cross_validation

        systems = {"Systems": {name: trainer.settings() for name, trainer in named.items()}}
        facts = {**reporting.run_facts(), **systems}
        report_files.write(of_cross_validation(result, judged, count, seed=seed, facts=facts))
    echo_comparison(result, "json" if json else layout, pairs=pairs)


def _read(paths: list[Path], folds: str, reading: options.Reading) -> tuple[Dataset | list[Dataset], Any]:
    """The data, or LETOR's parts, and how to make folds of them."""
    if folds == LETOR:
        first = reading.read(_parts(paths)[:1])
        return [first, *(reading.read([path], like=first) for path in paths[1:])], 0
    judged = reading.read(paths)
    return judged, folds_of(folds, LETOR)


def _parts(paths: list[Path]) -> list[Path]:
    """The files that are LETOR's parts, in the order given."""
    if len(paths) < 3:
        raise ArgumentError(
            f"needs LETOR's parts as files, at least three, but there are {len(paths)}",
            setting="folds",
            value="letor",
            remedy="Give S1 … S5, or a number of folds",
        )
    return paths
