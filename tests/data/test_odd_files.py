"""Score files, preferences and names that are damaged or beyond all measure: typed errors that can be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.io.plain_scores import read_scores
from rankinite.data.io.preference_files import read_preferences
from rankinite.data.io.trec import read_qrels
from rankinite.errors import DataError, cut, listed, quoted
from refusals import refused

QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 2\n"


@pytest.fixture(name="data")
def judged_data(tmp_path: Path) -> rk.Dataset:
    (tmp_path / "judged.qrels").write_text(QRELS)
    return read_qrels(tmp_path / "judged.qrels")


def npy(header: str, values: bytes = b"", version: int = 1) -> bytes:
    width = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(width, "little") + header.encode("latin1") + values


WHOLE = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<i8", "|u1", "?"])
@pytest.mark.parametrize("version", [1, 2])
def test_scores_of_any_number_type_are_read(tmp_path: Path, data: rk.Dataset, dtype: str, version: int) -> None:
    values = np.asarray([1, 0, 1], dtype)
    header = f"{{'descr': {values.dtype.str!r}, 'fortran_order': False, 'shape': (3,), }}"
    (tmp_path / "s.npy").write_bytes(npy(header, values.tobytes(), version))
    assert read_scores(tmp_path / "s.npy", data).tolist() == [1, 0, 1]
    np.save(tmp_path / "s.npy", values)
    assert read_scores(tmp_path / "s.npy", data).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"", b""),
        (b"\x93NUMPY", b"\x93NUMPY"),
        (b"PK\x03\x04" + bytes(30), "a zip archive"),
        (b"\x93NUMPY\x09\x00" + bytes(30), b"\x93NUMPY"),
        (npy(WHOLE)[:40], len(WHOLE)),
        (npy("{" * 200), "{" * 200),
        (npy("(" * 5000), "(" * 200 + "…"),
        (npy("{[]: 1}"), "{[]: 1}"),
        (npy("-" * 9000 + "1"), "-" * 200 + "…"),
        (npy("[1, 2]"), None),
        (npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}"), [("a", "<f8")]),
        (npy("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}"), "|O"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': 3}"), 3),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}"), (-3,)),
        (npy(WHOLE, bytes(20)), 20),
        (npy(WHOLE.replace("3,", f"{10**12},"), bytes(24)), 24),
        (npy(WHOLE.replace("3,", f"{10**30},"), bytes(24)), (10**30,)),
        (npy(WHOLE.replace("3,", "3, 1"), bytes(24)), (3, 1)),
    ],
)
def test_damaged_score_files(tmp_path: Path, data: rk.Dataset, content: bytes, value: object) -> None:
    (tmp_path / "s.npy").write_bytes(content)
    with refused(DataError, place="s.npy", value=value):
        read_scores(tmp_path / "s.npy", data)


def test_numbers_of_thousands_of_digits_in_preferences(tmp_path: Path, data: rk.Dataset) -> None:
    path, nameless = tmp_path / "p.tsv", replace(data, doc_ids=None)
    path.write_text(f"1\t{'9' * 5000}\t0\n")
    with refused(DataError, place="p.tsv:1", value="9" * 5000) as caught:
        read_preferences(path, nameless)
    assert len(str(caught.value)) < 500
    path.write_text(f"1\t1\t0\t{'9' * 5000}\n")
    with refused(DataError, place="p.tsv:1", value="9" * 5000) as caught:
        read_preferences(path, nameless)
    assert len(str(caught.value)) < 500


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    "content",
    [
        f"1 0 {LONG} 1\n1 0 {LONG} 2\n",
        f"{LONG} 0 a 1\n{LONG} 0 a 2\n",
        f"1 0 a {LONG}\n",
        f"1 0 a {'9' * 100_000}\n",
    ],
    ids=["document", "query", "grade", "digits"],
)
def test_errors_quote_no_more_of_judgements_than_can_be_read(tmp_path: Path, content: str) -> None:
    (tmp_path / "q.qrels").write_text(content)
    with pytest.raises(DataError) as caught:
        rk.read(tmp_path / "q.qrels")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("line", [f"{LONG}\ta\tb", f"1\t{LONG}\tb", f"1\t{LONG}\t{LONG}", f"1\ta\tb\t{LONG}"], ids=range(4))
def test_errors_quote_no_more_of_preferences_than_can_be_read(tmp_path: Path, data: rk.Dataset, line: str) -> None:
    (tmp_path / "p.tsv").write_text(line)
    for known in (data, replace(data, doc_ids=None)):
        with pytest.raises(DataError) as caught:
            read_preferences(tmp_path / "p.tsv", known)
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize("line", [f"{LONG} qid:1", f"1 qid:1 {LONG}", f"1 qid:1 {LONG}:1", f"1 qid:1 1:{LONG}"], ids=range(4))
def test_errors_quote_no_more_of_a_line_than_can_be_read(tmp_path: Path, line: str) -> None:
    (tmp_path / "d.txt").write_text(line)
    with pytest.raises(DataError) as caught:
        rk.read(tmp_path / "d.txt", format="letor")
    assert len(str(caught.value)) < 600


def test_values_are_quoted_up_to_a_readable_length() -> None:
    assert quoted("short") == "'short'"
    assert quoted("x" * 100, 5) == "'xxxxx…'"
    assert quoted("it's " * 100, 5) == '"it\'s …"'
    assert quoted([1, 2]) == "[1, 2]"
    assert quoted(10**5000) == "a whole number of about 5,000 digits"
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (["x" * 1000] * 1000, {"a": list(range(10_000))}, b"x" * 10_000, deep):
        assert len(quoted(value)) <= 61
    assert cut("x" * 500, 3) == "xxx…"
    assert cut(ValueError("why")) == "why"
    assert len(listed(["x" * 1000] * 1000)) < 20 * 70
