"""Names and patterns of columns and features, against fnmatch one by one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankinite as rk
from rankinite.data.io.name_patterns import resolved
from rankinite.errors import ArgumentError, DataError
from refusals import refused

TABLE = pa.table(
    {
        "qid": ["a", "a"],
        "grade": [1, 0],
        "bm25_title": [1, 2],
        "bm25_body": [3, 4],
        "price": [5, 6],
        "a,b": [7, 8],
        "x*": [9, 0],
    }
)
CHOICES = {
    "bm25_*": ["bm25_title", "bm25_body"],
    "price,bm25_*": ["price", "bm25_title", "bm25_body"],
    "bm25_*, price": ["bm25_title", "bm25_body", "price"],
    "*": ["bm25_title", "bm25_body", "price", "a,b", "x*"],
    "bm25_[bt]*,bm25_title": ["bm25_title", "bm25_body"],
    "a,b": ["a,b"],
    "x*": ["x*"],
    "?rice": ["price"],
}


@pytest.mark.parametrize("text", CHOICES)
def test_features_of_a_table(text: str) -> None:
    assert list(rk.read(TABLE, features=text).feature_names) == CHOICES[text]
    left = [name for name in TABLE.column_names[2:] if name not in CHOICES[text]]
    if text != "*":  # which the query and the grade fit too
        assert list(rk.read(TABLE, ignore=[text]).feature_names) == left


def test_features_of_letor_files_and_matrices(tmp_path: Path) -> None:
    matrix = np.arange(24.0).reshape(2, 12)
    data = rk.read(matrix, grades=[1, 0], group=[2])
    rk.write(data, tmp_path / "t.txt")
    for source, options in ((tmp_path / "t.txt", {}), (matrix, {"grades": [1, 0], "group": [2]})):
        assert rk.read(source, features="1*,3", **options).feature_names == ("1", "10", "11", "12", "3")
        assert rk.read(source, features=[0, "1?", 2], **options).feature_names == ("1", "10", "11", "12", "3")
        assert rk.read(source, ignore="1*", **options).feature_names == tuple("23456789")
        with refused(DataError, value=["x*"]):
            rk.read(source, features=["x*"], **options)
        with refused(DataError, value="bm25"):
            rk.read(source, features=["bm25"], **options)


def test_what_means_nothing_is_refused_at_once() -> None:
    with refused(DataError, value=["x", "prize", "bm26_*"]) as caught:
        rk.read(TABLE, ignore=["x"], features=["prize", "bm25_*", "bm26_*"])
    assert "'bm25_title'" in caught.value.rule
    with refused(DataError, value=["grad*"]):  # the grade is no feature
        rk.read(TABLE, features="grad*")


def test_data_like_others_must_not_leave_out_theirs() -> None:
    train = rk.read(TABLE, features="bm25_*")
    assert rk.read(TABLE, features="bm25_*,price", like=train).feature_names == train.feature_names
    with refused(ArgumentError, setting="features", value=["price"]):
        rk.read(TABLE, features="price", like=train)


NAMES = st.text("ab*?,[]1", min_size=1, max_size=4)


@given(st.lists(NAMES, unique=True, min_size=1), st.text("ab*?1", min_size=1, max_size=4))
def test_a_pattern_means_what_fnmatch_says(names: list[str], entry: str) -> None:
    found, absent = resolved([entry], names)
    special = any(sign in entry for sign in "*?")
    expected = [entry] if entry in names else [name for name in names if special and fnmatchcase(name, entry)]
    assert (found, absent) == (expected, [] if expected else [entry])
