"""WorkProgress: how far a long piece of work is, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class WorkProgress:
    """How far the work is, after each piece of it."""

    what: str
    """What is being done: the method that is tried, say."""
    done: float
    """The share of all work that is done, by a rough estimate."""
    finished: bool = False
    """Whether that is finished."""
    resumed: bool = False
    """Whether it was kept from an earlier run, and cost no time in this one."""
    seconds: float | None = None
    """What it took; if left out, the time since the step before."""


ProgressCallback = Callable[[WorkProgress], None]
"""Is given every step."""
