"""The rule of ADR 27 on kept cells: every pair decided by a prior of the other pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from _adaptation_groups import CHOSEN, RECOMMENDED, Group, values
from rankinite.adapt import gain_prior as kept
from rankinite.adapt.decision import RISK, TOLERATE
from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import GainPrior
from rankinite.adapt.methods.catalogue import METHODS

SINGLE = tuple(method.name for method in METHODS if kept.prior_for(method.name) is kept.SINGLE)
FAMILIES = {"AVERAGE": ("average",), "SINGLE": SINGLE, "TARGET_ALONE": ("target",)}
"""Constant → the methods whose gains it is estimated from."""
Cell = Mapping[str, Any]


def difference(cell: Cell, name: str) -> np.ndarray:
    """The method minus the background on every counted test query."""
    found = values(cell, name) - values(cell, "background")
    return found[~np.isnan(found)]


def effects(group: Group, names: Sequence[str]) -> tuple[list[float], float]:
    """Gains of methods in standard deviations between queries, mean over draws; and the variance that sampling gives each."""
    found, errors = [], []
    for name in names:
        gains = [difference(cell, name) for cell in group.cells if name in cell["systems"]]
        changed = [gain for gain in gains if gain.std() > 0.0]
        if changed:
            found.append(float(np.mean([gain.mean() / gain.std(ddof=1) for gain in changed])))
            errors.append(1.0 / len(changed[0]))
    return found, float(np.mean(errors))


def estimate(groups: Sequence[Group], names: Sequence[str]) -> GainPrior:
    """By moments: the mean over pairs; the spread between pairs and between methods, sampling error taken off, mean's added."""
    found = [effects(group, names) for group in groups if group.place == 0]
    means = np.asarray([np.mean(gains) for gains, _ in found])
    between, sampling = means.var(ddof=1), np.mean([error for _, error in found])
    methods = np.mean([np.var(gains, ddof=1) if len(gains) > 1 else 0.0 for gains, _ in found])
    variance = max(0.0, between - sampling) + methods + between / len(means)
    return GainPrior(round(float(means.mean()), 3), round(float(np.sqrt(variance)), 3), len(means) - 1.0)


def prior_without(groups: Sequence[Group], pair: str, name: str) -> GainPrior:
    """The prior of a method, from all other pairs."""
    family = next((names for names in FAMILIES.values() if name in names), SINGLE)
    return estimate([group for group in groups if group.pair.name != pair], family)


def evidence_of(cell: Cell, mean: float, variance: float) -> GainEvidence:
    """What the cell's target queries say, with the background's variance on the test queries."""
    return GainEvidence.pooled(cell["queries"], mean, variance, float(np.nanvar(values(cell, "background"), ddof=1)))


def recommended(found: GainPosterior) -> bool:
    return found.expected > 0.0 and found.loss_chance <= RISK


def posterior(cell: Cell, prior: GainPrior) -> GainPosterior:
    """What is to be expected of the chosen method, by its cross-validated mean and this prior.

    Cells keep the cross-validated mean of every method, not its queries, so the deviation between queries is taken from the
    test queries.
    """
    name = cell[CHOSEN]
    mean = cell["systems"][name]["unseen"] - cell["systems"]["background"]["unseen"]
    return GainPosterior.of(evidence_of(cell, mean, difference(cell, name).var(ddof=1)), prior, TOLERATE)


def decided(groups: Sequence[Group]) -> list[Group]:
    """The groups with what the rule recommends in every cell, each pair by a prior of the others."""
    found: list[Group] = []
    for group in groups:
        cells = []
        for cell in group.cells:
            known = posterior(cell, prior_without(groups, group.pair.name, cell[CHOSEN]))
            cells.append({**cell, RECOMMENDED: cell[CHOSEN] if recommended(known) else "background"})
        found.append(replace(group, cells=tuple(cells)))
    return found
