"""LETOR files in and out, against a slow reader and by laws."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import letor as oracle
from rankinite.data.dataset import Dataset
from rankinite.data.io.letor.files import place_of_row, read_letor, write_letor
from rankinite.engine import parallel
from rankinite.errors import DataError
from refusals import refused

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="#", exclude_categories=("Z", "C")), min_size=1, max_size=20)
NUMBERS = st.one_of(
    st.integers(-300, 300).map(str),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda v: str(np.float32(v))),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"\A[+-]?[0-9]{1,12}\.[0-9]{0,30}(e[+-]?[0-9]{1,2})?\Z"),
    st.from_regex(r"\A[+-]?\.[0-9]{1,25}(E-?[0-9]{1,3})?\Z"),
    st.sampled_from(["nan", "NaN", "inf", "-inf", "+Infinity", "1.79e308", "-0", "16777217", "16777219.0", "1e-46"]),
)
BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])


@pytest.fixture(name="folder", scope="module")
def one_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("letor")


def put(folder: Path, text: str | bytes, name: str = "data.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@st.composite
def lines(draw) -> str:
    blank = draw(BLANKS)
    grade = draw(st.one_of(st.integers(0, 4).map(str), st.sampled_from(["-1", "2.5", "1e-3", "+3", "0.1"])))
    indices = sorted(draw(st.sets(st.integers(1, 12) | st.integers(1, 90), max_size=8)))
    tokens = [grade, "qid:" + draw(st.sampled_from(["1", "2", "30"]) | NAMES), *(f"{i}:{draw(NUMBERS)}" for i in indices)]
    comment = draw(st.sampled_from(["", "#docid = {} inc = 1", "#docid={}", "# docid: {}", "#{}"])).format(draw(NAMES))
    return blank.join(tokens) + draw(st.sampled_from(["", " ", " \t"])) + comment


@st.composite
def texts(draw) -> str:
    rows = draw(st.lists(st.one_of(lines(), st.sampled_from(["", "  ", "# a comment"])), max_size=12))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return ending.join([*rows, draw(lines())]) + draw(st.sampled_from(["", ending]))


def same(one: Dataset, other: Dataset) -> bool:
    names = ("features", "grades", "offsets", "qids", "doc_ids", "input_row")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return one.feature_names == other.feature_names and all(
        (a is None and b is None) or (a is not None and b is not None and identical(a, b)) for a, b in pairs
    )


def identical(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype == np.float32:
        return a.shape == b.shape and bool(np.all((bits(a) == bits(b)) | (np.isnan(a) & np.isnan(b))))
    return a.tolist() == b.tolist()


def bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.uint32)


@settings(max_examples=150, deadline=None)
@given(texts(), st.sampled_from(["zero", "nan"]), st.sampled_from([1, 7, 64, 1 << 20]))
def test_reads_what_the_slow_reader_reads(folder: Path, text: str, missing: str, chunk: int) -> None:
    path = put(folder, text)
    rows = oracle.parse(text, missing=0.0 if missing == "zero" else np.nan)
    with parallel.threads(1):
        data = read_letor([path], missing=missing, chunk=chunk)
    order = np.arange(data.rows) if data.input_row is None else data.input_row
    assert identical(data.features, np.asarray(rows["features"], np.float32).reshape(data.rows, -1)[order])
    assert identical(data.grades, np.asarray(rows["grades"], np.float32)[order])
    assert data.qids[data.query_of_row()].tolist() == [rows["qids"][r] for r in order]
    assert data.qids.tolist() == list(dict.fromkeys(rows["qids"]))
    assert (data.doc_ids is None and not any(rows["doc_ids"])) or data.doc_ids.tolist() == [rows["doc_ids"][r] for r in order]
    with parallel.threads(2):
        assert same(data, read_letor([path], missing=missing, chunk=chunk))


@settings(max_examples=40, deadline=None)
@given(texts(), st.sampled_from([1, 64, 1 << 20]))
def test_lines_may_have_no_grade(folder: Path, text: str, chunk: int) -> None:
    """What is read is what the same lines with grades say, once these are left out."""
    bare = re.sub(r"^[^\s#]+[ \t]+(?=qid:)", "", text, flags=re.MULTILINE)
    assert len(bare) < len(text)
    data = read_letor([put(folder, bare)], needs_grades=False, chunk=chunk)
    assert not data.judged
    assert same(data, read_letor([put(folder, text)], needs_grades=False, chunk=chunk).without_grades())
    rows = oracle.parse(bare)
    order = np.arange(data.rows) if data.input_row is None else data.input_row
    assert identical(data.features, np.asarray(rows["features"], np.float32).reshape(data.rows, -1)[order])


def test_lines_may_have_neither_grade_nor_query(folder: Path) -> None:
    path = put(folder, "1:5 3:7 # a\n\n2:4 # b\n12:0 # c\n")
    sizes = read_letor([path], needs_grades=False, group=np.asarray([1, 2]))
    assert sizes.offsets.tolist() == [0, 1, 3]
    one = read_letor([path], needs_grades=False, needs_queries=False)
    assert one.offsets.tolist() == [0, 3]
    assert one.features[:, :3].tolist() == [[5, 0, 7], [0, 4, 0], [0, 0, 0]]
    assert one.doc_ids.tolist() == ["a", "b", "c"]
    assert read_letor([put(folder, "2 1:5\n")], needs_queries=False).grades.tolist() == [2]


@settings(max_examples=300, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_are_rounded_correctly(folder: Path, numbers: list[str]) -> None:
    path = put(folder, "".join(f"1 qid:1 1:{number}\n" for number in numbers))
    assert identical(read_letor([path]).features[:, 0], np.asarray([oracle.float32(number) for number in numbers]))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 0x7F7FFFFF), st.integers(-3, 3), st.sampled_from([0, 10, 5000]), st.sampled_from(["", "-"]))
def test_numbers_near_the_middle_of_two_floats_are_rounded_correctly(
    folder: Path, code: int, nudge: int, zeros: int, sign: str
) -> None:
    below, above = (float(np.uint32(neighbour).view(np.float32)) for neighbour in (code, code + 1))
    middle = oracle.Fraction((below + min(above, 2.0**128)) / 2)
    digits = int(middle * 10**150) + nudge
    tail = f".{'0' * zeros}1" if zeros else ""
    path = put(folder, f"1 qid:1 1:{sign}{digits}{tail}e-150\n")
    expected = oracle.float32(f"{sign}{digits}{tail[:2] and '.1'}e-150")  # how small the tail is does not matter
    assert identical(read_letor([path]).features[:, 0], np.asarray([expected]))


def test_a_small_file_in_full(folder: Path) -> None:
    text = (
        "# MSLR-like\n"
        "2 qid:10 1:0.5 3:-2 #docid = GX008-86-4444840 inc = 1 prob = 0.08\n"
        "\n"
        "0 qid:11 2:1e-3 # docid: B\r\n"
        "1\tqid:10\t1:7\t#docid=C x\n"
        "0 qid:12"
    )
    data = read_letor([put(folder, text)])
    assert data.qids.tolist() == ["10", "11", "12"]
    assert data.offsets.tolist() == [0, 2, 3, 4]
    assert data.input_row.tolist() == [0, 2, 1, 3]
    assert data.grades.tolist() == [2, 1, 0, 0]
    assert data.features.tolist() == [[0.5, 0, -2], [7, 0, 0], [0, np.float32(1e-3), 0], [0, 0, 0]]
    assert data.doc_ids.tolist() == ["GX008-86-4444840", "C", "B", ""]
    assert data.feature_names == ("1", "2", "3")


def test_several_files_are_one_stream(folder: Path) -> None:
    first, second = put(folder, "1 qid:a 1:1\n0 qid:b 1:2", "1.txt"), put(folder, "2 qid:b 2:3\n1 qid:a 1:4\n", "2.txt")
    data = read_letor([first, second])
    assert data.qids.tolist() == ["a", "b"]
    assert data.features.tolist() == [[1, 0], [4, 0], [2, 0], [0, 3]]
    assert data.input_row.tolist() == [0, 3, 1, 2]


def test_zero_based_and_declared_features(folder: Path) -> None:
    path = put(folder, "1 qid:a 0:1 2:5\n")
    data = read_letor([path], zero_based=True, features=5, missing="nan")
    assert data.feature_names == ("0", "1", "2", "3", "4")
    np.testing.assert_array_equal(data.features, np.asarray([[1, np.nan, 5, np.nan, np.nan]], np.float32))


def test_rows_without_features_make_an_empty_matrix(folder: Path) -> None:
    assert read_letor([put(folder, "1 qid:a\n0 qid:a\n")]).features.shape == (2, 0)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz"])
def test_compressed_files_read_like_plain_ones(folder: Path, suffix: str) -> None:
    rng = np.random.default_rng(5)
    data = made(rng.normal(size=(300, 7)).astype(np.float32), rng)
    plain, path = folder / "c.txt", folder / f"c.txt{suffix}"
    write_letor(data, plain)
    write_letor(data, path)
    assert same(read_letor([plain]), read_letor([path], chunk=1000))
    assert suffix == "" or path.stat().st_size < plain.stat().st_size


def made(features: np.ndarray, rng: np.random.Generator) -> Dataset:
    rows = len(features)
    cuts = np.unique(np.concatenate(([0, rows], rng.integers(1, max(rows, 2), 3) if rows > 1 else [])))
    return Dataset(
        features=features,
        grades=rng.integers(0, 5, rows),
        offsets=cuts,
        qids=[f"q{i}" for i in range(len(cuts) - 1)],
        feature_names=[str(i + 1) for i in range(features.shape[1])],
        doc_ids=[f"d{i}" if i % 3 else "" for i in range(rows)] if rows > 1 else None,
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=60), st.integers(1, 4), st.booleans())
def test_written_files_read_back_bit_for_bit(folder: Path, codes: list[int], width: int, named: bool) -> None:
    cells = np.resize(np.asarray(codes, np.uint32), -(-len(codes) // width) * width).view(np.float32).reshape(-1, width)
    data = made(cells, np.random.default_rng(len(codes)))
    data = data if named else Dataset(data.features, data.grades, data.offsets, data.qids, data.feature_names)
    path = folder / "w.txt"
    write_letor(data, path)
    assert same(data, read_letor([path]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_numbers_are_written_with_no_more_digits_than_needed(folder: Path, values: list[float]) -> None:
    write_letor(made(np.asarray(values, np.float32).reshape(-1, 1), np.random.default_rng(0)), folder / "d.txt")
    for line in (folder / "d.txt").read_text().splitlines():
        written = line.split()[2].removeprefix("1:")
        shortest = np.format_float_scientific(np.float32(written), unique=True, trim="-")
        # One digit more where the shortest text lies exactly between two float32 numbers: we do not rely on ties to even.
        spare = 1 if is_between(written, shortest) else 0
        assert significant(written) <= max(significant(shortest) + spare, 6 if abs(float(written)) >= 2.0**-126 else 1)


def is_between(written: str, shortest: str) -> bool:
    """Whether a shorter text of a number lies exactly in the middle between it and the next float32."""
    above = Fraction(shortest) > Fraction(written)
    with np.errstate(over="ignore"):
        neighbour = float(np.nextafter(np.float32(written), np.float32(np.inf if above else -np.inf)))
    return np.isfinite(neighbour) and Fraction(shortest) * 2 == Fraction(float(np.float32(written))) + Fraction(neighbour)


def significant(number: str) -> int:
    return len(number.lower().split("e")[0].lstrip("-").replace(".", "").strip("0")) or 1


@settings(max_examples=50, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.data())
def test_names_read_back_whatever_their_script(folder: Path, qids: list[str], data: st.DataObject) -> None:
    docs = data.draw(st.lists(NAMES, min_size=len(qids), max_size=len(qids)))
    names = Dataset(np.ones((len(qids), 1)), np.ones(len(qids)), np.arange(len(qids) + 1), qids, ["1"], doc_ids=docs)
    write_letor(names, folder / "n.txt")
    assert same(names, read_letor([folder / "n.txt"]))


@pytest.mark.parametrize("qid", ["a b", "a#b", "", "a\tb", "a\nb"])
def test_a_query_id_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path, qid: str) -> None:
    data = Dataset(np.ones((1, 1)), np.ones(1), np.asarray([0, 1]), [qid], ["1"])
    with refused(DataError, place="x.txt", value=qid) as caught:
        write_letor(data, tmp_path / "x.txt")
    assert "Parquet" in caught.value.remedy
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".query", ".group"])
def test_group_files_stand_beside_the_data(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path, "1 1:1\n0 1:2\n2 1:3\n")
    put(tmp_path, "2\n1\n", f"data.txt{ending}")
    data = read_letor([path])
    assert data.qids.tolist() == ["1", "2"]
    assert data.offsets.tolist() == [0, 2, 3]
    assert same(data, read_letor([path], group=np.asarray([2, 1])))
    assert read_letor([path], group=np.asarray([0, 2, 0, 1])).qids.tolist() == ["2", "4"]


def test_features_that_turn_up_one_by_one(folder: Path) -> None:
    text = "".join(f"1 qid:{row // 3} {row + 1}:{row}\n" for row in range(400))
    data = read_letor([put(folder, text)], chunk=500)
    np.testing.assert_array_equal(data.features, np.diag(np.arange(400, dtype=np.float32)))


def test_a_far_feature_in_many_rows_needs_no_room_beyond_the_matrix(folder: Path) -> None:
    text = "".join(f"1 qid:1 {1 + 997 * (row % 100)}:{row}\n" for row in range(150))
    data = read_letor([put(folder, text)], chunk=300)
    assert data.features.shape == (150, 997 * 99 + 1)
    assert [float(data.features[row].sum()) for row in range(150)] == list(range(150))
    assert np.count_nonzero(data.features) == 149


def test_places_count_comments_and_files(folder: Path) -> None:
    first, second = put(folder, "#c\n1 qid:1 1:1\n\n2 qid:1 1:1", "p.txt"), folder / "q.txt.gz"
    second.write_bytes(gzip.compress(b" \n0 qid:2 1:1\n"))
    assert [place_of_row([first, second], row) for row in range(3)] == [f"{first}:2", f"{first}:4", f"{second}:2"]


def test_the_kernels_mean_the_same_uncompiled(folder: Path) -> None:
    path = put(folder, "2 qid:1 1:0.12345678 3:-2e-3 5:16777217.0 7:12345678901234567890.5 #d\n1 qid:é 2:nan 3:inf 4:1e39\n")
    script = (
        "import sys; from pathlib import Path; from rankinite.data.io.letor.files import read_letor, write_letor\n"
        "write_letor(read_letor([Path(sys.argv[1])]), Path(sys.argv[2]))"
    )
    for jit, name in (("0", "compiled.txt"), ("1", "plain.txt")):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": jit, "PYTHONWARNINGS": "error::RuntimeWarning"}
        subprocess.run([sys.executable, "-c", script, str(path), str(folder / name)], check=True, env=environment)
    assert (folder / "compiled.txt").read_text() == (folder / "plain.txt").read_text()
    assert "5:16777216 " in (folder / "plain.txt").read_text()


def test_bytes_that_are_not_utf8_stay_recognisable(folder: Path) -> None:
    data = read_letor([put(folder, b"1 qid:\xff 1:1 #d\xfe\n")])
    assert data.qids.tolist() == ["\\xff"]
    assert data.doc_ids.tolist() == ["d\\xfe"]
