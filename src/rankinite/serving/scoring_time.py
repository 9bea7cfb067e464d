"""Scoring time of a ranker on this machine."""

from __future__ import annotations

import time

from rankinite.engine.kernel import Reals
from rankinite.models.base import Fitted, Ranker

TRIES = 5
"""The best of these counts: others were held up by something else."""


def seconds_to_score(ranker: Ranker | Fitted, names: tuple[str, ...], rows: Reals) -> float:
    """How long a prepared scorer takes for all rows, which have these columns, together."""
    assert isinstance(ranker, Fitted)  # others are not exported
    scorer = ranker.scorer(names)
    taken = list[float]()
    for _ in range(TRIES):
        started = time.perf_counter()
        scorer(rows)
        taken.append(time.perf_counter() - started)
    return min(taken)
