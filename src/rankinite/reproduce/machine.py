"""The machine's processor, in words."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def processor() -> str:
    """The name of the processor, and how many cores there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"
