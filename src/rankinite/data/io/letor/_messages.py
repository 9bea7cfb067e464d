"""What is wrong with a LETOR line, in words: place, value, rule and remedy."""

from __future__ import annotations

from rankinite.data.io.letor import _kernels as kernels
from rankinite.errors import DataError, quoted

LARGEST_INDEX = 1_000_000
"""Features are kept as a dense matrix; an index beyond this is taken for a mistake."""

_LINE = "A line is 'grade qid:Q index:value index:value … # comment'"

_MESSAGES = {
    kernels.BAD_GRADE: f"the grade {{token}} is not a number. {_LINE}; the grade comes first.",
    kernels.ENDLESS_GRADE: "the grade {token} is not a finite number. Grades must be finite; drop the row or grade it.",
    kernels.INEXACT_GRADE: "the whole grade {token} becomes another number as a 32-bit float. Such floats have all whole "
    "numbers up to 16777216; map the grades to smaller ones.",
    kernels.EMPTY_QID: "{token} names no query. Write qid: and the query's id without a blank between them.",
    kernels.LATE_QID: f"{{token}} stands after the features, or twice. {_LINE}; the query comes once, right after the grade.",
    kernels.QID_MISSING: "this row has no qid, but the rows before it have. Give qid:Q on every row, or on none and group=.",
    kernels.QID_SURPRISING: "this row has a qid, but the rows before it have not. Give qid:Q on every row, or on none.",
    kernels.NO_COLON: f"{{token}} is not index:value. {_LINE}; is the line cut short?",
    kernels.BAD_INDEX: "{token} does not begin with a feature index. Indices are whole numbers from {base} on.",
    kernels.NO_VALUE: "{token} has no value. Write index:value without blanks; is the line cut short?",
    kernels.BAD_VALUE: "the value in {token} is not a number. Write a decimal number, inf, or nan for a missing value.",
    kernels.INDEX_ZERO: "feature index 0 in {token}. LETOR indices start at 1; pass zero_based=True if the file counts from 0.",
    kernels.INDEX_FALLS: "the index in {token} is smaller than the one before it. Indices must rise along a line; sort them.",
    kernels.INDEX_REPEATED: "the index in {token} is the one before it again. An index may stand once on a line; remove one.",
}


def fault(place: str, code: int, line: bytes, column: int, *, base: int, features: int | None) -> DataError:
    """The error for the token that begins at ``column`` of ``line``."""
    if code == kernels.BINARY or b"\0" in line:
        return DataError(
            f"{place}: this looks like a binary file: there is a NUL byte in the line. LETOR files are text; is it Parquet, "
            "or compressed, under another name? The ending of the name says which (.parquet, .gz, .zst, .xz)."
        )
    token = shown(line[column:].split(maxsplit=1)[0] if line[column:].split(maxsplit=1) else b"")
    if code == kernels.INDEX_TOO_LARGE:
        return DataError(f"{place}: the index in {token} is too large. {_index_rule(base, features)}")
    return DataError(f"{place}: {_MESSAGES[code].format(token=token, base=base)}")


def shown(token: bytes, most: int = 40) -> str:
    """A token as it is quoted in messages: cut to a length, with what cannot be printed escaped."""
    return quoted(token[: 4 * most].decode("utf-8", "backslashreplace"), most).replace("\\\\x", "\\x")


def _index_rule(base: int, features: int | None) -> str:
    if features is not None:
        indices = f"{features} features, with indices {base} to {features - 1 + base}," if features else "no features,"
        return (
            f"There must be {indices} as in the data it is read like; check that it belongs to them, or read it without like=."
        )
    return f"Features are kept as a dense matrix, so indices may go to {LARGEST_INDEX - 1 + base}; number them without gaps."
