"""Fits of the study of defaults, kept one file each: what a system comes to in one fold with one seed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from _defaults_sets import SETS, Set
from _defaults_systems import OUT_OF_BOX, SYSTEMS, System, Watch, kept_round, ndcg, out_of_box, rankinite
from _measure import SCRATCH, claimed
from rankinite.data.folds import Fold

FOLDER = SCRATCH / "defaults"


@dataclass(frozen=True)
class Found:
    """NDCG@10 of one system in one fold with one seed."""

    valid: list[float]
    """The mean on validation data after every round."""
    tested: dict[int, np.ndarray]
    """Number of trees → the value of every test query."""
    seconds: float
    out_of_box: np.ndarray
    """The value of every test query without validation data, as the system chooses its number of trees."""
    out_of_box_trees: int

    def without_validation(self, count: int) -> np.ndarray:
        """Test values with so many trees, or all there are: training may end when nothing is left to split."""
        return self.out_of_box if count == OUT_OF_BOX else self.tested[min(count, len(self.valid))]

    def with_validation(self) -> np.ndarray:
        """Test values where validation data say how many trees are kept."""
        return self.tested[kept_round(self.valid)]

    def valid_value(self) -> float:
        """What these trees come to on the validation data."""
        return self.valid[kept_round(self.valid) - 1]


def path_of(name: str, fold: int, system: str, seed: int) -> Path:
    return FOLDER / name.replace(" ", "-") / f"{system}-{fold + 1}-{seed}.npz"


def fit(system: System, fold: Fold, seed: int) -> Found:
    """Train on the training part, look at the validation part, measure the test part where that is needed."""
    watch = Watch(fold.valid, max(system.counts))
    started = time.perf_counter()
    staged = system.train(fold.train, watch, system.settings, seed)
    seconds = time.perf_counter() - started
    rounds = len(watch.values)
    wanted = {min(count, rounds) for count in system.counts} | {kept_round(watch.values)}
    stages = zip(range(1, max(wanted) + 1), staged(fold.test), strict=False)
    tested = {count: ndcg(scores, fold.test) for count, scores in stages if count in wanted}
    if system.train is not rankinite:
        default = system.counts[0]
        return Found(watch.values, tested, seconds, tested[min(default, rounds)], default)
    forest = out_of_box(fold.train, system.settings, seed)
    return Found(watch.values, tested, seconds, ndcg(forest.score(fold.test), fold.test), len(forest))


def write(found: Found, path: Path) -> None:
    part = path.with_suffix(".part.npz")
    counts = np.asarray(list(found.tested))
    values = np.stack(list(found.tested.values()))
    chosen = {"out_of_box": found.out_of_box, "out_of_box_trees": found.out_of_box_trees}
    np.savez(part, valid=found.valid, counts=counts, values=values, seconds=found.seconds, **chosen)
    part.replace(path)


def read(path: Path) -> Found:
    with np.load(path) as kept:
        tested = dict(zip(kept["counts"].tolist(), kept["values"], strict=True))
        chosen = kept["out_of_box"], int(kept["out_of_box_trees"])
        return Found(kept["valid"].tolist(), tested, float(kept["seconds"]), *chosen)


def fit_all(names: list[str], sets: list[str], seeds: list[int]) -> None:
    """Make the fits that are not kept yet, the first fold of all sets first; several processes may do so at once."""
    chosen = [one for one in SETS if one.name in sets]
    for seed, system, number, one in product(seeds, names, range(max(one.count for one in chosen)), chosen):
        if number < one.count:
            _fit_one(one, number, system, seed)


def _fit_one(one: Set, number: int, system: str, seed: int) -> None:
    path = path_of(one.name, number, system, seed)
    if path.exists():
        return
    with claimed(path) as ours:
        if ours and not path.exists():
            found = fit(SYSTEMS[system], one.folds()[number], seed)
            write(found, path)
            means = [float(np.nanmean(values)) for values in (found.with_validation(), found.out_of_box)]
            words = f"{means[0]:.4f} {means[1]:.4f} {found.out_of_box_trees:4} trees {found.seconds:6.1f} s"
            print(f"{one.name:16} {number + 1} {system:44} {seed} {words}", flush=True)
