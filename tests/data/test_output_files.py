"""Outputs are complete or not there: on disks that fail, beside other writers, and after writers that were killed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from rankinite.data.io import output_files
from rankinite.data.io.output_files import write_atomically

pytestmark = pytest.mark.tools("Linux and a C compiler called cc")

COMPILER = shutil.which("cc")
FAILING = """
import ctypes, errno, itertools, os, sys
from pathlib import Path
import numpy as np
import rankinite as rk
from rankinite.data.io.output_files import write_atomically
from rankinite.errors import DataError

shim, folder = ctypes.CDLL(None), Path(sys.argv[1])
noise = np.random.default_rng(0).bytes(60_000)
data = rk.synthesise(8, world=rk.World(documents=5, features=4))

def put_bytes(path):
    with write_atomically(path) as handle:
        for first in range(0, len(noise), 10_000):
            handle.write(noise[first : first + 10_000])

writers = {f"b{ending}": put_bytes for ending in ("", ".gz", ".xz", ".zst")}
writers |= {f"d{ending}": lambda path: rk.write(data, path) for ending in (".txt", ".txt.zst", ".csv", ".parquet", ".arrow")}
writers["m.rankinite"] = rk.Feature(1).save
failures = [*(("write", n) for n in (0, 1, 2, 5)), ("fsync", 0), ("fsync", 1), ("rename", 0)]
numbers = itertools.cycle([errno.ENOSPC, errno.EIO])
failed = set()
for name, write in writers.items():
    path = folder / name
    write(path)
    complete = path.read_bytes()
    for call, after in failures:
        path.write_bytes(b"old")
        shim.arm(call.encode(), after, next(numbers), str(folder).encode())
        try:
            write(path)
            outcome = "written"
        except DataError as problem:
            assert problem.place == str(path), problem
            outcome = "refused"
        left = shim.arm(b"", 0, 0, b"")
        assert (left < 0) == (outcome == "refused"), (name, call, after)
        renamed = outcome == "written" or (call, after) == ("fsync", 1)  # the folder is brought to the disk last of all
        assert path.read_bytes() == (complete if renamed else b"old"), (name, call, after)
        assert os.listdir(folder) == [name], (name, call, after, os.listdir(folder))
        failed |= {(name, call, after)} if outcome == "refused" else set()
    path.unlink()
for name in writers:
    assert {(name, "write", 0), (name, "fsync", 0), (name, "fsync", 1), (name, "rename", 0)} <= failed, name
print(len(failed))
"""


@pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler called cc")
def test_a_disk_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    shim = tmp_path / "failing_files.so"
    source = Path(__file__).with_name("failing_files.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FAILING, tmp_path / "out"],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 10 * 4  # each writer, each kind of failure


KILLED = """
import sys, time
from pathlib import Path
from rankinite.data.io.output_files import write_atomically
with write_atomically(Path(sys.argv[1])) as handle:
    handle.write(b"half")
    handle.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def test_parts_of_killed_writers_are_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "output"
    with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        (part,) = tmp_path.iterdir()
        put(path, b"meanwhile")
        assert sorted(tmp_path.iterdir()) == sorted([part, path])  # its writer lives
        writer.send_signal(signal.SIGKILL)
    put(tmp_path / "another", b"x")
    assert part.exists()  # it may be that of anyone
    put(path, b"after")
    assert {file.name for file in tmp_path.iterdir()} == {"output", "another"}
    assert path.read_bytes() == b"after"


def put(path: Path, content: bytes) -> None:
    with write_atomically(path) as handle:
        handle.write(content)


def test_several_writers_of_one_output_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "output"
    with write_atomically(path) as first:
        first.write(b"first")
        with write_atomically(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_part_that_is_taken_away_before_it_is_locked_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    real, removed = output_files._lock, []

    def slow(descriptor: int, *, wait: bool) -> bool:
        if not removed:  # another writer comes between making the part and locking it
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return real(descriptor, wait=wait)

    monkeypatch.setattr(output_files, "_lock", slow)
    put(tmp_path / "output", b"x")
    assert len(removed) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["output"]


def test_what_looks_like_a_part_but_leads_elsewhere_stays(tmp_path: Path) -> None:
    put(tmp_path / "output", b"x")
    with write_atomically(tmp_path / "output"):
        (part,) = (file.name for file in tmp_path.iterdir() if file.name != "output")
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / part).symlink_to(tmp_path / "precious")
    put(tmp_path / "output", b"y")
    assert (tmp_path / "precious").read_bytes() == b"mine"


SOURCES = Path(output_files.__file__).parents[2]
ELSEWHERE = {"binned/writing.py", "data/io/streams.py", "engine/file_locks.py", "engine/kernel_folder.py"}
"""Folders of bins, which count only with their manifest; copies of pipes in a temporary folder; compiled code, which is made
again where it is damaged; locks, which hold nothing."""


WRITING = [r"\.write_(text|bytes)\(", r"open\([^)]*[\"'][wax]b?[\"']", r"\.(replace|rename)\((target|path)\)"]


@cache
def code_of(file: Path) -> str:
    """The code of a file without longer texts: exports hold scripts that write files where they are run."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            node.value = ""
    return ast.unparse(tree)


@pytest.mark.parametrize("pattern", WRITING)
def test_all_outputs_are_written_in_one_place(pattern: str) -> None:
    found = {str(file.relative_to(SOURCES)) for file in SOURCES.rglob("*.py") if re.search(pattern, code_of(file))}
    assert found - ELSEWHERE <= {"data/io/output_files.py"}
