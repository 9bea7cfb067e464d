"""Bad LETOR input: the message names file and line, shows the value, and says the rule and the remedy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.data.io.letor.files import read_letor
from rankinite.engine import parallel
from rankinite.errors import ArgumentError, DataError

GOOD = "2 qid:1 1:0.5 2:1 #docid = A\n1 qid:1 1:0.25\n\n0 qid:2 2:3\n"


@pytest.fixture(name="folder", scope="module")
def one_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("errors")


def put(folder: Path, content: str | bytes, name: str = "bad.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(paths: list[Path], **settings: object) -> str:
    with pytest.raises(DataError) as caught:
        read_letor(paths, **settings)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("high qid:1 1:1", "the grade 'high' is not a number"),
        ("qid:1 1:1", "the grade 'qid:1' is not a number"),
        ("2x qid:1 1:1", "the grade '2x' is not a number"),
        ("nan qid:1 1:1", "the grade 'nan' is not a finite number"),
        ("1e39 qid:1 1:1", "the grade '1e39' is not a finite number"),
        ("1 qid: 1:1", "'qid:' names no query"),
        ("1 qid:1 1:1 qid:2", "'qid:2' stands after the features"),
        ("1 1:1", "this row has no qid"),
        ("1 qid:1 1:1 2", "'2' is not index:value"),
        ("1 qid:1 1:1 2:", "'2:' has no value"),
        ("1 qid:1 1: 1", "'1:' has no value"),
        ("1 qid", "'qid' is not index:value"),
        ("1 qid:1 junk", "'junk' is not index:value"),
        ("1 qid:1 x:1", "'x:1' does not begin with a feature index"),
        ("1 qid:1 -1:1", "'-1:1' does not begin with a feature index"),
        ("1 qid:1 1:one", "the value in '1:one' is not a number"),
        ("1 qid:1 1:1e", "the value in '1:1e' is not a number"),
        ("1 qid:1 1:1.2.3", "the value in '1:1.2.3' is not a number"),
        ("1 qid:1 1:0x10", "the value in '1:0x10' is not a number"),
        ("1 qid:1 1:-", "the value in '1:-' is not a number"),
        ("1 qid:1 1:infinit", "the value in '1:infinit' is not a number"),
        ("1 qid:1 0:1", "feature index 0 in '0:1'. LETOR indices start at 1; pass zero_based=True"),
        ("1 qid:1 1:1 3:1 2:1", "the index in '2:1' is smaller than the one before it"),
        ("1 qid:1 1:1 3:1 3:2", "the index in '3:2' is the one before it again"),
        ("1 qid:1 1000001:1", "the index in '1000001:1' is too large"),
        ("1 qid:1 99999999999999999999999:1", "is too large"),
        ("1 qid:1 1:1 \0", "looks like a binary file"),
        ("1 qid:\0 1:1", "looks like a binary file"),
        ("1 qid:1 1:1 #do\0c", "looks like a binary file"),
        ("1 qid:1 " + "y" * 60, "'" + "y" * 40 + "…'"),
        ("1 qid:1 a\x01\u200b:1", r"'a\x01\u200b:1'"),
    ],
)
@pytest.mark.parametrize("chunk", [8, 1 << 20])
def test_the_faulty_line_is_named(folder: Path, line: str, says: str, chunk: int) -> None:
    path = put(folder, GOOD + line + "\n" + GOOD)
    message = refusal([path], chunk=chunk)
    assert message.startswith(f"{path}:5: ")
    assert says in message


def test_bytes_that_are_no_text_are_shown_escaped(folder: Path) -> None:
    assert r"'\xff\xfe' is not index:value" in refusal([put(folder, b"1 qid:1 \xff\xfe\n")])


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_of_several_faults_the_first_is_reported(folder: Path, count: int, chunk: int) -> None:
    path = put(folder, GOOD * 20 + "1 qid:1 5:\n" + GOOD * 20 + "bad\n" + "0 1:1\n")
    with parallel.threads(count):
        assert refusal([path], chunk=chunk).startswith(f"{path}:81: '5:' has no value")


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_qid_on_some_rows_only(folder: Path, chunk: int) -> None:
    assert re.match(r".*bad\.txt:3: this row has no qid", refusal([put(folder, "1 qid:1 1:1\n\n1 1:1\n")], chunk=chunk))
    assert re.match(r".*bad\.txt:2: this row has a qid", refusal([put(folder, "1 1:1\n1 qid:1 1:1\n")], chunk=chunk))


def test_the_second_file_counts_its_own_lines(folder: Path) -> None:
    good, bad = put(folder, GOOD, "good.txt"), put(folder, "1 qid:1 1:1\n1 qid:1 1:x\n")
    assert refusal([good, bad]).startswith(f"{bad}:2: ")
    assert refusal([good, good, bad]).startswith(f"{bad}:2: ")


def test_more_features_than_declared(folder: Path) -> None:
    message = refusal([put(folder, "1 qid:1 1:1\n1 qid:1 3:1\n")], features=2)
    assert "bad.txt:2: the index in '3:1' is too large. There must be 2 features, with indices 1 to 2" in message
    assert "without like=" in message
    assert "features=" not in message  # which chooses features in rk.read


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n", " "])
def test_files_without_rows(folder: Path, content: str) -> None:
    path = put(folder, content)
    assert f"{path}: there are no rows" in refusal([path])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("2\n2\n", "add up to 4 but"),
        ("2\n-1\n", ":2: '-1' is not"),
        ("1.5\n", ":1: '1.5' is not"),
        ("\n" + "9" * 30, ":2: '999"),
    ],
)
def test_group_files_that_do_not_fit(tmp_path: Path, content: str, says: str) -> None:
    path = put(tmp_path, "1 1:1\n0 1:1\n1 1:2\n")
    put(tmp_path, content, "bad.txt.query")
    message = refusal([path])
    assert message.startswith(str(path))
    assert says in message


def test_group_sizes_given_must_fit(tmp_path: Path) -> None:
    path = put(tmp_path, "1 1:1\n0 1:1\n1 1:2\n")
    assert "add up to 2 but" in refusal([path], group=np.asarray([1, 1]))
    assert "whole numbers" in refusal([path], group=np.asarray([4, -1]))
    assert "whole numbers" in refusal([path], group=np.asarray([1.5, 1.5]))
    assert "rows name no query" in refusal([path])
    assert "group= is given too" in refusal([put(tmp_path, GOOD)], group=np.asarray([3]))


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert f"{tmp_path / 'none.txt'}: no such file" in refusal([tmp_path / "none.txt"])
    assert f"{tmp_path}: this is a folder" in refusal([tmp_path])
    assert "no such file" in refusal([Path("a\0b")])
    assert "cannot be used" in refusal([Path("a" * 5000)])


def test_a_matrix_beyond_the_memory_is_refused_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankinite.engine.memory._in_use", lambda: (0, 0, 0))
    monkeypatch.setattr("rankinite.engine.memory._machine_memory", lambda: 1 << 20)
    message = refusal([put(folder, "1 qid:1 100000:1\n" * 5)], chunk=20)
    assert re.search(r"the first \d rows of 100000 features would take", message)
    assert "the machine's memory" in message
    assert "dense matrix" in message


def test_settings_outside_their_range(folder: Path) -> None:
    path = put(folder, GOOD)
    with pytest.raises(ArgumentError, match="'zero' or 'nan'"):
        read_letor([path], missing="drop")
    with pytest.raises(ArgumentError, match="must lie in"):
        read_letor([path], features=-1)


def answers(path: Path, content: bytes, chunk: int, zero_based: bool) -> None:
    path.write_bytes(content)
    message = ""
    try:
        data = read_letor([path], chunk=chunk, zero_based=zero_based)
    except DataError as refused:
        message = str(refused)
    assert str(path) in message if message else data.rows == data.offsets[-1] > 0


PIECES = st.sampled_from(b"1|9|qid:|qid:1 |:| |\n|#|docid = |1:0.5 |2:nan|e5|-|\r|\0|inf".split(b"|"))
CHUNKS = st.sampled_from([1, 30, 1 << 20])
CHANGES = st.tuples(st.integers(0, 3 * len(GOOD)), st.integers(0, 3), st.binary(max_size=3) | PIECES)


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(b"".join), CHUNKS, st.booleans())
def test_any_bytes_are_data_or_a_data_error(folder: Path, content: bytes, chunk: int, zero_based: bool) -> None:
    answers(folder / "any.txt", content, chunk, zero_based)


@settings(max_examples=400, deadline=None)
@given(st.lists(CHANGES, max_size=4), CHUNKS)
def test_damaged_files_are_data_or_a_data_error(folder: Path, changes: list[tuple[int, int, bytes]], chunk: int) -> None:
    content = GOOD.encode() * 3
    for place, removed, added in changes:
        content = content[:place] + added + content[place + removed :]
    answers(folder / "damaged.txt", content, chunk, zero_based=False)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=100))
def test_any_bytes_under_a_compressed_name_are_a_data_error(folder: Path, suffix: str, content: bytes) -> None:
    answers(folder / f"any{suffix}", content, 64, zero_based=False)
