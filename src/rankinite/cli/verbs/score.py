"""``rankinite score``: what a model says of every row."""

from __future__ import annotations

import sys
from enum import StrEnum
from math import inf, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli import files, options
from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.inner_rankers import kind_of
from rankinite.cli.settings_file import RANKER
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.engine.kernel import Floats


TAG = "rankinite"


class Form(StrEnum):
    """How scores are written."""

    text = "text"
    trec = "trec"
    json = "json"


@options.with_options(reading=options.Reading(unjudged=options.Unjudged.keep))
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
        Form,
        typer.Option(
            "--format",
            "-f",
            help="text: one score a line; trec: a run, each query's documents best first; json: the scores of each query.",
        ),
    ] = Form.text,
    json: options.JsonOption = False,
    tag: Annotated[str | None, typer.Option(help=f"The last column of a TREC run; {TAG} if left out.")] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write what scores stand for: of MART with loss binary, balanced or graded the probability, of McRank the "
            "probabilities of the grades, lowest first.",
        ),
    ] = False,
    *,
    reading: options.Reading,
) -> None:
    """Score the rows of data: one score a line, in the order of the input.

    Rows that --unjudged drop leaves out have the score -inf, "not returned", or the probability nan. Grades are not looked at.

    Examples:

      rankinite score web.rankinite test.txt.gz > scores.txt

      rankinite score web.rankinite test.parquet --out scores.npy

      rankinite score web.rankinite candidates.txt --format trec --tag web --out web.run

      rankinite score clicks.rankinite candidates.txt --probabilities
    """
    if json and form is Form.trec:
        raise ArgumentError("--json and --format trec exclude each other. Give one of them.")
    form = Form.json if json else form
    if tag is not None and form is not Form.trec:
        raise ArgumentError(f"--tag {tag} is for TREC runs. Give --format trec too, or leave it out.")
    if out is not None and out.suffix.lower() == ".npy" and form is not Form.text:
        what = "a TREC run" if form is Form.trec else "JSON"
        raise ArgumentError(f"{out}: {what} is text. Name it otherwise, or leave --format {form} out.")
    judged, models = rankers.read_for({model: rankers.ranker(model)}, data, reading)
    with options.busy("scoring"):
        scores = _probabilities(models[model], judged, model, form) if probabilities else models[model].score(judged)
    absent = nan if probabilities else -inf
    if out is not None and out.suffix.lower() == ".npy":
        _write_array(in_input_order(scores, judged, absent), out)
        return
    match form:
        case Form.trec:
            _write_text(as_run(scores, judged, tag or TAG), out)
        case Form.json:
            _write_text(as_json(scores, judged, model, "probabilities" if probabilities else "scores"), out)
        case Form.text:
            _write_text(as_lines(in_input_order(scores, judged, absent)), out)


def _probabilities(ranker: Any, data: Dataset, name: str, form: Form) -> Floats:
    """What the ranker's scores stand for; refuses rankers whose scores stand for nothing else."""
    if not hasattr(ranker, "probabilities"):
        raise ArgumentError(
            f"--probabilities: {name} is a {kind_of(ranker)}, whose scores stand for no probabilities. Leave it out; forests "
            "of MART with a logistic loss and of McRank have some."
        )
    try:
        found: Floats = ranker.probabilities(data)
    except ArgumentError as problem:
        raise ArgumentError(f"--probabilities: {name}: {problem}") from problem
    if found.ndim > 1 and form is Form.trec:
        raise ArgumentError(
            f"--probabilities: {name} has one for each of {found.shape[1]} grades, but a TREC run has one number for each "
            "document. Leave --format trec out."
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
    told = {"model": model, "data": data.source, "queries": queries}
    return writer.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_run(scores: Floats, data: Dataset, tag: str) -> str:
    """A TREC run: the documents of each query, best first, those with equal scores in the order of their rows."""
    import numpy as np

    if data.doc_ids is None:
        raise DataError(f"{data.source}: its documents have no ids, which a TREC run needs. Read it with doc_id=….")
    documents, lines = data.doc_ids.tolist(), list[str]()
    for query, qid in enumerate(data.qids.tolist()):
        first, last = data.offsets[query], data.offsets[query + 1]
        for rank, row in enumerate(first + np.argsort(-scores[first:last], kind="stable")):
            words = (qid, documents[row], tag)
            if any(len(word.split()) != 1 for word in words):
                raise DataError(
                    f"{data.source}: a TREC run cannot hold the names {', '.join(map(repr, words))}, which are query, document "
                    "and tag. They must not be empty or contain blanks."
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
