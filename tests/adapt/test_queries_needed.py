"""The number of queries needed is enough in nine of ten simulated cases, and is not stated where it is unknown."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import target
from oracles.choices import choice_by_hand, choice_of, noisy
from rankinite.adapt.decision import decide
from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import AVERAGE, SINGLE, prior_for
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.queries_needed import SURE, Effect, least_queries, slope_of

NDCG = rk.NDCG(10)
SPREAD = 0.3
"""The standard deviation of the differences, and half that of the background's values: the usual one."""


def recommended(effect, queries, repeats, seed=0):
    """The share of samples of as many queries, with this true gain, for which the change is recommended."""
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(repeats):
        background = random.normal(0.5, 2.0 * effect.deviation, queries)
        method = background + random.normal(effect.gain, effect.deviation, queries)
        found += decide({"background": background, "smart": method}).recommended == "smart"
    return found / repeats


@pytest.mark.parametrize("gain", [0.03, 0.06, 0.1])
def test_with_the_number_promised_the_change_is_recommended_in_nine_of_ten_simulated_cases(gain):
    effect = Effect(gain, SPREAD)
    least = least_queries(effect, 40, SINGLE, 0.1, 0.01)
    assert recommended(effect, least, 1500) == pytest.approx(SURE, abs=0.03)


def test_fewer_queries_than_promised_are_not_enough():
    effect = Effect(0.06, SPREAD)
    least = least_queries(effect, 40, SINGLE, 0.1, 0.01)
    assert recommended(effect, least // 3, 1500) < SURE - 0.05


@pytest.mark.parametrize("prior", [SINGLE, AVERAGE])
@pytest.mark.parametrize("slope", [0.0, 0.01])
def test_the_number_is_the_least_for_which_the_rule_holds_at_the_tenth_percentile(prior, slope):
    """Oracle: every number of queries, one by one, and the 10% quantile of the normal distribution by bisection of erf."""
    effect, judged = Effect(0.02, 0.2, slope), 12
    quantile = 1.2815515655446004
    assert 0.5 * (1.0 + math.erf(quantile / math.sqrt(2.0))) == pytest.approx(SURE)
    for queries in range(judged + 1, 10 * judged + 1):
        seen = effect.gain + slope * math.log2(queries / judged) - quantile * effect.deviation / math.sqrt(queries)
        found = GainPosterior.of(GainEvidence(queries, seen, effect.deviation), prior, 0.01)
        if found.expected > 0.0 and found.loss_chance <= 0.1:
            assert least_queries(effect, judged, prior, 0.1, 0.01) == queries
            break
    else:
        assert least_queries(effect, judged, prior, 0.1, 0.01) is None


def test_a_smaller_gain_a_larger_spread_and_a_lower_risk_need_more_and_a_rising_curve_fewer():
    def least(effect, risk=0.1):
        return least_queries(effect, 20, SINGLE, risk, 0.01)

    usual = least(Effect(0.04, 0.2))
    assert least(Effect(0.03, 0.2)) > usual
    assert least(Effect(0.04, 0.25)) > usual
    assert least(Effect(0.04, 0.2), risk=0.05) > usual
    assert least(Effect(0.04, 0.2, slope=0.01)) < usual
    assert least(Effect(1e-6, 0.5)) is None  # more than ten times as many


def test_the_slope_of_a_curve_is_that_of_its_line_and_counts_only_where_it_is_clear():
    random = np.random.default_rng(3)
    sizes, flat = (4, 8, 16, 32), np.full((4, 30), 0.5)
    rising = flat + 0.02 * np.log2(np.asarray(sizes))[:, None]
    curve = LearningCurve(NDCG, sizes, {"background": flat, "smart": rising + random.normal(0, 0.01, flat.shape)})
    assert slope_of(curve, "smart") == pytest.approx(0.02, abs=0.003)
    lower = LearningCurve(rk.PairwiseErrors(), sizes, {"background": flat, "smart": 1.0 - rising})
    assert slope_of(lower, "smart") == pytest.approx(0.02)
    unclear = LearningCurve(NDCG, sizes, {"background": flat, "smart": rising + random.normal(0, 3.0, flat.shape)})
    assert slope_of(unclear, "smart") == 0.0
    assert slope_of(LearningCurve(NDCG, (4,), {name: values[:1] for name, values in curve.values.items()}), "smart") == 0.0


def test_it_is_stated_where_a_gain_is_expected_but_uncertain_and_nowhere_else():
    data = target(25)
    chosen = choice_of(noisy({"background": 1.0, "smart": 0.9, "target": 5.0}, data), data)
    verdict = replace(chosen.verdict, recommended="background", expected=0.02, loss_chance=0.2)
    held = replace(chosen, verdict=verdict)
    found = held.queries_needed
    background, method = (chosen.unseen[name][NDCG].per_query for name in ("background", "smart"))
    deviation = GainEvidence.of(method, background).deviation
    least = least_queries(Effect(0.02, deviation), 25, prior_for("smart"), 0.1, 0.01)
    assert (found.judged, found.more) == (25, None if least is None else least - 25)
    assert held.to_dict()["queries_needed"] == {"judged": 25, "more": found.more, "sure": SURE}
    for other in (
        replace(verdict, recommended="smart"),
        replace(verdict, expected=-0.001),
        replace(verdict, ranks=False),
    ):
        none = replace(chosen, verdict=other)
        assert none.queries_needed is None
        assert none.to_dict()["queries_needed"] is None
        assert "more queries" not in " ".join(none.recommendation())


def test_the_sentence_has_no_more_digits_than_are_known():
    choice = choice_by_hand({"background": (19,), "smart": (1, 20), "target": (5,)}, queries=20)
    assert choice.verdict.recommended == "background"
    needed = choice.queries_needed
    sentence = next(one for one in choice.recommendation() if "queries" in one and "clear" in one)
    if needed.more is None:
        assert sentence == "Even 200 judged queries would hardly make so small a gain clear."
    else:
        shown = int(sentence.split()[2])
        assert needed.more <= shown < needed.more * 1.1 + 1
    larger = replace(choice, verdict=replace(choice.verdict, expected=0.1))
    more = larger.queries_needed.more
    shown = next(one for one in larger.recommendation() if one.startswith("Judge about"))
    assert shown.endswith(" more queries to be 90% sure that this gain becomes clear, if it is as large as expected.")
    assert 0 <= int(shown.split()[2]) - more < 10
