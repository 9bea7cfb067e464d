"""Target: one reader, how its input is made, and what must hold after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import rankinite as rk


class DiffersError(AssertionError):
    """A reader took an input, but made something else of it than a slow reader does."""


@dataclass(frozen=True)
class Target:
    """A reader under attack."""

    name: str
    make: Callable[[Random, Path], Path]
    """Writes one input, all of it into the folder, and gives the path to read."""
    run: Callable[[Path], None]
    """Reads it. A refusal is proper; any other exception is a fault."""
    inputs: str | None = None
    """The target whose inputs these are, if not its own."""
    refusals: tuple[type[Exception], ...] = (rk.RankiniteError,)

    def prepared(self, seed: int, folder: Path) -> Path:
        """The input of a seed: the same on every machine."""
        return self.make(Random(f"{self.inputs or self.name} {seed}"), folder)
