"""Given scores: those that a file has for the rows of data, be it a TREC run or one number per row."""

from __future__ import annotations

from pathlib import Path

from rankinite.data.dataset import Dataset
from rankinite.data.io.format_detection import first_line
from rankinite.data.io.plain_scores import read_scores
from rankinite.data.io.streams import check_readable
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec import RUN_FORM, read_run
from rankinite.engine.kernel import Floats
from rankinite.errors import DataError


def given_scores(path: AnyPath, data: Dataset) -> Floats:
    """The scores in a file: a run names the documents, any other file has one score for each row of the data's source."""
    return read_run(path, data) if is_run(path) else read_scores(path, data)


def is_run(path: AnyPath) -> bool:
    """Whether a file with scores is a TREC run; refuses what is no file."""
    file = Path(path)
    try:
        check_readable(file)
    except DataError as problem:
        problem.rule = "The path of a ranker is that of a TREC run, or of a file with one score per row"
        problem.remedy = problem.remedy or "Check the name"
        raise
    return file.suffix.lower() != ".npy" and len(first_line(file).split()) >= len(RUN_FORM.split())
