"""Memory limits: how much this process may still use, and the errors for what does not fit into it.

The sizes that a file announces are compared with this before memory is taken for them: a process that the system kills for
want of memory prints no message.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rankinite.errors import DataError

CGROUPS = Path("/sys/fs/cgroup")
"""Where Linux shows its control groups, by which containers are limited."""
MEMBERSHIP = Path("/proc/self/cgroup")
"""Which of them this process is in: lines ``number:controllers:/path``; the controllers of version 2 are not listed."""
USED = Path("/proc/self/statm")
"""What this process uses, in pages: address space, resident, shared, text, library, data."""
PARSED_SHARE = 4
"""A file that is read as a whole may take a quarter of the memory left: what is made of it takes several times its bytes."""
UNKNOWN = 1 << 48
"""Stands for the memory of a machine that does not say what it has."""


class Allowance(NamedTuple):
    """Bytes that may still be used, and what limits them."""

    left: int
    limit: str


def memory_left() -> Allowance:
    """The memory that this process may still take: by the machine, its control groups and its own limits (``ulimit``)."""
    space, resident, data = _in_use()
    allowances = [Allowance(_machine_memory() - resident, "the machine's memory")]
    allowances += [Allowance(limit - resident, "the memory limit of its control group") for limit in _cgroup_limits()]
    allowances += [Allowance(limit - used, name) for name, limit, used in _own_limits(space, data)]
    tightest = min(allowances)
    return Allowance(max(tightest.left, 0), tightest.limit)


def too_large(place: str, what: str, needed: int, allowance: Allowance, remedy: str) -> DataError:
    """The error for something that needs more memory than there is for it."""
    return DataError(
        f"{what} would take {spelled_size(needed)} of memory, but this process may use {spelled_size(allowance.left)} more "
        f"({allowance.limit})",
        place=place,
        value=needed,
        remedy=remedy,
    )


@contextmanager
def within_memory(place: str, remedy: str) -> Generator[None]:
    """Turn the failure to get memory into a DataError."""
    try:
        yield
    except MemoryError as problem:
        allowance = memory_left()
        raise DataError(
            f"reading it takes more memory than this process may use; {spelled_size(allowance.left)} are left "
            f"({allowance.limit})",
            place=place,
            value=allowance.left,
            remedy=remedy,
        ) from problem


def spelled_size(size: int) -> str:
    """Bytes in the unit in which they are read most easily: ``7.5 GiB``."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.1f} {unit}"
    return f"{size} bytes"


def _machine_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def _in_use() -> tuple[int, int, int]:
    """Address space, resident memory and data of this process in bytes; 0 where the system does not say."""
    try:
        pages = [int(word) for word in USED.read_text().split()]
        page = os.sysconf("SC_PAGE_SIZE")
        return pages[0] * page, pages[1] * page, pages[5] * page
    except (OSError, ValueError, IndexError, AttributeError):
        return 0, 0, 0


def _own_limits(space: int, data: int) -> list[tuple[str, int, int]]:
    """Name, bytes and use of the limits that a shell or a scheduler sets for single processes."""
    if sys.platform == "win32":
        return []
    import resource

    kinds = (("ulimit -v", resource.RLIMIT_AS, space), ("ulimit -d", resource.RLIMIT_DATA, data))
    found = [(name, resource.getrlimit(kind)[0], used) for name, kind, used in kinds]
    return [(name, limit, used) for name, limit, used in found if limit != resource.RLIM_INFINITY]


def _cgroup_limits() -> Iterator[int]:
    """The limits of the groups this process is in, and of the groups around them."""
    for folder, name in _cgroup_folders():
        for group in (folder, *folder.parents):
            if not group.is_relative_to(CGROUPS):
                break
            try:
                yield int((group / name).read_text())
            except (OSError, ValueError):  # a group without a limit, "max", or a path that only the host has
                continue


def _cgroup_folders() -> Iterator[tuple[Path, str]]:
    """Folders of control groups, and the file in them that has the limit."""
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        inside = path.lstrip("/")
        if not controllers:
            yield CGROUPS / inside, "memory.max"
            yield CGROUPS / "unified" / inside, "memory.max"  # where version 2 is mounted beside version 1
        elif "memory" in controllers.split(","):
            yield CGROUPS / "memory" / inside, "memory.limit_in_bytes"
