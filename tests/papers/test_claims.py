"""Verdicts: a claim holds, fails or stays open by what the differences show, corrected for all claims of the item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from papers.claims import ALIKE, BETTER, WORSE, Compared, Measured, Undecidable, findings
from papers.experiment import Case, Outcome, Outcomes

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be decided here"


def data(mean: float, spread: float = 0.1, queries: int = 1000, *, real: bool = True) -> tuple[Case, Outcome]:
    """System a is above b by exactly this mean, with this spread over queries."""
    noise = np.random.default_rng(1).normal(size=queries)
    noise = spread * (noise - noise.mean()) / noise.std()
    values = {"a": {"ndcg@10": 0.5 + mean + noise}, "b": {"ndcg@10": np.full(queries, 0.5)}}
    return Case(f"{mean} {real}", "unit" if real else "world", "mq2007" if real else ""), Outcome({"test": values})


def verdict(says, *found) -> str:
    return findings([Compared("a is … than b", "a", "b", says)], Outcomes(found))[0].verdict


@pytest.mark.parametrize(
    ("mean", "better", "worse", "alike"),
    [
        (0.03, HOLDS, FAILS, FAILS),
        (-0.03, FAILS, HOLDS, FAILS),
        (0.0, OPEN, OPEN, OPEN),  # ±0.006: neither shown to differ nor shown to be within 0.005
        (0.0095, HOLDS, FAILS, OPEN),
    ],
)
def test_verdicts(mean, better, worse, alike):
    found = [verdict(says, data(mean)) for says in (BETTER, WORSE, ALIKE)]
    assert found == [better, worse, alike]


def test_a_difference_shown_to_be_tiny_refutes_better_and_proves_alike():
    tiny = data(0.0001, spread=0.01)
    assert [verdict(says, tiny) for says in (BETTER, WORSE, ALIKE)] == [FAILS, FAILS, HOLDS]


def test_a_surely_better_system_is_better_however_little():
    """0.001 ± 0.0002 is on the side that the paper says, and that decides before the margin does."""
    assert verdict(BETTER, data(0.001, spread=0.003)) == HOLDS


def test_real_data_are_asked_first_and_artificial_ones_where_they_are_silent():
    silent, above, below = data(0.0, spread=1.0), data(0.03, real=False), data(-0.03, real=False)
    assert verdict(BETTER, silent, above) == HOLDS
    assert verdict(BETTER, silent, below) == FAILS
    assert verdict(BETTER, data(0.03), below) == HOLDS
    assert verdict(BETTER, silent) == OPEN


def test_claims_of_an_item_are_corrected_together():
    """p = 0.025 or so: enough alone, not as one of five."""
    found = data(0.0072)
    claim = Compared("a is better than b", "a", "b")
    assert findings([claim], Outcomes([found]))[0].verdict == HOLDS
    assert {one.verdict for one in findings([replace(claim, text=f"{n}") for n in range(5)], Outcomes([found]))} == {OPEN}


def test_the_margin_of_dcg_is_half_a_percent_of_its_level():
    case, outcome = data(0.03, spread=0.1)
    values = {name: {"dcg@10": 20.0 * own["ndcg@10"]} for name, own in outcome.tests["test"].items()}
    small = Outcome({"test": {"a": {"dcg@10": values["b"]["dcg@10"] + 0.001}, "b": values["b"]}})
    alike = Compared("as good", "a", "b", ALIKE, measure="dcg@10")
    assert findings([alike], Outcomes([(case, Outcome({"test": values}))]))[0].verdict == FAILS
    assert findings([alike], Outcomes([(case, small)]))[0].verdict == HOLDS  # 0.001 of 10


def test_only_the_cases_asked_for_count():
    case, outcome = data(0.03)
    few = replace(case, name="few", settings={"size": 5})
    many = replace(case, name="many", settings={"size": 50})
    worse = data(-0.03)[1]
    claims = [Compared("few", "a", "b", at={"size": 5}), Compared("many", "a", "b", at={"size": 50})]
    assert [one.verdict for one in findings(claims, Outcomes([(few, outcome), (many, worse)]))] == [HOLDS, FAILS]


def test_reasons_are_given_unless_the_claim_holds():
    claims = [
        Compared("a is better", "a", "b", why="because"),
        Compared("a is worse", "a", "b", WORSE, why="because"),
        Measured("so", lambda _: ("seen", True), why="because"),
        Measured("not so", lambda _: ("seen", False), why="because"),
        Measured("who knows", lambda _: ("seen", None), why="because"),
        Undecidable("the past", why="because"),
    ]
    found = findings(claims, Outcomes([data(0.03)]))
    assert [one.verdict for one in found] == [HOLDS, FAILS, HOLDS, FAILS, OPEN, OPEN]
    assert [one.why for one in found] == ["", "because", "", "because", "because", "because"]


def test_without_results_nothing_is_said():
    claims = [Compared("a is better", "a", "b"), Measured("so", lambda _: ("seen", True))]
    assert {one.verdict for one in findings(claims, Outcomes([]))} == {"not run"}
    assert findings([Compared("c is better", "c", "b")], Outcomes([data(0.03)]))[0].verdict == "not run"


def test_artificial_data_settle_nothing_that_real_data_point_away_from():
    """Real data that are sure before correction, and not as one of five, keep the artificial ones from deciding."""
    below, above = data(-0.0072), data(0.03, real=False)
    claims = [Compared(f"{n}", "a", "b") for n in range(5)]
    assert {one.verdict for one in findings(claims, Outcomes([below, above]))} == {OPEN}
    silent = data(-0.0030)
    assert {one.verdict for one in findings(claims, Outcomes([silent, above]))} == {HOLDS}
