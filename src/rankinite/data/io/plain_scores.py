"""Plain score files: one number per line, or a ``.npy`` array."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.npy_files import read_npy
from rankinite.data.io.text_files import AnyPath, read_lines
from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import DataError, quoted
from rankinite.plurals import agreeing, counted


def read_scores(path: AnyPath, data: Dataset) -> Floats:
    """A score file: one number per line (or a .npy array) for each row of the data's source, in the source's order."""
    scores = score_column(path)
    if len(scores) != data.input_rows:
        raise DataError(
            f"there {agreeing(len(scores), 'is')} {counted(len(scores), 'score')}, but {data.source} has "
            f"{counted(data.input_rows, 'row')}",
            place=path,
            value=len(scores),
            remedy="Give one score for each row of the source, in its order",
        )
    return data.from_input_order(scores)


def score_column(path: AnyPath) -> Floats:
    """The numbers of a score file, whatever rows they are for."""
    if Path(path).suffix.lower() == ".npy":
        scores, places = _npy_scores(Path(path)), None
    else:
        lines = list(read_lines(path))
        places = [line.place for line in lines]
        scores = np.asarray([stated_number(line.text, line.place, "score") for line in lines], SCORE)
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        place = f"{path}, entry {bad[0]}" if places is None else places[bad[0]]
        raise DataError(
            "the score is NaN",
            place=place,
            value="NaN",
            rule="Scores must be numbers",
            remedy="Use -inf for a document that is not returned",
        )
    return scores


def stated_number(text: str, place: str, what: str) -> float:
    """The number that a text states; ``what`` it is, for messages."""
    try:
        return float(text)
    except ValueError as error:
        raise DataError(
            f"the {what} {quoted(text)} is not a number", place=place, value=text, remedy="Check the order of the columns"
        ) from error


def _npy_scores(path: Path) -> Floats:
    scores = read_npy(path)
    if scores.ndim != 1:
        raise DataError(
            f"the array has the shape {scores.shape}", place=path, value=scores.shape, rule="Scores are one number per row"
        )
    return scores.astype(SCORE)
