"""Compiled reading of decimal numbers, rounded correctly to float32.

Positions in the text are uint64, which spares the check for negative indices on every byte. The text ends
with a newline, so that no loop over bytes needs a check for the end.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Bytes, kernel

# What read_number says of its value.
SURE, DOUBTFUL, NO_NUMBER = 0, 1, 2

NUL, PLUS, MINUS, POINT, ZERO_DIGIT = 0, 43, 45, 46, 48
LETTER_A, LETTER_E, LETTER_F, LETTER_I, LETTER_N = 97, 101, 102, 105, 110

NONE, ONE, TWO, THREE, FIVE = (np.uint64(number) for number in (0, 1, 2, 3, 5))
EIGHT, TEN = np.uint64(8), np.uint64(10)
EXACT = np.uint64(2**53)
HUNDRED_MILLION = np.uint64(100_000_000)
# Eight ASCII digits at once in a 64-bit word: constants one byte wide, repeated, and those that join digits to pairs and so on.
ASCII_ZEROS, SEVEN_BITS, UP_TO_SIGN = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0x7F, 0x76))
SIGNS, LOWEST_BITS, SEVEN, TOP_BYTE = np.uint64(0x8080808080808080), np.uint64(0x0101010101010101), np.uint64(7), np.uint64(56)
PAIRS, QUADS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
TEN_AND_ONE, HUNDRED_AND_ONE, MYRIAD_AND_ONE = np.uint64(2561), np.uint64(6553601), np.uint64(42949672960001)

POWERS = np.array([float(f"1e{k}") for k in range(67)])
"""Powers of ten, each the nearest float64; exact up to 10²²."""
FIRST_INEXACT = 2.0**24
"""From here on float32 has not every whole number."""
BELOW, ABOVE = 1.0 - 2.0**-50, 1.0 + 2.0**-50


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
