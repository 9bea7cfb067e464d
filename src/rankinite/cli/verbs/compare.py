"""``rankinite compare``: which ranker is better, and how surely."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.choices import Test
from rankinite.cli import completion as completing
from rankinite.cli import options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli import report_option as reporting
from rankinite.cli.messages import say_all
from rankinite.cli.settings_file import RANKER


@options.with_options(report_files=reporting.ReportFiles(), reading=options.Reading())
def compare(
    ranker: Annotated[
        list[str],
        RANKER,
        typer.Argument(
            help=f"Two or more rankers, each {rankers.HELP}. Write name=… to name one.",
            show_default=False,
            autocompletion=completing.rankers,
        ),
    ],
    data: Annotated[list[Path], typer.Option("--data", "-d", help="Judged data; may be repeated.", show_default=False)],
    measure: options.MeasureOption = None,
    test: Annotated[Test, typer.Option(help="The test behind the letters.")] = "randomisation",
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    resamples: Annotated[
        int, typer.Option(min=100, max=10_000_000, help="Resamples of the randomisation and bootstrap tests.")
    ] = 10_000,
    seed: Annotated[int, typer.Option("--seed", "-s", help="Seed of the resamples.")] = 0,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also show every pair with all three tests and wins, ties, losses.")
    ] = False,
    convention: options.ConventionOption = "rankinite",
    ties: options.TiesOption = None,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    *,
    report_files: reporting.ReportFiles,
    reading: options.Reading,
) -> None:
    """Compare rankers on the same queries: means, intervals, and letters for differences that are significant.

    Tests are paired by query and Holm-corrected over all pairs. A note says which models were trained on some of the queries,
    and on how many: these flatter them.

    Examples:

      rankinite compare bm25=feature:25 old=old.rankinite new=new.rankinite --data test.txt.gz -m ndcg@10

      rankinite compare old.run new.run --data web.qrels -m map --convention trec --pairs

      rankinite compare old=old.rankinite new=new.rankinite --data test.txt.gz --report report.html
    """
    from rankinite.cli.output import echo_comparison
    from rankinite.evaluation.compare import compare as compare_rankers

    report_files.check()
    judged, systems = rankers.load(ranker, data, reading)
    with options.busy("comparing"):
        result = compare_rankers(
            systems,
            judged,
            measure or options.DEFAULT_MEASURES,
            convention=convention,
            ties=ties,
            test=test,
            alpha=alpha,
            resamples=resamples,
            seed=seed,
        )
    say_all(result.warnings)
    if report_files:
        from rankinite.report.builders import of_comparison

        facts = reporting.run_facts()
        report_files.write(of_comparison(result, judged, systems, facts=facts))
    echo_comparison(result, "json" if json else layout, pairs=pairs)
