"""Cells put together: all draws of a pair and a size, and how two systems compare in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from _adaptation_cells import MEASURES, PEERS
from _adaptation_pairs import PAIRS, Pair
from rankinite.adapt.methods.catalogue import AVERAGE, METHODS
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
RESAMPLES = 10_000
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

    def gains(self, first: str, second: str) -> np.ndarray | None:
        """The differences of the counted test queries, shape (draws that have both, queries); None where none has."""
        both = [cell for cell in self.cells if has(cell, first) and has(cell, second)]
        if not both:
            return None
        found = np.asarray([values(cell, first) - values(cell, second) for cell in both])
        return found[:, ~np.isnan(found[0])]

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
    """How two systems differ, pair of domains by pair: sizes and draws of one pair share their test queries and background."""

    gains: Mapping[str, float]
    """For each pair the difference, mean over its sizes, draws and tests."""

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.gains.values()))) if self.gains else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, the pairs being a sample of all there could be."""
        return t_interval(list(self.gains.values())) if len(self.gains) > 1 else (-np.inf, np.inf)

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
        """In how many pairs the first is above, and in how many below."""
        return f"{sum(gain > 0 for gain in self.gains.values())}/{sum(gain < 0 for gain in self.gains.values())}"


def contrast(groups: Iterable[Group], first: str, second: str, wheres: Iterable[str] | None = (CLOSED,)) -> Contrast:
    """The differences of all pairs; ``wheres``: on which tests, None: on every open one."""
    found: dict[str, list[float]] = {}
    for group in groups:
        for where in group.opens if wheres is None else wheres:
            gain = group.difference(first, second, where)
            if gain is not None:
                found.setdefault(group.pair.name, []).append(gain)
    return Contrast({name: float(np.mean(gains)) for name, gains in found.items()})


def bootstrapped(groups: Iterable[Group], first: str, second: str) -> tuple[float, float]:
    """The 95 % interval of the mean over pairs by a hierarchical bootstrap of pairs, and in each of its draws and queries.

    The draws of all sizes of a pair are drawn together, and so are its queries, which they share. Sizes are no sample.
    """
    random = np.random.default_rng(0)
    pairs: dict[str, list[np.ndarray]] = {}
    for group in groups:
        gains = group.gains(first, second)
        if gains is not None:
            pairs.setdefault(group.pair.name, []).append(gains)
    if not pairs:
        return -np.inf, np.inf
    inside = np.stack([_redrawn(sizes, random) for sizes in pairs.values()])
    chosen = random.integers(len(inside), size=(len(inside), RESAMPLES))
    means = inside[chosen, random.integers(RESAMPLES, size=chosen.shape)].mean(axis=0)
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return low, high


def _redrawn(sizes: Sequence[np.ndarray], random: np.random.Generator) -> np.ndarray:
    """The mean difference of a pair for draws and queries drawn anew, RESAMPLES times; one array (draws, queries) per size."""
    draws, queries = min(len(gains) for gains in sizes), sizes[0].shape[1]
    often = random.multinomial(draws, np.full(draws, 1 / draws), size=RESAMPLES) / draws
    each = random.multinomial(queries, np.full(queries, 1 / queries), size=RESAMPLES) / queries
    return np.mean([((often @ gains[:draws]) * each).sum(axis=1) for gains in sizes], axis=0)
