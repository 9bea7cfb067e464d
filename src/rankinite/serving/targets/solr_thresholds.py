"""Thresholds for Solr, which adds 1e-6 to every threshold it reads and compares in float32.

The text of a threshold T is a float q with fl32(q + 1e-6) = T. Close to 0 the floats are finer than what can be reached from
the other side of the slack, and some T have no such q. Then all values of the feature are multiplied by a power of two, which
Solr's StandardNormalizer does exactly, until the slack is small beside the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import Features, Flags
from rankinite.errors import ArgumentError
from rankinite.serving.float32 import floor32
from rankinite.trees.structure import Trees

SLACK = np.float32(1e-6)
"""What Solr adds to thresholds."""
LARGEST = np.finfo(np.float32).max
MOST_DOUBLINGS = 126
"""Beyond that, the divisor would not be an ordinary float."""


@dataclass(frozen=True)
class SolrThresholds:
    """What is written for the thresholds of trees."""

    texts: Features
    """One per node: what Solr is given."""
    doublings: tuple[int, ...]
    """One per feature: values are multiplied by two to this power; 0: they are left alone."""


def solr_thresholds(trees: Trees, names: tuple[str, ...]) -> SolrThresholds:
    """Thresholds by which Solr decides as we do; refuses a feature for which there are none."""
    given = np.zeros(len(trees.threshold), np.float32)
    doublings = list[int]()
    for number, name in enumerate(names):
        asked = trees.feature == number
        wanted = floor32(trees.threshold[asked])
        power = _doublings(wanted, name)
        doublings.append(power)
        given[asked] = before_slack(scaled(wanted, power))[0]
    return SolrThresholds(given, tuple(doublings))


def before_slack(wanted: Features) -> tuple[Features, Flags]:
    """A float for each number that becomes it when the slack is added, and whether there is one."""
    near = wanted - SLACK
    with np.errstate(over="ignore"):
        below, above = (np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf))
    found, reached = wanted, wanted + SLACK == wanted
    for candidate in (near, below, above):
        hits = (candidate + SLACK == wanted) & ~reached
        found, reached = np.where(hits, candidate, found), reached | hits
    return found, reached


def scaled(numbers: Features, doublings: int) -> Features:
    """Numbers times a power of two; those that all floats are below may become infinite."""
    with np.errstate(over="ignore"):
        return np.ldexp(numbers, doublings)


def _doublings(wanted: Features, name: str) -> int:
    """How often values must be doubled until every threshold can be reached."""
    for power in range(MOST_DOUBLINGS + 1):
        numbers = scaled(wanted, power)
        if (np.isinf(numbers) & (np.abs(wanted) < np.inf) & (wanted < LARGEST)).any():
            break  # values on both sides of a threshold would become infinite
        if before_slack(numbers)[1].all():
            return power
    unreached = wanted[~before_slack(wanted)[1]]
    raise ArgumentError(
        f"Solr cannot decide whether {name} is at most {unreached[0]!s}: it adds 1e-6 to thresholds",
        place=name,
        value=float(unreached[0]),
        rule="Thresholds of one feature may differ by a factor of about 1e36 at most, since all are scaled alike",
        remedy="Train on that feature in another unit, or on its logarithm",
    )
