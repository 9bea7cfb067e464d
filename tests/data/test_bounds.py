"""Files that announce more than they can justify, or change while they are read, end in a DataError and little memory."""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import rankinite as rk
from rankinite.data.io import unpacking
from rankinite.data.io.letor import _gatherer as letor_gatherer
from rankinite.data.io.letor.files import read_letor
from rankinite.data.io.streams import line_chunks, open_bytes, read_whole
from rankinite.engine import memory
from rankinite.errors import ArgumentError, DataError
from refusals import refused

PACK = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def allow(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let this process use so many bytes more."""
    monkeypatch.setattr(memory, "_in_use", lambda: (0, 0, 0))
    monkeypatch.setattr(memory, "_machine_memory", lambda: size)


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_while_it_grows(
    tmp_path: Path, suffix: str, monkeypatch
) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS_UNPACKED", 1 << 20)
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(PACK[suffix](b"\n" * (5 << 20)))
    monkeypatch.setattr(unpacking, "MOST_EXPANSION", 50)
    for read in (rk.load, rk.read, read_whole, lambda path: list(line_chunks(path))):
        with refused(DataError, place=path, value=1 << 20):
            read(path)
    with open_bytes(path) as handle:
        handle.read(16)
        counted = handle.raw.length
    assert counted <= unpacking.BUFFER
    monkeypatch.setattr(unpacking, "MOST_EXPANSION", 10**6)
    assert len(read_whole(path)) == 5 << 20


def test_compressed_tables_are_bounded_too(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS_UNPACKED", 1 << 20)
    monkeypatch.setattr(unpacking, "MOST_EXPANSION", 50)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"qid,grade,a\n" + b"1,2,3\n" * 500_000))
    with refused(DataError, place=path, value=1 << 20):
        rk.read(path)


def test_what_is_taken_in_as_a_whole_must_fit_into_the_memory(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(b"{" + b" " * 3_000_000)
    allow(monkeypatch, 10_000_000)
    with refused(DataError, place="model.json"):
        rk.load(path)
    allow(monkeypatch, 100_000_000)
    assert len(read_whole(path)) == 3_000_001


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_without_an_end_must_fit_into_the_memory(tmp_path: Path, suffix: str, monkeypatch) -> None:
    path = tmp_path / f"line.txt{suffix}"
    path.write_bytes(PACK.get(suffix, bytes)(b"1 qid:1 " + b" " * 3_000_000))
    allow(monkeypatch, 5_000_000)
    with refused(DataError, place=path):
        list(line_chunks(path, 1 << 16))


def test_a_dense_matrix_must_be_justified_by_the_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(letor_gatherer, "ALWAYS_DENSE", 1 << 20)
    text = b"0 qid:1 1000:1\n" + b"0 qid:1\n" * 5_000
    (tmp_path / "bomb.txt.xz").write_bytes(lzma.compress(text))
    (tmp_path / "plain.txt").write_bytes(text)
    with refused(DataError, place="bomb.txt.xz:2097", value=4 * 1000 * 2097):
        rk.read(tmp_path / "bomb.txt.xz")
    assert rk.read(tmp_path / "plain.txt").features.shape == (5_001, 1000)


def test_a_dictionary_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "wide.txt.xz"
    path.write_bytes(lzma.compress(b"1 qid:1 1:2\n", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 26}]))
    assert rk.read(path).rows == 1
    allow(monkeypatch, 5_000_000)
    with refused(DataError, place="wide.txt.xz", value=2_500_000):
        rk.read(path)


SHRINKS = """
import os, sys
from pathlib import Path
import rankinite as rk
from rankinite.data.io import table_files
from rankinite.data.io.letor import files as letor

def shrinking(home, name, path):
    before = getattr(home, name)
    def cut_first(*inputs):
        os.truncate(path, 4096)
        return before(*inputs)
    setattr(home, name, cut_first)

text, parquet, arrow = map(Path, sys.argv[1:])
shrinking(letor, "parse_block", text)  # the first chunk has been read by then
shrinking(table_files, "_load_row_group", parquet)  # the metadata have
shrinking(table_files, "_load_record_batch", arrow)  # the batches have been counted
for read in (lambda: letor.read_letor([text], chunk=1 << 16), lambda: rk.read(parquet), lambda: rk.read(arrow)):
    try:
        print(read().rows)
    except rk.DataError as problem:
        print(problem.place)
"""


def test_files_that_shrink_while_they_are_read_do_not_end_the_process(tmp_path: Path) -> None:
    text, parquet, arrow = (tmp_path / f"data.{suffix}" for suffix in ("txt", "parquet", "arrow"))
    rows = 30_000
    text.write_text("".join(f"{row % 3} qid:{row // 10} 1:{row} 2:0.25\n" for row in range(rows)))
    noise = np.random.default_rng(0).normal(size=rows)
    table = pa.table({"qid": np.arange(rows) // 10, "grade": np.arange(rows) % 3, "a": noise})
    pq.write_table(table, parquet)
    pyarrow.feather.write_feather(table, arrow, compression="uncompressed")
    result = subprocess.run(
        [sys.executable, "-c", SHRINKS, str(text), str(parquet), str(arrow)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    of_text, of_parquet, of_arrow = result.stdout.splitlines()
    assert of_text == str(text)
    assert of_parquet == str(parquet)
    assert of_arrow == str(arrow)


def test_chunks_of_a_file_that_shrinks_end_in_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(b"1 qid:1 1:1\n" * 1000)
    chunks = line_chunks(path, 100)
    next(chunks)
    os.truncate(path, 500)
    with refused(DataError, place="data.txt", value=500):
        list(chunks)


def test_zip_archives_are_named_and_what_is_read_instead(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as archive:
        archive.writestr("train.txt", "1 qid:1 1:1\n")
    for read in (rk.read, rk.load):
        with refused(DataError, place="train.zip", value="a zip archive"):
            read(tmp_path / "train.zip")


@pytest.mark.parametrize("index", ["0", "1", "5"])
def test_where_no_features_are_allowed_every_index_is_refused(tmp_path: Path, index: str) -> None:
    judgements = tmp_path / "judged.qrels"
    judgements.write_text("1 0 a 1\n1 0 b 0\n")
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 {index}:1\n")
    with refused(DataError, place="data.txt:1", value=f"{index}:1"):
        rk.read(path, like=rk.read(judgements))
    path.write_text("1 qid:1\n")
    assert rk.read(path, like=rk.read(judgements)).features.shape == (1, 0)


def test_a_number_of_features_is_no_choice_of_features(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1 qid:1 1:1\n")
    with refused(ArgumentError, owner="read", setting="features", value=0):
        rk.read(tmp_path / "data.txt", features=0)


EDGE = (2**128 - 2**104 + 2**128) // 2
"""The middle of the largest float32 and the one that would follow: from here on numbers round to infinity."""


@pytest.mark.parametrize("chunk", [20, 1 << 20])
@pytest.mark.parametrize(
    "grade",
    [str(EDGE), f"{EDGE}.0", f"{EDGE - 1}", "16777217", "16777217.0", "1700000001", "33554433e0"],
)
def test_grades_at_the_edges_of_float32_are_refused_with_their_line(tmp_path: Path, grade: str, chunk: int) -> None:
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 1:1\n\n{grade} qid:1 1:2\n1 qid:1 1:x\n")
    with refused(DataError, place="data.txt:3", value=grade):
        read_letor([path], chunk=chunk)
    (tmp_path / "q.qrels").write_text(f"1 0 a 1\n1 0 b {grade}\n")
    with refused(DataError, place="q.qrels:2", value=grade):
        rk.read(tmp_path / "q.qrels")


@pytest.mark.parametrize(
    "grade", ["16777216", "16777218", "340282346638528859811704183484516925440", "0.1", "16777216.5", "1e10"]
)
def test_grades_that_float32_holds_or_that_are_decimals_are_read(tmp_path: Path, grade: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text(f"{grade} qid:1 1:1\n")
    assert rk.read(path).grades[0] == np.float32(float(grade))
    (tmp_path / "q.qrels").write_text(f"1 0 a {grade}\n")
    assert rk.read(tmp_path / "q.qrels", format="qrels").grades[0] == np.float32(float(grade))


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_whole_grades_of_arrays_and_tables_beyond_float32_are_refused_with_their_row(tmp_path: Path, kind: type) -> None:
    grades = np.asarray([1, 16777216, 16777217], kind)
    features, qids = np.ones((3, 1), np.float32), ["a", "a", "a"]
    with refused(DataError, place="row 2", value=16777217):
        rk.read(features, grades=grades, qid=qids)
    table = pa.table({"grade": grades, "qid": qids, "x": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "data.parquet")
    for source in (table, tmp_path / "data.parquet"):
        with refused(DataError, place="row 2", value=16777217):
            rk.read(source)
    assert rk.read(features, grades=grades[:2].repeat([1, 2]), qid=qids).grades.tolist() == [1.0, 16777216.0, 16777216.0]
