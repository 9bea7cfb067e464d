"""Racing: settings that surely lose are dropped after a fold, and spare the time of the folds that are left.

They are compared over whole folds, not after the first rounds of training, when small rates look bad that win in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from rankinite.engine.kernel import Floats

LEAST = 20
"""Queries without which nobody is dropped."""
CHANCE = 0.05
"""The chance that a setting as good as the leader is dropped after a fold, for all that are compared with it together."""


def losers(done: Mapping[int, Sequence[Floats]], incumbent: Sequence[Floats] | None) -> set[int]:
    """The settings to drop, given the values on the queries of the folds done, higher being better.

    They are compared, query by query, with the best so far: one of them, or the ``incumbent``, the best of earlier settings.
    """
    joined = {number: np.concatenate(list(values)) for number, values in done.items() if values}
    if not joined:
        return set()
    queries = len(next(iter(joined.values())))
    rivals = list(joined.values())
    if incumbent is not None:
        rivals.append(np.concatenate(list(incumbent))[:queries])
    leader = max(rivals, key=lambda values: float(values.mean()))
    errors = NormalDist().inv_cdf(1.0 - CHANCE / len(joined))  # Bonferroni's: the leader is the luckiest of many
    return {number for number, values in joined.items() if _is_behind(leader - values, errors)}


def _is_behind(differences: Floats, errors: float) -> bool:
    """Whether the mean difference is more than so many standard errors."""
    if len(differences) < LEAST:
        return False
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences))
    return float(differences.mean()) > errors * error > 0.0
