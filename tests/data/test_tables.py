"""Tables of every kind say the same thing, and what is wrong with one is told by row and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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

from oracles.datasets import contents, random_dataset
from rankinite.data._kernels import columns_to_rows
from rankinite.data.io import tables
from rankinite.data.io.reading import read
from rankinite.data.io.writing import write, write_parquet
from rankinite.errors import ArgumentError, DataError
from refusals import refused

ROWS = {"qid": [7, 3, 7], "label": [2, 0, 1], "doc_id": ["a", "b", "c"], "bm25": [0.5, None, 2.5], "new": [True, False, True]}
SAID = {
    "7": {"documents": [("a", 2.0, (0.5, 1.0)), ("c", 1.0, (2.5, 1.0))], "weight": None, "batch": None},
    "3": {"documents": [("b", 0.0, (None, 0.0))], "weight": None, "batch": None},
}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 3))
def test_columns_become_rows(rows: int, features: int, spare: int) -> None:
    columns = np.random.default_rng(rows).random((features, rows + spare)).astype(np.float32)
    out = np.empty((rows, features), np.float32)
    columns_to_rows(columns, rows, out)
    assert (out == columns[:, :rows].T).all()


@pytest.mark.parametrize(
    "make",
    [
        pa.table,
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows, index=[5, 3, 9]),
        lambda rows: pd.DataFrame(rows).set_index("qid"),
        lambda rows: pd.DataFrame(rows).astype({"qid": "category"}),
        pl.DataFrame,
        lambda rows: pl.DataFrame(rows).with_columns(pl.col("doc_id").cast(pl.Categorical)),
        lambda rows: pa.table({**rows, "qid": [7.0, 3.0, 7.0]}),
        lambda rows: pa.table({**rows, "qid": ["7", "3", "7"]}),
        lambda rows: pa.table(rows).to_reader(),
    ],
)
def test_frames_of_all_kinds_say_the_same(make: object) -> None:
    data = read(make(ROWS))  # type: ignore[operator]
    assert contents(data) == SAID
    assert data.feature_names == ("bm25", "new")
    assert data.input_row.tolist() == [0, 2, 1]


def put_parquet(path: Path) -> None:
    pq.write_table(pa.table(ROWS), path, row_group_size=2)


def put_feather(path: Path) -> None:
    pyarrow.feather.write_feather(pa.table(ROWS), path)


def put_stream(path: Path) -> None:
    table = pa.table(ROWS)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def put_csv(path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


FILES = [
    ("t.parquet", put_parquet),
    ("t.pq", put_parquet),
    ("t.feather", put_feather),
    ("t.arrow", put_feather),
    ("t.ipc", put_stream),
    ("t.csv", put_csv),
    ("t.tsv", put_csv),
    ("t.csv.gz", put_csv),
    ("t.tsv.xz", put_csv),
    ("t.csv.zst", lambda path: write_compressed(path, pd.DataFrame(ROWS).to_csv(index=False))),
    ("parquet_by_content", put_parquet),
    ("arrow_by_content", put_feather),
    ("csv_by_content.txt", put_csv),
]


def write_compressed(path: Path, text: str) -> None:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(text.encode())


@pytest.mark.parametrize(("name", "put"), FILES, ids=[name for name, _ in FILES])
def test_files_of_all_kinds_say_the_same(tmp_path: Path, name: str, put: object) -> None:
    put(tmp_path / name)  # type: ignore[operator]
    data = read(tmp_path / name)
    assert contents(data) == SAID
    assert data.source == str(tmp_path / name)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_written_reads_back_the_same(tmp_path: Path, suffix: str, seed: int) -> None:
    data = random_dataset(seed)
    features = data.features.copy()
    features[0, 0] = np.nan
    data = replace(data, features=features, weights=data.weights if seed == 1 else None)
    write(data, tmp_path / f"t{suffix}")
    again = read(tmp_path / f"t{suffix}")
    assert contents(again) == contents(data)
    assert again.feature_names == data.feature_names
    assert [path.name for path in tmp_path.iterdir()] == [f"t{suffix}"]


def test_features_may_be_called_like_roles(tmp_path: Path) -> None:
    data = random_dataset(3).rename_features(["qid", "weight", "grade"])
    for name in ("t.parquet", "t.arrow"):
        write(data, tmp_path / name)
        assert contents(read(tmp_path / name)) == contents(data)
    with refused(DataError, place="t.csv", value="qid"):
        write(data, tmp_path / "t.csv")


def test_repeated_feature_names_are_not_written(tmp_path: Path) -> None:
    with refused(DataError, value="x"):
        write_parquet(random_dataset(3).rename_features(["x", "y", "x"]), tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 5))
def test_pieces_and_batches_do_not_matter(tmp_path_factory: pytest.TempPathFactory, seed: int, group: int, batch: int) -> None:
    path = tmp_path_factory.mktemp("pieces") / "t.parquet"
    data = random_dataset(seed)
    write(data, path)
    pq.write_table(pq.read_table(path), path, row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankinite.data.io.table_files.BATCH", batch)
        patch.setattr(tables, "BATCH", batch)
        patch.setattr(tables, "STRIP", 2)
        assert contents(read(path)) == contents(data)
        assert contents(read(pq.read_table(path))) == contents(data)


def test_several_files_are_one_stream(tmp_path: Path) -> None:
    table = pa.table(ROWS)
    for suffix, put in (("parquet", pq.write_table), ("csv", pyarrow.csv.write_csv)):
        paths = [tmp_path / f"{number}.{suffix}" for number in (1, 2)]
        put(table.slice(0, 1), paths[0])
        put(table.slice(1), paths[1])
        assert contents(read(paths)) == SAID
    put(table.drop_columns(["bm25"]), paths[1])
    with refused(DataError, place="2.csv", value=["bm25"]):
        read(paths)


def test_weights_and_batches_are_columns_too() -> None:
    data = read(pa.table({**ROWS, "weight": [2.0, 1.0, 2.0], "Fold": [1, 2, 1]}))
    assert data.weights.tolist() == [2, 1]
    assert data.batches.tolist() == ["1", "2"]


def test_columns_can_be_named_chosen_and_left_out() -> None:
    table = pa.table({"q": ["x", "x"], "clicks": [1, 0], "url": ["u", "v"], "a": [1, 2], "b": [3, 4], "rel": [5, 6]})
    data = read(table, qid="q", grades="clicks", doc_id="url")
    assert data.feature_names == ("a", "b", "rel")
    assert data.doc_ids.tolist() == ["u", "v"]
    assert read(table, qid="q", grades="clicks", features=["b", "a"]).features.tolist() == [[3, 1], [4, 2]]
    assert read(table, qid="q", ignore=["url", "clicks"]).grades.tolist() == [5, 6]
    assert read(table.drop_columns("clicks"), qid="q", ignore="url").feature_names == ("a", "b")
    assert read(table, qid=[1, 1], grades=[9, 8], features="a").grades.tolist() == [9, 8]


@pytest.mark.parametrize(
    ("change", "options", "place", "value", "remedy"),
    [
        ({"qid": None}, {}, "table", ["qid"], ["qid='…'", "group=…"]),
        ({"label": None}, {}, "table", ["grades"], ["grades='…'"]),
        ({}, {"qid": "session"}, "table", ["session"], []),
        ({}, {"features": ["bm26"]}, "table", ["bm26"], []),
        (
            {"qid": None, "Session-Id": ["s", "t", "s"], "query_uuid": ["x", "x", "y"], "url": ["u", "v", "w"]},
            {},
            "table",
            ["qid"],
            ["qid='query_uuid'", "group=…"],
        ),
        ({"qid": None, "search_id": [5, 5, 6]}, {}, "table", ["qid"], ["qid='search_id'", "group=…"]),
        ({"qid": None, "search_text": ["a", "a", "b"]}, {}, "table", ["qid"], ["qid='search_text'", "group=…"]),
        (
            {"qid": None, "group": ["a", "a", "b"], "label": None},
            {},
            "table",
            ["qid", "grades"],
            ["qid='group'", "grades='…'"],
        ),
        (
            {
                "doc_id": None,
                "productId": [b"u", b"v", b"w"],
                "day": pa.array([1, 2, 3], pa.date32()),
                "at": [b"x", b"y", b"z"],
            },
            {},
            "table",
            ["productId", "at", "day"],
            ["doc_id='productId'", "ignore=['at', 'day']"],
        ),
        ({"day": pa.array([1, 2, 3], pa.date32())}, {"features": ["bm25", "day"]}, "table", ["day"], []),
        ({"day": pa.array([1, 2, 3], pa.date32())}, {"categories": ["day"]}, "table", ["day"], ["ignore=['day']"]),
        ({"label": ["bad", "good", "bad"]}, {}, "table", ["label"], ["map_grades={'bad': …, 'good': …}"]),
        ({"label": [1, None, 2]}, {}, "row 1", "grades", []),
        ({"label": [1.0, 2.0, float("nan")]}, {}, "row 2", "grades", []),
        ({"label": [1.0, 2.0, float("inf")]}, {}, "row 2", float("inf"), []),
        ({"qid": [1, None, 2]}, {}, "row 1", "qid", []),
        ({"doc_id": ["a", "b", None]}, {}, "row 2", "doc_id", []),
        ({"bm25": [1.0, float("inf"), 2.0]}, {}, "row 1", float("inf"), ["infinite='missing'"]),
        ({"bm25": [1.0, 2.0, -1.79e308]}, {}, "row 2", float("-inf"), ["infinite='missing'"]),
        ({"label": [1, -1, 2]}, {}, "row 1", -1.0, ["unjudged='drop'"]),
        ({"relevance": [1, 2, 3]}, {}, "table", ["label", "relevance"], ["grades='label'", "ignore=['relevance']"]),
        ({"weight": [1, 1, 2]}, {}, "query '7'", (1.0, 2.0), []),
        ({}, {"group": [2, 1]}, "table", "qid", ["group", "ignore=['qid']"]),
        ({"weight": ["1", "1", "x"]}, {}, "table", ["weight"], []),
        ({"qid": [1.0, 2.0**53, 2]}, {}, "row 1", 2.0**53, []),
        ({"doc_id": [1.0, 2.0, 1e300]}, {}, "row 2", 1e300, []),
        ({"qid": None}, {"group": [2, 2]}, "table", 4, ["qid=…"]),
        ({}, {"grades": [1, 2]}, "grades", (2,), []),
    ],
)
def test_bad_tables(
    change: dict[str, object], options: dict[str, object], place: str, value: object, remedy: list[str]
) -> None:
    columns = {name: values for name, values in {**ROWS, **change}.items() if values is not None}
    with refused(DataError, place=place, value=value) as caught:
        read(pa.table(columns), **options)  # type: ignore[arg-type]
    for code in remedy:
        assert f"`{code}`" in caught.value.remedy


def test_places_are_lines_in_text_and_rows_elsewhere(tmp_path: Path) -> None:
    table = pa.table({"qid": [1, 1, 1], "grade": [0, 1, -1], "a": [1, 2, 3]})
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    with refused(DataError, place="t.csv:4", value=-1.0):
        read(tmp_path / "t.csv")
    with refused(DataError, place="t.parquet, row 2", value=-1.0):
        read(tmp_path / "t.parquet")
    pq.write_table(table.set_column(1, "grade", [[0, 0, 0]]), tmp_path / "1.parquet")
    pq.write_table(table, tmp_path / "2.parquet")
    with refused(DataError, place="2.parquet, row 2", value=-1.0):
        read([tmp_path / "1.parquet", tmp_path / "2.parquet"])


def test_broken_files_are_refused(tmp_path: Path) -> None:
    put_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for name, content in {
        "cut.parquet": whole[: len(whole) // 2],
        "empty.parquet": b"",
        "text.parquet": b"1 qid:1 1:1\n",
        "text.arrow": b"1 qid:1 1:1\n",
        "empty.csv": b"",
        "ragged.csv": b"qid,label,a\n1,2,3\n1,2\n",
        "header_only.csv": b"qid,label,a\n",
        "twice.csv": b"qid,label,a,a\n1,2,3,4\n",
        "bytes.csv": b"qid,label,a\n\xff\x00,2,3\n",
        "cut.csv.gz": b"\x1f\x8b\x08\x00\x00",
    }.items():
        (tmp_path / name).write_bytes(content)
        with refused(DataError, place=f"{name}:3" if name == "ragged.csv" else name):
            read(tmp_path / name)


@pytest.mark.parametrize(("name", "put"), [("t.parquet", put_parquet), ("t.arrow", put_feather), ("t.csv", put_csv)])
@settings(max_examples=100, deadline=None)
@given(
    damage=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=5), cut=st.integers(0, 10_000)
)
def test_damaged_files_give_data_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, put: object, damage: list[tuple[int, int]], cut: int
) -> None:
    path = tmp_path_factory.mktemp("damaged") / name
    put(path)  # type: ignore[operator]
    content = bytearray(path.read_bytes())
    for position, byte in damage:
        content[position % len(content)] = byte
    path.write_bytes(content[: cut + 1])
    place = ""
    try:
        data = read(path, infinite="keep", unjudged="keep")
    except DataError as error:
        place = error.place
    assert place.startswith(str(path)) if place else data.rows >= 1


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv", "t.tsv", "read_by_pandas.csv"])
def test_the_index_of_pandas_is_no_feature(tmp_path: Path, name: str) -> None:
    frame, path = pd.DataFrame(ROWS, index=[5, 3, 9]), tmp_path / name
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(pa.Table.from_pandas(frame), path)
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        frame.to_csv(path, sep=separator)
        if name == "read_by_pandas.csv":
            pd.read_csv(path).to_csv(path, index=False)
    with pytest.warns(UserWarning, match="row numbers"):
        assert contents(read(path)) == SAID


WORDS = ["NA", "nan", "null", "true", "x y", "é,\t"]
ODD_NAMES = ["007", "7", "1e5", "10e4", "100000.0", str(2**64 - 1), str(2**53 + 1), *WORDS]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_names_that_look_like_something_else_read_back_the_same(tmp_path: Path, suffix: str) -> None:
    for names in (ODD_NAMES, ODD_NAMES[:2], ODD_NAMES[5:7]):
        count = len(names)
        data = read(np.zeros((count, 1)), grades=np.zeros(count), qid=names, doc_id=["", *names[1:]], batch=names[::-1])
        assert data.queries == count
        write(data, tmp_path / f"t{suffix}")
        assert contents(read(tmp_path / f"t{suffix}")) == contents(data)


def test_names_in_text_are_text_whichever_column_they_stand_in(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("session,label,url,query\n007,1,01,5\n7,0,1,6\n")
    data = read(path, qid="session", doc_id="url")
    assert (data.qids.tolist(), data.doc_ids.tolist()) == (["007", "7"], ["01", "1"])
    assert data.features.tolist() == [[5], [6]]  # another column called like a query is a number still
    path.write_text("1,5,007\n0,6,7\n")
    assert read(path, qid="2").qids.tolist() == ["007", "7"]
    path.write_text("qid,label,x\n1,1,5\n,0,6\n")
    with refused(DataError, place="t.csv:3", value="qid"):
        read(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_group_sizes_hold_where_the_query_column_is_left_out(tmp_path: Path, name: str) -> None:
    data = read(pa.table(ROWS))
    write(data, tmp_path / name)
    again = read(tmp_path / name, group=[1, 2], ignore=["qid"])
    assert (again.qids.tolist(), again.offsets.tolist()) == (["1", "2"], [0, 1, 3])
    with refused(DataError, place=name, value="qid"):
        read(tmp_path / name, group=[1, 2])


def test_features_are_chosen_or_like_others() -> None:
    table = pa.table(ROWS)
    with refused(ArgumentError, owner="read", setting="features", value=["new"]):
        read(table, like=read(table), features=["new"])


@pytest.mark.parametrize("suffix", ["parquet", "csv", "feather"])
def test_a_later_file_with_text_in_a_feature_is_refused(tmp_path: Path, suffix: str) -> None:
    put = {"parquet": pq.write_table, "csv": pyarrow.csv.write_csv, "feather": pyarrow.feather.write_feather}[suffix]
    paths = [tmp_path / f"{number}.{suffix}" for number in (1, 2)]
    put(pa.table(ROWS), paths[0])
    put(pa.table({**ROWS, "bm25": ["a", "b", "c"]}), paths[1])
    with refused(DataError, value=["bm25"]):
        read(paths)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("qid,label,x\n1,1,1\n1,-1,1\n", 3),
        ("qid,label,x\n\n\n1,-1,1\n", 4),
        ("\nqid,label,x\r\n1,1,1\r\n\r\n1,-1,1\r\n", 5),
        ('qid,label,x\n"a\nb",1,1\n1,-1,1\n', 4),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.zst"])
def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path, text: str, line: int, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    if suffix == ".csv":
        path.write_bytes(text.encode())
    else:
        write_compressed(path, text)
    with refused(DataError, place=f"t{suffix}:{line}", value=-1.0):
        read(path)


def test_text_that_is_not_utf8_is_refused() -> None:
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(np.asarray([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe"))
    with refused(DataError, place="table", value="qid"):
        read(pa.table({"qid": broken, "grade": [0.0, 1.0], "x": [1.0, 2.0]}))
