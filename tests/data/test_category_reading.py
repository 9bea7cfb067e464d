"""Categories are read alike from sources of every kind, and coded by a sorted vocabulary of the rows there are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.test_pieces import assert_pieces_are_the_whole, assert_same_error
from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.io import tables
from rankinite.data.io.reading import read
from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError, DataError
from refusals import refused

NAMES, NUMBERS = [None, "b", "ä", "b", "", "a"], [3, -2, 10, 3, None, 16_777_217]
ROWS: dict[str, list[Any]] = {
    "qid": [1, 1, 1, 2, 2, 2],
    "label": [0, 1, 2, 0, 1, 2],
    "x": [0.5, 1.5, None, 2.5, 3.5, 4.5],
    "brand": NAMES,
    "shop": NUMBERS,
    "flag": [True, None, False, True, True, False],
}
ASKED = ["shop", "flag"]


def names_in(data: Dataset, feature: str) -> list[str | None]:
    """The oracle: the categories of a feature row by row, without codes."""
    names, codes = data.categories[feature].names, data.features[:, data.feature_index(feature)]
    return [None if np.isnan(code) else names[int(code)] for code in codes.tolist()]


def texts(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(int(value)) for value in values]


TWICE = pa.DictionaryArray.from_arrays(pa.array([None, 0, 1, 2, 3, 4]), pa.array(["b", "ä", "b", "", "a", "unused", None]))
"""A dictionary in which a category appears twice."""
FRAMES = [
    pa.table,
    pd.DataFrame,
    lambda rows: pd.DataFrame(rows).astype({"brand": "category", "shop": "category"}),
    lambda rows: pd.DataFrame(rows).astype({"shop": "Int64", "flag": "boolean", "brand": "string"}),
    lambda rows: pd.DataFrame(rows).astype({"brand": pd.CategoricalDtype(["z", "b", "", "y", "ä", "a"])}),
    pl.DataFrame,
    lambda rows: pl.DataFrame(rows).with_columns(pl.col("brand").cast(pl.Categorical)),
    lambda rows: pl.DataFrame(rows).with_columns(pl.col("brand").cast(pl.Enum(["b", "a", "unused", "ä", ""]))),
    lambda rows: pa.table({**rows, "brand": pa.array(NAMES, pa.large_string()), "shop": pa.array(NUMBERS, pa.float64())}),
    lambda rows: pa.table({**rows, "brand": pa.array(NAMES, pa.string_view())}),
    lambda rows: pa.table({**rows, "brand": pa.chunked_array([NAMES[:2], NAMES[2:]])}),
    lambda rows: pa.table({**rows, "brand": TWICE}),
    lambda rows: pa.table({**rows, "brand": pa.chunked_array([TWICE.slice(0, 2), TWICE.slice(2)])}),
    lambda rows: pa.table({**rows, "shop": pa.array(NUMBERS, pa.int64()).dictionary_encode()}),
    lambda rows: pa.table({**rows, "shop": pa.array(NUMBERS, pa.decimal128(12, 2))}),
    lambda rows: pa.table(rows).to_reader(),
]


@pytest.mark.parametrize("make", FRAMES)
def test_frames_of_all_kinds_have_the_same_categories(make: Any) -> None:
    data = read(make(ROWS), categories=ASKED)
    assert data.categories == {
        "brand": Vocabulary(("", "a", "b", "ä")),
        "shop": Vocabulary(("-2", "3", "10", "16777217"), numeric=True),
        "flag": Vocabulary(("0", "1"), numeric=True),
    }
    assert names_in(data, "brand") == NAMES
    assert names_in(data, "shop") == texts(NUMBERS)
    assert names_in(data, "flag") == texts(ROWS["flag"])
    assert_pieces_are_the_whole(pa.table(make(ROWS)), categories=ASKED)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "tsv"])
def test_files_have_the_categories_of_all_of_them(tmp_path: Path, suffix: str) -> None:
    put = {
        "parquet": pq.write_table,
        "arrow": pyarrow.feather.write_feather,
        "csv": pyarrow.csv.write_csv,
        "tsv": lambda table, path: pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="\t")),
    }[suffix]
    text = suffix.endswith("sv")
    rows = {**ROWS, "brand": [None, "b", "ä", "b", "c", "NA"]}
    paths = [tmp_path / f"{part}.{suffix}" for part in range(2)]
    for path, part in zip(paths, (slice(0, 3), slice(3, 6)), strict=True):
        put(pa.table({name: values[part] for name, values in rows.items()}), path)
    data = read(paths, categories=ASKED)
    assert names_in(data, "brand") == rows["brand"]
    assert names_in(data, "shop") == texts(NUMBERS)
    assert data.categories["shop"].numeric
    assert names_in(data, "flag") == (["true", None, "false", "true", "true", "false"] if text else texts(ROWS["flag"]))
    assert_pieces_are_the_whole(paths, categories=ASKED)


def test_without_being_named_numbers_stay_numbers() -> None:
    data = read(pa.table(ROWS))
    assert list(data.categories) == ["brand"]
    assert data.features[:, 2].tolist()[:4] == [3, -2, 10, 3]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=40), st.integers(1, 9), st.randoms())
def test_neither_batches_nor_threads_nor_the_order_of_rows_decide_a_code(
    names: list[str | None], batch: int, random: Any
) -> None:
    order = list(range(len(names)))
    random.shuffle(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BATCH", batch)
        with threads(2):
            shuffled = read(pa.table(frame([names[row] for row in order])))
    data = read(pa.table(frame(names)))
    assert names_in(data, "c") == names
    assert (
        data.categories["c"]
        == shuffled.categories["c"]
        == Vocabulary(tuple(sorted({name for name in names if name is not None})))
    )
    assert shuffled.features.tobytes() == data.features[order].tobytes()


def frame(names: list[Any]) -> dict[str, Any]:
    rows = len(names)
    return {"qid": [1] * rows, "label": [0.0] * rows, "c": pa.array(names, None if any(map(bool, names)) else pa.string())}


# ---- text files -------------------------------------------------------------------------------------------------------


def put(path: Path, *lines: str) -> Path:
    path.write_text("qid,label,x,c\n" + "".join(f"1,0,0.5,{line}\n" for line in lines))
    return path


def test_cells_of_text_files(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv", "7.0", "12", '""', "")
    data = read(path, categories=["c"])
    assert data.categories["c"] == Vocabulary(("7", "12"), numeric=True)
    assert names_in(data, "c") == ["7", "12", None, None]
    path = put(tmp_path / "t.csv", "007", "7", "NA")
    assert read(path, categories=["c"]).categories["c"] == Vocabulary(("007", "7", "NA"))
    bare = tmp_path / "bare.csv"
    bare.write_text("1,5,007\n0,6,7\n")
    data = read(bare, group=[2], categories=["2"])
    assert data.feature_names == ("1", "2")
    assert names_in(data, "2") == ["007", "7"]


def test_numbers_with_a_slip_are_not_taken_for_categories(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv", *map(str, range(20)), "unknown")
    with refused(DataError, place="t.csv", value="unknown") as caught:
        assert_same_error(path)
    assert "`categories=['c']`" in caught.value.remedy
    assert len(read(path, categories=["c"]).categories["c"]) == 21
    assert_pieces_are_the_whole(path, categories=["c"])


def test_a_column_of_numbers_and_text_in_different_files_must_be_named(tmp_path: Path) -> None:
    paths = [put(tmp_path / "a.csv", "7", "8"), put(tmp_path / "b.csv", "A7", "A8")]
    with refused(DataError, place="a.csv:2", value=["c"]) as caught:
        read(paths)
    assert "`categories=['c']`" in caught.value.remedy
    assert read(paths, categories=["c"]).categories["c"] == Vocabulary(("7", "8", "A7", "A8"))


# ---- LETOR files and matrices -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["zero", "nan"])
def test_features_of_letor_files_are_categories_by_name_or_position(tmp_path: Path, missing: Any) -> None:
    path = tmp_path / "t.txt"
    path.write_text("1 qid:1 1:0.5 2:30\n0 qid:1 1:0.25\n0 qid:2 2:4 3:1\n")
    data = read(path, categories=["2"], missing=missing)
    absent = "0" if missing == "zero" else None
    assert names_in(data, "2") == ["30", absent, "4"]
    assert list(data.categories) == ["2"]
    assert data.categories["2"].numeric
    again = read(path, categories=[1], missing=missing)
    assert again.features.tobytes() == data.features.tobytes()
    assert_pieces_are_the_whole(path, categories=["2"], missing=missing)
    chosen = read(path, categories=["2"], features=["2", "1"], missing=missing)
    assert names_in(chosen, "2") == names_in(data, "2")


def test_columns_of_matrices_are_categories_by_position() -> None:
    matrix = np.asarray([[1, 7.0], [np.nan, -3], [5, 7]])
    data = read(matrix, grades=[0, 1, 0], qid=[2, 1, 2], categories=[1])
    assert names_in(data, "2") == ["7", "7", "-3"]
    assert matrix[0, 1] == 7
    assert_pieces_are_the_whole(matrix, grades=[0, 1, 0], qid=[1, 1, 2], categories=["1", 1])


def test_like_says_which_features_are_categories(tmp_path: Path) -> None:
    train = read(pa.table(ROWS), categories=ASKED)
    test = read(pa.table({**ROWS, "brand": ["new"] * 6}), like=train)
    assert test.categories.keys() == train.categories.keys()
    assert test.categories["brand"] == Vocabulary(("new",))
    assert read(pa.table({**ROWS, "brand": pa.nulls(6)}), like=train).categories["brand"].names == ()
    with refused(DataError, place="table", value=["shop"]):
        read(pa.table({**ROWS, "shop": list("abcdef")}), like=read(pa.table(ROWS)))
    path = tmp_path / "t.txt"
    path.write_text("1 qid:1 1:0.5 2:3 3:4 4:0\n")
    numbered = read(path, like=train)
    assert numbered.feature_names == train.feature_names
    assert names_in(numbered, "shop") == ["4"]
    assert names_in(
        read(path, like=read(pa.table(ROWS), ignore=["brand", "flag"]), features=["1", "3"], categories=["shop"]), "shop"
    ) == ["4"]


def test_levels_of_rows_that_are_left_out_are_left_out() -> None:
    rows = {**ROWS, "label": [-1, 1, 2, -1, 1, 2], "brand": ["gone", "a", "b", "gone", "a", "a"]}
    data = read(pa.table(rows), unjudged="drop")
    assert data.categories["brand"].names == ("a", "b")
    assert names_in(data, "brand") == ["a", "b", "a", "a"]
    assert_pieces_are_the_whole(pa.table(rows), unjudged="drop")


# ---- what is refused, and what is warned of ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "options", "place", "value"),
    [
        ({}, {"categories": ["x"]}, "row 0", 0.5),
        ({"x": [1.0, 2.0**53, 1, 1, 1, 1]}, {"categories": ["x"]}, "row 1", 2.0**53),
        ({"x": [1.0, 2.0, 3, 1, 1, np.inf]}, {"categories": "x"}, "row 5", np.inf),
        ({}, {"categories": ["nonsense"]}, "table", ["nonsense"]),
        ({}, {"categories": ["qid"]}, "table", ["qid"]),
        ({}, {"categories": ["brand"], "ignore": ["brand"]}, "table", ["brand"]),
        ({}, {"categories": ["brand"], "features": ["x"]}, "table", ["brand"]),
    ],
)
def test_bad_categories_of_tables(change: dict[str, Any], options: dict[str, Any], place: str, value: object) -> None:
    with refused(DataError, place=place, value=value):
        read(pa.table({**ROWS, **change}), **options)


def test_bad_categories_of_other_sources(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("1 qid:1 1:2\n# no row\n0 qid:1 1:2.5\n")
    with refused(DataError, place="t.txt:3", value=2.5):
        assert_same_error(path, categories=["1"])
    with refused(DataError, value="7"):
        assert_same_error(path, categories=["7"])
    path.write_text("1 qid:1 1:16777216\n")
    with refused(DataError, place="t.txt:1", value=2.0**24):
        assert_same_error(path, categories=["1"])
    with refused(ArgumentError, owner="read", setting="categories", value=3):
        read(path, categories=3)  # type: ignore[arg-type]
    qrels = tmp_path / "j.qrels"
    qrels.write_text("1 0 d 1\n")
    with refused(ArgumentError, owner="read", setting="categories", value=["d"]):
        read(qrels, categories=["d"])
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(np.asarray([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe"))
    with refused(DataError, place="table", value="c"):
        read(pa.table({"qid": [1, 1], "grade": [0.0, 1.0], "c": broken}))


def test_a_category_of_its_own_in_most_rows_is_warned_of() -> None:
    def ids(rows: int, different: int) -> Any:
        names = [f"u{row % different}" for row in range(rows)]
        return pa.table({"qid": [1] * rows, "label": [0] * rows, "url": names})

    for rows, different in ((100, 100), (101, 51)):
        with pytest.warns(UserWarning, match=rf"'url' \({different} values\) in {rows} rows.*ignore=\['url'\]"):
            read(ids(rows, different))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(ids(99, 99))
        read(ids(100, 50))
