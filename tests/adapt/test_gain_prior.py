"""The prior: which methods share one, and that it is what the kept cells of the benchmark say."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from rankinite.adapt.decision import RISK, TOLERATE
from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import AVERAGE, PAIRS, SINGLE, SPREAD, TARGET_ALONE, prior_for
from rankinite.adapt.methods.catalogue import AVERAGE as MEAN_OF_METHODS
from rankinite.adapt.methods.catalogue import METHODS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def program(monkeypatch):
    """The program that estimates the prior, and the groups of cells that it reads."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found = import_module("gain_prior")
    cells = [cell for cell in found.read_cells("methods", Path("nothing here")) if cell["draw"] == 0]
    return found, found.grouped(cells)


def test_a_method_that_forgets_the_background_has_another_prior_than_one_that_starts_from_it():
    for method in METHODS:
        assert prior_for(method.name) is (TARGET_ALONE if method.name in {"target", "target-lambda"} else SINGLE)
    assert prior_for(MEAN_OF_METHODS.name) is AVERAGE
    assert TARGET_ALONE.location < 0.0 < SINGLE.location < AVERAGE.location
    assert AVERAGE.without_expectation().location == 0.0
    assert AVERAGE.without_expectation().scale == AVERAGE.scale


def test_the_numbers_are_what_the_cells_say(program):
    """Up to a fraction of their own uncertainty: after the cells are renewed, run benchmarks/gain_prior.py if this fails."""
    estimates, groups = program
    for name, prior in (("AVERAGE", AVERAGE), ("SINGLE", SINGLE), ("TARGET_ALONE", TARGET_ALONE)):
        found = estimates.estimate(groups, estimates.FAMILIES[name])
        assert prior.location == pytest.approx(found.location, abs=0.25 * found.scale)
        assert prior.scale == pytest.approx(found.scale, rel=0.25)
        assert prior.freedom == found.freedom == PAIRS - 1
    ratio = estimates.spreads(groups)
    assert ratio.min() < SPREAD < ratio.max()


def test_each_pair_by_a_prior_of_the_others_costs_next_to_nothing(program):
    """What is recommended is on average within 0.002 of what is chosen, and the promises are about right."""
    estimates, groups = program
    costs, gaps = [], []
    for group in groups:
        cell = group.cells[0]
        gains = estimates.difference(cell, cell["chosen"])
        mean = cell["systems"][cell["chosen"]]["unseen"] - cell["systems"]["background"]["unseen"]
        evidence = estimates.evidence_of(cell, mean, gains.var(ddof=1))
        found = GainPosterior.of(evidence, estimates.prior_without(groups, group.pair.name, cell["chosen"]), TOLERATE)
        deployed = found.expected > 0.0 and found.loss_chance <= RISK
        costs.append(0.0 if deployed else gains.mean())
        gaps.append(found.expected - gains.mean())
    assert abs(sum(costs)) / len(costs) <= 0.002
    assert abs(sum(gaps)) / len(gaps) <= 0.01


def test_before_any_query_is_judged_the_average_is_worth_its_risk_and_no_other_method_is():
    chances = [GainPosterior.of(GainEvidence(0, 0.0, 0.15), prior, TOLERATE).loss_chance for prior in (AVERAGE, SINGLE)]
    assert chances[0] < RISK < chances[1]
