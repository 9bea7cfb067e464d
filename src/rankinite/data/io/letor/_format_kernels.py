"""Compiled formatting of rows as LETOR lines.

A float32 is written with the fewest of 6 to 9 significant digits that read back as the same number (from 1 digit
on for numbers so small that float32 keeps fewer than 6), without trailing zeros.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.engine.kernel import Bytes, Features, Grades, Indices, kernel

VALUE_ROOM = 28
"""The most bytes of a feature: 7 digits of index, colon, blank, sign, 9 digits, point, and four zeros or an exponent."""
ROW_ROOM = 64
"""The most bytes of a row beside ids and features."""

NEWLINE, BLANK, HASH, MINUS, POINT, ZERO_DIGIT, COLON, LETTER_E = 10, 32, 35, 45, 46, 48, 58, 101
QID = np.frombuffer(b" qid:", np.uint8)
DOCID = np.frombuffer(b" #docid = ", np.uint8)
NAN = np.frombuffer(b"nan", np.uint8)
INF = np.frombuffer(b"inf", np.uint8)

POWERS = np.array([float(f"1e{k}") for k in range(67)])
BELOW, ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50
SMALLEST_NORMAL = 2.0**-126


@kernel
def put_bytes(source: Bytes, first: int, last: int, at: int, out_text: Bytes) -> int:
    """Copy ``source[first:last]`` to ``out_text[at:]``; returns the position after it, as every ``put_`` does."""
    for k in range(first, last):
        out_text[at] = source[k]
        at += 1
    return at


@kernel
def put_digits(number: int, digits: int, at: int, out_text: Bytes) -> int:
    """Write the last ``digits`` digits of a whole number."""
    for k in range(at + digits - 1, at - 1, -1):
        rest = number // 10
        out_text[k] = ZERO_DIGIT + number - 10 * rest
        number = rest
    return at + digits


@kernel
def count_digits(number: int) -> int:
    """How many decimal digits a whole number has."""
    digits, bound = 1, 10
    while number >= bound:
        digits += 1
        bound *= 10
    return digits


@kernel
def power_of_ten(size: float) -> int:
    """The exponent of the largest power of ten up to ``size``; most numbers are found within a few steps."""
    power = 0
    while size >= POWERS[power + 1]:
        power += 1
    while power <= 0 and size * POWERS[-power] < 1.0:
        power -= 1
    return power


@kernel
def shortest(size: float) -> tuple[int, int]:
    """Whole numbers m and k with m · 10^−k read as the float32 ``size``, which is positive and finite."""
    wanted = np.float32(size)
    magnitude = power_of_ten(size)
    mantissa = shift = 0
    for digits in range(6 if size >= SMALLEST_NORMAL else 1, 10):
        shift = digits - 1 - magnitude
        if shift >= 0:
            mantissa = int(np.rint(size * POWERS[shift]))
            back = mantissa / POWERS[shift]
        else:
            mantissa = int(np.rint(size / POWERS[-shift]))
            back = mantissa * POWERS[-shift]
        # Both ends of what rounding may have done to ``back`` must read as the number wanted.
        if np.float32(back * BELOW) == wanted and np.float32(back * ABOVE) == wanted:
            break
    while mantissa % 10 == 0:
        mantissa //= 10
        shift -= 1
    return mantissa, shift


@kernel
def put_decimal(mantissa: int, shift: int, at: int, out_text: Bytes) -> int:
    """Write m · 10^−k, as 123.45 where that needs few zeros and as 1.2345e-7 elsewhere."""
    digits = count_digits(mantissa)
    before_point = digits - shift
    if 0 < before_point <= 9:
        if shift <= 0:
            at = put_digits(mantissa, digits, at, out_text)
            return put_digits(0, -shift, at, out_text)
        scale = int(POWERS[shift])
        whole = mantissa // scale
        at = put_digits(whole, before_point, at, out_text)
        out_text[at] = POINT
        return put_digits(mantissa - whole * scale, shift, at + 1, out_text)
    if -4 < before_point <= 0:
        out_text[at], out_text[at + 1] = ZERO_DIGIT, POINT
        return put_digits(mantissa, shift, at + 2, out_text)
    scale = int(POWERS[digits - 1])
    at = put_digits(mantissa // scale, 1, at, out_text)
    if digits > 1:
        out_text[at] = POINT
        at = put_digits(mantissa % scale, digits - 1, at + 1, out_text)
    out_text[at] = LETTER_E
    at += 1
    exponent = before_point - 1
    if exponent < 0:
        out_text[at] = MINUS
        at += 1
    return put_digits(abs(exponent), count_digits(abs(exponent)), at, out_text)


@kernel
def put_number(value: np.float32, at: int, out_text: Bytes) -> int:
    """Write a float32 so that it reads back bit for bit (every NaN as ``nan``)."""
    if np.isnan(value):
        return put_bytes(NAN, 0, 3, at, out_text)
    if np.signbit(value):
        out_text[at] = MINUS
        at += 1
    size = abs(np.float64(value))
    if np.isinf(value):
        return put_bytes(INF, 0, 3, at, out_text)
    if size < 16777216.0 and size == math.floor(size):
        whole = int(size)
        return put_digits(whole, count_digits(whole), at, out_text)
    mantissa, shift = shortest(size)
    return put_decimal(mantissa, shift, at, out_text)


@kernel
def format_rows(
    features: Features,
    grades: Grades,
    query_of_row: Indices,
    qid_bytes: Bytes,
    qid_ends: Indices,
    doc_bytes: Bytes,
    doc_ends: Indices,
    out_text: Bytes,
) -> int:
    """Write rows as LETOR lines; returns the number of bytes written.

    Features are rows × width, grades and query numbers one a row; query ``q`` is named by
    ``qid_bytes[qid_ends[q]:qid_ends[q + 1]]``, and documents likewise by row unless ``doc_ends`` has one entry.
    """
    at = 0
    for row in range(len(grades)):
        at = put_number(grades[row], at, out_text)
        at = put_bytes(QID, 0, len(QID), at, out_text)
        query = int(query_of_row[row])
        at = put_bytes(qid_bytes, qid_ends[query], qid_ends[query + 1], at, out_text)
        digits, next_power = 1, 10
        for column in range(features.shape[1]):
            if column + 1 == next_power:
                digits += 1
                next_power *= 10
            out_text[at] = BLANK
            at = put_digits(column + 1, digits, at + 1, out_text)
            out_text[at] = COLON
            at = put_number(features[row, column], at + 1, out_text)
        if len(doc_ends) > 1 and doc_ends[row + 1] > doc_ends[row]:
            at = put_bytes(DOCID, 0, len(DOCID), at, out_text)
            at = put_bytes(doc_bytes, doc_ends[row], doc_ends[row + 1], at, out_text)
        out_text[at] = NEWLINE
        at += 1
    return at
