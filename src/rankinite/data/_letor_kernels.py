"""Compiled parsing of LETOR / SVMlight lines.

Positions in the text are uint64, which spares the check for negative indices on every byte. The text ends
with a newline, so that no loop over bytes needs a check for the end. A row is committed to ``state`` only
when its line is complete: when a kernel stops early, parsing resumes at the line it stopped in.
"""

from __future__ import annotations

import numpy as np

from rankinite.kernel import Bytes, Features, Grades, Indices, kernel

# Entries of ``state``.
POSITION, LINES, ROWS, RUNS, DOUBTS, WIDTH, NAMED, NEEDED, LONGEST_DOC_ID, FAULT_AT, FIRST_LINE = range(11)
STATE_SIZE = 11

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
) = range(3, 18)

# What read_number says of its value.
SURE, DOUBTFUL, NO_NUMBER = 0, 1, 2

NUL, TAB, NEWLINE, RETURN, BLANK, HASH, COLON = 0, 9, 10, 13, 32, 35, 58
PLUS, MINUS, POINT, ZERO_DIGIT, EQUALS = 43, 45, 46, 48, 61
LETTER_A, LETTER_D, LETTER_E, LETTER_F, LETTER_I, LETTER_N, LETTER_Q = 97, 100, 101, 102, 105, 110, 113

NONE, ONE, TWO, THREE, FOUR, FIVE = (np.uint64(number) for number in range(6))
EIGHT, TEN, NINETEEN, SIXTY_THREE = np.uint64(8), np.uint64(10), np.uint64(19), np.uint64(63)
EXACT = np.uint64(2**53)
HUNDRED_MILLION = np.uint64(100_000_000)
# Eight ASCII digits at once in a 64-bit word: constants one byte wide, repeated, and those that join digits to pairs and so on.
ASCII_ZEROS, SEVEN_BITS, UP_TO_SIGN = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x7F, 0x76))
SIGNS, LOWEST_BITS, SEVEN, TOP_BYTE = np.uint64(0x8080808080808080), np.uint64(0x0101010101010101), np.uint64(7), np.uint64(56)
PAIRS, QUADS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
TEN_AND_ONE, HUNDRED_AND_ONE, MYRIAD_AND_ONE = np.uint64(2561), np.uint64(6553601), np.uint64(42949672960001)

POWERS = np.array([float(f"1e{k}") for k in range(67)])
"""Powers of ten, each the nearest float64; exact up to 10²²."""
BELOW, ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50


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
def word_at(text: Bytes, at: np.uint64) -> np.uint64:
    """Eight bytes as one little-endian word; the compiler makes a single load of it."""
    word = np.uint64(text[at])
    for k in range(1, 8):
        word |= np.uint64(text[at + np.uint64(k)]) << np.uint64(8 * k)
    return word


@kernel
def eight_digits(digits: np.uint64) -> np.uint64:
    """The number that eight digits spell, one a byte, the first in the lowest byte."""
    digits = ((digits * TEN_AND_ONE) >> np.uint64(8)) & PAIRS
    digits = ((digits * HUNDRED_AND_ONE) >> np.uint64(16)) & QUADS
    return (digits * MYRIAD_AND_ONE) >> np.uint64(32)


@kernel
def read_digits(text: Bytes, at: np.uint64, mantissa: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Append the digits from ``at`` on to the mantissa; returns the position after them and the mantissa."""
    while True:
        digit = np.int64(text[at]) - ZERO_DIGIT
        if digit < 0 or digit > 9:
            return at, mantissa
        mantissa = mantissa * TEN + np.uint64(digit)
        at += ONE


@kernel
def read_fraction(text: Bytes, at: np.uint64, mantissa: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Append the digits from ``at`` on to the mantissa; returns position, mantissa and how many were appended.

    Eight bytes are taken at once, and those after the last digit count as zeros: 0.25 is read as 0.25000000. That
    spares the branches on the number of digits, which no processor can foresee.
    """
    start = at
    if at + EIGHT > np.uint64(len(text)):
        at, mantissa = read_digits(text, at, mantissa)
        return at, mantissa, at - start
    word = word_at(text, at) ^ ASCII_ZEROS
    no_digit = (((word & SEVEN_BITS) + UP_TO_SIGN) | word) & SIGNS  # the high bit of each byte beyond 9
    digit_bytes = ((no_digit & (~no_digit + ONE)) >> SEVEN) - ONE  # ones in the bytes before the first of those
    mantissa = mantissa * HUNDRED_MILLION + eight_digits(word & digit_bytes)
    if no_digit == NONE:
        at, mantissa = read_digits(text, at + EIGHT, mantissa)
        return at, mantissa, at - start
    return at + (((digit_bytes & LOWEST_BITS) * LOWEST_BITS) >> TOP_BYTE), mantissa, EIGHT


@kernel
def leading_digits(text: Bytes, at: np.uint64, stop: np.uint64) -> tuple[np.uint64, int]:
    """The first 19 significant digits of a long number as a whole number, and its decimal exponent."""
    mantissa = NONE
    taken = exponent = step = 0
    while at < stop:
        digit = np.int64(text[at]) - ZERO_DIGIT
        at += ONE
        if digit < 0:  # the decimal point
            step = -1
        elif taken == 19:
            exponent += 1 + step
        else:
            mantissa = mantissa * TEN + np.uint64(digit)
            taken += 1 if mantissa > NONE else 0
            exponent += step
    return mantissa, exponent


@kernel
def read_exponent(text: Bytes, at: np.uint64) -> tuple[np.uint64, int]:
    """The exponent after an ``e`` at ``at``, and the position after it; the same position if there is none."""
    after = at + ONE
    negative = text[after] == MINUS
    if negative or text[after] == PLUS:
        after += ONE
    start = after
    exponent = 0
    while True:
        digit = int(text[after]) - ZERO_DIGIT
        if digit < 0 or digit > 9:
            break
        # Larger exponents than any text is long mean the same: zero or infinity.
        exponent = min(exponent * 10 + digit, 1_000_000_000_000)
        after += ONE
    if after == start:
        return at, 0
    return after, -exponent if negative else exponent


@kernel
def read_word_number(text: Bytes, at: np.uint64) -> tuple[float, np.uint64]:
    """``nan``, ``inf`` or ``infinity`` in any case; the same position if it is none of them."""
    first, second, third = text[at] | 32, NUL, NUL
    if first in (LETTER_N, LETTER_I):
        second = text[at + ONE] | 32
    if second in (LETTER_A, LETTER_N):
        third = text[at + TWO] | 32
    after = at + THREE
    if first == LETTER_N and second == LETTER_A and third == LETTER_N:
        return np.nan, after
    if first == LETTER_I and second == LETTER_N and third == LETTER_F:
        rest = 0
        for letter in (105, 110, 105, 116, 121):  # "inity"
            if (text[after + np.uint64(rest)] | 32) != letter:
                break
            rest += 1
        return np.inf, after + FIVE if rest == 5 else after
    return 0.0, at


@kernel
def to_float32(mantissa: np.uint64, exponent: int) -> tuple[np.float32, int]:
    """The float32 nearest to mantissa · 10^exponent, and whether that is sure.

    The float64 result is off by less than 2⁻⁵⁰ of itself. When both ends of that range round to one float32,
    the true value does too; otherwise it lies next to the middle of two float32 numbers.
    """
    if mantissa == NONE or exponent < -66:  # less than half the smallest float32
        return np.float32(0.0), SURE
    if exponent > 39:
        return np.float32(np.inf), SURE
    if exponent == 0 and mantissa < EXACT:
        return np.float32(np.float64(mantissa)), SURE
    if exponent < 0:
        nearest = np.float64(mantissa) / POWERS[-exponent]
    else:
        nearest = np.float64(mantissa) * POWERS[exponent]
    low = np.float32(nearest * BELOW)
    if low == np.float32(nearest * ABOVE):
        return low, SURE
    # Exactly in the middle, as 16777217.0 is: then the quotient and its product are exact.
    if -12 <= exponent < 0 and mantissa < EXACT and nearest * POWERS[-exponent] == np.float64(mantissa):
        return np.float32(nearest), SURE
    return np.float32(nearest), DOUBTFUL


@kernel
def read_number(text: Bytes, at: np.uint64) -> tuple[np.float32, np.uint64, int]:
    """The number at ``at`` as float32, the position after it, and SURE, DOUBTFUL or NO_NUMBER."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += ONE
    start = at
    at, _ = read_digits(text, at, NONE)
    no_digits = at == start
    if text[at] == POINT:
        at, _ = read_digits(text, at + ONE, NONE)
        no_digits = at == start + ONE
    if no_digits:
        special, after = read_word_number(text, start)
        sure = SURE if after > start else NO_NUMBER
        return np.float32(-special if negative else special), after, sure
    mantissa, exponent = leading_digits(text, start, at)
    if text[at] | 32 == LETTER_E:
        at, shift = read_exponent(text, at)
        exponent += shift
    value, sure = to_float32(mantissa, exponent)
    return -value if negative else value, at, sure


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
        if column >= stride:
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
    """Read the line whose first token is at ``at``; returns the line's end, or the fault's place and code."""
    start = at
    grade, at, sure = read_number(text, at)
    if sure == NO_NUMBER or not ends_token(text[at]):
        return start, BAD_GRADE
    if not np.isfinite(grade):
        return start, ENDLESS_GRADE
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
        state[NAMED] = named
    at, code = read_qid(text, at, row, out_runs, state)
    if code == DONE:
        at, code, doubts = read_features(text, at, row * stride, base, limit, stride, absent, out_features, out_doubts, state)
        if code == DONE and named != state[NAMED]:
            code = QID_SURPRISING if named else QID_MISSING
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

    ``text`` ends with a newline. ``out_features`` is flat, rows × stride; ``out_grades``, ``out_runs`` (× 3) and
    ``out_docs`` (× 2) have room for one entry a row; ``out_doubts`` (× 2) takes the cell (or −1 − row for a
    grade) and the position of numbers that need exact arithmetic. ``base`` is the first index, ``limit`` the
    number of features allowed, ``absent`` the value of features a line leaves out.
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
