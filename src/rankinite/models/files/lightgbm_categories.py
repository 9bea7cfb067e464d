"""What LightGBM's files say of categories.

``feature_infos`` lists the codes of each feature that is a category, such as ``-1:5:0:3`` (−1 is any other), where numbers have
their range, such as ``[0:1.5]``, and features of one value ``none``. The last line, ``pandas_categorical``, has the words of
all categorical columns of the data frame that the model was trained on, in their order, but not which columns these were. Some
of them may be numbers for LightGBM (ordered categories, or columns that ``categorical_feature`` leaves out).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from rankinite.errors import DataError
from rankinite.models.files.foreign_categories import ForeignCategories
from rankinite.models.files.parsed import SAVE_AGAIN, number_words, parse_json

WORDS = "pandas_categorical"


def lightgbm_categories(infos: str, text: str, features: int) -> dict[int, ForeignCategories]:
    """What a file says of each feature that is a category: ``infos`` is its line of ``feature_infos``, if it has one."""
    columns = infos.split(" ") if infos else ["none"] * features
    if len(columns) != features:
        raise DataError(
            f"there are {len(columns)} entries for {features} features",
            place="feature_infos",
            value=len(columns),
            remedy=SAVE_AGAIN,
        )
    known = {
        column: ForeignCategories("feature_infos", codes=_codes(info))
        for column, info in enumerate(columns)
        if info != "none" and not info.startswith("[")
    }
    words = _words(text)
    for column, one in zip(_columns_of(words, columns, known), words, strict=True):
        if column in known:
            known[column] = replace(known[column], words=one, place=WORDS)
    return known


def _codes(info: str) -> Any:
    try:
        codes = np.asarray(list(number_words(info.replace(":", " "))), np.float64)
    except ValueError as error:
        raise DataError(f"{error} is not a category's code", place="feature_infos", value=info, remedy=SAVE_AGAIN) from error
    return codes[(codes >= 0) & (codes < 1 << 31)].astype(np.int64)  # others are never found


def _words(text: str) -> list[list[object]]:
    """The words of the data frame's categorical columns."""
    line = next((line for line in reversed(text.rstrip().split("\n")[-5:]) if line.startswith(f"{WORDS}:")), f"{WORDS}:null")
    try:
        found: Any = parse_json(line.removeprefix(f"{WORDS}:").encode())
    except DataError as error:
        raise error.at(WORDS) from error
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, list) for one in cast("list[Any]", found)):
        raise DataError("this is not a list of lists of categories", place=WORDS, value=found, remedy=SAVE_AGAIN)
    return cast("list[list[object]]", found)


def _columns_of(words: Sequence[Sequence[object]], infos: Sequence[str], known: dict[int, ForeignCategories]) -> list[int]:
    """The column of each list of words: the columns that are categories if there are as many, else the only ones that fit."""
    counts = [len(one) for one in words]
    if len(counts) == len(known) and all(
        _surely(column, count, infos, known) for column, count in zip(known, counts, strict=True)
    ):
        return list(known)
    first = _fitting(counts, infos, range(len(infos)))
    last = _fitting(counts[::-1], infos, range(len(infos) - 1, -1, -1))[::-1]
    if first != last or len(first) < len(counts):
        raise DataError(
            f"the file lists the words of {len(words)} columns, but does not say which: {len(known)} features are categories",
            place=WORDS,
            value=len(words),
            rule="Words must fit the codes of one choice of columns alone",
            remedy="Train on a data frame in which LightGBM takes every categorical column, and no other, for a category",
        )
    return first


def _surely(column: int, count: int, infos: Sequence[str], known: dict[int, ForeignCategories]) -> bool:
    """Whether so many words are those of a category: they fit it, and no number just as well or better."""
    if not _fits(infos[column], count):
        return False
    return _last_code(infos[column]) == count - 1 or all(
        column in known or not _fits(info, count) or _last_code(info) != count - 1 for column, info in enumerate(infos)
    )


def _fitting(counts: Sequence[int], infos: Sequence[str], columns: range) -> list[int]:
    """For each number of words the first column, in this order and after the one before, whose codes these can be."""
    found: list[int] = []
    at = 0
    for count in counts:
        at = next((k for k in range(at, len(columns)) if _fits(infos[columns[k]], count)), len(columns))
        if at < len(columns):
            found.append(columns[at])
        at += 1
    return found


def _fits(info: str, count: int) -> bool:
    """Whether the values of a feature can be codes of this many words."""
    return info == "none" or 0 <= _last_code(info) < count


def _last_code(info: str) -> float:
    """The largest value of a feature, if it is a whole number; −1: it is not."""
    if not info.startswith("["):
        return -1.0 if info == "none" else float(_codes(info).max(initial=0))
    try:
        lowest, highest = map(float, info.strip("[]").split(":"))
    except ValueError:
        return -1.0
    return highest if lowest >= 0 and highest.is_integer() and lowest.is_integer() else -1.0
