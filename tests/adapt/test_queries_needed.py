"""The number of queries needed is enough in nine of ten simulated cases, and is not stated where it is unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

import rankinite as rk
from oracles.adapting import target
from oracles.choices import choice_by_hand, choice_of, noisy, normal_gain, redecided
from rankinite.adapt.decision import decide, decision_of
from rankinite.adapt.gain import GainEvidence, GainPosterior, Signs, prior_for
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.queries_needed import MOST_TIMES, SURE, Effect, least_queries, slope_of

NDCG = rk.NDCG(10)
SPREAD = 0.3
"""The standard deviation of the differences, and half that of the background's values: the usual one."""
SHIFTED, PICKED, ALIKE = Signs(0.9, 0.3, 300), Signs(None, 0.0, None, picked=True), Signs(0.0, -0.3, 1500)


def deploys(effect, queries, mean, signs):
    """Whether the change is deployed by the rule where these queries have this mean difference."""
    clear = 2.0 * stats.norm.sf(math.sqrt(queries) * mean / effect.deviation) <= 0.05
    found = GainPosterior.of(GainEvidence(queries, mean, effect.deviation), signs)
    return decision_of(found, 0.1, 0.01, clear=clear) == "deploy"


def share_deployed(effect, queries, signs, repeats=2000):
    """How often, where the mean difference is drawn as the model has it: it lags behind, and now and then misleads."""
    random = np.random.default_rng(queries)
    wide = np.where(random.random(repeats) < 0.1, 3.0, 1.0)
    prior = prior_for(signs)
    errors = np.sqrt(prior.noise / queries) * wide * random.standard_normal(repeats) - prior.lag / np.sqrt(queries)
    return np.mean([deploys(effect, queries, effect.gain + effect.deviation * error, signs) for error in errors])


@pytest.mark.parametrize("gain", [0.06, 0.08, 0.1])
@pytest.mark.parametrize("signs", [SHIFTED, PICKED, ALIKE])
def test_with_the_number_promised_the_change_is_deployed_in_nine_of_ten_simulated_cases(gain, signs):
    effect = Effect(gain, SPREAD)
    least = least_queries(effect, 50, signs, 0.1, 0.01)
    assert share_deployed(effect, least, signs) == pytest.approx(SURE, abs=0.03)


def test_fewer_queries_than_promised_are_not_enough():
    effect = Effect(0.1, SPREAD)
    least = least_queries(effect, 20, PICKED, 0.1, 0.01)
    assert share_deployed(effect, least // 3, PICKED) < SURE - 0.1


def test_the_number_promised_is_more_than_enough_where_folds_mislead_no_more_than_sampling():
    """Values are drawn query by query, and the whole decision is taken."""
    effect, random, deployed = Effect(0.1, SPREAD), np.random.default_rng(1), 0
    least = least_queries(effect, 40, PICKED, 0.1, 0.01)
    for _ in range(200):
        background = random.normal(0.5, 2.0 * SPREAD, least)
        method = background + random.normal(effect.gain, SPREAD, least)
        deployed += decide({"background": background, "smart": method}).decision == "deploy"
    assert deployed / 200 >= SURE


@pytest.mark.parametrize("signs", [SHIFTED, PICKED])
@pytest.mark.parametrize("slope", [0.0, 0.01])
def test_the_number_is_the_least_for_which_the_rule_holds_at_the_tenth_percentile(signs, slope):
    """Oracle: every number of queries, one by one, and the quantile of the mixture of two normal distributions."""
    effect, judged = Effect(0.06, 0.2, slope), 12
    prior = prior_for(signs)
    deviation = math.sqrt(prior.noise)

    def surplus(error):
        return 0.9 * stats.norm.cdf(error, 0.0, deviation) + 0.1 * stats.norm.cdf(error, 0.0, 3.0 * deviation) - SURE

    below = optimize.bisect(surplus, 0.0, 20.0) + prior.lag
    for queries in range(judged + 1, MOST_TIMES * judged + 1):
        gain = effect.gain + slope * math.log2(queries / judged)
        if deploys(effect, queries, gain - below * effect.deviation / math.sqrt(queries), signs):
            assert least_queries(effect, judged, signs, 0.1, 0.01) == queries
            break
    else:
        assert least_queries(effect, judged, signs, 0.1, 0.01) is None


def test_a_smaller_gain_a_larger_spread_and_a_lower_risk_need_more_and_a_rising_curve_fewer():
    def least(effect, risk=0.1):
        return least_queries(effect, 40, PICKED, risk, 0.01)

    usual = least(Effect(0.1, 0.3))
    assert least(Effect(0.08, 0.3)) > usual
    assert least(Effect(0.1, 0.35)) > usual
    assert least(Effect(0.1, 0.3), risk=0.02) >= usual
    assert (least(Effect(0.1, 0.3), risk=1e-4) or math.inf) > usual  # None: more than ten times as many
    assert least(Effect(0.1, 0.3, slope=0.02)) < usual
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


def test_it_is_stated_where_a_gain_is_expected_but_not_clear_and_nowhere_else():
    data = target(25)
    chosen = choice_of(noisy({"background": 1.0, "smart": 0.9, "target": 5.0}, data), data)
    background, method = (chosen.unseen[name][NDCG].per_query for name in ("background", "smart"))
    deviation = GainEvidence.of(method, background).deviation
    least = least_queries(Effect(0.02, deviation), 25, chosen.verdict.signs, 0.1, 0.01)
    stated = {
        "keep": redecided(chosen, gain=normal_gain(0.02, 0.2), clear=False),
        "try online": redecided(chosen, gain=normal_gain(0.02, 0.09), clear=False),
    }
    for decision, choice in stated.items():
        found = choice.queries_needed
        assert choice.verdict.decision == decision
        assert (found.judged, found.more) == (25, None if least is None else least - 25)
        assert choice.to_dict()["queries_needed"] == {"judged": 25, "more": found.more, "sure": SURE}
    for facts in (
        {"gain": normal_gain(0.02, 0.03), "clear": True},  # deployed
        {"gain": normal_gain(-0.001, 0.3)},
        {"gain": normal_gain(0.02, 0.03), "noise_chance": 0.5},
    ):
        none = redecided(chosen, **facts)
        assert none.queries_needed is None
        assert none.to_dict()["queries_needed"] is None
        assert "more judged queries" not in " ".join(none.recommendation())


def test_the_sentence_has_no_more_digits_than_are_known():
    choice = choice_by_hand({"background": (19,), "smart": (1, 20), "target": (5,)}, queries=20)
    small = redecided(choice, gain=normal_gain(1e-4, 0.2), clear=False)
    assert small.queries_needed.more is None
    assert "Even 200 judged queries would hardly make so small a gain clear." in small.recommendation()
    larger = redecided(choice, gain=normal_gain(0.1, 0.2), clear=False)
    more = larger.queries_needed.more
    sentence = next(one for one in larger.recommendation() if "more judged queries" in one)
    assert sentence.startswith("About ")
    assert sentence.endswith(
        " more judged queries would make it clear with a probability of 90%, if it is as large as expected."
    )
    assert 0 <= int(sentence.split()[1]) - more < max(1, more / 10)
