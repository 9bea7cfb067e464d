"""Our own Parquet and Arrow files are read by what they say of their columns, and by nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.datasets import contents, random_dataset
from rankinite import read, write
from rankinite.data.io.column_names import USUAL_NAMES
from rankinite.data.io.table_files import ROLES_KEY
from rankinite.errors import DataError
from refusals import refused

USUAL = [name for names in USUAL_NAMES.values() for name in names]
NAMES = [*USUAL, *(f"_{role}" for role in USUAL_NAMES), "", "Unnamed: 0", "__index_level_0__", "LABEL", "Fold", "a", "a.b", "1"]
"""Every name by which a column is recognised as something, or left out, and what comes near them."""
WRITERS: dict[str, Any] = {".parquet": pq.write_table, ".arrow": pa.feather.write_feather}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("roles")


@settings(max_examples=30, deadline=None)
@given(
    st.permutations(NAMES).flatmap(lambda names: st.integers(1, 8).map(lambda count: names[:count])),
    st.lists(st.sampled_from(["doc_ids", "weights", "batches"]), unique=True),
    st.sampled_from(list(WRITERS)),
)
def test_features_of_any_name_read_back_the_same(folder: Path, names: list[str], left_out: list[str], suffix: str) -> None:
    data = replace(random_dataset(1, queries=2, features=len(names)).rename_features(names), **dict.fromkeys(left_out))
    write(data, folder / f"t{suffix}")
    again = read(folder / f"t{suffix}")
    assert again.feature_names == tuple(names)
    assert contents(again) == contents(data)


def test_what_the_caller_says_goes_first(tmp_path: Path) -> None:
    data = replace(random_dataset(1).rename_features(["weight", "fold", "x"]), weights=None, batches=None)
    write(data, tmp_path / "t.parquet")
    again = read(tmp_path / "t.parquet", ignore=["x"])
    assert (again.feature_names, again.weights, again.batches) == (("weight", "fold"), None, None)
    assert read(tmp_path / "t.parquet", group=[data.rows], ignore=["qid"]).queries == 1


def stated(path: Path, text: bytes) -> Path:
    """A file with two possible columns for each role that says this of them."""
    table = pa.table({"qid": ["a", "a"], "grade": [0.0, 1.0], "weight": [1.0, 1.0], "x": [1.0, 2.0]})
    WRITERS[path.suffix](table.replace_schema_metadata({ROLES_KEY: text}), path)
    return path


DEEP = 100_000
NOT_ROLES = {
    "list": (b'["qid"]', "list"),
    "number": (b"7", "int"),
    "null": (b"null", "NoneType"),
    "no JSON": (b"{qid", None),
    "no text": (b"\xff\xfe\xfa", None),
    "deep list": (b"[" * DEEP + b"]" * DEEP, None),
    "deep column": (b'{"qid":' * DEEP + b"1" + b"}" * DEEP, None),
    "unknown role": (b'{"qid": "qid", "grades": "grade", "price": "x"}', "price"),
    "no column": (b'{"qid": "query", "grades": "grade"}', "query"),
    "number for a column": (b'{"qid": 1, "grades": "grade"}', 1),
    "list for a column": (b'{"qid": ["qid"], "grades": "grade"}', ["qid"]),
    "one column twice": (b'{"qid": "qid", "grades": "grade", "weight": "grade"}', "grade"),
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(("text", "value"), NOT_ROLES.values(), ids=NOT_ROLES)
def test_metadata_that_are_no_roles_are_refused(tmp_path: Path, suffix: str, text: bytes, value: object) -> None:
    path = stated(tmp_path / f"t{suffix}", text)
    with refused(DataError, place=f"{path}, metadata 'rankinite.roles'", value=value):
        read(path)


def test_roles_that_are_not_stated_are_not_guessed(tmp_path: Path) -> None:
    data = read(stated(tmp_path / "t.parquet", b'{"qid": "qid", "grades": "grade"}'))
    assert (data.feature_names, data.weights) == (("weight", "x"), None)
    with refused(DataError, place="t.parquet", value=["grades"]):
        read(stated(tmp_path / "t.parquet", b'{"qid": "qid"}'))


@pytest.mark.parametrize("suffix", WRITERS)
def test_files_read_together_say_the_same(tmp_path: Path, suffix: str) -> None:
    roles = {"qid": "qid", "grades": "grade"}
    first = stated(tmp_path / f"1{suffix}", json.dumps(roles).encode())
    second = stated(tmp_path / f"2{suffix}", json.dumps({**roles, "weight": "weight"}).encode())
    with refused(DataError, place=second, value={**roles, "weight": "weight"}):
        read([first, second])
    assert read([first, first]).feature_names == ("weight", "x")


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__", "Weight"])
def test_text_tables_refuse_names_that_would_be_lost(tmp_path: Path, name: str) -> None:
    with refused(DataError, place="t.csv", value=name):
        write(random_dataset(1).rename_features([name, "b", "c"]), tmp_path / "t.csv")


@pytest.mark.parametrize("role", ["grades", "qid", "doc_id", "weight", "batch"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_an_empty_name_is_no_column(tmp_path: Path, role: str, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write(random_dataset(1), path)
    for options in ({role: ""}, {"features": [""]}, {"ignore": ""}):
        with refused(DataError, place=path, value=[""]):
            read(path, **options)
