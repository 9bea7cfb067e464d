"""Pieces: some queries at a time, together the same data as ``read`` gives."""

from __future__ import annotations

import gzip
import os
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from oracles.datasets import random_dataset
from rankinite.data.dataset import Dataset
from rankinite.data.io import streams, table_files
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.reading import read, read_with
from rankinite.data.joining import concat
from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError, DataError, RankiniteError
from refusals import refused

pytestmark = pytest.mark.posix("named pipes")

ROWS = (1, 7, 300)
COLUMNS = ("grades", "qid", "doc_id", "weight", "batch")


def asked(**wanted: Any) -> ReadSettings:
    """Settings as ``read`` puts them together."""
    columns = {role: wanted.pop(role, None) for role in COLUMNS}
    usual = {"group": None, "features": None, "ignore": (), "missing": "zero", "unjudged": "error", "zero_based": False}
    return ReadSettings(columns, **{**usual, "like": None, **wanted})


def padded(piece: Dataset, names: tuple[str, ...]) -> Dataset:
    """A piece with the features that come later, as 0."""
    more = np.zeros((piece.rows, len(names) - len(piece.feature_names)), np.float32)
    columns = vars(piece) | {"features": np.hstack([piece.features, more]), "feature_names": names}
    return Dataset(**{name: columns[name] for name in Dataset.__dataclass_fields__ if name != "members"})


def assert_same(found: Dataset, whole: Dataset) -> None:
    assert found.feature_names == whole.feature_names
    assert found.features.tobytes() == whole.features.tobytes()
    assert found.grades.tobytes() == whole.grades.tobytes()
    assert found.qids.tolist() == whole.qids.tolist()
    assert found.offsets.tolist() == whole.offsets.tolist()
    for name in ("weights", "batches"):
        one, other = getattr(found, name), getattr(whole, name)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()
    assert found.judged == whole.judged
    assert dict(found.categories) == dict(whole.categories)


def assert_pieces_are_the_whole(
    source: Any, *, format: str | None = None, infinite: Any = "error", sizes: tuple[int, ...] = ROWS, **wanted: Any
) -> None:
    """The law: whatever the size of the pieces, joined they are what ``read`` gives, twice."""
    settings = asked(**wanted)
    whole = read_with(source, settings, format=format, infinite=infinite)
    longest = int(np.diff(whole.offsets).max())
    for rows in sizes:
        with open_pieces(source, settings, format=format, infinite=infinite, rows=rows) as pieces:
            passes = [list(pieces), list(pieces)]
            assert pieces.feature_names == whole.feature_names
            assert pieces.source == whole.source
        for found in passes:
            assert_same(concat([padded(piece, whole.feature_names) for piece in found]), whole)
            assert all(piece.source == whole.source for piece in found)
            assert all(0 < piece.rows < rows + longest for piece in found)
            assert all(piece.doc_ids is None and piece.input_row is None for piece in found)
            if settings.unjudged != "drop":
                assert all(piece.rows >= rows for piece in found[:-1])
        assert [piece.rows for piece in passes[0]] == [piece.rows for piece in passes[1]]
        assert all(piece.feature_names == whole.feature_names for piece in passes[1])


def letor_lines(queries: int = 60, seed: int = 0, *, qid: bool = True, grades: bool = True) -> list[str]:
    """Lines whose features become more, with comments and blank lines between them."""
    random = np.random.default_rng(seed)
    lines = ["# a comment"]
    for query in range(queries):
        for _ in range(random.integers(1, 9)):
            indices = np.flatnonzero(random.random(3 + query // 10) < 0.7) + 1
            cells = [f"{index}:{random.normal():.9g}" for index in indices.tolist()]
            front = [str(random.integers(0, 5))] * grades + [f"qid:q{query}"] * qid
            lines.append(" ".join([*front, *cells, "# doc"]))
        lines += [""] * (query % 3)
    return lines


def put(path: Path, lines: list[str]) -> Path:
    text = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks so small that small files have many."""
    chunks = streams.line_chunks
    monkeypatch.setattr(streams, "line_chunks", lambda path, size=0: chunks(path, 1000))
    monkeypatch.setattr(table_files, "LEAST_BLOCK", 1 << 10)


# ---- LETOR ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("wanted", [{}, {"missing": "nan"}, {"features": ["2", "7"]}, {"features": [1, 0]}, {"ignore": ["8"]}])
def test_letor(tmp_path: Path, name: str, wanted: dict[str, Any]) -> None:
    assert_pieces_are_the_whole(put(tmp_path / name, letor_lines()), **wanted)


def test_several_letor_files_with_a_query_across_their_ends(tmp_path: Path) -> None:
    lines = letor_lines()
    cuts = [0, 71, 72, 150, len(lines)]
    paths = [put(tmp_path / f"{first}.txt", lines[first:last]) for first, last in pairwise(cuts)]
    assert_pieces_are_the_whole(paths)
    assert_pieces_are_the_whole(tuple(paths), missing="nan")
    assert_same(concat(open_pieces(iter(paths), asked(missing="nan"), rows=30)), read(paths, missing="nan"))


def test_letor_counted_from_zero(tmp_path: Path) -> None:
    assert_pieces_are_the_whole(put(tmp_path / "a.txt", letor_lines()), zero_based=True)


@pytest.mark.parametrize("suffix", [".query", ".group", None])
def test_letor_with_group_sizes(tmp_path: Path, suffix: str | None) -> None:
    path = put(tmp_path / "a.txt", letor_lines(qid=False))
    named = read(put(tmp_path / "b.txt", letor_lines()))
    sizes = np.diff(named.offsets).tolist()
    sizes[5:5] = [0, 0]
    if suffix is not None:
        Path(f"{path}{suffix}").write_text("\n".join(map(str, sizes)))
    assert_pieces_are_the_whole(path, **({} if suffix else {"group": sizes}))
    with open_pieces(path, asked(group=sizes), rows=50) as pieces:
        assert next(iter(pieces)).qids.tolist()[4:7] == ["5", "8", "9"]


def test_letor_without_grades_and_without_queries(tmp_path: Path) -> None:
    assert_pieces_are_the_whole(put(tmp_path / "a.txt", letor_lines(grades=False)), unjudged="keep")
    path = put(tmp_path / "b.txt", letor_lines(qid=False, grades=False))
    assert_pieces_are_the_whole(path, format="letor", unjudged="keep", needs_queries=False)


def test_letor_like_other_data(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", letor_lines())
    data = read(path)
    wide = read(put(tmp_path / "b.txt", [*letor_lines(), "0 qid:z 20:1"]))
    named = data.rename_features([f"name {name}" for name in data.feature_names])
    for like in (data, wide, named, data.select_features(["3", "1"])):
        assert_pieces_are_the_whole(path, like=like)
        pieces = open_pieces(path, asked(like=like))
        assert (pieces.feature_names is None) == (len(like.feature_names) == 2)
    place = next(f"a.txt:{number}" for number, line in enumerate(letor_lines(), 1) if " 4:" in line)
    with refused(DataError, place=place):
        assert_same_error(path, like=data.select_features(["1", "2", "3"]))


def test_the_width_of_letor_files_is_known_after_one_pass(tmp_path: Path) -> None:
    pieces = open_pieces(put(tmp_path / "a.txt", letor_lines()), asked(), rows=20)
    assert pieces.feature_names is None
    widths = [len(piece.feature_names) for piece in pieces]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    assert pieces.feature_names == tuple(str(number) for number in range(1, widths[-1] + 1))
    assert {piece.feature_names for piece in pieces} == {pieces.feature_names}


def test_a_file_that_becomes_wider_between_passes_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", letor_lines())
    pieces = open_pieces(path, asked())
    list(pieces)
    put(path, [*letor_lines(), "0 qid:z 20:1"])
    with refused(DataError, place="a.txt", value=20):
        list(pieces)


def test_the_number_of_threads_makes_no_difference(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", letor_lines())
    found = []
    for count in (1, 3):
        with threads(count):
            found.append([(piece.features.shape, piece.features.tobytes()) for piece in open_pieces(path, asked(), rows=9)])
    assert found[0] == found[1]


# ---- tables and arrays ------------------------------------------------------------------------------------------------


def table(queries: int = 150, seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 9, queries)
    query, rows = np.repeat(np.arange(queries), sizes), int(sizes.sum())
    numbers = random.normal(size=rows)
    return pa.table(
        {
            "query_id": [f"q {number}" for number in query.tolist()],
            "doc_id": [f"d{number}" for number in range(rows)],
            "label": random.integers(0, 4, rows),
            "weight": np.round(random.random(queries), 2)[query],
            "fold": np.asarray(["a", "b"])[query % 2],
            "number": numbers,
            "holes": pa.array(numbers, mask=random.random(rows) < 0.3),
            "whole": random.integers(-(2**24), 2**24, rows),
            "late decimals": np.where(np.arange(rows) < rows // 2, 3.0, 3.25),
            "flag": random.random(rows) < 0.5,
            "late": pa.array(numbers, mask=np.arange(rows) < rows // 2),
            "empty": pa.nulls(rows),
        }
    )


TABLE = table()


@pytest.mark.parametrize("wanted", [{}, {"features": ["late", "whole"]}, {"ignore": ["fold", "flag"]}, {"unjudged": "keep"}])
@pytest.mark.parametrize("group", [64, 100_000])
def test_parquet(tmp_path: Path, group: int, wanted: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankinite.data.io.table_rows.TOGETHER", 500)  # so that one row group is large
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    pq.write_table(TABLE, paths[0], row_group_size=group)
    assert_pieces_are_the_whole(paths[0], **wanted)
    pq.write_table(TABLE.slice(0, 251), paths[0], row_group_size=group)
    pq.write_table(TABLE.slice(251), paths[1], row_group_size=group)
    assert_pieces_are_the_whole(paths, **wanted)


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
@pytest.mark.parametrize("rows", [50, 100_000])
def test_arrow(tmp_path: Path, kind: str, rows: int) -> None:
    paths = [tmp_path / "a.arrow", tmp_path / "b.arrow"]
    dictionary = TABLE.set_column(0, "query_id", TABLE.column("query_id").dictionary_encode())
    for path, part in zip(paths, (dictionary.slice(0, 251), dictionary.slice(251)), strict=True):
        if kind == "feather":
            pyarrow.feather.write_feather(part, path, compression="lz4", chunksize=rows)
            continue
        writer = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as file, writer(file, part.schema) as out:
            out.write_table(part.unify_dictionaries(), max_chunksize=rows)
    assert_pieces_are_the_whole(paths[0])
    assert_pieces_are_the_whole(paths, features=["holes", "flag"])


def csv_lines(part: pa.Table, separator: str, header: bool) -> list[str]:
    frame = part.to_pandas()
    return frame.to_csv(sep=separator, index=False, header=header).splitlines()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize("wanted", [{}, {"features": ["number"]}, {"ignore": ["late", "fold"]}])
def test_csv(tmp_path: Path, name: str, wanted: dict[str, Any]) -> None:
    separator = "\t" if "tsv" in name else ","
    path, other = tmp_path / name, tmp_path / f"other {name}"
    put(path, csv_lines(TABLE, separator, header=True))
    assert_pieces_are_the_whole(path, **wanted)
    put(path, csv_lines(TABLE.slice(0, 251), separator, header=True))
    columns = [*TABLE.column_names[1:], TABLE.column_names[0]]
    put(other, csv_lines(TABLE.slice(251).select(columns), separator, header=True))
    assert_pieces_are_the_whole([path, other], **wanted)


def test_csv_without_a_header(tmp_path: Path) -> None:
    numbers = TABLE.select(["label", "number", "whole", "late decimals", "late"])
    path = put(tmp_path / "a.csv", csv_lines(numbers, ",", header=False))
    sizes = np.diff(read(TABLE).offsets)
    assert_pieces_are_the_whole(path, group=sizes)
    assert_pieces_are_the_whole(path, group=sizes, ignore=["2"])
    qids = np.repeat(np.arange(len(sizes)) + 7.0, sizes)
    assert_pieces_are_the_whole(path, qid=qids)
    assert_pieces_are_the_whole(path, qid=qids / 2)
    Path(f"{path}.group").write_text("\n".join(map(str, sizes.tolist())))
    assert_pieces_are_the_whole(path)
    assert_pieces_are_the_whole(path, features=[], unjudged="keep", ignore=["0"])


def test_frames() -> None:
    assert_pieces_are_the_whole(TABLE)
    assert_pieces_are_the_whole(TABLE.to_pandas())
    assert_pieces_are_the_whole(pl.from_arrow(TABLE), features=["flag", "number"])
    rows = TABLE.num_rows
    bare = TABLE.drop_columns(["query_id", "fold", "doc_id"])
    assert_pieces_are_the_whole(bare, group=[4, rows - 4], weight=np.repeat([1.0, 2], [4, rows - 4]))
    assert_pieces_are_the_whole(bare, needs_queries=False)
    assert_pieces_are_the_whole(bare.drop_columns(["label"]), group=[4, rows - 4], unjudged="keep", ignore=["weight"])


def test_long_tables_have_several_batches() -> None:
    long = table(5000)
    assert long.num_rows > 2 * 8192
    assert_pieces_are_the_whole(long, sizes=(300,))


def test_arrays() -> None:
    random = np.random.default_rng(0)
    matrix = random.normal(size=(2000, 5)) * (random.random((2000, 5)) < 0.5)
    grades, qid = random.integers(0, 3, 2000), np.arange(2000) // 19
    assert_pieces_are_the_whole(matrix, grades=grades, qid=qid)
    assert_pieces_are_the_whole(matrix[:50].tolist(), grades=grades[:50], group=[0, 20, 0, 30], batch=["a"] * 50)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array):
        assert_pieces_are_the_whole(kind(matrix), grades=grades, qid=qid.astype(str), features=["3", "1"])
    assert_pieces_are_the_whole(matrix, qid=list(qid), unjudged="keep", like=read(matrix, qid=qid, unjudged="keep"))


def test_qrels(tmp_path: Path) -> None:
    path = put(tmp_path / "a.qrels", [f"{row // 5} 0 d{row} {row % 3}" for row in range(100)])
    assert_pieces_are_the_whole(path)


# ---- data sets --------------------------------------------------------------------------------------------------------


def test_pieces_of_a_dataset_are_views() -> None:
    data = random_dataset(queries=40)
    for rows in ROWS:
        pieces = open_pieces(data, asked(), rows=rows)
        found = list(pieces)
        assert pieces.feature_names == data.feature_names
        assert pieces.source == data.source
        assert_same(concat(found), data)
        assert all(np.shares_memory(piece.features, data.features) for piece in found)
        assert sum(len(piece.preferences or ()) for piece in found) == len(data.preferences or ())
        assert [piece.rows for piece in pieces] == [piece.rows for piece in found]


def test_a_dataset_has_been_read_already() -> None:
    data = random_dataset()
    with refused(ArgumentError, owner="open_pieces", setting="features", value=["f1"]):
        open_pieces(data, asked(features=["f1"]))
    with refused(ArgumentError, owner="read", setting="format", value="csv"):
        open_pieces(data, asked(), format="csv")
    with refused(DataError, place=data.source):
        open_pieces(data, asked(like=data.select_features(["f1"])))


# ---- what is refused --------------------------------------------------------------------------------------------------


def assert_same_error(source: Any, *, format: str | None = None, infinite: Any = "error", rows: int = 7, **wanted: Any) -> None:
    """The error that ``read`` raises is raised by the pieces too; it is raised again to be looked at."""
    settings = asked(**wanted)
    with pytest.raises(RankiniteError) as caught:
        read_with(source, settings, format=format, infinite=infinite)
    expected = caught.value
    with pytest.raises(type(expected)) as streamed:
        list(open_pieces(source, settings, format=format, infinite=infinite, rows=rows))
    assert str(vars(streamed.value)) == str(vars(expected))  # as text: NaN differs from itself
    raise streamed.value


@pytest.mark.parametrize(
    ("line", "value", "wanted"),
    [
        ("x qid:z 1:1", "x", {}),
        ("-1 qid:z 1:1", -1.0, {}),
        ("1 qid:z 1:1e39", np.inf, {}),
        ("1 qid:z 1:1e39", np.inf, {"missing": "nan"}),
        ("1 qid:z 1", "1", {}),
        ("1 qid:z 2:1 1:3", "1:3", {"features": ["1"]}),
        ("nan qid:z 1:3", "nan", {}),
        ("16777217 qid:z 1:3", "16777217", {}),
        ("1 1:3", "", {}),
        ("qid:z 1:3", "qid:z", {}),
    ],
)
def test_faults_of_letor_lines(tmp_path: Path, line: str, value: Any, wanted: dict[str, Any]) -> None:
    lines = letor_lines()
    other = put(tmp_path / "a.txt", [*letor_lines(5, seed=9), "0 qid:other 1:1"])
    other.write_text(other.read_text().replace("qid:q", "qid:r"))
    path = put(tmp_path / "b.txt", [*lines, line, "0 qid:y 1:1"])
    with refused(DataError, place=f"b.txt:{len(lines) + 1}", value=value):
        assert_same_error(path, **wanted)
    with refused(DataError, place=f"b.txt:{len(lines) + 1}", value=value):
        assert_same_error([other, path], **wanted)


def test_pieces_before_a_fault_are_given(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", [*letor_lines(), "x qid:z 1:1"])
    assert next(iter(open_pieces(path, asked(), rows=7))).qids.tolist()[0] == "q0"


def test_faults_of_letor_files(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", letor_lines())
    bare = put(tmp_path / "b.txt", letor_lines(qid=False))
    rows = read(path).rows
    with refused(DataError, place="a.txt", value="qid:"):
        assert_same_error(path, group=[rows])
    with refused(DataError, place="b.txt"):
        assert_same_error(bare)
    for sizes, value in (([rows - 1], rows - 1), ([5, rows], rows + 5), ([5, -1], -1), ([2**62, 2**62], 2**62), ([], 0)):
        with refused(DataError, value=value):
            assert_same_error(bare, group=np.asarray(sizes, np.int64))
    with refused(DataError, place="c.txt", value=0):
        assert_same_error(put(tmp_path / "c.txt", ["# nothing"]))
    with refused(DataError, place="a.txt", value="99"):
        assert_same_error(path, features=["99"])
    with refused(ArgumentError, owner="read", setting="qid", value="x"):
        assert_same_error(path, qid="x")
    with refused(DataError, place="none.txt"):
        assert_same_error(tmp_path / "none.txt")
    with refused(DataError, place="d.txt.gz", value=".gz"):
        (tmp_path / "d.txt.gz").write_bytes(gzip.compress("\n".join(letor_lines()).encode())[:-10])
        assert_same_error(tmp_path / "d.txt.gz")


def with_value(column: str, row: int, value: Any) -> pa.Table:
    values = TABLE.column(column).to_pylist()
    values[row] = value
    return TABLE.set_column(TABLE.column_names.index(column), column, pa.array(values))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "csv.gz", "frame"])
@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("label", -1, -1.0),
        ("label", None, "grades"),
        ("label", 2**24 + 1, 2**24 + 1),
        ("query_id", None, "qid"),
        ("number", np.inf, np.inf),
        ("number", -1e39, -np.inf),
        ("weight", None, "weight"),
        ("fold", None, "batch"),
    ],
)
def test_faults_of_tables(tmp_path: Path, kind: str, column: str, value: Any, found: Any) -> None:
    row = 500
    faulty: Any = with_value(column, row, value)
    parts = [faulty.slice(0, 251), faulty.slice(251)]
    sources: Any = [tmp_path / f"{number}.{kind}" for number in range(2)]
    for path, part in zip(sources, parts, strict=True):
        if kind == "parquet":
            pq.write_table(part, path, row_group_size=100)
        elif kind == "arrow":
            pyarrow.feather.write_feather(part, path, chunksize=100)
        elif "csv" in kind:
            put(path, csv_lines(part, ",", header=True))
    places = {"frame": "table, row 500", "csv": "1.csv:251", "csv.gz": "1.csv.gz:251"}
    with refused(DataError, place=places.get(kind, f"1.{kind}, row 249"), value=found):
        assert_same_error(faulty if kind == "frame" else sources)


def test_a_weight_that_differs_in_a_query_or_is_out_of_bounds() -> None:
    data = read(TABLE)
    start = int(data.offsets[100])
    while data.offsets[101] - start == 1:  # pragma: no cover - depends on the numbers drawn
        start += 1
    with refused(DataError, place="table, query 'q 100'"):
        assert_same_error(with_value("weight", start, 9.0))
    alone = int(np.flatnonzero(np.diff(data.offsets) == 1)[-1])
    with refused(DataError, place=f"table, query 'q {alone}'", value=-2.0):
        assert_same_error(with_value("weight", int(data.offsets[alone]), -2.0))


def test_faults_of_columns(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", csv_lines(TABLE, ",", header=True))
    pq.write_table(TABLE, tmp_path / "a.parquet")
    for source in (path, tmp_path / "a.parquet", TABLE):
        with refused(DataError, value=["nonsense"]):
            assert_same_error(source, features=["nonsense"])
        with refused(DataError, value=["label"]):
            assert_same_error(source, categories=["label"])
        with refused(DataError, value=["fold"]):
            assert_same_error(source, grades="fold", ignore=["label"])
        with refused(DataError, value=(3,)):
            assert_same_error(source, weight=[1, 2, 3])
        with refused(DataError, value=(1, 2)):
            assert_same_error(source, weight=[[1, 2]])
        with refused(DataError, value=(10**6,)):
            assert_same_error(source, qid=np.zeros(10**6), ignore=["query_id"])
        with refused(DataError, value=12):
            assert_same_error(source, group=[5, 7], ignore=["query_id"])
    with refused(DataError, place="b.csv", value=0):
        assert_same_error(put(tmp_path / "b.csv", ["qid,label,a", ""]))
    with refused(DataError, place="b.csv", value="CSV"):
        assert_same_error(put(tmp_path / "b.csv", ["qid,label,a"]))
    with refused(DataError, place="c.csv", value="a"):
        assert_same_error(put(tmp_path / "c.csv", ["qid,label,a,a", "1,2,3,4"]))
    with refused(DataError, place="d.csv", value=["b", "c"]):
        one = put(tmp_path / "e.csv", ["qid,label,b", "1,2,3"])
        assert_same_error([one, put(tmp_path / "d.csv", ["qid,label,c", "2,2,3"])])
    with refused(DataError, place="f.csv:1002", value=2):
        assert_same_error(put(tmp_path / "f.csv", ["qid,label,a", *["1,2,3"] * 1000, "1,2"]))


def test_passed_values_that_are_missing_or_bad() -> None:
    rows = TABLE.num_rows
    numbers = TABLE.select(["number", "whole"])
    good: dict[str, Any] = {"grades": np.zeros(rows), "qid": np.arange(rows) // 3.0}
    for role, value, found in (
        ("grades", np.nan, None),
        ("qid", np.nan, "qid"),
        ("qid", 2.0**60, 2.0**60),
        ("doc_id", None, "doc_id"),
    ):
        values = np.array(good.get(role, ["d"] * rows), object if role == "doc_id" else None)
        values[500] = value
        for source, place in ((numbers, "table, row 500"), (np.zeros((rows, 2)), "array, row 500")):
            with refused(DataError, place=place, **({} if found is None else {"value": found})):
                assert_same_error(source, **{**good, role: values})
    with refused(ArgumentError, owner="read", setting="qid", value="number"):
        assert_same_error(np.zeros((3, 2)), qid="number")
    with refused(DataError, owner="read", setting="grades"):
        assert_same_error(np.zeros((3, 2)), group=[3])
    with refused(DataError, place="array", value=0):
        assert_same_error(np.zeros((0, 2)), group=[], grades=[])


def test_a_csv_column_that_turns_into_text_is_refused(tmp_path: Path) -> None:
    lines = csv_lines(TABLE, ",", header=True)
    path = put(tmp_path / "a.csv", [*lines, lines[-1].replace("q 299", "z").rsplit(",", 2)[0] + ",x,"])
    with refused(DataError, place="a.csv", value="late") as caught:
        list(open_pieces(path, asked()))
    assert "Parquet" in caught.value.remedy
    assert "ignore=['late']" in caught.value.remedy
    assert_pieces_are_the_whole(path, ignore=["late"])


def test_damaged_arrow_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as out:
        out.write_table(TABLE, max_chunksize=100)
    path.write_bytes(path.read_bytes()[:-3000])
    with refused(DataError, place="a.arrow", value="Arrow IPC"):
        assert_same_error(path)
    path.write_bytes(b"nonsense")
    with refused(DataError, place="a.arrow", value="Arrow IPC"):
        assert_same_error(path)


def test_a_query_that_comes_back_is_refused(tmp_path: Path) -> None:
    lines = letor_lines()
    path = put(tmp_path / "a.txt", [*lines, "1 qid:q3 1:1"])
    frame = pa.concat_tables([TABLE, TABLE.slice(0, 1)])
    pq.write_table(frame, tmp_path / "a.parquet", row_group_size=50)
    table_file = put(tmp_path / "a.csv", csv_lines(frame, ",", header=True))
    last = TABLE.num_rows
    for source, place, qid, wanted in (
        (path, f"a.txt:{len(lines) + 1}", "q3", {}),
        ([put(tmp_path / "b.txt", lines), put(tmp_path / "c.txt", ["0 qid:q3 1:1"])], "c.txt:1", "q3", {}),
        (frame, f"table, row {last}", "q 0", {}),
        (tmp_path / "a.parquet", f"a.parquet, row {last}", "q 0", {}),
        (table_file, f"a.csv:{last + 2}", "q 0", {}),
        (np.zeros((3, 1)), "array, row 2", "5", {"qid": [5, 6, 5], "grades": [0, 0, 0]}),
    ):
        for rows in ROWS:
            with refused(DataError, place=place, value=qid) as caught:
                list(open_pieces(source, asked(**wanted), rows=rows))
            assert "adjacent" in caught.value.rule
            assert "Sort" in caught.value.remedy
            assert "rankinite.read" in caught.value.remedy


def test_settings_are_checked_at_once() -> None:
    with refused(ArgumentError, owner="open_pieces", setting="rows", value=0):
        open_pieces(TABLE, asked(), rows=0)
    with refused(ArgumentError, owner="read", setting="infinite", value="x"):
        open_pieces(TABLE, asked(), infinite="x")
    with refused(ArgumentError, owner="read", setting="unjudged", value="x"):
        open_pieces(TABLE, asked(unjudged="x"))
    with refused(ArgumentError, owner="read", setting="format", value="csv"):
        open_pieces(TABLE, asked(), format="csv")
    with refused(DataError, owner="read", setting="source", value=[]):
        open_pieces([], asked())


# ---- odd values -------------------------------------------------------------------------------------------------------


def odd_lines() -> list[str]:
    random = np.random.default_rng(3)
    lines = []
    for query in range(60):
        unjudged = 1.0 if 20 <= query < 35 else 0.3
        for _ in range(5):
            grade = -1 if random.random() < unjudged else 1
            lines.append(f"{grade} qid:{query} 1:{random.choice(['1', '-inf', '1e300', 'nan'])} 2:{random.normal()}")
    return lines


@pytest.mark.parametrize("unjudged", ["drop", "keep"])
@pytest.mark.parametrize("infinite", ["missing", "clip", "keep"])
def test_odd_values(tmp_path: Path, unjudged: str, infinite: str) -> None:
    path = put(tmp_path / "a.txt", odd_lines())
    assert_pieces_are_the_whole(path, unjudged=unjudged, infinite=infinite)
    data = read(path, unjudged="keep", infinite="keep")
    qids = np.repeat(data.qids, np.diff(data.offsets)).tolist()
    frame = pd.DataFrame({"qid": qids, "label": data.grades, "a": data.features[:, 0], "b": data.features[:, 1]})
    assert_pieces_are_the_whole(frame, unjudged=unjudged, infinite=infinite)


def test_infinities_of_dropped_rows_do_not_count(tmp_path: Path) -> None:
    lines = [f"{-1 if row % 3 else 1} qid:{row // 9} 1:{'inf' if row % 3 else row}" for row in range(300)]
    assert_pieces_are_the_whole(put(tmp_path / "a.txt", lines), unjudged="drop")
    with refused(DataError, setting="unjudged", value="drop"):
        assert_same_error(put(tmp_path / "b.txt", [f"-1 qid:{row // 9} 1:1" for row in range(300)]), unjudged="drop")


# ---- sizes, pipes -----------------------------------------------------------------------------------------------------


def arrays_of(piece: Dataset) -> list[np.ndarray]:
    return [array for array in vars(piece).values() if isinstance(array, np.ndarray)]


def test_no_array_is_longer_than_a_piece_and_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # chunks and blocks as large as ever
    long = table(5000)
    longest = 8
    path = tmp_path / "a.parquet"
    pq.write_table(long, path)
    for source in (
        path,
        put(tmp_path / "a.csv", csv_lines(long, ",", header=True)),
        put(tmp_path / "a.txt", letor_lines(2000)),
    ):
        for piece in open_pieces(source, asked(), rows=100):
            assert max(len(array) for array in arrays_of(piece)) <= 100 + longest


def test_the_size_of_the_input(tmp_path: Path) -> None:
    paths = [put(tmp_path / f"{number}.txt.gz", letor_lines()) for number in range(2)]
    assert open_pieces(paths, asked()).input_bytes == sum(path.stat().st_size for path in paths)
    assert open_pieces(TABLE, asked()).input_bytes == 0


@pytest.mark.parametrize("lines", [letor_lines(), csv_lines(TABLE, ",", header=True)], ids=["letor", "csv"])
def test_pipes_are_kept_until_the_pieces_are_closed(tmp_path: Path, lines: list[str]) -> None:
    whole = read(put(tmp_path / "whole", lines))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=["\n".join(lines)]).start()
    with open_pieces(pipe, asked(), rows=7) as pieces:
        assert pieces.source == str(pipe)
        list(pieces)
        assert_same(concat(pieces), whole)
        assert next(iter(pieces)).source == str(pipe)
    with refused(DataError, place=pipe):
        list(pieces)


def test_errors_name_the_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = [*letor_lines(), "x qid:z 1:1"]
    threading.Thread(target=pipe.write_text, args=["\n".join(lines)]).start()
    with open_pieces(pipe, asked(), rows=7) as pieces, refused(DataError, place=f"{pipe}:{len(lines)}", value="x"):
        list(pieces)
    threading.Thread(target=pipe.write_text, args=["\n".join(lines)]).start()
    with refused(ArgumentError, place=pipe, setting="qid", value="x"):
        open_pieces(pipe, asked(qid="x"))
