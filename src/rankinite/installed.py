"""What is installed, which must be known to repeat a result."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("rankinite", "numpy", "numba", "scipy", "pyarrow")
"""What numbers depend on."""


def versions() -> dict[str, str]:
    """The version of each; what is not installed is left out."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return {**found, "Python": platform.python_version()}


def versions_told() -> str:
    """The same in a line."""
    return ", ".join(f"{name} {number}" for name, number in versions().items())
