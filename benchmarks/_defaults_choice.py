"""The choice of defaults: an option is a candidate with its number of trees; the choice for a set never looks at that set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from _defaults_fits import Found, path_of, read
from _defaults_sets import SETS, Set
from _defaults_systems import CANDIDATES, OLD_COUNT, OLD_NAME, ROUNDS, SYSTEMS

REGIMES = ("with", "without")
"""With validation data, or without."""
LARGE = 200
"""Training queries from which a set is called large, where a rule by size is tried."""
FIRST_SEED = (0,)


class Option(NamedTuple):
    """What defaults may be: a candidate, and its number of trees, which is also the limit of early stopping."""

    candidate: str
    trees: int

    def __str__(self) -> str:
        return f"{self.candidate}, {self.trees} trees"


OLD_OPTION = Option(OLD_NAME, OLD_COUNT)
Values = Mapping[str, np.ndarray]
"""Set → the value of every test query."""
Rule = Callable[[Iterable[str]], Callable[[str], Option]]
"""From the sets that may be looked at to the option for any set."""


@cache
def found(name: str, fold: int, system: str, seed: int) -> Found:
    return read(path_of(name, fold, system, seed))


@cache
def queries_of(name: str) -> int:
    """Training queries of a set's first fold."""
    return _set(name).folds()[0].train.queries


def measured(name: str, system: str, regime: str, trees: int, seeds: tuple[int, ...] = FIRST_SEED) -> np.ndarray:
    """The value of every test query of all folds, the mean over seeds; NaN for queries of one grade and folds not fitted."""
    per_seed = [np.concatenate([_tested(name, fold, system, seed, regime, trees) for fold in _folds(name)]) for seed in seeds]
    return np.mean(per_seed, axis=0)


def is_fitted(system: str, sets: Iterable[str]) -> bool:
    """Whether a system was fitted in all folds of these sets."""
    return all(path_of(name, fold, system, 0).exists() for name in sets for fold in _folds(name))


def fitted_folds(name: str, system: str) -> int:
    return sum(path_of(name, fold, system, 0).exists() for fold in _folds(name))


def _set(name: str) -> Set:
    return next(one for one in SETS if one.name == name)


def _folds(name: str) -> range:
    return range(_set(name).count)


def _tested(name: str, fold: int, system: str, seed: int, regime: str, trees: int) -> np.ndarray:
    if not path_of(name, fold, system, seed).exists():
        return np.full(_set(name).folds()[fold].test.queries, np.nan)
    one = found(name, fold, system, seed)
    return one.with_validation(trees) if regime == "with" else one.without_validation(trees)


@dataclass(frozen=True)
class Table:
    """Means of all options on all sets."""

    sets: tuple[str, ...]
    options: tuple[Option, ...]
    means: Mapping[str, np.ndarray]
    """Regime → sets × options."""

    @property
    def candidates(self) -> list[str]:
        return list(dict.fromkeys(option.candidate for option in self.options))

    def best(self, sets: Iterable[str], regimes: tuple[str, ...] = REGIMES) -> Option:
        """The option with the best mean over these sets, each counting alike, and over the regimes."""
        rows = [self.sets.index(name) for name in sets]
        return self.options[int(np.argmax(sum(self.means[regime][rows].mean(axis=0) for regime in regimes)))]

    def mean(self, option: Option, regime: str) -> float:
        return float(self.means[regime][:, self.options.index(option)].mean())


def table_of(sets: Iterable[str]) -> Table:
    """The candidates that were fitted everywhere."""
    sets = tuple(sets)
    names = [name for name in CANDIDATES if is_fitted(name, sets)]
    options = tuple(Option(name, trees) for name in names for trees in CANDIDATES[name].counts)
    means = {
        regime: np.asarray([[np.nanmean(measured(name, *_asked(option, regime))) for option in options] for name in sets])
        for regime in REGIMES
    }
    return Table(sets, options, means)


def _asked(option: Option, regime: str) -> tuple[str, str, int]:
    return option.candidate, regime, option.trees


# ---- rules -----------------------------------------------------------------------------------------------------------------


def one_for_all(table: Table) -> Rule:
    """The same option for every set."""

    def rule(seen: Iterable[str]) -> Callable[[str], Option]:
        best = table.best(seen)
        return lambda _: best

    return rule


def by_size(table: Table) -> Rule:
    """One option for small sets, another for large ones."""

    def rule(seen: Iterable[str]) -> Callable[[str], Option]:
        seen = list(seen)
        best = {
            large: table.best([name for name in seen if is_large(name) == large]) for large in {is_large(name) for name in seen}
        }
        return lambda name: best[is_large(name)]

    return rule


def is_large(name: str) -> bool:
    return queries_of(name) >= LARGE


def left_out(rule: Rule, sets: Iterable[str]) -> dict[str, Option]:
    """For each set the option that the rule chooses when it sees all other sets."""
    sets = tuple(sets)
    return {name: rule([other for other in sets if other != name])(name) for name in sets}


def tuned(table: Table, name: str, regime: str) -> Option:
    """The option with the best mean on the validation parts of a set's folds; the test parts are not looked at."""
    options = [Option(one, trees) for one in table.candidates for trees in _counts(one, regime)]
    return max(options, key=lambda option: np.mean([_validated(name, fold, option, regime) for fold in _folds(name)]))


def _counts(candidate: str, regime: str) -> tuple[int, ...]:
    """With validation data early stopping says how many trees; without, they are chosen too."""
    return (ROUNDS,) if regime == "with" else CANDIDATES[candidate].counts


def _validated(name: str, fold: int, option: Option, regime: str) -> float:
    one = found(name, fold, option.candidate, 0)
    return one.valid_value(option.trees) if regime == "with" else one.valid[min(option.trees, len(one.valid)) - 1]


def values_of(choice: Mapping[str, Option], regime: str, seeds: tuple[int, ...] = FIRST_SEED) -> dict[str, np.ndarray]:
    """Set → test values of the option chosen for it."""
    return {name: measured(name, *_asked(option, regime), seeds) for name, option in choice.items()}


def peer_values(peer: str, sets: Iterable[str], regime: str, seeds: tuple[int, ...] = FIRST_SEED) -> dict[str, np.ndarray]:
    """Set → test values of a peer with its own number of trees, or its own rounds up to the common limit."""
    trees = ROUNDS if regime == "with" else SYSTEMS[peer].counts[0]
    return {name: measured(name, peer, regime, trees, seeds) for name in sets}
