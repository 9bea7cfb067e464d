"""Format detection: by the suffix of a file, else by how it begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rankinite.checks import check_choice
from rankinite.data.io.delimiters import table_format
from rankinite.data.io.formats import FORMATS, LETOR, QRELS, FileFormat, format_of_suffix
from rankinite.data.io.streams import check_readable, open_bytes
from rankinite.errors import DataError

PEEK = 1 << 16
"""Bytes that tell the format of a file."""
MOST_LINE = 1 << 26
"""Bytes of a first line that are looked at: a million long names."""


def format_of(paths: Sequence[Path], named: str | None, *, grouped: bool = False) -> str:
    """The name of the one format of all these files, which must be readable.

    ``grouped`` says that there are group sizes for the rows; judgements (qrels) have none, so these are no qrels.
    """
    for path in paths:
        check_readable(path)
    if named is not None:
        check_choice("read", "format", named, tuple(FORMATS))
        return named
    found = {path: _format_of_file(path, grouped).name for path in paths}
    for path, name in found.items():
        if name != found[paths[0]]:
            raise DataError(
                f"the format is {name}, but that of {paths[0]} is {found[paths[0]]}",
                place=path,
                value=name,
                remedy="Read one format at a time, or name it with `format=…`",
            )
    return found[paths[0]]


def first_line(path: Path) -> str:
    """The first line of a text file that is neither blank nor a comment; empty for an empty or binary file."""
    beginning = _beginning(path)
    line = _first_of(beginning)
    if len(beginning) == PEEK and not line.endswith(("\n", "\r")):  # cut short: the names of many columns
        line = _first_of(_beginning(path, MOST_LINE))
    return line.strip()


def is_header(line: str, separator: str) -> bool:
    """Whether a line of a separated table names columns: it does unless every field is a number or empty."""
    return not all(_is_number(field) for field in line.split(separator))


def _format_of_file(path: Path, grouped: bool) -> FileFormat:
    by_suffix = format_of_suffix(path)
    if by_suffix is not None:
        return by_suffix
    beginning = _beginning(path)
    by_magic = next((one for one in FORMATS.values() if one.magic and beginning.startswith(one.magic)), None)
    return by_magic or _format_of_line(first_line(path), grouped)


def _format_of_line(line: str, grouped: bool) -> FileFormat:
    if _is_letor(line):
        return LETOR
    if not grouped and re.fullmatch(r"\S+\s+(\d+|[Qq]\d+)\s+\S+\s+[+-]?\d+", line):
        return QRELS
    return table_format(line) or LETOR


def _first_of(content: bytes) -> str:
    lines = content.decode("utf-8-sig", errors="replace").splitlines(keepends=True)
    return next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")


def _is_letor(line: str) -> bool:
    """Whether the first or second field begins with ``qid:``, the second with an index, or it has a colon behind a grade."""
    fields = line.split(maxsplit=2)
    if line.startswith("qid:"):  # rows without grades
        return True
    if len(fields) < 2:
        return False
    return re.match(r"(qid|\d+):", fields[1]) is not None or (_is_number(fields[0]) and ":" in fields[1])


def _beginning(path: Path, length: int = PEEK) -> bytes:
    check_readable(path)
    if not path.is_file():
        raise DataError(
            "a pipe can be read only once, so its format cannot be detected",
            place=path,
            remedy="Name it with `format=…`, or save the content to a file",
        )
    with open_bytes(path) as stream:
        return stream.read(length)


def _is_number(field: str) -> bool:
    field = field.strip().strip('"')
    try:
        float(field or "nan")  # an empty field is a missing number
    except ValueError:
        return False
    return True
