"""How many cores this process may use; asked without loading Numba."""

from __future__ import annotations

import os


def available_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
