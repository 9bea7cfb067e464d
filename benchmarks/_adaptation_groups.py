"""Cells put together: all draws of a pair and a size, and how two systems compare in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from _adaptation_cells import MEASURES, PEERS
from _adaptation_pairs import PAIRS, Pair
from rankinite.adapt.methods import AVERAGE, METHODS
from rankinite.evaluation.significance import holm, paired_differences, randomisation, t_interval
from rankinite.grid import number

CHOSEN, RECOMMENDED = "chosen", "recommended"
DECIDED = (CHOSEN, RECOMMENDED)
"""What is decided in each draw: the method taken, and the same or, where that is not surely better, the background."""
BASELINES = ("background", "target")
CLOSED = "test"
NDCG10 = str(MEASURES[0])
SIZES = ("fewest", "some", "all")
"""What the sizes of a pair are called where pairs are put together."""
NAMES = (*DECIDED, *(method.name for method in METHODS), AVERAGE.name, *PEERS)
"""Every system in the order of the tables."""


def values(cell: Mapping[str, Any], name: str, measure: str = NDCG10, where: str = CLOSED) -> np.ndarray:
    """One value a test query; NaN where a query tells nothing."""
    own = cell["systems"][cell[name] if name in DECIDED else name]
    return np.asarray(own["test"][measure] if where == CLOSED else own["opens"][where][measure], float)


def has(cell: Mapping[str, Any], name: str) -> bool:
    return name in (cell if name in DECIDED else cell["systems"])


@dataclass(frozen=True)
class Group:
    """All draws of a pair and a size."""

    pair: Pair
    size: int | None
    cells: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        return f"{self.pair.name}, {'all ' if self.size is None else ''}{self.cells[0]['queries']} target queries"

    @property
    def place(self) -> int:
        """Which of the pair's sizes it is."""
        return self.pair.sizes.index(self.size)

    @property
    def opens(self) -> tuple[str, ...]:
        return tuple(next(iter(self.cells[0]["systems"].values()))["opens"])

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """What every draw has."""
        return tuple(name for name in NAMES if all(has(cell, name) for cell in self.cells))

    @property
    def partial(self) -> tuple[str, ...]:
        """What some draws have, and others have not."""
        return tuple(name for name in NAMES if name not in self.systems and any(has(cell, name) for cell in self.cells))

    def per_query(self, name: str, measure: str = NDCG10) -> np.ndarray:
        """The mean over the draws of each counted test query."""
        mean = np.mean([values(cell, name, measure) for cell in self.cells], axis=0)
        return mean[~np.isnan(mean)]

    def mean(self, name: str, measure: str = NDCG10) -> float:
        return float(self.per_query(name, measure).mean())

    def difference(self, first: str, second: str, where: str = CLOSED) -> float | None:
        """Mean over queries and the draws that have both; None where none has."""
        both = [cell for cell in self.cells if has(cell, first) and has(cell, second)]
        if not both or (where != CLOSED and where not in self.opens):
            return None
        return float(np.mean([np.nanmean(values(c, first, where=where) - values(c, second, where=where)) for c in both]))

    def tested(self) -> dict[tuple[str, str], tuple[float, float]]:
        """(system, baseline) → difference, and p-value corrected for all these pairs, as ``rk.compare`` does."""
        pairs = [
            (name, base)
            for name in self.systems
            for base in BASELINES
            if base in self.systems and name != base and (base, name) != BASELINES
        ]
        gains = [paired_differences(self.per_query(name), self.per_query(base)) for name, base in pairs]
        corrected = holm([randomisation(gain) for gain in gains]).tolist() if gains else []
        return {pair: (float(gain.mean()), p) for pair, gain, p in zip(pairs, gains, corrected, strict=True)}


def below(first: np.ndarray, baselines: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """How a system differs from the better baseline, and the p-value of that, corrected for all baselines.

    Only pairs with this one system are corrected for: more of them would make it easier never to be significantly worse.
    """
    gains = {name: paired_differences(first, own) for name, own in baselines.items()}
    corrected = dict(zip(gains, holm([randomisation(gain) for gain in gains.values()]).tolist(), strict=True))
    better = max(baselines, key=lambda name: float(baselines[name].mean()))
    return float(gains[better].mean()), corrected[better]


def grouped(cells: Iterable[Mapping[str, Any]]) -> list[Group]:
    """The groups in the order of the pairs and sizes."""
    found: dict[tuple[str, int | None], list[Mapping[str, Any]]] = {}
    for cell in cells:
        found.setdefault((cell["pair"], cell["size"]), []).append(cell)
    return [
        Group(pair, size, tuple(sorted(found[pair.name, size], key=lambda cell: cell["draw"])))
        for pair in PAIRS.values()
        for size in pair.sizes
        if (pair.name, size) in found
    ]


def merged(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Cells of two kinds as one where pair, size and draw are the same."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in (*first, *second):
        key = cell["pair"], cell["size"], cell["draw"]
        known = found.get(key, {"systems": {}})
        found[key] = {**known, **cell, "systems": {**known["systems"], **cell["systems"]}}
    return list(found.values())


@dataclass(frozen=True)
class Contrast:
    """How two systems differ, group by group."""

    gains: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.gains)) if self.gains else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        return t_interval(self.gains) if self.gains else (-np.inf, np.inf)

    @property
    def sign(self) -> int:
        """1 or −1 where the interval is on one side of 0, else 0."""
        low, high = self.interval
        return 1 if low > 0 else -1 if high < 0 else 0

    def __str__(self) -> str:
        half = (self.interval[1] - self.interval[0]) / 2
        return f"{number(self.mean, signed=True)} ±{number(half) if np.isfinite(half) else '–'}" if self.gains else "–"

    @property
    def counts(self) -> str:
        """In how many groups the first is above, and in how many below."""
        return f"{sum(gain > 0 for gain in self.gains)}/{sum(gain < 0 for gain in self.gains)}"


def contrast(groups: Iterable[Group], first: str, second: str, wheres: Iterable[str] | None = (CLOSED,)) -> Contrast:
    """The differences of all groups; ``wheres``: on which tests, None: on every open one."""
    found = [
        group.difference(first, second, where)
        for group in groups
        for where in (group.opens if wheres is None else wheres)
    ]  # fmt: skip
    return Contrast(tuple(gain for gain in found if gain is not None))
