"""Output files: complete or absent, whatever happens meanwhile. All that rankinite writes goes through here.

A file is written under another name in the same folder (a *part*), brought to the disk, and renamed; then the folder is brought
to the disk too. Its writer holds a lock on the part, so that the next writer of the same output can tell a part whose writer
was killed, which it removes, from one that is still being written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rankinite.data.io.compressing import compressor
from rankinite.errors import DataError

try:
    import fcntl
except ImportError:  # not on every system; parts are then not locked, and those left behind stay
    fcntl: Any = None

NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF)
"""Errors of systems that cannot bring a folder to the disk, or may not open it."""


@contextmanager
def write_atomically(path: Path) -> Generator[IO[bytes]]:
    """A binary handle whose bytes become the file ``path`` when the ``with`` block ends without an error.

    They are compressed if the suffix says so (``formats``). On an error, whatever was at ``path`` stays as it was. A file
    that is replaced keeps its permissions; a new one has those that the process gives to new files. Symbolic links stay: the
    file they lead to is replaced. Devices, pipes and open files (``/dev/stdout``) are written directly.
    """
    target, direct = _destination(path)
    packing = compressor(path)
    if direct:
        with _explained(path), target.open("ab") as raw, packing(raw) as handle:
            yield handle
        return
    with _locked_part(path, target) as part, _explained(path):
        # A second descriptor: some writers close the file they write to.
        with os.fdopen(os.dup(part.descriptor), "wb") as raw, packing(raw) as handle:
            yield handle
        os.fsync(part.descriptor)
        if fcntl is None:  # such systems do not rename files that are open
            part.close()
        part.path.replace(target)
        _sync_folder(target.parent)


@dataclass
class _Part:
    """An output that is not complete yet."""

    path: Path
    descriptor: int
    """Open, and with the lock, until it is closed."""
    closed: bool = False

    def close(self) -> None:
        """Close it, once: the number of the descriptor may soon be that of another file."""
        if not self.closed:
            self.closed = True
            os.close(self.descriptor)


@contextmanager
def _explained(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as problem:  # a full disk, above all
        raise DataError(f"it cannot be written ({problem})", place=path, remedy="Make room, or write elsewhere") from problem


@contextmanager
def _locked_part(path: Path, target: Path) -> Generator[_Part]:
    """A new part of the output; it is gone afterwards, renamed or removed."""
    try:
        # Of a fixed length: with the name itself in it, the longest names could not be written.
        prefix = f".rankinite-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"
        _remove_stale(target.parent, prefix)
        part = _new_part(target, prefix)
    except (OSError, ValueError) as problem:
        raise DataError(
            f"it cannot be written ({problem})", place=path, rule="The folder must exist and be writeable"
        ) from problem
    try:
        yield part
    finally:
        part.close()
        with suppress(OSError):
            part.path.unlink(missing_ok=True)


def _new_part(target: Path, prefix: str) -> _Part:
    """An empty part with the permissions that the output has, or a new file gets."""
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
    while True:
        path = target.with_name(f"{prefix}{secrets.token_hex(8)}.part")
        part = _Part(path, os.open(path, NEW_FILE, 0o666 if mode is None else mode))
        try:
            if mode is not None:
                path.chmod(mode)  # the process may take permissions away from new files that this one has
            _lock(part.descriptor, wait=True)
            if os.path.samestat(os.fstat(part.descriptor), path.stat()):
                return part
        except FileNotFoundError:  # another writer of the same output took it for stale before it was locked
            pass
        except BaseException:
            part.close()
            path.unlink(missing_ok=True)
            raise
        part.close()


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove parts of the same output whose writers are gone: nobody holds their lock."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(".part"):
                with suppress(OSError):
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(part: Path) -> None:
    descriptor = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        if _lock(descriptor, wait=False):
            part.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Whether the lock is ours now; it never is where files cannot be locked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make a new name last, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as problem:
        if problem.errno not in NO_SYNC:
            raise


def _destination(path: Path) -> tuple[Path, bool]:
    """The file to write once symbolic links are followed, and whether to write it directly instead of replacing it."""
    try:
        if _is_open_file(path):
            return path, True
        target = path.resolve()
        if target.is_dir():
            raise DataError("this is a folder", place=path, remedy="Give the name of a file to write")
        return target, target.exists() and not target.is_file()
    except (OSError, ValueError, RuntimeError) as problem:  # a name too long or not of this system, or links in a circle
        raise DataError(f"this path cannot be used ({problem})", place=path, remedy="Give another path") from problem


def _is_open_file(path: Path) -> bool:
    """Whether the path names a file that a process has open, as /dev/stdout and /dev/fd/3 do; none may be replaced."""
    for _ in range(40):  # links, as many as the system follows
        folder = path.parent.resolve()
        if folder.parts[:2] == ("/", "proc") or folder == Path("/dev/fd"):
            return True
        link = folder / path.name
        if not link.is_symlink():
            return False
        path = folder / link.readlink()
    return False
