"""Versions of the packages installed, and a hash of our own code: both must be known to repeat a result."""

from __future__ import annotations

import ast
import hashlib
import platform
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rankinite.version import VERSION

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")
"""The packages, besides our own, that numbers depend on."""
UNRELATED = ("cli", "report", "serving")
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
    """A hash of rankinite's own code on which numbers depend; comments and layout do not count.

    The version alone would not do: between two releases the code changes, and finished work must not outlive it.
    """
    root = Path(__file__).parent
    paths = [path for path in sorted(root.rglob("*.py")) if path.relative_to(root).parts[0] not in UNRELATED]
    parsed = "".join(ast.dump(ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    return hashlib.sha256(parsed.encode()).hexdigest()[:12]
