"""What is written with categories is read back as it was, or refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.test_category_reading import names_in
from rankinite.data.categories import Vocabulary, drop_unused_categories, vocabulary_of
from rankinite.data.dataset import Dataset
from rankinite.data.io import writing
from rankinite.data.io.reading import read
from rankinite.data.io.writing import write
from rankinite.errors import DataError
from refusals import refused

TABLES, TEXTS = ("parquet", "arrow"), ("csv", "tsv", "csv.gz")


def data_with(names: list[str | None], numbers: list[int | None] | None = None) -> Dataset:
    """Data with a category of text and one of numbers."""
    numbers = numbers or [None if row % 3 == 0 else 7 * row - 9 for row in range(len(names))]
    text = vocabulary_of(name for name in names if name is not None)
    values = [str(number) for number in numbers if number is not None]
    whole = vocabulary_of(values, numeric=bool(values))
    columns = (
        np.arange(len(names)) / 4,
        [np.nan if name is None else text.places[name] for name in names],
        [np.nan if number is None else whole.places[str(number)] for number in numbers],
    )
    return Dataset.from_rows(
        np.asarray(columns, np.float32).T,
        np.zeros(len(names), np.float32),
        np.arange(len(names)) // 3,
        ("x", "c", "n"),
        categories={"c": text, "n": whole},
    )


def assert_same(found: Dataset, data: Dataset) -> None:
    assert found.feature_names == data.feature_names
    assert found.features.tobytes() == data.features.tobytes()
    assert dict(found.categories) == dict(data.categories)
    assert found.qids.tolist() == data.qids.tolist()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=30),
    st.lists(st.integers(-(2**59), 2**59), min_size=1, max_size=30),
    st.sampled_from([*TABLES, *TEXTS]),
)
def test_round_trips_are_exact_or_refused(
    tmp_path_factory: pytest.TempPathFactory, names: list[str | None], numbers: list[int], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("t") / f"t.{suffix}"
    data = data_with(names, (numbers * 30)[: len(names)])
    if suffix in TEXTS:
        with suppress(DataError):
            write(data, path)
        if not path.exists():
            return
    write(data, path)
    assert_same(read(path, **({} if suffix in TABLES else {"categories": ["c", "n"]})), data)


@pytest.mark.parametrize("suffix", [*TABLES, *TEXTS])
def test_ordinary_names_are_written_to_every_table(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "ROW_GROUP", 4)
    data = data_with(["b", None, "a b", 'say "a,b"', "007", "NA", "ä\n", "b", "c"])
    write(data, tmp_path / f"t.{suffix}")
    assert_same(read(tmp_path / f"t.{suffix}", **({} if suffix in TABLES else {"categories": ["n"]})), data)


def test_other_programs_see_names(tmp_path: Path) -> None:
    write(data_with(["b", None, "a"], [5, 3, 5]), tmp_path / "t.parquet")
    frame = pd.read_parquet(tmp_path / "t.parquet")
    assert frame["c"].dtype == "category"
    assert frame["c"].astype(object).where(frame["c"].notna(), None).tolist() == ["b", None, "a"]
    assert frame["n"].tolist() == [5, 3, 5]


@pytest.mark.parametrize("names", [["", "a"], ["7", "8"], ["007", "8"], ["7.0", "a"], ["2020-01-01"], ["false", "true"]])
def test_text_tables_refuse_what_would_be_read_as_something_else(tmp_path: Path, names: list[str | None]) -> None:
    with refused(DataError, place="t.csv", value=names[0]):
        write(data_with(names), tmp_path / "t.csv")
    write(data_with(names), tmp_path / "t.parquet")
    assert_same(read(tmp_path / "t.parquet"), data_with(names))


def test_numbers_with_a_slip_are_not_written_to_text_tables(tmp_path: Path) -> None:
    with refused(DataError, place="t.csv", value="none"):
        write(data_with([*map(str, range(20)), "none"]), tmp_path / "t.csv")


def test_letor_files_hold_the_values_of_whole_numbers(tmp_path: Path) -> None:
    data = data_with(["a", "b", "a", "b"], [30, None, -4, 30])
    with refused(DataError, place="t.txt", value="a"):
        write(data, tmp_path / "t.txt")
    assert not (tmp_path / "t.txt").exists()
    numbers = data.select_features(["x", "n"])
    write(numbers, tmp_path / "t.txt")
    assert [line.split()[3] for line in (tmp_path / "t.txt").read_text().splitlines()] == ["2:30", "2:nan", "2:-4", "2:30"]
    found = read(tmp_path / "t.txt", categories=["2"]).rename_features(["x", "n"])
    assert_same(found, numbers)
    with refused(DataError, place="t.txt", value="16777216"):
        write(data_with(["a"], [2**24]).select_features(["n"]), tmp_path / "t.txt")


def test_features_that_a_file_states_to_be_categories(tmp_path: Path) -> None:
    write(data_with(["a", "b"], [1, 2]), tmp_path / "t.parquet")
    assert list(read(tmp_path / "t.parquet", ignore=["n"]).categories) == ["c"]
    assert list(read(tmp_path / "t.parquet", features=["x", "n"]).categories) == ["n"]
    table = pq.read_table(tmp_path / "t.parquet")
    for stated, value in (("{", None), ('["nonsense"]', "nonsense"), ("[3]", 3), ("7", 7)):
        pq.write_table(
            table.replace_schema_metadata({**table.schema.metadata, b"rankinite.categories": stated}), tmp_path / "b.parquet"
        )
        with refused(DataError, place="b.parquet, metadata 'rankinite.categories'", value=value):
            read(tmp_path / "b.parquet")
    assert json.loads(table.schema.metadata[b"rankinite.categories"]) == ["c", "n"]


def test_levels_that_no_row_has_are_trimmed() -> None:
    data = data_with(["d", None, "b", "d", "a", "c"]).select_rows(np.asarray([True, True, True, False, False, False]))
    short = drop_unused_categories(data)
    assert short.categories["c"] == Vocabulary(("b", "d"))
    assert names_in(short, "c") == names_in(data, "c") == ["d", None, "b"]
    assert names_in(short, "n") == names_in(data, "n")
    assert drop_unused_categories(short) is short


def test_hand_made_numbers_that_no_type_holds_are_written_as_text(tmp_path: Path) -> None:
    large: Any = Vocabulary((str(10**30),), numeric=True)
    data = Dataset.from_rows(np.zeros((1, 1)), np.zeros(1), np.zeros(1), ("n",), categories={"n": large})
    write(data, tmp_path / "t.parquet")
    assert names_in(read(tmp_path / "t.parquet"), "n") == [str(10**30)]
    assert pa.types.is_dictionary(pq.read_table(tmp_path / "t.parquet").schema.field("n").type)
