"""Versions of the packages installed, and a hash of our own code: both must be known to repeat a result."""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rankinite.engine.kernel_folder import cache_folder, write_whole
from rankinite.version import VERSION

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
"""The packages, besides our own, that numbers depend on."""
UNRELATED = ("cli", "report", "serving", "warming")
"""Packages of rankinite on which no number depends that is learnt from a data set and rankers that are read."""


def versions() -> dict[str, str]:
    """The version of each package; one that is not installed is left out."""
    found = {"rankinite": VERSION}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return {**found, "Python": platform.python_version()}


def version_line() -> str:
    """The versions in one line: ``rankinite 0.2.0, numpy 2.2.0, …``."""
    return ", ".join(f"{name} {number}" for name, number in versions().items())


@cache
def code_key() -> str:
    """A hash of rankinite's own code on which numbers depend; comments, docstrings and layout do not count.

    The version alone would not do: between two releases the code changes, and finished work must not outlive it. Parsing
    all modules takes a second, so the key is kept beside the compiled kernels, under a hash of the files as they are.
    """
    root = Path(__file__).parent
    paths = [path for path in sorted(root.rglob("*.py")) if path.relative_to(root).parts[0] not in UNRELATED]
    sources = [path.read_bytes() for path in paths]
    folder = cache_folder()
    if folder is None:
        return key_of(sources)
    content = hashlib.sha256(b"".join(sources)).hexdigest()[:16]
    kept = folder / f"{content}.code"
    with suppress(OSError):
        return kept.read_text(encoding="ascii")
    key = key_of(sources)
    with suppress(OSError):
        write_whole(kept, key.encode())
    return key


def key_of(sources: Iterable[bytes]) -> str:
    """A hash of what modules compute."""
    hashed = hashlib.sha256()
    for source in sources:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            body: Any = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [one for one in body if not _is_docstring(one)]  # pyright: ignore[reportAttributeAccessIssue]
        hashed.update(ast.dump(tree).encode())
    return hashed.hexdigest()[:12]


def _is_docstring(statement: ast.AST) -> bool:
    """Whether a statement is a text alone; attributes have docstrings too."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
