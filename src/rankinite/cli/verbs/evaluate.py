"""``rankinite evaluate``: the measures of a ranker, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say_all
from rankinite.cli.settings_file import RANKER


@options.with_options(reading=options.Reading())
def evaluate(
    ranker: Annotated[
        str, RANKER, typer.Argument(help=f"The ranker: {rankers.HELP}.", show_default=False, autocompletion=completing.rankers)
    ],
    data: options.DataOrQrelsArgument,
    measure: options.MeasureOption = None,
    convention: options.ConventionOption = "rankinite",
    ties: options.TiesOption = None,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    per_query: Annotated[
        Path | None, files.FILE, typer.Option("--per-query", help="Also write every query's values to this CSV file.")
    ] = None,
    *,
    reading: options.Reading,
) -> None:
    """Measure a ranker on judged data: means with 95 % confidence intervals over queries.

    Tied scores count their exact expectation, so the order of rows never matters. Queries whose documents all have one
    grade are skipped, and their number is shown; --convention counts as other tools do. A note says how many of the queries
    the model was trained on, if any: these flatter it.

    Examples:

      rankinite evaluate web.rankinite test.txt.gz -m ndcg@10 -m err

      rankinite evaluate feature:25 test.txt.gz

      rankinite evaluate scores.txt test.parquet --json

      rankinite evaluate bm25.run web.qrels -m map -m p@10 --convention trec
    """
    from rankinite.cli.output import echo, laid_out, write_per_query
    from rankinite.evaluation.evaluate import evaluate as measure_ranker

    judged, loaded = rankers.load([ranker], data, reading)
    with options.busy("measuring"):
        result = measure_ranker(
            next(iter(loaded.values())),
            judged,
            measure or options.DEFAULT_MEASURES,
            convention=convention,
            ties=ties,
        )
    say_all(result.warnings)
    if per_query is not None:
        write_per_query(per_query, judged, {str(m): result[m].per_query for m in result.measures})
    echo(result.to_json() if json or layout == "json" else laid_out(result.grid(), layout, result.to_csv))
