"""Chunks of lines put together are the file; files are written whole or not at all."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.streams import line_chunks, open_bytes
from rankinite.errors import DataError
from refusals import refused

pytestmark = pytest.mark.tools("/dev and /proc of Linux")

PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


@pytest.fixture(name="folder", scope="module")
def one_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("streams")


@pytest.mark.parametrize("suffix", PACK)
@settings(max_examples=60, deadline=None)
@given(parts=st.lists(st.sampled_from([b"a", b"bcd", b"\n", b"\r\n", b"long line " * 4]), max_size=30), size=st.integers(1, 50))
def test_chunks_are_whole_lines_and_together_the_file(folder: Path, suffix: str, parts: list[bytes], size: int) -> None:
    content = b"".join(parts)
    path = folder / f"chunks{suffix}"
    path.write_bytes(PACK[suffix](content))
    chunks = [chunk.tobytes() for chunk in line_chunks(path, size)]
    assert all(chunk.endswith(b"\n") for chunk in chunks)
    assert b"".join(chunks) == content + (b"" if content.endswith(b"\n") or not content else b"\n")


@pytest.mark.parametrize("suffix", PACK)
def test_a_byte_order_mark_is_passed_over(folder: Path, suffix: str) -> None:
    path = folder / f"mark{suffix}"
    path.write_bytes(PACK[suffix](b"\xef\xbb\xbf1 qid:1\n"))
    assert [chunk.tobytes() for chunk in line_chunks(path)] == [b"1 qid:1\n"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_what_is_written_reads_back_and_a_cut_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path, content = tmp_path / f"file{suffix}", bytes(range(256)) * 500
    with write_atomically(path) as handle:
        handle.write(content)
    with open_bytes(path) as handle:
        assert handle.read() == content
    packed = path.read_bytes()
    assert len(packed) < len(content)
    path.write_bytes(packed[: len(packed) // 2])
    with refused(DataError, place=path, value=suffix):
        list(line_chunks(path))
    path.write_bytes(b"1 qid:1 1:1\n")
    with refused(DataError, place=path, value=suffix):
        list(line_chunks(path))


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_every_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path, suffix: str) -> None:
    path, content = tmp_path / f"file{suffix}", b"2 qid:1 1:0.25 2:7 # d1\n1 qid:1 1:0.5 # d2\n0 qid:2 2:7 # d3\n" * 3
    with write_atomically(path) as handle:
        handle.write(content)
    packed = path.read_bytes()
    for place in range(8 * len(packed)):
        flipped = bytearray(packed)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            with open_bytes(path) as handle:
                assert handle.read() == content
        except DataError:
            continue


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=100), max_size=6), st.integers(0, 3))
def test_a_frame_of_any_content_carries_its_checksum(folder: Path, parts: list[bytes], times: int) -> None:
    path, content = folder / "summed.zst", b"".join(parts) * 10**times
    with write_atomically(path) as handle:
        for part in (*parts, content[len(b"".join(parts)) :]):
            handle.write(part)
    with open_bytes(path) as handle:
        assert handle.read() == content
    packed = path.read_bytes()
    assert packed[4] & 4
    path.write_bytes(packed[:-1] + bytes([packed[-1] ^ 1]))
    with refused(DataError, place=path, value=".zst"), open_bytes(path) as handle:
        handle.read()


@pytest.mark.parametrize("suffix", PACK)
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        with write_atomically(tmp_path / f"{name}{suffix}") as handle:
            handle.write(b"content")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", PACK)
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"kept{suffix}"
    path.write_bytes(b"old")

    def fail_halfway() -> None:
        with write_atomically(path) as handle:
            handle.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_has_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with write_atomically(tmp_path / "written") as handle:
        handle.write(b"x")
    assert stat.S_IMODE((tmp_path / "written").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "written"
    path.touch()
    path.chmod(mode)
    with write_atomically(path) as handle:
        (part,) = (file for file in tmp_path.iterdir() if file != path)
        assert stat.S_IMODE(part.stat().st_mode) == mode  # from the start: others must not read it meanwhile
        handle.write(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("where", ["no-such-folder/file.txt", ".", "x" * 300, "a\0b", "\ud800"])
def test_places_that_cannot_be_written(tmp_path: Path, where: str) -> None:
    with refused(DataError, place=tmp_path / where), write_atomically(tmp_path / where) as handle:
        handle.write(b"x")
    assert not list(tmp_path.iterdir())


def test_devices_are_written_directly() -> None:
    with write_atomically(Path("/dev/null")) as handle:
        handle.write(b"x")
    assert Path("/dev/null").is_char_device()


def test_the_working_folder_and_links_in_a_circle_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(DataError, place="."), write_atomically(Path()):
        pass
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    with refused(DataError, place="a"), write_atomically(Path("a")):
        pass
    assert Path("a").is_symlink()


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    with write_atomically(tmp_path / ("x" * 255)) as handle:
        handle.write(b"x")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("target", ["there.txt", "not-yet.txt"])
def test_symbolic_links_stay_and_their_target_is_written(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "there.txt").write_bytes(b"old")
    link = tmp_path / "link.txt"
    link.symlink_to(Path("folder") / target)
    with write_atomically(link) as handle:
        handle.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "folder" / target).read_bytes() == b"new"
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "link.txt", "there.txt", target}


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_open_files_are_written_not_replaced(tmp_path: Path, name: str) -> None:
    if name == "link":
        (tmp_path / "link").symlink_to("/dev/stdout")
    script = (
        "import sys; from pathlib import Path; from rankinite.data.io.output_files import write_atomically\n"
        "with write_atomically(Path(sys.argv[1])) as handle: handle.write(b'new')"
    )
    with (tmp_path / "out").open("ab") as out:
        out.write(b"old ")
        out.flush()
        before = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", script, str(tmp_path / name)], stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"old new"
    assert (tmp_path / "out").stat().st_ino == before


@pytest.mark.parametrize("name", ["F.TXT.GZ", "f.Xz", "f.ZST"])
def test_endings_may_be_in_capitals(tmp_path: Path, name: str) -> None:
    with write_atomically(tmp_path / name) as handle:
        handle.write(b"text\n" * 100)
    assert (tmp_path / name).stat().st_size < 200
    assert b"".join(chunk.tobytes() for chunk in line_chunks(tmp_path / name)) == b"text\n" * 100


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_compressed_files_are_known_by_their_first_bytes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "plain.txt"
    path.write_bytes(PACK[suffix](b"1 qid:1\n"))
    assert [chunk.tobytes() for chunk in line_chunks(path)] == [b"1 qid:1\n"]
    with open_bytes(path) as handle:
        assert handle.read() == b"1 qid:1\n"
    path.write_bytes(PACK[suffix](b"1 qid:1\n" * 100)[:-9])
    with refused(DataError, place=path, value=suffix):
        list(line_chunks(path))
