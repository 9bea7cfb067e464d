"""Bad LETOR input: the error names file and line and carries the token at fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.data.io.letor.files import read_letor
from rankinite.engine import parallel
from rankinite.errors import ArgumentError, DataError, cut
from refusals import refused

GOOD = "2 qid:1 1:0.5 2:1 #docid = A\n1 qid:1 1:0.25\n\n0 qid:2 2:3\n"


@pytest.fixture(name="folder", scope="module")
def one_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("errors")


def put(folder: Path, content: str | bytes, name: str = "bad.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refuse(paths: list[Path], place: object, value: object, **settings: object) -> DataError:
    """Expect that reading is refused at a place for a value; the error."""
    with refused(DataError, place=place, value=value) as caught:
        read_letor(paths, **settings)
    return caught.value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("high qid:1 1:1", "high"),
        ("qid:1 1:1", "qid:1"),
        ("2x qid:1 1:1", "2x"),
        ("nan qid:1 1:1", "nan"),
        ("1e39 qid:1 1:1", "1e39"),
        ("1 qid: 1:1", "qid:"),
        ("1 qid:1 1:1 qid:2", "qid:2"),
        ("1 1:1", ""),
        ("1 qid:1 1:1 2", "2"),
        ("1 qid:1 1:1 2:", "2:"),
        ("1 qid:1 1: 1", "1:"),
        ("1 qid", "qid"),
        ("1 qid:1 junk", "junk"),
        ("1 qid:1 x:1", "x:1"),
        ("1 qid:1 -1:1", "-1:1"),
        ("1 qid:1 1:one", "1:one"),
        ("1 qid:1 1:1e", "1:1e"),
        ("1 qid:1 1:1.2.3", "1:1.2.3"),
        ("1 qid:1 1:0x10", "1:0x10"),
        ("1 qid:1 1:-", "1:-"),
        ("1 qid:1 1:infinit", "1:infinit"),
        ("1 qid:1 0:1", "0:1"),
        ("1 qid:1 1:1 3:1 2:1", "2:1"),
        ("1 qid:1 1:1 3:1 3:2", "3:2"),
        ("1 qid:1 1000001:1", "1000001:1"),
        ("1 qid:1 99999999999999999999999:1", "99999999999999999999999:1"),
        ("1 qid:1 1:1 \0", "\0"),
        ("1 qid:\0 1:1", "\0"),
        ("1 qid:1 1:1 #do\0c", "\0"),
    ],
)
@pytest.mark.parametrize("chunk", [8, 1 << 20])
def test_the_faulty_line_is_named(folder: Path, line: str, value: str, chunk: int) -> None:
    path = put(folder, GOOD + line + "\n" + GOOD)
    refuse([path], f"{path}:5", value, chunk=chunk)


def test_tokens_are_cut_and_escaped_where_they_are_shown(folder: Path) -> None:
    assert r"'\xff\xfe'" in str(refuse([put(folder, b"1 qid:1 \xff\xfe\n")], "bad.txt:1", r"\xff\xfe"))
    assert f"'{'y' * 40}…'" in str(refuse([put(folder, "1 qid:1 " + "y" * 60)], "bad.txt:1", "y" * 60))
    assert r"'a\x01\u200b:1'" in str(refuse([put(folder, "1 qid:1 a\x01\u200b:1")], "bad.txt:1", "a\x01\u200b:1"))


def test_files_that_count_from_0_are_read_with_a_setting(folder: Path) -> None:
    assert "`zero_based=True`" in refuse([put(folder, "1 qid:1 0:1")], "bad.txt:1", "0:1").remedy


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_of_several_faults_the_first_is_reported(folder: Path, count: int, chunk: int) -> None:
    path = put(folder, GOOD * 20 + "1 qid:1 5:\n" + GOOD * 20 + "bad\n" + "0 1:1\n")
    with parallel.threads(count):
        refuse([path], f"{path}:81", "5:", chunk=chunk)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_qid_on_some_rows_only(folder: Path, chunk: int) -> None:
    error = refuse([put(folder, "1 qid:1 1:1\n\n1 1:1\n")], "bad.txt:3", "", chunk=chunk)
    assert "`group=…`" in error.remedy
    refuse([put(folder, "1 1:1\n1 qid:1 1:1\n")], "bad.txt:2", "", chunk=chunk)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_grade_on_some_rows_only(folder: Path, chunk: int) -> None:
    refuse([put(folder, "1 qid:1 1:1\n\nqid:1 1:1\n")], "bad.txt:3", "", chunk=chunk, needs_grades=False)
    refuse([put(folder, "qid:1 1:1\n# nothing\n1 qid:1 1:1\n")], "bad.txt:3", "", chunk=chunk, needs_grades=False)
    refuse([put(folder, "1 1:1\n1:1\n")], "bad.txt:2", "", chunk=chunk, needs_grades=False, group=np.asarray([2]))


@pytest.mark.parametrize("token", ["qid:7", "3:1"])
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_rows_without_grades_are_refused_where_grades_are_needed(folder: Path, token: str, chunk: int) -> None:
    error = refuse([put(folder, f"# rows\n{token} 5:1\nqid:7 x\n")], "bad.txt:2", token, chunk=chunk)
    assert "`unjudged='keep'`" in error.remedy


@pytest.mark.parametrize("token", [":1", "1.5:1", "-1:1", "x:1", "qid", "quid:1", "nan:1"])
def test_what_begins_neither_as_a_query_nor_as_a_feature_is_a_bad_grade(folder: Path, token: str) -> None:
    refuse([put(folder, f"{token} 5:1\n")], "bad.txt:1", token, needs_grades=False)


def test_the_second_file_counts_its_own_lines(folder: Path) -> None:
    good, bad = put(folder, GOOD, "good.txt"), put(folder, "1 qid:1 1:1\n1 qid:1 1:x\n")
    refuse([good, bad], f"{bad}:2", "1:x")
    refuse([good, good, bad], f"{bad}:2", "1:x")


def test_more_features_than_declared(folder: Path) -> None:
    error = refuse([put(folder, "1 qid:1 1:1\n1 qid:1 3:1\n")], "bad.txt:2", "3:1", features=2)
    assert "like=" in error.remedy
    assert "features=" not in str(error)  # which chooses features in rk.read


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n", " "])
def test_files_without_rows(folder: Path, content: str) -> None:
    path = put(folder, content)
    refuse([path], path, 0)


@pytest.mark.parametrize(
    ("content", "place", "value"),
    [
        ("2\n2\n", "bad.txt", 4),
        ("2\n-1\n", "bad.txt.query:2", "-1"),
        ("1.5\n", "bad.txt.query:1", "1.5"),
        ("\n" + "9" * 30, "bad.txt.query:2", "9" * 30),
    ],
)
def test_group_files_that_do_not_fit(tmp_path: Path, content: str, place: str, value: object) -> None:
    path = put(tmp_path, "1 1:1\n0 1:1\n1 1:2\n")
    put(tmp_path, content, "bad.txt.query")
    refuse([path], place, value)


def test_group_sizes_given_must_fit(tmp_path: Path) -> None:
    path = put(tmp_path, "1 1:1\n0 1:1\n1 1:2\n")
    refuse([path], path, 2, group=np.asarray([1, 1]))
    refuse([path], "group 0", 4, group=np.asarray([4, -1]))
    refuse([path], "", [1.5, 1.5], group=np.asarray([1.5, 1.5]))
    assert "`group=…`" in refuse([path], path, None).remedy
    refuse([put(tmp_path, GOOD)], path, "qid:", group=np.asarray([3]))


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    refuse([tmp_path], tmp_path, None)
    refuse([tmp_path / "none.txt"], tmp_path / "none.txt", str(tmp_path / "none.txt"))
    for name in ("a\0b", "a" * 5000):
        error = refuse([Path(name)], cut(name, 60), name)
        assert len(str(error)) < 300


def test_a_matrix_beyond_the_memory_is_refused_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankinite.engine.memory._in_use", lambda: (0, 0, 0))
    monkeypatch.setattr("rankinite.engine.memory._machine_memory", lambda: 1 << 20)
    refuse([put(folder, "1 qid:1 100000:1\n" * 5)], "bad.txt:3", 4 * 3 * 100000, chunk=20)


def test_settings_outside_their_range(folder: Path) -> None:
    path = put(folder, GOOD)
    with refused(ArgumentError, setting="missing", value="drop"):
        read_letor([path], missing="drop")
    with refused(ArgumentError, setting="features", value=-1):
        read_letor([path], features=-1)


def answers(path: Path, content: bytes, chunk: int, *, zero_based: bool = False, needed: bool = True) -> None:
    """Read the file: with grades and queries needed or not."""
    path.write_bytes(content)
    place = ""
    try:
        data = read_letor([path], chunk=chunk, zero_based=zero_based, needs_grades=needed, needs_queries=needed)
    except DataError as error:
        place = error.place
    assert place.startswith(str(path)) if place else data.rows == data.offsets[-1] > 0


PIECES = st.sampled_from(b"1|9|qid:|qid:1 |:| |\n|#|docid = |1:0.5 |2:nan|e5|-|\r|\0|inf".split(b"|"))
CHUNKS = st.sampled_from([1, 30, 1 << 20])
CHANGES = st.tuples(st.integers(0, 3 * len(GOOD)), st.integers(0, 3), st.binary(max_size=3) | PIECES)


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(b"".join), CHUNKS, st.booleans(), st.booleans())
def test_any_bytes_are_data_or_a_data_error(folder: Path, content: bytes, chunk: int, zero_based: bool, needed: bool) -> None:
    answers(folder / "any.txt", content, chunk, zero_based=zero_based, needed=needed)


@settings(max_examples=400, deadline=None)
@given(st.lists(CHANGES, max_size=4), CHUNKS, st.booleans())
def test_damaged_files_are_data_or_a_data_error(
    folder: Path, changes: list[tuple[int, int, bytes]], chunk: int, needed: bool
) -> None:
    content = GOOD.encode() * 3
    for place, removed, added in changes:
        content = content[:place] + added + content[place + removed :]
    answers(folder / "damaged.txt", content, chunk, needed=needed)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=100))
def test_any_bytes_under_a_compressed_name_are_a_data_error(folder: Path, suffix: str, content: bytes) -> None:
    answers(folder / f"any{suffix}", content, 64)
