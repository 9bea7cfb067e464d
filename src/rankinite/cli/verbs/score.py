"""``rankinite score``: the score of every row."""

from __future__ import annotations

import sys
from math import inf, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.inner_rankers import kind_of
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError, DataError, listed

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.engine.kernel import Floats


TAG = "rankinite"


ScoreFormat: TypeAlias = Literal["text", "trec", "json"]
"""How scores are written."""


@options.with_options(reading=options.Reading(unjudged="keep"))
def score(
    model: Annotated[
        str, RANKER, typer.Argument(help=f"The ranker: {rankers.MODEL}.", show_default=False, autocompletion=completing.rankers)
    ],
    data: options.DataArgument,
    out: Annotated[
        Path | None,
        files.FILE,
        typer.Option("--out", "-o", help="Where to write, .npy for NumPy; standard output if left out.", show_default=False),
    ] = None,
    form: Annotated[
        ScoreFormat,
        typer.Option(
            "--format",
            "-f",
            help="text: one score per line; trec: a run, each query's documents best first; json: the scores of each query.",
        ),
    ] = "text",
    json: options.JsonOption = False,
    tag: Annotated[str | None, typer.Option(help=f"The last column of a TREC run; {TAG} if left out.")] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write what scores stand for: the probability, for MART with loss binary, balanced or graded; the "
            "probabilities of the grades, lowest first, for McRank.",
        ),
    ] = False,
    *,
    reading: options.Reading,
) -> None:
    """Score the rows of data: one score per line, in the order of the input.

    Rows that --unjudged drop leaves out have the score -inf, "not returned", or the probability nan. Grades are not looked at.

    Examples:

      rankinite score web.rankinite test.txt.gz > scores.txt

      rankinite score web.rankinite test.parquet --out scores.npy

      rankinite score web.rankinite candidates.txt --format trec --tag web --out web.run

      rankinite score clicks.rankinite candidates.txt --probabilities
    """
    if json and form == "trec":
        raise ArgumentError("and --format trec exclude each other", setting="json", value=True, remedy="Give one of them")
    form = "json" if json else form
    if tag is not None and form != "trec":
        remedy = "Give --format trec too, or leave it out"
        raise ArgumentError("is for TREC runs", setting="tag", value=tag, remedy=remedy)
    if out is not None and out.suffix.lower() == ".npy" and form != "text":
        what = "a TREC run" if form == "trec" else "JSON"
        remedy = f"Give another name, or leave --format {form} out"
        raise ArgumentError(f"is an array of NumPy's, but {what} is text", setting="out", value=str(out), remedy=remedy)
    judged, models = rankers.read_for({model: rankers.ranker(model)}, data, reading)
    with options.busy("scoring"):
        scores = _probabilities(models[model], judged, model, form) if probabilities else models[model].score(judged)
    absent = nan if probabilities else -inf
    if out is not None and out.suffix.lower() == ".npy":
        _write_array(in_input_order(scores, judged, absent), out)
        return
    match form:
        case "trec":
            _write_text(as_run(scores, judged, tag or TAG), out)
        case "json":
            _write_text(as_json(scores, judged, model, "probabilities" if probabilities else "scores"), out)
        case "text":
            _write_text(as_lines(in_input_order(scores, judged, absent)), out)


def _probabilities(ranker: Any, data: Dataset, name: str, form: ScoreFormat) -> Floats:
    """The probabilities that the ranker's scores stand for; refuses rankers whose scores stand for none."""
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
    if found.ndim > 1 and form == "trec":
        raise ArgumentError(
            f"cannot be a TREC run, which has one number per document: {name} has one per grade, {found.shape[1]} in all",
            setting="probabilities",
            value=True,
            remedy="Leave --format trec out",
        )
    return found


def in_input_order(scores: Floats, data: Dataset, absent: float = -inf) -> Floats:
    """The scores of each row of the source, in its order; ``absent`` where a row was dropped on reading."""
    import numpy as np

    if data.input_row is None:
        return scores
    ordered = np.full((data.input_rows, *scores.shape[1:]), absent)
    ordered[data.input_row] = scores
    return ordered


def as_lines(scores: Floats) -> str:
    """One row per line, each number with all its digits."""
    rows: list[Any] = scores.tolist()
    return "".join(f"{' '.join(map(repr, row)) if isinstance(row, list) else repr(row)}\n" for row in rows)


def as_json(scores: Floats, data: Dataset, model: str, name: str = "scores") -> str:
    """The scores of each query, with the ids of its documents where they have some; null for what is no finite number."""
    import json as writer

    every: list[Any] = scores.tolist() if scores.ndim > 1 else [value if isfinite(value) else None for value in scores.tolist()]
    documents = None if data.doc_ids is None else data.doc_ids.tolist()
    queries: list[dict[str, object]] = []
    for query, qid in enumerate(data.qids.tolist()):
        rows = slice(int(data.offsets[query]), int(data.offsets[query + 1]))
        ids = {} if documents is None else {"doc_ids": documents[rows]}
        queries.append({"qid": qid, **ids, name: every[rows]})
    content = {"model": model, "data": data.source, "queries": queries}
    return writer.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_run(scores: Floats, data: Dataset, tag: str) -> str:
    """A TREC run: the documents of each query, best first, those with equal scores in the order of their rows."""
    import numpy as np

    if data.doc_ids is None:
        remedy = "Read the data with `doc_id=…`"
        raise DataError("the documents have no ids, which a TREC run needs", place=data.source, remedy=remedy)
    documents, lines = data.doc_ids.tolist(), list[str]()
    for query, qid in enumerate(data.qids.tolist()):
        first, last = data.offsets[query], data.offsets[query + 1]
        for rank, row in enumerate(first + np.argsort(-scores[first:last], kind="stable")):
            words = (qid, documents[row], tag)
            if any(len(word.split()) != 1 for word in words):
                raise DataError(
                    f"a TREC run cannot hold the names {listed(words)} of query, document and tag",
                    place=data.source,
                    value=words,
                    rule="They must not be empty or contain blanks",
                )
            lines.append(f"{qid} Q0 {documents[row]} {rank + 1} {scores[row].item()!r} {tag}\n")
    return "".join(lines)


def _write_text(text: str, out: Path | None) -> None:
    from rankinite.data.io.output_files import write_atomically

    if out is None:
        sys.stdout.write(text)
        return
    with write_atomically(out) as handle:
        handle.write(text.encode())


def _write_array(scores: Floats, out: Path) -> None:
    import numpy as np

    from rankinite.data.io.output_files import write_atomically

    with write_atomically(out) as handle:
        np.save(handle, scores)
