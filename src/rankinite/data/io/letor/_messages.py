"""Errors of LETOR lines: one for each fault that the parser reports."""

from __future__ import annotations

from typing import NamedTuple

from rankinite.data.io.exact_numbers import inexact_grade
from rankinite.data.io.letor import _kernels as kernels
from rankinite.errors import DataError, quoted

LARGEST_INDEX = 1_000_000
"""Features are kept as a dense matrix; an index beyond this is taken for a mistake."""

_LINE = "A line is 'grade qid:Q index:value index:value … # comment'"


class _Fault(NamedTuple):
    """What is wrong with a token, which ``problem`` quotes; ``rule`` may name the first index, ``base``."""

    problem: str
    rule: str = ""
    remedy: str = ""


_FAULTS = {
    kernels.BAD_GRADE: _Fault("the grade {token} is not a number", f"{_LINE}; the grade comes first"),
    kernels.NO_GRADE: _Fault(
        "the line begins with {token} instead of a grade", _LINE, "Pass `unjudged='keep'` if nobody judged the rows"
    ),
    kernels.GRADE_MISSING: _Fault(
        "this row has no grade, but the rows before it have one", remedy="Give a grade on every row, or on none"
    ),
    kernels.GRADE_SURPRISING: _Fault(
        "this row has a grade, but the rows before it have none", remedy="Give a grade on every row, or on none"
    ),
    kernels.ENDLESS_GRADE: _Fault(
        "the grade {token} is not a finite number", "Grades must be finite", "Drop the row or grade it"
    ),
    kernels.EMPTY_QID: _Fault(
        "{token} names no query", remedy="Write qid: and the id of the query without a blank between them"
    ),
    kernels.LATE_QID: _Fault(
        "{token} comes after the features, or twice", f"{_LINE}; the query comes once, right after the grade"
    ),
    kernels.QID_MISSING: _Fault(
        "this row has no qid, but the rows before it have one",
        remedy="Give qid:Q on every row, or on none together with `group=…`",
    ),
    kernels.QID_SURPRISING: _Fault(
        "this row has a qid, but the rows before it have none", remedy="Give qid:Q on every row, or on none"
    ),
    kernels.NO_COLON: _Fault("{token} is not index:value", _LINE, "Check whether the line is cut short"),
    kernels.BAD_INDEX: _Fault("{token} does not begin with a feature index", "Indices are whole numbers from {base} on"),
    kernels.NO_VALUE: _Fault("{token} has no value", "Write index:value without blanks", "Check whether the line is cut short"),
    kernels.BAD_VALUE: _Fault(
        "the value in {token} is not a number", remedy="Write a decimal number, inf, or nan for a missing value"
    ),
    kernels.INDEX_ZERO: _Fault(
        "the feature index in {token} is 0", "LETOR indices start at 1", "Pass `zero_based=True` if the file counts from 0"
    ),
    kernels.INDEX_FALLS: _Fault(
        "the index in {token} is smaller than the one before it", "Indices must rise along a line", "Sort them"
    ),
    kernels.INDEX_REPEATED: _Fault(
        "the index in {token} repeats the one before it", "An index may appear once on a line", "Remove one"
    ),
}


def fault(place: str, code: int, line: bytes, column: int, *, base: int, features: int | None) -> DataError:
    """The error for the token that begins at ``column`` of ``line``."""
    if code == kernels.BINARY or b"\0" in line:
        return DataError(
            "this looks like a binary file: the line contains a NUL byte",
            place=place,
            value="\0",
            rule="LETOR files are text",
            remedy="If it is Parquet, or compressed, give it the suffix that says so (.parquet, .gz, .zst, .xz)",
        )
    token = b"".join(line[column:].split(maxsplit=1)[:1])
    value = token.decode("utf-8", "backslashreplace")
    if code == kernels.INEXACT_GRADE:
        return inexact_grade(place, value)
    if code == kernels.INDEX_TOO_LARGE:
        return _index_too_large(place, token, base, features)
    problem, rule, remedy = _FAULTS[code]
    return DataError(problem.format(token=shown(token)), place=place, value=value, rule=rule.format(base=base), remedy=remedy)


def shown(token: bytes, most: int = 40) -> str:
    """A token as messages quote it: cut to a length, with what cannot be printed escaped."""
    return quoted(token[: 4 * most].decode("utf-8", "backslashreplace"), most).replace("\\\\x", "\\x")


def _index_too_large(place: str, token: bytes, base: int, features: int | None) -> DataError:
    problem, value = f"the index in {shown(token)} is too large", token.decode("utf-8", "backslashreplace")
    if features is None:
        rule = f"Features are kept as a dense matrix, so indices may go to {LARGEST_INDEX - 1 + base}"
        return DataError(problem, place=place, value=value, rule=rule, remedy="Number the features without gaps")
    indices = f"{features} features, with indices {base} to {features - 1 + base}," if features else "no features,"
    belongs = "Check that it belongs to them"
    return DataError(
        problem,
        place=place,
        value=value,
        rule=f"There must be {indices} as in the data it is read like",
        remedy=f"{belongs}, or read it without like=",
        shell_remedy=belongs,
    )
