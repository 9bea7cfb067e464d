"""Delimiters: what stands between the cells of a CSV or TSV file, as the caller says or as the first line tells."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rankinite.data.io.formats import CSV, LETOR, TSV, FileFormat, format_of_suffix
from rankinite.errors import ArgumentError

NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " ", "\\t": "\t"}
"""Delimiters by the words for them: a tab is hard to type in a shell."""
USUAL = (",", "\t", ";", "|")
"""The delimiters that a first line can tell, the likeliest first."""
_OWN = {CSV.name: ",", TSV.name: "\t"}


def checked_delimiter(delimiter: str | None) -> str | None:
    """The delimiter that a caller names; refuses what could be a part of a number or a name."""
    if delimiter is None:
        return None
    found = NAMED.get(delimiter, delimiter)
    if len(found) != 1 or not found.isascii() or found.isalnum() or found in "\"'\r\n.+-_\0":
        raise ArgumentError(
            "is no delimiter",
            owner="read",
            setting="delimiter",
            value=delimiter,
            rule=f"It is one character that appears in no number or name, such as ';', or {', '.join(list(NAMED)[:-1])}",
        )
    return found


def delimiter_of(line: str, kind: str, named: str | None) -> str:
    """The delimiter of a file of this format whose first line this is: the one named, else the one that the line tells.

    The format's own counts where the line has it, or where several others could be meant.
    """
    own = _OWN[kind]
    if named is not None or own in line:
        return named or own
    others = [one for one in USUAL if len(cells_of(line, one)) > 1]
    return others[0] if len(others) == 1 else own


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line, which may be in quotes."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a cell beyond what this reader takes
        return line.split(delimiter)


def table_format(line: str) -> FileFormat | None:
    """The format of a text file that is a table by its first line; None where the line does not tell."""
    if "," in line:
        return CSV
    if "\t" in line:
        return TSV
    return CSV if any(line.count(one) > 1 for one in (";", "|")) else None


def refuse_delimiter(named: str | None, kind: str, place: object) -> None:
    """Refuse a delimiter for data of another kind."""
    if named is not None:
        raise ArgumentError(
            f"is for CSV and TSV files, but this is read as {kind}",
            owner="read",
            place=place,
            setting="delimiter",
            value=named,
            remedy="Leave it out, or name the format with `format='csv'`",
        )


def likely_delimiter(columns: Sequence[str]) -> str | None:
    """The word for another delimiter that the names of columns hold, as where the file was cut at the wrong character."""
    for word, one in NAMED.items():
        if one in USUAL and any(one in name for name in columns):
            return word
    return None


def delimited_format(paths: Sequence[Path], named: str | None) -> str | None:
    """The format of files whose delimiter is named, where their suffixes do not tell another."""
    if named is None or not paths:
        return None
    by_suffix = format_of_suffix(paths[0])
    return CSV.name if by_suffix in (None, LETOR) else None
