"""Small text files line by line, compressed or not; every failure is a DataError."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from rankinite.data.io.streams import read_whole
from rankinite.engine.kernel import INDEX, Indices
from rankinite.errors import DataError, quoted

AnyPath: TypeAlias = str | PathLike[str]

GROUP_FILES = (".query", ".group")
"""Suffixes that LightGBM and XGBoost add to the name of a file for that of its group sizes."""


class Line(NamedTuple):
    """One line that is neither empty nor a comment."""

    place: str
    """File and line number, for messages."""
    text: str


def read_lines(path: AnyPath) -> Iterator[Line]:
    """The lines of a text file that are neither empty nor comments (``#``), each with its place."""
    try:
        lines = io.StringIO(read_whole(Path(path)).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start} is not UTF-8 text", place=path, value=error.start, remedy="Check that this is a text file"
        ) from error
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield Line(f"{path}:{number}", stripped)


def read_sizes(path: AnyPath) -> Indices:
    """A group file: on each line the number of rows of one query."""
    sizes: list[int] = []
    for place, text in read_lines(path):
        if not re.fullmatch(r"[0-9]{1,15}", text):
            raise DataError(
                f"{quoted(text)} is not a whole number from 0 on",
                place=place,
                value=text,
                rule="Each line gives the number of rows of one query",
            )
        sizes.append(int(text))
    return np.asarray(sizes, INDEX)


def group_files(paths: Sequence[AnyPath]) -> list[Path]:
    """The files of group sizes beside data files; none unless every data file has one."""
    beside = [[file for ending in GROUP_FILES if (file := Path(f"{path}{ending}")).exists()] for path in paths]
    return [files[0] for files in beside] if all(beside) else []
