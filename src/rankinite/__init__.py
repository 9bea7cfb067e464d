"""rankinite: learning to rank with lambda gradients.

Everything public is listed in ``__init__.pyi``, which type checkers, editors and this file read; modules load when a name is
first used, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from rankinite.version import REMOVED, VERSION

_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_IMPORTS = (line.split() for line in _STUB.splitlines() if line.startswith("from "))
_HOMES = {name: home for _, home, _, name, *_ in _IMPORTS}
"""Public name → its module; packages such as ``rk.adapt`` have this one."""

__version__ = VERSION
__all__ = sorted([*_HOMES, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in REMOVED:
        raise AttributeError(f"module 'rankinite' has no attribute {name!r} any more. {REMOVED[name]}.")
    if name not in _HOMES:
        raise AttributeError(f"module 'rankinite' has no attribute {name!r}")
    home = _HOMES[name]
    if home == __name__:
        return import_module(f"{home}.{name}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
