"""``rankinite score``: the score of every row."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.inner_rankers import kind_of
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.data.io.formats import FileFormat
    from rankinite.data.io.score_files import ScoredRows
    from rankinite.engine.kernel import Floats


ScoreFormat: TypeAlias = Literal["text", "trec", "json", "csv", "tsv", "parquet", "arrow", "npy"]
"""How scores are written."""


@options.with_options(reading=options.Reading(unjudged="keep"))
def score(
    model: Annotated[
        str, RANKER, typer.Argument(help=f"The ranker: {rankers.MODEL}.", show_default=False, autocompletion=completing.rankers)
    ],
    data: Annotated[
        list[Path],
        typer.Argument(
            help="Data, judged or not: LETOR (.gz, .zst, .xz too), Parquet, Arrow, CSV or TSV; several files are read as one."
        ),
    ],
    out: Annotated[
        Path | None,
        files.FILE,
        typer.Option(
            "--out",
            "-o",
            help="Where to write; standard output if left out. Its suffix tells the format: .csv, .tsv, .parquet, .arrow, .run "
            "(trec), .json, .npy; any other is text.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        ScoreFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="text: one score per line; csv, tsv, parquet, arrow: a table of qid, doc_id, score and rank; trec: a run, "
            "each query's documents best first; json: the scores of each query; npy: an array of NumPy's.",
            show_default=False,
        ),
    ] = None,
    json: options.JsonOption = False,
    tag: Annotated[
        str | None, typer.Option(help="The last column of a TREC run; rankinite if left out.", show_default=False)
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write what scores stand for: the probability, for MART with loss binary, balanced or graded; the "
            "probabilities of the grades, lowest first, for McRank. Tables hold them beside the scores.",
        ),
    ] = False,
    *,
    reading: options.Reading,
) -> None:
    """Score the rows of data, in the order of the input. Grades are not looked at, and need not be there.

    Text and arrays need no queries either, unless the ranker compares the documents of a query. Rows that --unjudged drop
    leaves out have the score -inf, "not returned", or the probability nan there; tables, runs and JSON leave them out.

    Examples:

      rankinite score web.rankinite test.txt.gz > scores.txt

      rankinite score web.rankinite candidates.parquet --out ranked.csv

      rankinite score web.rankinite candidates.txt --tag web --out web.run

      rankinite score clicks.rankinite candidates.txt --probabilities
    """
    from rankinite.data.io.formats import RUN
    from rankinite.data.io.score_files import BY_QUERY, content_of, write_scored
    from rankinite.models.base import needs_queries

    if json and form not in {None, "json"}:
        raise ArgumentError(f"and --format {form} exclude each other", setting="json", value=True, remedy="Give one of them")
    chosen = _format("json" if json else form, out)
    if tag is not None and chosen != RUN:
        remedy = "Give --format trec too, or leave it out"
        raise ArgumentError("is for TREC runs", setting="tag", value=tag, remedy=remedy)
    ranker = rankers.ranker(model)
    rows, models = rankers.read_for({model: ranker}, data, reading, needs_queries=chosen in BY_QUERY or needs_queries(ranker))
    with options.busy("scoring"):
        scored = _scored(models[model], rows, model, chosen, probabilities=probabilities)
    scored = scored if tag is None else replace(scored, tag=tag)
    if out is None:
        sys.stdout.write(content_of(scored, chosen).decode())
    else:
        write_scored(out, scored, chosen)


def _format(named: str | None, out: Path | None) -> FileFormat:
    """The format that the options tell; refuses a file or a terminal that does not go with it."""
    from rankinite.data.io.formats import LINES, SCORE_FORMATS, score_format_of_suffix

    by_suffix = None if out is None else score_format_of_suffix(out)
    if named is None:
        return by_suffix or LINES
    chosen = SCORE_FORMATS[named]
    if out is None and not chosen.is_text:
        raise ArgumentError(
            f"files of format {named} are not text, so they are not printed", value=named, remedy="Name a file with `out=…`"
        )
    if by_suffix is not None and by_suffix != chosen and not (chosen.is_text and by_suffix.is_text):
        raise ArgumentError(
            f"is the name of a file of format {by_suffix.name}, but --format {named} is given",
            setting="out",
            value=str(out),
            remedy=f"Give another name, or leave --format {named} out",
        )
    return chosen


def _scored(ranker: Any, data: Dataset, name: str, chosen: FileFormat, *, probabilities: bool) -> ScoredRows:
    """The rows with their scores or probabilities, or, for a table, both; ``name``: what the user calls the ranker."""
    from rankinite.data.io.formats import TABLES
    from rankinite.data.io.score_files import RANKED, ScoredRows
    from rankinite.evaluation.scorers import scores_of

    found = _probabilities(ranker, data, name, chosen) if probabilities else None
    if found is not None and chosen not in TABLES:
        return ScoredRows(data, found, "probabilities", nan, model=name)
    scores = scores_of(ranker, data, name) if chosen in RANKED else ranker.score(data)
    if found is None:
        return ScoredRows(data, scores, model=name)
    if found.ndim == 1:
        return ScoredRows(data, scores, more={"probability": found}, model=name)
    names = (f"probability_{int(grade) if grade.is_integer() else grade}" for grade in ranker.grades.tolist())
    return ScoredRows(data, scores, more=dict(zip(names, found.T, strict=True)), model=name)


def _probabilities(ranker: Any, data: Dataset, name: str, chosen: FileFormat) -> Floats:
    """The probabilities that the ranker's scores stand for; refuses rankers whose scores stand for none."""
    from rankinite.data.io.formats import RUN

    if not hasattr(ranker, "probabilities"):
        raise ArgumentError(
            f"cannot be written: {name} is a {kind_of(ranker)}, whose scores stand for no probabilities",
            setting="probabilities",
            value=True,
            rule="Forests of MART with a logistic loss and of McRank have some",
            remedy="Leave it out",
        )
    try:
        found: Floats = ranker.probabilities(data)
    except ArgumentError as problem:
        raise problem.at(f"--probabilities: {name}") from problem
    if found.ndim > 1 and chosen == RUN:
        raise ArgumentError(
            f"cannot be a TREC run, which has one number per document: {name} has one per grade, {found.shape[1]} in all",
            setting="probabilities",
            value=True,
            remedy="Leave --format trec out",
        )
    return found
