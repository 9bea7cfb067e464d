"""KernelCache: compiled kernels on disk, found again only by the code that made them.

Numba's own cache knows a kernel by the file it is defined in. It does not see that a kernel which this one calls, or a
constant of another file, has changed; and it fails where its files are damaged or cannot be written. Here the folder of
compiled kernels is named by the content of all files that kernels are made of, every entry carries a checksum, and
whatever goes wrong with an entry means compiling once more, never an error. Of several processes that need a kernel, one
compiles it and the others wait.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Generator
from pathlib import Path
from typing import Any

from numba.core import caching, serialize
from numba.core.runtime.nrt import rtsys

from rankinite.engine.file_locks import locked_briefly
from rankinite.engine.kernel_folder import PACKAGE, cache_folder, warn_once, write_whole

WAIT = 120.0
"""Seconds to wait for a kernel that another process compiles, before compiling it as well."""
_caching: Any = caching
_serialize: Any = serialize
_memory_manager: Any = rtsys


class KernelCache(_caching.FunctionCache):
    """The compiled variants of one kernel."""

    def __init__(self, function: Any) -> None:
        self._py_func = function
        self._impl = _Serializer()
        self._cache_file = _Entries(_name_of(function))
        self._ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
        self.enable()

    @property
    def cache_path(self) -> str | None:
        """Where Numba's statistics say that code was found."""
        folder = cache_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled variant, or None, whatever is wrong with its file.

        Numba would first load all that it can compile, which takes longer than loading a kernel. It does so by itself when it
        has to compile; compiled code only needs the memory manager, unless it hashes as Python does, which ours does not.
        """
        try:
            if not self._ours:
                return super().load_overload(sig, target_context)
            _memory_manager.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - whatever an entry of another kind makes Numba do, compiling helps
            return None

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether a compiled variant is kept."""
        return self._cache_file.has(self._index_key(sig, target_context.codegen()))

    def one_at_a_time(self, sig: Any, target_context: Any) -> contextlib.AbstractContextManager[None]:
        """Wait while another process compiles this variant, and let others wait meanwhile."""
        return self._cache_file.locked(self._index_key(sig, target_context.codegen()))

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._enabled and self._impl.check_cachable(data):
            self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))


class _Serializer(_caching.CompileResultCacheImpl):
    """Numba's way of turning compiled code into bytes, without its search for a folder."""

    def __init__(self) -> None:
        pass

    def check_cachable(self, cres: Any) -> bool:
        return not cres.library.has_dynamic_globals and all(part.can_cache for part in cres.lifted)


class _Entries:
    """One file for each variant of a kernel: the SHA-256 of what follows, then the pickled key and code."""

    def __init__(self, name: str) -> None:
        self.name = name

    def flush(self) -> None:
        if (folder := cache_folder()) is not None:
            for path in folder.glob(f"{self.name}.*.kernel"):
                path.unlink(missing_ok=True)

    def has(self, key: Any) -> bool:
        folder = cache_folder()
        return folder is not None and self._path(folder, key).exists()

    @contextlib.contextmanager
    def locked(self, key: Any) -> Generator[None]:
        folder = cache_folder()
        if folder is None:
            yield
            return
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # no lock, no harm
                stack.enter_context(locked_briefly(self._path(folder, key).with_suffix(".lock"), WAIT))
            yield

    def load(self, key: Any) -> Any:
        if (folder := cache_folder()) is None:
            return None
        path = self._path(folder, key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, pickled = content[:32], content[32:]
        if hashlib.sha256(pickled).digest() != digest:
            with contextlib.suppress(OSError):
                path.unlink()  # damaged: the kernel is compiled and kept again
            return None
        found_key, data = pickle.loads(pickled)  # noqa: S301 - the folder is as trustworthy as the code
        return data if found_key == key else None

    def save(self, key: Any, data: Any) -> None:
        if (folder := cache_folder()) is None:
            return
        pickled: bytes = _serialize.dumps((key, data))
        try:
            folder.mkdir(exist_ok=True)  # another process, of newer code, may have removed it
            write_whole(self._path(folder, key), hashlib.sha256(pickled).digest() + pickled)
        except OSError as problem:
            warn_once(f"Compiled code cannot be kept in {folder} ({problem.strerror}), so it is compiled at every start.")

    def _path(self, folder: Path, key: Any) -> Path:
        return folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.kernel"


def _name_of(function: Any) -> str:
    """A readable file name of its own for every kernel; kernels of other packages have their file's content in it."""
    code, place = function.__code__, f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
    source = Path(code.co_filename)
    if source.is_relative_to(PACKAGE):
        return f"{place}-{code.co_firstlineno}"
    content = source.read_bytes() if source.is_file() else repr((code.co_code, code.co_consts, code.co_names)).encode()
    return f"{place}-{code.co_firstlineno}-{hashlib.sha256(content).hexdigest()[:16]}"
