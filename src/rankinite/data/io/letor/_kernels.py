"""Compiled parsing of LETOR / SVMlight lines.

Positions are uint64 and the text ends with a newline, as in ``_number_kernels``. A row is committed to ``state`` only
when its line is complete: when a kernel stops early, parsing resumes at the line it stopped in.
"""

from __future__ import annotations

import numpy as np

from rankinite.data.io._number_kernels import (
    ABOVE,
    BELOW,
    DOUBTFUL,
    FIRST_INEXACT,
    FIVE,
    MINUS,
    NO_NUMBER,
    NONE,
    NUL,
    ONE,
    POINT,
    POWERS,
    SURE,
    THREE,
    TWO,
    ZERO_DIGIT,
    read_digits,
    read_fraction,
    read_number,
)
from rankinite.engine.kernel import Bytes, Features, Grades, Indices, kernel

# Entries of ``state``.
(
    POSITION,
    LINES,
    ROWS,
    RUNS,
    DOUBTS,
    WIDTH,
    NAMED,
    NEEDED,
    LONGEST_DOC_ID,
    FAULT_AT,
    FIRST_LINE,
    GRADED,
    NEEDS_GRADES,
) = range(13)
STATE_SIZE = 13

# What parse_lines returns; codes from BAD_GRADE on are faults of the line at FAULT_AT.
DONE, FULL, NARROW = 0, 1, 2
(
    BAD_GRADE,
    ENDLESS_GRADE,
    EMPTY_QID,
    LATE_QID,
    QID_MISSING,
    QID_SURPRISING,
    NO_COLON,
    BAD_INDEX,
    NO_VALUE,
    BAD_VALUE,
    INDEX_ZERO,
    INDEX_FALLS,
    INDEX_REPEATED,
    INDEX_TOO_LARGE,
    BINARY,
    INEXACT_GRADE,
    NO_GRADE,
    GRADE_MISSING,
    GRADE_SURPRISING,
) = range(3, 22)

TAB, NEWLINE, RETURN, BLANK, HASH, NINE_DIGIT, COLON, EQUALS = 9, 10, 13, 32, 35, 57, 58, 61
LETTER_D, LETTER_I, LETTER_Q = 100, 105, 113
FOUR, NINETEEN, SIXTY_THREE = np.uint64(4), np.uint64(19), np.uint64(63)


@kernel
def skip_blanks(text: Bytes, at: np.uint64) -> np.uint64:
    """The position of the first byte from ``at`` on that is not a blank, tab or carriage return."""
    while text[at] == BLANK or text[at] == TAB or text[at] == RETURN:
        at += ONE
    return at


@kernel
def ends_token(byte: np.uint8) -> bool:
    """Whether a number or a query id ends before this byte."""
    return byte in (BLANK, NEWLINE, TAB, RETURN, HASH)


@kernel
def find_doc_id(text: Bytes, at: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Where the document id of the comment after ``#`` starts and ends; equal when there is none.

    ``docid = X``, ``docid=X`` and ``docid: X`` name it; else it is the first token of the comment.
    """
    at = skip_blanks(text, at)
    start = at
    named = np.uint64(0)
    for letter in (100, 111, 99, 105, 100):  # "docid"
        if text[at + named] | 32 != letter:
            break
        named += ONE
    if named == FIVE:
        at = skip_blanks(text, at + FIVE)
        if text[at] == EQUALS or text[at] == COLON:
            start = skip_blanks(text, at + ONE)
    at = start
    while text[at] != NEWLINE and text[at] != BLANK and text[at] != TAB and text[at] != RETURN:
        at += ONE
    return start, at


@kernel
def same_bytes(text: Bytes, first: np.uint64, second: np.uint64, length: np.uint64) -> bool:
    """Whether ``length`` bytes at two positions are the same."""
    k = NONE
    while k < length and text[first + k] == text[second + k]:
        k += ONE
    return k == length


@kernel
def begins_qid(text: Bytes, at: np.uint64) -> bool:
    """Whether ``qid:`` stands at ``at``; no byte is looked at beyond one that differs, so never beyond a newline."""
    if text[at] != LETTER_Q or text[at + ONE] != LETTER_I:
        return False
    return text[at + TWO] == LETTER_D and text[at + THREE] == COLON


@kernel
def begins_feature(text: Bytes, at: np.uint64) -> bool:
    """Whether an index and a colon stand at ``at``."""
    start = at
    while ZERO_DIGIT <= text[at] <= NINE_DIGIT:
        at += ONE
    if at == start:
        return False
    return text[at] == COLON


@kernel
def read_qid(text: Bytes, at: np.uint64, row: int, out_runs: Indices, state: Indices) -> tuple[np.uint64, int]:
    """Read ``qid:Q`` if it stands at ``at``; a query other than the previous row's begins a new run.

    ``out_runs`` is runs × 3: first row, position and length of the id.
    """
    if begins_qid(text, at):
        start = at + FOUR
        at = start
        while not ends_token(text[at]):
            if text[at] == NUL:
                return at, BINARY
            at += ONE
        if at == start:
            return start - FOUR, EMPTY_QID
        run = state[RUNS]
        length = at - start
        if (
            run == 0
            or np.uint64(out_runs[run - 1, 2]) != length
            or not same_bytes(text, np.uint64(out_runs[run - 1, 1]), start, length)
        ):
            out_runs[run, 0], out_runs[run, 1], out_runs[run, 2] = row, np.int64(start), np.int64(length)
            state[RUNS] = run + 1
    return at, DONE


@kernel
def why_no_feature(text: Bytes, at: np.uint64) -> int:
    """The fault of a token that does not begin with an index and a colon."""
    if begins_qid(text, at):
        return LATE_QID
    while not ends_token(text[at]):
        if text[at] == COLON:
            return BAD_INDEX
        at += ONE
    return NO_COLON


@kernel
def why_no_value(text: Bytes, at: np.uint64) -> int:
    """The fault of a token whose value cannot be read; ``at`` is the position after the colon."""
    return NO_VALUE if ends_token(text[at]) else BAD_VALUE


@kernel
def read_features(
    text: Bytes,
    at: np.uint64,
    cell: int,
    base: int,
    limit: int,
    stride: int,
    absent: np.float32,
    out_features: Features,
    out_doubts: Indices,
    state: Indices,
) -> tuple[np.uint64, int, int]:
    """Read ``i:v i:v …`` into the row that begins at ``cell``; returns position, code, and doubts in all."""
    expected = 0
    doubts = state[DOUBTS]
    end = min(stride, limit)  # a row has one cell at least, even where no feature is allowed
    while True:
        at = skip_blanks(text, at)
        start = at
        index = np.int64(text[at]) - ZERO_DIGIT
        if index < 0 or index > 9:
            break
        at += ONE
        while True:
            digit = np.int64(text[at]) - ZERO_DIGIT
            if digit < 0 or digit > 9:
                break
            index = min(index * 10 + digit, 1_000_000_000)
            at += ONE
        column = index - base
        if text[at] != COLON:
            return start, why_no_feature(text, start), doubts
        if column != expected:
            if column < expected:
                code = INDEX_ZERO if column < 0 else INDEX_REPEATED if column == expected - 1 else INDEX_FALLS
                return start, code, doubts
            if column < stride:
                for gap in range(expected, column):
                    out_features[cell + gap] = absent
        if column >= end:
            state[NEEDED] = column + 1
            return start, INDEX_TOO_LARGE if column >= limit else NARROW, doubts
        # Numbers like -0.123456 are read here: a call for each would cost as much as the rest.
        negative = text[at + ONE] == MINUS
        first_digit = at + TWO if negative else at + ONE
        after, mantissa = read_digits(text, first_digit, NONE)
        digits = after - first_digit
        fraction = NONE
        if text[after] == POINT:
            after, mantissa, fraction = read_fraction(text, after + ONE, mantissa)
        nearest = np.float64(mantissa) / POWERS[fraction & SIXTY_THREE]
        value = np.float32(nearest * BELOW)
        if (
            value != np.float32(nearest * ABOVE)
            or not ends_token(text[after])
            or digits == NONE
            or digits + fraction > NINETEEN
        ):
            value, after, sure = read_number(text, at + ONE)
            negative = False
            if sure == NO_NUMBER or not ends_token(text[after]):
                return start, why_no_value(text, at + ONE), doubts
            if sure == DOUBTFUL:
                if doubts == len(out_doubts):
                    return start, FULL, doubts
                out_doubts[doubts, 0], out_doubts[doubts, 1] = cell + column, np.int64(at + ONE)
                doubts += 1
        out_features[cell + column] = -value if negative else value
        expected = column + 1
        at = after
    if text[at] != NEWLINE and text[at] != HASH:
        return at, why_no_feature(text, at), doubts
    for gap in range(expected, stride):
        out_features[cell + gap] = absent
    state[WIDTH] = max(state[WIDTH], expected)
    return at, DONE, doubts


@kernel
def read_comment(text: Bytes, at: np.uint64, row: int, out_docs: Indices, state: Indices) -> tuple[np.uint64, int]:
    """Note where the document id of the row's comment stands, if there is one; returns the line's end.

    ``out_docs`` is rows × 2: position and length; length 0 where the row names no document.
    """
    start = end = at
    if text[at] == HASH:
        start, end = find_doc_id(text, at + ONE)
        at = start
        while at < end:
            if text[at] == NUL:
                return at, BINARY
            at += ONE
        while text[at] != NEWLINE:
            at += ONE
    length = np.int64(end - start)
    out_docs[row, 0], out_docs[row, 1] = np.int64(start), length
    state[LONGEST_DOC_ID] = max(state[LONGEST_DOC_ID], length)
    return at, DONE


@kernel
def read_row(
    text: Bytes,
    at: np.uint64,
    row: int,
    base: int,
    limit: int,
    stride: int,
    absent: np.float32,
    out_features: Features,
    out_grades: Grades,
    out_runs: Indices,
    out_docs: Indices,
    out_doubts: Indices,
    state: Indices,
) -> tuple[np.uint64, int]:
    """Read the line whose first token is at ``at``; returns the line's end, or the fault's place and code.

    A line without a grade begins with its query or its first feature; all lines have a grade, or none.
    """
    start = at
    graded = 1
    grade, at, sure = read_number(text, at)
    if sure == NO_NUMBER or not ends_token(text[at]):
        if not begins_qid(text, start) and not begins_feature(text, start):
            return start, BAD_GRADE
        if state[NEEDS_GRADES]:
            return start, NO_GRADE
        graded, grade, at, sure = 0, np.float32(0.0), start, SURE
    if sure == SURE and not np.isfinite(grade):
        return start, ENDLESS_GRADE
    if np.abs(grade) >= FIRST_INEXACT:
        sure = DOUBTFUL  # whether it is the number that was written is seen in exact arithmetic
    doubts_before, runs_before = state[DOUBTS], state[RUNS]
    if sure == DOUBTFUL:
        if doubts_before == len(out_doubts):
            return start, FULL
        out_doubts[doubts_before, 0], out_doubts[doubts_before, 1] = -1 - row, np.int64(start)
        state[DOUBTS] += 1
    out_grades[row] = grade
    at = skip_blanks(text, at)
    named = 1 if begins_qid(text, at) else 0
    if row == 0:
        state[NAMED], state[GRADED] = named, graded
    at, code = read_qid(text, at, row, out_runs, state)
    if code == DONE:
        at, code, doubts = read_features(text, at, row * stride, base, limit, stride, absent, out_features, out_doubts, state)
        if code == DONE and named != state[NAMED]:
            code = QID_SURPRISING if named else QID_MISSING
        if code == DONE and graded != state[GRADED]:
            code = GRADE_SURPRISING if graded else GRADE_MISSING
        if code == DONE:
            state[DOUBTS] = doubts
            return read_comment(text, at, row, out_docs, state)
    state[DOUBTS], state[RUNS] = doubts_before, runs_before
    return at, code


@kernel
def parse_lines(
    text: Bytes,
    base: int,
    limit: int,
    stride: int,
    absent: np.float32,
    out_features: Features,
    out_grades: Grades,
    out_runs: Indices,
    out_docs: Indices,
    out_doubts: Indices,
    state: Indices,
) -> int:
    """Parse lines from ``state[POSITION]`` on until the text or the room in the outputs ends.

    ``text`` ends with a newline. ``state[NEEDS_GRADES]``: whether every line must begin with a grade.
    ``out_features`` is flat, rows × stride; ``out_grades``, ``out_runs`` (× 3) and ``out_docs`` (× 2) have room for
    one entry a row; ``out_doubts`` (× 2) takes the cell (or −1 − row for a grade) and the position of numbers that need
    exact arithmetic. ``base`` is the first index, ``limit`` the number of features allowed, ``absent`` the value of
    features a line leaves out.
    """
    at = np.uint64(state[POSITION])
    stop = np.uint64(len(text))
    row = state[ROWS]
    while at < stop:
        at = skip_blanks(text, at)
        if text[at] != NEWLINE and text[at] != HASH:
            if row == len(out_grades):
                return FULL
            at, code = read_row(
                text, at, row, base, limit, stride, absent, out_features, out_grades, out_runs, out_docs, out_doubts, state
            )
            if code != DONE:
                state[FAULT_AT] = np.int64(at)
                return code
            if row == 0:
                state[FIRST_LINE] = state[LINES]
            row += 1
            state[ROWS] = row
        while text[at] != NEWLINE:
            at += ONE
        at += ONE
        state[LINES] += 1
        state[POSITION] = np.int64(at)
    return DONE


@kernel
def copy_doc_ids(text: Bytes, docs: Indices, out_padded: Bytes) -> None:
    """Copy the document ids found by parse_lines, rows × 2, into the rows of ``out_padded``, padded with NUL."""
    for row in range(len(docs)):
        start, length = docs[row, 0], docs[row, 1]
        for k in range(length):
            out_padded[row, k] = text[start + k]
        for k in range(length, out_padded.shape[1]):
            out_padded[row, k] = NUL


@kernel
def restride(rows: int, old: int, new: int, absent: np.float32, out_flat: Features) -> None:
    """Move rows that stand ``old`` cells apart to ``new`` cells apart, in place; cells gained are ``absent``."""
    if new <= old:
        for row in range(rows):
            for column in range(new):
                out_flat[row * new + column] = out_flat[row * old + column]
        return
    for row in range(rows - 1, -1, -1):  # from the end, so that nothing is overwritten before it moved
        for column in range(new - 1, old - 1, -1):
            out_flat[row * new + column] = absent
        for column in range(old - 1, -1, -1):
            out_flat[row * new + column] = out_flat[row * old + column]
