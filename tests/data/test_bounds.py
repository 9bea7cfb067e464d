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
from rankinite.data.io.letor import _blocks as _letor_blocks
from rankinite.data.io.letor.files import read_letor
from rankinite.data.io.streams import line_chunks, open_bytes, read_whole
from rankinite.engine import memory
from rankinite.errors import ArgumentError, DataError

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
        with pytest.raises(DataError, match=r"unpacks to more than 1\.0 MiB.*50 times its size.*decompress it"):
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
    with pytest.raises(DataError, match="unpacks to more than"):
        rk.read(path)


def test_what_is_taken_in_as_a_whole_must_fit_into_the_memory(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(b"{" + b" " * 3_000_000)
    allow(monkeypatch, 10_000_000)
    with pytest.raises(DataError, match=r"model\.json: its content, .* would take .* may use 9\.5 MiB more .*right file"):
        rk.load(path)
    allow(monkeypatch, 100_000_000)
    assert len(read_whole(path)) == 3_000_001


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_without_an_end_must_fit_into_the_memory(tmp_path: Path, suffix: str, monkeypatch) -> None:
    path = tmp_path / f"line.txt{suffix}"
    path.write_bytes(PACK.get(suffix, bytes)(b"1 qid:1 " + b" " * 3_000_000))
    allow(monkeypatch, 5_000_000)
    with pytest.raises(DataError, match=r"a line, .* one row per line"):
        list(line_chunks(path, 1 << 16))


def test_a_dense_matrix_must_be_justified_by_the_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(_letor_blocks, "ALWAYS_DENSE", 1 << 20)
    text = b"0 qid:1 1000:1\n" + b"0 qid:1\n" * 5_000
    (tmp_path / "bomb.txt.xz").write_bytes(lzma.compress(text))
    (tmp_path / "plain.txt").write_bytes(text)
    with pytest.raises(DataError, match=r"of 1000 features would take .* as a dense matrix, but \d+ bytes of input justify"):
        rk.read(tmp_path / "bomb.txt.xz")
    assert rk.read(tmp_path / "plain.txt").features.shape == (5_001, 1000)


def test_a_dictionary_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "wide.txt.xz"
    path.write_bytes(lzma.compress(b"1 qid:1 1:2\n", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 26}]))
    assert rk.read(path).rows == 1
    allow(monkeypatch, 5_000_000)
    with pytest.raises(DataError, match=r"wide\.txt\.xz: to unpack it takes more than 2\.4 MiB of memory.*smaller dictionary"):
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
shrinking(table_files, "memory_table", arrow)  # the table has
for read in (lambda: letor.read_letor([text], chunk=1 << 16), lambda: rk.read(parquet), lambda: rk.read(arrow)):
    try:
        print(read().rows)
    except rk.DataError as problem:
        print(str(problem).replace(chr(10), " "))
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
    assert of_text.startswith(f"{text}: the file shrank while it was read")
    assert of_parquet.startswith(f"{parquet}: cannot be read")
    assert of_arrow == str(rows)  # it was taken in as a whole


def test_chunks_of_a_file_that_shrinks_end_in_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(b"1 qid:1 1:1\n" * 1000)
    chunks = line_chunks(path, 100)
    next(chunks)
    os.truncate(path, 500)
    with pytest.raises(DataError, match=r"data\.txt: the file shrank while it was read: it had 12000 bytes.*read it again"):
        list(chunks)


def test_zip_archives_are_named_and_what_is_read_instead(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as archive:
        archive.writestr("train.txt", "1 qid:1 1:1\n")
    for read in (rk.read, rk.load):
        with pytest.raises(
            DataError, match=r"train\.zip: this is a zip archive, which is not read\. Unpack it.*\.gz, \.zst, \.xz"
        ):
            read(tmp_path / "train.zip")


@pytest.mark.parametrize("index", ["0", "1", "5"])
def test_where_no_features_are_allowed_every_index_is_refused(tmp_path: Path, index: str) -> None:
    judgements = tmp_path / "judged.qrels"
    judgements.write_text("1 0 a 1\n1 0 b 0\n")
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 {index}:1\n")
    with pytest.raises(DataError, match=r"There must be no features, as in the data it is read like|feature index 0"):
        rk.read(path, like=rk.read(judgements))
    path.write_text("1 qid:1\n")
    assert rk.read(path, like=rk.read(judgements)).features.shape == (1, 0)


def test_a_number_of_features_is_no_choice_of_features(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(ArgumentError, match=r"features=0: features are chosen by a list"):
        rk.read(tmp_path / "data.txt", features=0)


EDGE = (2**128 - 2**104 + 2**128) // 2
"""The middle of the largest float32 and the one that would follow: from here on numbers round to infinity."""


@pytest.mark.parametrize("chunk", [20, 1 << 20])
@pytest.mark.parametrize(
    ("grade", "says"),
    [
        (str(EDGE), "is not a finite number"),
        (f"{EDGE}.0", "is not a finite number"),
        (f"{EDGE - 1}", "becomes another number as a 32-bit float"),
        ("16777217", "the whole grade '16777217' becomes another number"),
        ("16777217.0", "becomes another number"),
        ("1700000001", "becomes another number"),
        ("33554433e0", "becomes another number"),
    ],
)
def test_grades_at_the_edges_of_float32_are_refused_with_their_line(tmp_path: Path, grade: str, says: str, chunk: int) -> None:
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 1:1\n\n{grade} qid:1 1:2\n1 qid:1 1:x\n")
    with pytest.raises(DataError, match=rf"data\.txt:3: .*{says}"):
        read_letor([path], chunk=chunk)
    (tmp_path / "q.qrels").write_text(f"1 0 a 1\n1 0 b {grade}\n")
    with pytest.raises(DataError, match=r"q\.qrels:2: .*32-bit float"):
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
def test_whole_grades_of_arrays_and_tables_that_float32_lacks_are_refused_with_their_row(tmp_path: Path, kind: type) -> None:
    grades = np.asarray([1, 16777216, 16777217], kind)
    features, qids = np.ones((3, 1), np.float32), ["a", "a", "a"]
    says = r"row 2: the whole grade 16777217 becomes another number as a 32-bit float"
    with pytest.raises(DataError, match=says):
        rk.read(features, grades=grades, qid=qids)
    table = pa.table({"grade": grades, "qid": qids, "x": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "data.parquet")
    for given in (table, tmp_path / "data.parquet"):
        with pytest.raises(DataError, match=says):
            rk.read(given)
    assert rk.read(features, grades=grades[:2].repeat([1, 2]), qid=qids).grades.tolist() == [1.0, 16777216.0, 16777216.0]
