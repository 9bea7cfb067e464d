"""``read``: which format, which queries, which odd values, and data like other data."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from oracles.datasets import contents, random_dataset
from rankinite.data.io.format_detection import format_of
from rankinite.data.io.reading import read
from rankinite.data.io.writing import write
from rankinite.errors import ArgumentError, DataError, RankiniteError
from refusals import refused

pytestmark = pytest.mark.posix("named pipes")

LETOR = "2 qid:7 1:0.5 3:1 # a\n0 qid:3 2:4\n1 qid:7 1:1e39 # c\n"
X = np.asarray([[1, 2], [3, 4], [5, 6]], np.float64)


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "features"),
    [
        ("a.txt", "1 qid:1 1:2\n", 1),
        ("a.qrels", "1 0 d 1\n", 0),
        ("a.txt", "1 0 d 1\n", 0),
        ("a.txt", "qid,label,x,y\n1,2,3,4\n", 2),
        ("a.txt", "qid,y,x\n1,2,3\n", 1),
        ("a.dat", "qid\tlabel\tx\n1\t2\t3\n", 1),
        ("a.txt", "# a comment, with commas\n1 qid:1 1:2 2:3\n", 2),
        ("a.txt", "1 0 http://d:80/x,y 1\n", 0),
        ("a.txt", "q:1 Q0 d 1\n", 0),
        ("a.txt", "qid,label,is:new,time at 12:30\n1,2,3,4\n", 2),
        ("a.txt", "qid\tlabel\tis:new\n1\t2\t3\n", 1),
        ("A.CSV.TXT", "2 qid:1 # a document: with a colon\n", 0),
    ],
)
def test_the_format_is_found(tmp_path: Path, name: str, text: str, features: int) -> None:
    assert len(read(put(tmp_path, name, text)).feature_names) == features


def test_the_format_can_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "1 qid:1 1:2\n")
    assert read(path, format="letor").rows == 1
    with refused(ArgumentError, owner="read", setting="format", value="svm"):
        read(path, format="svm")
    with refused(DataError, place="b.txt", value="letor"):
        read([path, put(tmp_path, "b.txt", LETOR)])
    with refused(ArgumentError, owner="read", setting="format", value="csv"):
        read(X, format="csv")


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path / "none.parquet", str(tmp_path / "none.csv.gz")):
        with refused(DataError, place=path):
            read(path)
    with refused(DataError, place=tmp_path):
        read(tmp_path)
    with refused(DataError, owner="read", setting="source", value=[]):
        read([])
    with refused(DataError, place="empty.txt", value=0):
        read(put(tmp_path, "empty.txt", ""))


def test_arrays_are_read_with_qids_or_group_sizes() -> None:
    by_qid = read(X, grades=[0, 1, 2], qid=["b", "a", "b"])
    assert contents(by_qid) == {
        "b": {"documents": [(None, 0.0, (1.0, 2.0)), (None, 2.0, (5.0, 6.0))], "weight": None, "batch": None},
        "a": {"documents": [(None, 1.0, (3.0, 4.0))], "weight": None, "batch": None},
    }
    assert by_qid.feature_names == ("1", "2")
    by_group = read(X, grades=[0, 1, 2], group=[1, 2], doc_id=["x", "y", "z"], weight=[1, 2, 2], batch=["a", "b", "b"])
    assert by_group.qids.tolist() == ["1", "2"]
    assert by_group.offsets.tolist() == [0, 1, 3]
    assert (by_group.doc_ids.tolist(), by_group.weights.tolist()) == (["x", "y", "z"], [1, 2])
    assert read(X, grades=[0, 1, 2], qid=[1.0, 2.0, 1.0]).qids.tolist() == ["1", "2"]
    assert read(X.tolist(), grades=[0, 1, 2], qid=[1, 1, 1]).rows == 3
    sparse = read(scipy.sparse.csr_matrix(X), grades=[0, 1, 2], group=[3])
    assert (sparse.features == X).all()


@pytest.mark.parametrize(
    ("source", "options", "error", "fields"),
    [
        (X, {"qid": [1, 1, 1]}, DataError, {"place": "array", "setting": "grades"}),
        (X, {"grades": [1, 2, 3]}, DataError, {"place": "array", "setting": "qid"}),
        (X, {"grades": [1, 2], "qid": [1, 1, 1]}, DataError, {"place": "grades", "value": (2,)}),
        (X, {"grades": [1, 2, 3], "qid": [1, 1]}, DataError, {"place": "qid", "value": (2,)}),
        (X, {"grades": [1, np.nan, 3], "qid": [1, 1, 1]}, DataError, {"place": "array, row 1"}),
        (X, {"grades": [1, "x", 3], "qid": [1, 1, 1]}, DataError, {"place": "array, row 1", "value": "x"}),
        (X, {"grades": [1, 2, 3], "qid": [1, None, 1]}, DataError, {"place": "array, row 1", "value": "qid"}),
        (X, {"grades": [1, 2, 3], "qid": [1, np.nan, 1]}, DataError, {"place": "array, row 1", "value": "qid"}),
        (X, {"grades": [1, 2, 3], "group": [1, 1]}, DataError, {"place": "array", "value": 2}),
        (X, {"grades": [1, 2, 3], "group": [3, -1, 1]}, DataError, {"place": "array, group 1", "value": -1}),
        (X, {"grades": [1, 2, 3], "group": [1.5, 1.5]}, DataError, {"setting": "group", "value": [1.5, 1.5]}),
        (X, {"grades": [1, 2, 3], "group": [3], "qid": [1, 1, 1]}, ArgumentError, {"setting": "group", "value": [3]}),
        (X, {"grades": "label", "qid": [1, 1, 1]}, ArgumentError, {"setting": "grades", "value": "label"}),
        (X[0], {"grades": [1, 2], "qid": [1, 1]}, DataError, {"place": "features", "value": (2,)}),
        (X[:0], {"grades": [], "qid": []}, DataError, {"place": "array", "value": 0}),
        ([[1, 2], [3]], {"grades": [1, 2], "qid": [1, 1]}, DataError, {"place": "features", "value": "list"}),
        ([["a"], ["b"]], {"grades": [1, 2], "qid": [1, 1]}, DataError, {"place": "features", "value": "StringDType()"}),
        ({"a": 1}, {"grades": [1], "qid": [1]}, DataError, {"value": "dict"}),
        (None, {}, DataError, {"value": "NoneType"}),
        (pl.LazyFrame({"a": [1]}), {}, DataError, {"value": "LazyFrame"}),
        (random_dataset(1), {}, DataError, {"value": "Dataset"}),
        (X, {"grades": [1, 2, 3], "qid": [2.0**53, 1, 1]}, DataError, {"place": "array, row 0", "value": 2.0**53}),
        (X, {"grades": [1, 2, 3], "qid": [1, 1e300, 1]}, DataError, {"place": "array, row 1", "value": 1e300}),
        (X, {"grades": [1, 2, 3], "qid": np.float32([1, 2**24, 1])}, DataError, {"place": "array, row 1", "value": 2.0**24}),
        (X, {"grades": [1, 2, 3], "group": [3], "doc_id": [None, "a", "b"]}, DataError, {"place": "row 0", "value": "doc_id"}),
        (X, {"grades": [1, 2, 3], "group": [3], "batch": [1, 1, np.nan]}, DataError, {"place": "row 2", "value": "batch"}),
        (X, {"grades": [1, 2, 3], "qid": pd.array([1, None, 2], "Int64")}, DataError, {"place": "row 1", "value": "qid"}),
        (scipy.sparse.csr_matrix((10**6, 10**9)), {}, DataError, {"place": "sparse matrix", "value": 4 * 10**15}),
        (X, {"grades": [1, 2, 3], "qid": [1, 1, 1], "infinite": "no"}, ArgumentError, {"setting": "infinite", "value": "no"}),
        (X, {"grades": [1, 2, 3], "qid": [1, 1, 1], "unjudged": "x"}, ArgumentError, {"setting": "unjudged", "value": "x"}),
        (X, {"grades": [1, 2, 3], "qid": [1, 1, 1], "missing": "x"}, ArgumentError, {"setting": "missing", "value": "x"}),
    ],
)
def test_bad_arrays(source: object, options: dict[str, object], error: type[RankiniteError], fields: dict[str, object]) -> None:
    with refused(error, **fields):
        read(source, **options)  # type: ignore[arg-type]


def test_infinite_values_are_handled_as_asked(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", LETOR)
    with refused(DataError, place="a.txt:3", value=np.inf):
        read(path)
    column = {option: read(path, infinite=option).features[:2, 0].tolist() for option in ("clip", "keep", "missing")}
    assert column["keep"] == [0.5, np.inf]
    assert column["clip"] == [0.5, np.finfo(np.float32).max]
    assert column["missing"][0] == 0.5
    assert np.isnan(column["missing"][1])
    low = read([[-1e300, np.nan, 1]], grades=[1], qid=[1], infinite="clip").features[0]
    assert low[0] == np.finfo(np.float32).min
    assert np.isnan(low[1])


def test_unjudged_rows_are_handled_as_asked(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "-1 qid:1 1:1e39\n\n2 qid:1 1:2\n-1 qid:2 1:3\n")
    with refused(DataError, place="a.txt:1", value=-1.0):
        read(path)
    data = read(path, unjudged="drop")  # the infinite value goes with its row
    assert (data.qids.tolist(), data.features.tolist(), data.input_row.tolist(), data.input_rows) == (["1"], [[2]], [1], 3)
    assert read(path, unjudged="keep", infinite="keep").grades.tolist() == [-1, 2, -1]
    with refused(DataError, place="b.txt", setting="unjudged", value="drop"):
        read(put(tmp_path, "b.txt", "-1 qid:1 1:1\n"), unjudged="drop")


def test_absent_features_are_zero_or_missing(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "1 qid:1 2:5\n")
    assert read(path).features.tolist() == [[0, 5]]
    assert np.isnan(read(path, missing="nan").features[0, 0])
    assert read(put(tmp_path, "b.txt", "1 qid:1 0:5\n"), zero_based=True).features.tolist() == [[5]]


@pytest.mark.parametrize(("suffix", "between"), [(".csv", ","), (".tsv", "\t"), (".train", "\t")])
@pytest.mark.parametrize("beside", [".query", ".group", None])
def test_plain_tables_have_group_files(tmp_path: Path, suffix: str, between: str, beside: str | None) -> None:
    rows = [[1, 0.5, 7], [0, 1.5, 8], [2, 2.5, 9]]
    path = put(tmp_path, f"a{suffix}", "".join(between.join(map(str, row)) + "\n" for row in rows))
    sizes = put(tmp_path, f"a{suffix}{beside}" if beside else "sizes", "2\n1\n")
    data = read(path, group=None if beside else sizes)
    assert data.grades.tolist() == [1, 0, 2]
    assert data.features.tolist() == [[0.5, 7], [1.5, 8], [2.5, 9]]
    assert data.feature_names == ("1", "2")
    assert (data.qids.tolist(), data.offsets.tolist()) == (["1", "2"], [0, 2, 3])
    sizes.write_text("2\n2\n")
    with refused(DataError, place=path, value=4):
        read(path, group=None if beside else sizes)
    sizes.write_text("2\nx\n")
    with refused(DataError, place=f"{sizes}:2", value="x"):
        read(path, group=None if beside else sizes)
    sizes.unlink()
    if beside:
        with refused(DataError, place=path, value=["qid"]):
            read(path)


def test_letor_without_qids_has_group_files_too(tmp_path: Path) -> None:
    paths = [put(tmp_path, name, "1 1:2\n0 1:3\n") for name in ("a.svm", "b.svm")]
    for path in paths:
        put(tmp_path, f"{path.name}.query", "1\n1\n")
    assert read(paths).qids.tolist() == ["1", "2", "3", "4"]
    assert read(paths, group=[4]).queries == 1
    with refused(ArgumentError, place=paths[0], setting="qid", value="x"):
        read(paths[0], qid="x")


def test_data_can_be_read_like_other_data(tmp_path: Path) -> None:
    train = read(put(tmp_path, "a.txt", "1 qid:1 1:1 4:2\n"))
    short = put(tmp_path, "b.txt", "1 qid:1 1:1 2:2\n")
    assert read(short, like=train).features.tolist() == [[1, 2, 0, 0]]
    with refused(DataError, place="c.txt:1", value="5:1"):
        read(put(tmp_path, "c.txt", "1 qid:1 5:1\n"), like=train)
    chosen = train.select_features(["4", "1"])
    assert read(put(tmp_path, "d.txt", "1 qid:1 1:1 4:2 6:3\n"), like=chosen).features.tolist() == [[2, 1]]
    named = train.rename_features(["a", "b", "c", "d"])
    assert read(short, like=named).feature_names == ("a", "b", "c", "d")
    table = pa.table({"qid": [1], "grade": [1], "d": [4], "c": [3], "b": [2], "a": [1]})
    assert read(table, like=named).features.tolist() == [[1, 2, 3, 4]]
    with refused(DataError, place="table", value=["c", "d"]):
        read(table.drop_columns(["c", "d"]), like=named)
    with refused(DataError, place="array", value=2):
        read(X, grades=[1, 2, 3], group=[3], like=train)


def test_features_of_letor_and_arrays_are_chosen_by_number(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "1 qid:1 1:5 2:6 3:7\n")
    assert read(path, features=["3", "1"]).features.tolist() == [[7, 5]]
    assert read(path, ignore=["2"]).feature_names == ("1", "3")
    assert read(X, grades=[1, 2, 3], group=[3], features=[1]).feature_names == ("2",)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.letor"])
def test_letor_is_written_for_other_suffixes(tmp_path: Path, name: str) -> None:
    data = random_dataset(4)
    write(data, tmp_path / name)
    again = read(tmp_path / name)
    assert (again.features == data.features).all()
    assert again.qids.tolist() == data.qids.tolist()


CSV = "qid,label,x\n1,2,3\n1,0,-inf\n"


@pytest.mark.parametrize(("name", "text"), [("pipe", LETOR), ("pipe", CSV), ("pipe.csv", CSV)])
def test_pipes_are_read_from_their_beginning(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)

    def through_pipe(**options: str) -> object:
        writer = threading.Thread(target=path.write_text, args=(text,))
        writer.start()
        try:
            return read(path, **options)  # type: ignore[arg-type]
        finally:
            writer.join()

    data = through_pipe(infinite="keep")
    plain = read(put(tmp_path, "plain", text), infinite="keep")
    assert contents(data) == contents(plain)
    assert data.source == str(path)
    with refused(DataError, place=f"{path}:3") as caught:
        through_pipe()
    assert caught.value.place == f"{path}:3"  # the pipe, not the file it was copied to
    assert abs(caught.value.value) == np.inf


def test_what_reads_a_pipe_only_to_know_its_format_leaves_it_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with refused(DataError, place="pipe"):
        format_of([tmp_path / "pipe"], None)
    assert format_of([tmp_path / "pipe"], "csv") == "csv"


@pytest.mark.parametrize("line", ["1\t0\t5\t3\n", "0\t1\t2.5\t-1\n"])
def test_four_columns_with_group_sizes_are_no_judgements(tmp_path: Path, line: str) -> None:
    path = put(tmp_path, "a.train", line)
    data = read(path, group=[1])
    assert data.feature_names == ("1", "2", "3")
    put(tmp_path, "a.train.query", "1\n")
    assert contents(read(path)) == contents(data)


def test_judgements_have_no_features_to_choose(tmp_path: Path) -> None:
    path = put(tmp_path, "a.qrels", "1 0 d 1\n")
    other = read(put(tmp_path, "a.txt", "1 qid:1 1:2\n"))
    for option, value in {"group": [1], "features": ["1"], "ignore": ["1"]}.items():
        with refused(ArgumentError, place=path, setting=option, value=value):
            read(path, **{option: value})  # type: ignore[arg-type]
    with refused(ArgumentError, place=path, value=other.source):
        read(path, like=other)


def test_paths_may_come_from_an_iterator(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "1 qid:1 1:2\n")
    put(tmp_path, "b.txt", "1 qid:2 1:2\n")
    assert sorted(read(tmp_path.glob("*.txt")).qids.tolist()) == ["1", "2"]
    with refused(DataError, owner="read", setting="source", value=[]):
        read(tmp_path.glob("*.csv"))


def test_whole_numbers_are_qids_up_to_the_last_exact_one() -> None:
    largest = 2**53 - 1
    assert read(X, grades=[0, 1, 2], qid=[float(largest), -float(largest), 0.0]).qids.tolist() == [
        str(largest),
        str(-largest),
        "0",
    ]


@pytest.mark.parametrize("name", ["t.parquet.gz", "t.arrow.zst", "t.PQ.XZ"])
def test_tables_are_not_compressed_from_outside(tmp_path: Path, name: str) -> None:
    with refused(DataError, place=name, value=Path(name).suffix) as caught:
        write(random_dataset(1), tmp_path / name)
    assert Path(name).stem in caught.value.remedy
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["t.txt", "t.parquet", "t.arrow", "t.csv"])
def test_data_without_rows_are_not_written(tmp_path: Path, name: str) -> None:
    data = random_dataset(1)
    with refused(DataError, value=0):
        write(data.select_rows(data.in_row_order(np.zeros(data.rows, bool))), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_wider_than_the_data_it_is_read_like(tmp_path: Path) -> None:
    train = read(put(tmp_path, "a.txt", "1 qid:1 1:1 2:2\n"))
    wide = put(tmp_path, "b.txt", "1 qid:1 1:1 2:2 3:3\n")
    with refused(DataError, place="b.txt:1", value="3:3") as caught:
        read(wide, like=train)
    assert "like=" in caught.value.remedy
    assert "like" not in caught.value.shell_remedy
    assert read(wide).feature_names == ("1", "2", "3")


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_an_open_file_is_answered_with_its_path(tmp_path: Path, mode: str) -> None:
    path = put(tmp_path, "a.txt", "1 qid:1 1:1\n")
    with Path(path).open(mode) as file:
        for source in (file, [file], (str(path), file)):
            with refused(DataError, value=type(file).__name__) as caught:
                read(source)
            assert repr(str(path)) in caught.value.remedy
    with refused(DataError, value="BytesIO"):
        read(io.BytesIO(b"1 qid:1 1:1"))


def test_a_text_is_not_taken_for_a_path() -> None:
    for text in ("1 qid:1 1:1\n0 qid:1 1:2\n", "x" * 5000, "a\0b"):
        with refused(DataError, value=text):
            read(text)
