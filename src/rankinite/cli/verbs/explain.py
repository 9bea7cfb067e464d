"""``rankinite explain``: why one document is above another, and what ranks queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli import report_option as reporting
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


@options.with_options(reading=options.Reading(unjudged="keep"))
def explain(
    model: Annotated[
        str, RANKER, typer.Argument(help=f"The ranker: {rankers.MODEL}.", show_default=False, autocompletion=completing.rankers)
    ],
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Data with the query: LETOR (.gz, .zst, .xz too), Parquet, Arrow, CSV or TSV; several files are read as one."
        ),
    ],
    query: Annotated[str | None, typer.Option("--query", help="The query to explain, by its id.", show_default=False)] = None,
    above: Annotated[
        str | None,
        typer.Option(
            "--above",
            help="The document above: its id or, where the data have none, its row within the query, counted from 0.",
            show_default=False,
        ),
    ] = None,
    below: Annotated[str | None, typer.Option("--below", help="The document below, likewise.", show_default=False)] = None,
    all_queries: Annotated[
        bool, typer.Option("--all-queries", help="Rank the features by their contributions within all queries.")
    ] = False,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="With --all-queries: rank the features by what --measure loses when their values are shuffled within queries. "
            "For any ranker; needs grades.",
        ),
    ] = False,
    measure: Annotated[
        str,
        typer.Option(
            "--measure", "-m", help="The measure in which the worth of features is given.", autocompletion=completing.measures
        ),
    ] = "ndcg@10",
    show_features: Annotated[
        int, typer.Option("--show-features", min=0, help="How many features to list and draw; 0: all.")
    ] = 10,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often a feature's values are shuffled within a query.")
    ] = 10,
    permutations: Annotated[
        int,
        typer.Option(
            "--permutations",
            min=4,
            help="Orders of the features that are tried for nets of more than 12; the others are exact.",
        ),
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Seed of shuffles and orders.")] = 0,
    plot: Annotated[
        Path | None, files.FILE, typer.Option("--plot", help="Also draw the result to this file (.png, .svg or .pdf).")
    ] = None,
    layout: options.FormatOption = "text",
    json: options.JsonOption = False,
    report: reporting.ReportOption = None,
    *,
    reading: options.Reading,
) -> None:
    """Say why one document is ranked above another, what ranks a query, or what ranks all of them.

    With --above and --below, the difference of two scores is split by feature: exact Shapley values for forests, linear rankers
    and blends of them. The smallest change of one number that would swap the two follows, or else the most frequent category
    that would.

    With --query alone, the table shows what each feature is worth there: how much of the measure is lost when its contributions
    are taken out of the scores, and when its values are shuffled among the documents. This needs grades.

    With --all-queries, features are listed by the size of their contributions within queries: what all documents of a query
    share cannot rank them, so that it is taken out first. With --shuffle too, they are listed by how much of the measure is
    lost when their values are shuffled within queries, with intervals over queries: for any ranker, whatever is inside.

    Examples:

      rankinite explain web.rankinite test.txt --query 17 --above d3 --below d9

      rankinite explain web.rankinite test.txt --query 17 --above 0 --below 4 --plot why.png

      rankinite explain web.rankinite test.txt --query 17 -m err --json

      rankinite explain web.rankinite test.txt --query 17 --report why.html

      rankinite explain lightgbm.txt test.parquet --all-queries --show-features 0

      rankinite explain blend.rankinite test.txt --all-queries --shuffle --repeats 5
    """
    from rankinite.cli.output import echo, laid_out
    from rankinite.cli.pictures import check_picture, save_picture
    from rankinite.models.explanations.permutation import permutation_importance

    options.refuse_count(reading.features)
    _check_question(query, above, below, all_queries=all_queries)
    if shuffle and not all_queries:
        remedy = "Add --all-queries; with --query, the losses of shuffled features are in the table anyway"
        raise ArgumentError("needs --all-queries", setting="shuffle", value=True, remedy=remedy)
    if plot is not None:
        check_picture(plot)
        files.check_writeable(plot)
    report_files = reporting.ReportFiles(report)
    report_files.check()
    rows, models = rankers.read_for({model: rankers.ranker(model)}, data, reading)
    with options.busy("explaining"):
        if shuffle:
            found: Any = permutation_importance(models[model], rows, measure, repeats=repeats, seed=seed)
        else:
            asked = {"measure": measure, "repeats": repeats, "permutations": permutations, "seed": seed}
            found = _explained(models[model], rows, query, above, below, asked)
    if report_files:
        from rankinite.report.explanations import of_explanation

        report_files.write(of_explanation(found, rows, ranker=models[model], facts=reporting.run_facts({"seed": seed})))
    most = show_features or None
    echo(found.to_json() if json or layout == "json" else laid_out(found.grid(most), layout))
    if plot is not None:
        save_picture(plot, lambda: found.plot(most or max(len(found.features), 1)))


def _check_question(query: str | None, above: str | None, below: str | None, *, all_queries: bool) -> None:
    """Refuse options that ask nothing, or two things at once."""
    if all_queries and query is not None:
        raise ArgumentError("and --all-queries exclude each other", setting="query", value=query, remedy="Give one of them")
    if not all_queries and query is None:
        raise ArgumentError(
            "no query was named",
            place="explain",
            value=None,
            remedy="Give one with --query, or --all-queries for a summary; `rankinite describe` shows the queries of data",
        )
    for name, value in (("above", above), ("below", below)):
        if all_queries and value is not None:
            raise ArgumentError(
                "is a document of no query", setting=name, value=value, remedy="Give --query in place of --all-queries"
            )


def _explained(
    ranker: Any, data: Dataset, query: str | None, above: str | None, below: str | None, asked: dict[str, Any]
) -> Any:
    """The explanation; errors call the query as the option does."""
    try:
        return ranker.explain(data, query, above=above, below=below, **asked)
    except ArgumentError as problem:
        if problem.setting != "qid":
            raise
        raise ArgumentError(problem.problem, setting="query", value=problem.value, rule=problem.rule) from problem
