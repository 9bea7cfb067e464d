"""The choice of defaults: the candidate for a set is chosen by the other sets alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from _defaults_fits import Found, path_of, read
from _defaults_sets import SETS, Set
from _defaults_systems import CANDIDATES, OLD_COUNT, OLD_NAME, OUT_OF_BOX

REGIMES = ("with", "without")
"""With validation data, or without."""
FIRST_SEED = (0,)


class Option(NamedTuple):
    """A system, and its number of trees without validation data."""

    system: str
    trees: int = OUT_OF_BOX

    def __str__(self) -> str:
        return self.system if self.trees == OUT_OF_BOX else f"{self.system}, {self.trees} trees"


OLD_OPTION = Option(OLD_NAME, OLD_COUNT)
Values = Mapping[str, np.ndarray]
"""Set → the value of every test query."""


@cache
def found(name: str, fold: int, system: str, seed: int) -> Found:
    return read(path_of(name, fold, system, seed))


@cache
def queries_of(name: str) -> int:
    """Training queries of a set's first fold."""
    return _set(name).folds()[0].train.queries


def measured(name: str, option: Option, regime: str, seeds: tuple[int, ...] = FIRST_SEED) -> np.ndarray:
    """The value of every test query of all folds, the mean over seeds; NaN for queries of one grade and folds not fitted."""
    per_seed = [np.concatenate([_tested(name, fold, option, seed, regime) for fold in _folds(name)]) for seed in seeds]
    return np.mean(per_seed, axis=0)


def is_fitted(system: str, sets: Iterable[str]) -> bool:
    """Whether a system was fitted in all folds of these sets."""
    return all(path_of(name, fold, system, 0).exists() for name in sets for fold in _folds(name))


def fitted_folds(name: str, system: str) -> int:
    return sum(path_of(name, fold, system, 0).exists() for fold in _folds(name))


def chosen_trees(name: str, system: str) -> list[int]:
    """How many trees held-out queries chose in each fold."""
    return [found(name, fold, system, 0).out_of_box_trees for fold in _folds(name)]


def _set(name: str) -> Set:
    return next(one for one in SETS if one.name == name)


def _folds(name: str) -> range:
    return range(_set(name).count)


def _tested(name: str, fold: int, option: Option, seed: int, regime: str) -> np.ndarray:
    if not path_of(name, fold, option.system, seed).exists():
        return np.full(_set(name).folds()[fold].test.queries, np.nan)
    one = found(name, fold, option.system, seed)
    return one.with_validation() if regime == "with" else one.without_validation(option.trees)


@dataclass(frozen=True)
class Table:
    """Means of all candidates on all sets, out of the box."""

    sets: tuple[str, ...]
    candidates: tuple[str, ...]
    means: Mapping[str, np.ndarray]
    """Regime → sets × candidates."""

    def best(self, sets: Iterable[str]) -> str:
        """The candidate with the best mean over these sets, each counting alike, and over the regimes."""
        rows = [self.sets.index(name) for name in sets]
        return self.candidates[int(np.argmax(sum(self.means[regime][rows].mean(axis=0) for regime in REGIMES)))]

    def mean(self, candidate: str, regime: str) -> float:
        return float(self.means[regime][:, self.candidates.index(candidate)].mean())


def table_of(sets: Iterable[str]) -> Table:
    """The candidates that were fitted everywhere."""
    sets = tuple(sets)
    names = tuple(name for name in CANDIDATES if is_fitted(name, sets))
    means = {
        regime: np.asarray([[np.nanmean(measured(name, Option(one), regime)) for one in names] for name in sets])
        for regime in REGIMES
    }
    return Table(sets, names, means)


def left_out(table: Table) -> dict[str, Option]:
    """For each set the candidate that all other sets choose."""
    return {name: Option(table.best([other for other in table.sets if other != name])) for name in table.sets}


def tuned(table: Table, name: str, regime: str) -> Option:
    """The candidate, and without validation data the number of trees, with the best mean on the validation parts of a set's
    folds; the test parts are not looked at.
    """
    options = [Option(one, trees) for one in table.candidates for trees in _counts(one, regime)]
    return max(options, key=lambda option: np.mean([_validated(name, fold, option, regime) for fold in _folds(name)]))


def _counts(candidate: str, regime: str) -> tuple[int, ...]:
    """With validation data early stopping says how many trees; without, they are chosen too."""
    return (OUT_OF_BOX,) if regime == "with" else CANDIDATES[candidate].counts


def _validated(name: str, fold: int, option: Option, regime: str) -> float:
    one = found(name, fold, option.system, 0)
    return one.valid_value() if regime == "with" else one.valid[min(option.trees, len(one.valid)) - 1]


def values_of(choice: Mapping[str, Option], regime: str, seeds: tuple[int, ...] = FIRST_SEED) -> dict[str, np.ndarray]:
    """Set → test values of the option chosen for it."""
    return {name: measured(name, option, regime, seeds) for name, option in choice.items()}
