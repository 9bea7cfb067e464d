"""The memory that a process may use is the least of what machine, control groups and ulimit allow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankinite.engine import memory
from rankinite.errors import DataError
from refusals import refused

pytestmark = pytest.mark.tools("/proc and /sys of Linux")

GIB = 1 << 30


@pytest.fixture(name="system")
def made_up_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 64 GiB whose files under /sys and /proc stand in a folder; nothing is in use."""
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(memory, "USED", tmp_path / "none")
    monkeypatch.setattr(memory, "_machine_memory", lambda: 64 * GIB)
    monkeypatch.setattr(memory, "_own_limits", lambda space, data: [])
    return tmp_path


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_without_limits_the_machine_counts(system: Path) -> None:
    assert memory.memory_left() == (64 * GIB, "the machine's memory")
    put(system / "membership", "nonsense\n\n::\n5\n")
    assert memory.memory_left().left == 64 * GIB


def test_groups_of_version_2_and_those_around_them_count(system: Path) -> None:
    put(system / "membership", "0::/user/job\n")
    put(system / "groups/user/job/memory.max", "max\n")
    assert memory.memory_left().left == 64 * GIB
    put(system / "groups/user/memory.max", f"{3 * GIB}\n")
    assert memory.memory_left() == (3 * GIB, "the memory limit of its control group")
    put(system / "groups/user/job/memory.max", f"{2 * GIB}\n")
    assert memory.memory_left().left == 2 * GIB


def test_groups_of_version_1_count_even_where_only_the_host_knows_the_path(system: Path) -> None:
    put(system / "membership", "7:cpu:/a\n4:memory:/docker/abc\n0::/\n")
    put(system / "groups/memory/memory.limit_in_bytes", f"{5 * GIB}\n")  # a container sees its own group as the root
    assert memory.memory_left().left == 5 * GIB
    put(system / "groups/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n")  # version 1 for "no limit"
    assert memory.memory_left().left == 5 * GIB


def test_what_is_in_use_is_no_longer_left(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_in_use", lambda: (10 * GIB, 4 * GIB, 5 * GIB))
    assert memory.memory_left().left == 60 * GIB
    monkeypatch.setattr(memory, "_own_limits", lambda space, data: [("ulimit -v", 11 * GIB, space), ("ulimit -d", GIB, data)])
    assert memory.memory_left() == (0, "ulimit -d")
    assert not (system / "membership").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits are read from /proc")
def test_limits_of_the_shell_count() -> None:
    script = "from rankinite.engine.memory import memory_left; print(*memory_left(), sep='|')"
    command = ["bash", "-c", 'ulimit -v 3000000; exec "$0" -c "$1"', sys.executable, script]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    left, limit = result.stdout.strip().split("|")
    assert limit == "ulimit -v"
    assert 0 < int(left) < 3_000_000 * 1024


def test_errors_name_what_is_needed_and_what_there_is() -> None:
    problem = memory.too_large("file", "the matrix", 3 * GIB, memory.Allowance(5 << 20, "ulimit -v"), "Choose fewer rows.")
    assert (problem.place, problem.value, problem.remedy) == ("file", 3 * GIB, "Choose fewer rows.")
    for shown in ("the matrix", "3.0 GiB", "5.0 MiB", "ulimit -v"):
        assert shown in problem.problem
    with refused(DataError, place="file", remedy="Choose fewer rows."), memory.within_memory("file", "Choose fewer rows."):
        raise MemoryError


def test_sizes_are_spelled_in_readable_units() -> None:
    assert [memory.spelled_size(size) for size in (7, 2048, 5 << 20, 3 << 29)] == ["7 bytes", "2.0 KiB", "5.0 MiB", "1.5 GiB"]
