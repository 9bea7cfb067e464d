"""LETOR files read slowly and obviously: one line at a time, numbers as exact fractions."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

LARGEST = Fraction(float(np.finfo(np.float32).max))
SMALLEST_EXPONENT = -149


def float32(text: str) -> np.float32:
    """The float32 nearest to a decimal number, ties to even, from its definition."""
    low = text.lower().lstrip("+-")
    negative = text.startswith("-")
    if low == "nan":
        return np.float32(np.nan)
    size = math.inf if low in ("inf", "infinity") else rounded(abs(Fraction(text)))
    return np.float32(-size if negative else size)


def rounded(exact: Fraction) -> float:
    """A positive fraction rounded to 24 bits, or to a multiple of the smallest subnormal, or to infinity."""
    if exact == 0:
        return 0.0
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length() - 25
    while exact / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    step = Fraction(2) ** max(exponent, SMALLEST_EXPONENT)
    nearest = round(exact / step) * step  # Python rounds halves to even
    return math.inf if nearest > LARGEST else float(nearest)


def parse(text: str, *, missing: float = 0.0, base: int = 1) -> dict[str, list]:
    """Grades, qids, sparse features and document ids, one per row, in the order of the lines.

    A line may begin with its query or a feature: it has no grade, and its grade is 0.
    """
    rows = {"grades": [], "qids": [], "features": [], "doc_ids": []}
    for line in text.split("\n"):
        body, _, comment = line.partition("#")
        tokens = words_of(body)
        if not tokens:
            continue
        rows["grades"].append(float32("0" if re.match("(qid|[0-9]+):", tokens[0]) else tokens.pop(0)))
        rows["qids"].append(tokens.pop(0).removeprefix("qid:"))
        rows["features"].append({int(token.split(":")[0]) - base: float32(token.split(":")[1]) for token in tokens})
        rows["doc_ids"].append(doc_id(comment))
    width = max((max(row, default=-1) for row in rows["features"]), default=-1) + 1
    rows["features"] = [[row.get(column, np.float32(missing)) for column in range(width)] for row in rows["features"]]
    return rows


def words_of(text: str) -> list[str]:
    """The words between blanks, tabs and carriage returns; Python's own split() knows more separators."""
    return [word for word in re.split("[ \t\r]", text) if word]


def doc_id(comment: str) -> str:
    words = words_of(comment.replace("docid=", "docid = ").replace("docid:", "docid = "))
    if words[:2] == ["docid", "="]:
        words = words[2:]
    return words[0] if words else ""
