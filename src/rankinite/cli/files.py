"""Files that a verb reads and writes: no output replaces an input, and two runs never write to the same place at once."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from inspect import Parameter
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from rankinite.cli.ranker_arguments import path_of
from rankinite.errors import ArgumentError, DataError

try:
    import fcntl
except ImportError:  # Windows, where runs are not kept apart
    fcntl = None


def _nothing(_path: Path) -> Iterable[Path]:
    return ()


def _is_file(_path: Path) -> bool:
    return False


@dataclass(frozen=True)
class Output:
    """Marks a parameter, in its annotation, that names what the verb writes."""

    also: Callable[[Path], Iterable[Path]] = _nothing
    """The further files that are written because of it: beside a report, or in a folder."""
    is_folder: Callable[[Path], bool] = _is_file
    """Whether a path that need not be there yet is a folder."""


FILE = Output()
"""One file."""
OverwriteOption: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace the results of another run that the folder --out holds.")
]


def outputs_among(parameters: Sequence[Parameter]) -> dict[str, Output]:
    """The parameters that name what is written."""
    marks = {parameter.name: [*get_args(parameter.annotation)] for parameter in parameters}
    return {name: mark for name, every in marks.items() for mark in every if isinstance(mark, Output)}


@contextmanager
def guarded(
    arguments: Mapping[str, Any], inputs: Iterable[str], outputs: Mapping[str, Output], label: Callable[[str], str]
) -> Generator[None]:
    """Refuse outputs that are inputs, or that another run is writing; keep other runs off them for the time of the block.

    ``arguments``: the values of all parameters. ``label``: how a parameter is written on the command line.
    """
    written = {name: Path(arguments[name]) for name in outputs if arguments.get(name) is not None}
    made = {name: [target, *outputs[name].also(target)] for name, target in written.items()}
    read = [(name, path) for name in inputs for path in _paths(arguments.get(name))]
    for (name, every), (source, path) in product(made.items(), read):
        if any(_are_same(path, one) for one in every):
            raise ArgumentError(
                f"would replace {path}, which is read ({label(source)})",
                setting=name,
                value=str(written[name]),
                remedy="Write elsewhere",
            )
    for (name, every), (other, others) in combinations(made.items(), 2):
        if any(_are_same(one, path) or _are_one_name(one, path) for one, path in product(every, others)):
            raise ArgumentError(
                f"is also the file of `{name}`", setting=other, value=str(written[other]), remedy="Name another file"
            )
    with ExitStack() as locks:
        for name, target in written.items():
            locks.enter_context(_locked(target, outputs[name], name))
        yield


def check_writeable(path: Path | None) -> None:
    """Refuse a file that could not be written, before hours of training are spent on it."""
    if path is None:
        return
    try:
        target = path.resolve()
        if target.is_dir():
            raise DataError("this is a folder", place=path, remedy="Give the name of a file to write")
        if not target.parent.is_dir():
            raise DataError(f"there is no folder {target.parent}", place=path, remedy="Make it first, or write elsewhere")
        if target.is_file() or not target.exists():  # devices and pipes are not replaced but written to
            with tempfile.TemporaryFile(dir=target.parent):  # permissions do not tell all: the disk may be read-only
                pass
    except (OSError, ValueError, RuntimeError) as problem:
        remedy = "Check the permissions, or write elsewhere"
        raise DataError(f"this cannot be written ({problem})", place=path, remedy=remedy) from problem


def _paths(value: Any) -> Iterator[Path]:
    """The files that a value names: a path, a ranker, or several of them."""
    for one in value if isinstance(value, list | tuple) else [value]:
        path = None if one is None else path_of(str(one), Path.cwd())[1]
        if path is not None:
            yield path


def _are_same(path: Path, other: Path) -> bool:
    """Whether both are one ordinary file, whatever links lead to it."""
    with suppress(OSError, ValueError):  # a file that is missing, or no valid name, is refused elsewhere
        return path.is_file() and path.samefile(other)
    return False


def _are_one_name(path: Path, other: Path) -> bool:
    """Whether both would be one file that is not there yet."""
    with suppress(OSError, ValueError, RuntimeError):
        return path.resolve() == other.resolve() and not _is_device(path)
    return False


def _is_device(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.exists() and not path.is_file() and not path.is_dir()
    return False


# ---- locks ------------------------------------------------------------------------------------------------------------


@contextmanager
def _locked(target: Path, mark: Output, parameter: str) -> Generator[None]:
    """Hold the lock of a file or folder. Where there can be none, as on some network drives, runs are not kept apart."""
    with _lock_of(target, mark) as free:
        if not free:
            raise DataError(
                "is being written by another run",
                setting=parameter,
                value=str(target),
                remedy="Wait until that run has ended, or write elsewhere",
            )
        yield


def _lock_of(target: Path, mark: Output) -> AbstractContextManager[bool]:
    """A context that holds the lock, and gives whether it does."""
    try:
        real, folder = target.resolve(), mark.is_folder(target)
        if fcntl is None or _is_device(target) or (real.is_dir() and not folder):
            return nullcontext(enter_result=True)
    except (OSError, ValueError, RuntimeError):  # the verb refuses this name with its own error
        return nullcontext(enter_result=True)
    return _folder_lock(real) if folder else _file_lock(real)


@contextmanager
def _folder_lock(folder: Path) -> Generator[bool]:
    """A folder is its own lock. It is made for that, and removed again if nothing was put into it."""
    made = False
    with suppress(OSError):
        folder.mkdir()
        made = True
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield True
        return
    try:
        yield _lock(handle)
    finally:
        os.close(handle)
        if made:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def _file_lock(file: Path) -> Generator[bool]:
    """A file is replaced when it is written, so its lock is a hidden file beside it, removed in the end."""
    lock = file.with_name(f".{file.name[:200]}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        while locked := _lock(handle):
            if lock.exists() and os.path.samestat(os.fstat(handle), lock.stat()):
                break
            os.close(handle)  # of a run that removed it just now
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield True
        return
    try:
        yield locked
    finally:
        if locked:
            lock.unlink(missing_ok=True)  # while it is held: nobody else can hold it
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take the lock; False where another run has it."""
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        return problem.errno not in {errno.EWOULDBLOCK, errno.EACCES}
    return True


def make_folder(out: Path) -> None:
    """Make the folder of a run's results, unless it is there."""
    try:
        out.mkdir(exist_ok=True)
    except OSError as problem:
        raise DataError(
            f"this folder cannot be made ({problem})", place=out, value=str(out), remedy="Give another, whose parent exists"
        ) from problem
    if not out.is_dir():
        raise ArgumentError("is a file", setting="out", value=str(out), remedy="Give a folder")
