"""Telling the format of a file: by its suffix, else by how it begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rankinite.data.io.streams import check_readable, open_bytes
from rankinite.data.io.unpacking import COMPRESSED
from rankinite.errors import ArgumentError, DataError, quoted

FORMATS = ("letor", "parquet", "arrow", "csv", "tsv", "qrels")
"""What ``format=`` can name."""
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".qrels": "qrels",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
PEEK = 1 << 16
"""Bytes that tell the format of a file."""
MOST_LINE = 1 << 26
"""Bytes of a first line that are looked at: a million long names."""


def format_of(paths: Sequence[Path], named: str | None, *, grouped: bool = False) -> str:
    """The one format of all these files, which must be readable.

    ``grouped`` says that there are group sizes for the rows; judgements (qrels) have none, so these are no qrels.
    """
    for path in paths:
        check_readable(path)
    if named is not None:
        if named not in FORMATS:
            raise ArgumentError(f"format={quoted(named)} is unknown. It can be {', '.join(map(repr, FORMATS))}.")
        return named
    found = {path: _format_of_file(path, grouped) for path in paths}
    if len(set(found.values())) > 1:
        seen = ", ".join(f"{path} ({kind})" for path, kind in found.items())
        raise DataError(f"The files are of different formats: {seen}. Read one format at a time, or name it with format=….")
    return found[paths[0]]


def inner_suffix(path: Path) -> str:
    """The suffix in lower case once that of the compression is taken away."""
    outer = path.suffix.lower()
    return Path(path.stem).suffix.lower() if outer in COMPRESSED else outer


def first_line(path: Path) -> str:
    """The first line that says something, of a text file; empty for an empty or binary one."""
    beginning = _beginning(path)
    line = _first_of(beginning)
    if len(beginning) == PEEK and not line.endswith(("\n", "\r")):  # cut short: the names of many columns
        line = _first_of(_beginning(path, MOST_LINE))
    return line.strip()


def is_header(line: str, separator: str) -> bool:
    """Whether a line of a separated table names columns: it does unless every field is a number or empty."""
    return not all(_is_number(field) for field in line.split(separator))


def _format_of_file(path: Path, grouped: bool) -> str:
    by_suffix = SUFFIXES.get(inner_suffix(path))
    if by_suffix is not None:
        return by_suffix
    beginning = _beginning(path)
    for magic, name in MAGIC.items():
        if beginning.startswith(magic):
            return name
    line = first_line(path)
    if _is_letor(line):
        return "letor"
    if not grouped and re.fullmatch(r"\S+\s+(\d+|[Qq]\d+)\s+\S+\s+[+-]?\d+", line):
        return "qrels"
    if "," in line:
        return "csv"
    return "tsv" if "\t" in line else "letor"


def _first_of(content: bytes) -> str:
    lines = content.decode("utf-8-sig", errors="replace").splitlines(keepends=True)
    return next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")


def _is_letor(line: str) -> bool:
    """Whether ``qid:`` or an index stands in the second place, or, after a grade, at least something with a colon."""
    fields = line.split(maxsplit=2)
    if len(fields) < 2:
        return False
    return re.match(r"(qid|\d+):", fields[1]) is not None or (_is_number(fields[0]) and ":" in fields[1])


def _beginning(path: Path, length: int = PEEK) -> bytes:
    check_readable(path)
    if not path.is_file():
        raise DataError(f"{path}: a pipe can be read only once, not looked at first. Name its format, or save it to a file.")
    with open_bytes(path) as stream:
        return stream.read(length)


def _is_number(field: str) -> bool:
    field = field.strip().strip('"')
    try:
        float(field or "nan")  # an empty field is a missing number
    except ValueError:
        return False
    return True
