"""Where compiled kernels are kept, and which verbs have found all of theirs there.

The folder is the first of these that can be written to: ``NUMBA_CACHE_DIR``, ``__pycache__`` of this package, the user's
folder for caches. Its entries are unpickled, so it must be as trustworthy as the code itself: one that others may write to is
passed over, unless NUMBA_CACHE_DIR names it.

Nothing here imports Numba until the folder itself is asked for: the command line wants to know whether a verb is ready before
it spends half a second on that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
SOURCES = ("engine/kernel.py", "engine/kernel_dispatcher.py", "engine/barriers.py", "engine/reducer.py", "**/_[a-z]*.py")
"""Every file that defines a kernel, every file of ours that such a file imports, and how kernels are compiled; a test sees to
it."""
COMPILER_SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
"""What changes Numba's code without changing ours."""
KEPT_FOLDERS = 4
"""How many folders of other code stay, the latest first: a developer goes back and forth between branches."""


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept, so that every start of a program compiles them again."""


@cache
def sources_key() -> str:
    """A hash of our files that compiled kernels depend on."""
    found = hashlib.sha256()
    for path in sorted({path for pattern in SOURCES for path in PACKAGE.glob(pattern)}):
        found.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@cache
def source_key() -> str:
    """A hash of everything that compiled kernels depend on: our files, Numba, its settings, Python."""
    import llvmlite
    import numba

    chosen: Any = vars(numba)["config"]
    versions = f"{numba.__version__} {llvmlite.__version__} {sys.implementation.cache_tag} {platform.machine()}"
    settings = [f"{name}={getattr(chosen, name, None)}" for name in COMPILER_SETTINGS]
    return hashlib.sha256(" ".join([versions, *settings, sources_key()]).encode()).hexdigest()[:16]


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None, after a warning, where no folder can be written to."""
    for place, private in _places():
        folder = place / f"kernels-{source_key()}"
        if _usable(folder, private=private):
            _remove_old(place, folder)
            return folder
    warn_once(
        f"Compiled code can be kept in none of {', '.join(str(place) for place, _ in _places())}, so it is compiled at every "
        "start, which takes minutes. Set NUMBA_CACHE_DIR to a folder that can be written to."
    )
    return None


def is_ready(verb: str) -> bool:
    """Whether a verb has run to its end with this code before, so that little or nothing is left to compile for it."""
    return any(_readable(place.glob(f"kernels-*/{_mark(verb)}")) for place, _ in _places())


def set_ready(verb: str) -> None:
    """Note that a verb has run to its end."""
    if (folder := cache_folder()) is not None:
        with contextlib.suppress(OSError):
            (folder / _mark(verb)).touch()


def _mark(verb: str) -> str:
    return f"{verb}.{sources_key()}.ready"


def _readable(paths: Any) -> bool:
    with contextlib.suppress(OSError):
        return any(True for _ in paths)
    return False


def write_whole(path: Path, content: bytes) -> None:
    """Other processes see all of a file or nothing of it."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".unfinished-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(unfinished).replace(path)
    except OSError:
        Path(unfinished).unlink(missing_ok=True)
        raise


def _places() -> list[tuple[Path, bool]]:
    """The folders to try, and whether each must be nobody else's."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return [(Path(chosen), False)] if chosen else [(PACKAGE / "__pycache__", True), (_users_caches() / "rankinite", True)]


def _users_caches() -> Path:
    """The user's folder for caches."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _usable(folder: Path, *, private: bool) -> bool:
    """Whether entries can be written, and by nobody else where that matters."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        about = folder.stat()
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"0")
    except OSError:
        return False
    if not private or not hasattr(os, "geteuid"):
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _remove_old(place: Path, current: Path) -> None:
    """Leave only the latest folders of other code."""
    with contextlib.suppress(OSError):
        others = sorted((path for path in place.glob("kernels-*") if path != current), key=lambda path: -path.stat().st_mtime)
        for path in others[KEPT_FOLDERS:]:
            shutil.rmtree(path, ignore_errors=True)


_warned: list[str] = []


def warn_once(text: str) -> None:
    """Warn that kernels cannot be kept, the first time."""
    if not _warned:
        _warned.append(text)
        warnings.warn(text, CacheWarning, stacklevel=2)
