"""Figures are of one source and have the digits that their intervals deserve; tables have the best first."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.adapt.gain import GainPosterior
from rankinite.grid import number
from rankinite.report import of_choice, of_comparison, of_training
from rankinite.report.tables import choice_figures, compared, evaluated, figures
from rankinite.report.verdicts import verdict_of

WORLD = rk.World(documents=6, features=4, noise=0.3)
DATA = rk.synthesise(40, world=WORLD)
SYSTEMS = {f"feature {place}": rk.Feature(place) for place in range(4)}


def digits(text):
    """The digits of a number behind its leading zeros."""
    return len(text.lstrip("±").replace(".", "").lstrip("0"))


def test_the_figures_that_lead_are_of_the_target_and_others_stand_apart(adapted, choice, market):
    """The means are taken anew from what the trials hold: unseen scores of the target, rankers on the test data."""
    _, _, target, _, test = market
    trials = {trial.method.name: trial for trial in choice.trials}
    for shown, scores, data in (
        (adapted.figures, [trials[name].unseen for name in ("background", choice.name)], target),
        (adapted.other_figures[0].figures, [trials[name].ranker.score(test) for name in ("background", choice.name)], test),
    ):
        means = [rk.evaluate(one, data, choice.measure).results[0].mean for one in scores]
        for figure, mean in zip(shown[:2], means, strict=True):
            assert float(figure.value) == pytest.approx(mean, abs=0.0006)
        assert float(shown[2].value) == pytest.approx(means[1] - means[0], abs=0.0006)
    assert target.source in adapted.figures_title
    assert "each judged by rankers that had not seen it" in adapted.figures_title
    assert test.source in adapted.other_figures[0].title
    assert "decided nothing" in adapted.other_figures[0].title
    alone = of_choice(choice, target)
    assert (alone.figures, alone.figures_title) == (adapted.figures, adapted.figures_title)
    assert f": {adapted.figures[2].value} {choice.measure} (" in adapted.verdict[1]


def test_what_to_expect_is_a_figure_beside_those_of_the_queries_unless_other_domains_do_not_apply(choice, market):
    """With its interval, and with the digits that this deserves; for an error that falls, what falls is a gain."""
    target = market[2]
    for measure, sign in ((choice.measure, 1.0), (rk.PairwiseErrors(), -1.0)):
        gain = GainPosterior((1.0,), (0.0312,), (0.01,))
        verdict = replace(choice.verdict, gain=gain, decision="deploy", noise_chance=0.0)
        unseen = rk.compare({trial.method.name: trial.unseen for trial in choice.trials}, target, measure)
        shown = choice_figures(replace(choice, verdict=verdict, measure=measure, unseen=unseen, test=None))["figures"]
        assert shown[-1].label == "expected on new queries"
        ends = sorted(sign * end for end in gain.interval())  # 0.0116 and 0.0508
        assert (float(shown[-1].value), shown[-1].value[0]) == (sign * 0.031, "+" if sign > 0 else "-")
        assert [float(end) for end in shown[-1].note.split(" to ")] == pytest.approx(ends, abs=0.0005)
    noisy = replace(choice, verdict=replace(choice.verdict, noise_chance=0.5, decision="keep"), test=None)
    assert not any("expected" in one.label for one in choice_figures(noisy)["figures"])


def test_tables_have_the_best_first_whether_higher_or_lower_is_better():
    for measure, sign in (("ndcg@5", 1.0), (rk.PairwiseErrors(), -1.0)):
        comparison = rk.compare(SYSTEMS, DATA, [measure, "err"], resamples=50)
        table = compared(comparison, "all", None, ("feature 1",))
        means = [sign * system.results[0].mean for system in table.systems]
        assert means == sorted(means, reverse=True)
        assert {system.name: system.letter for system in table.systems} == dict(comparison.letters)


def test_means_have_two_digits_of_half_their_interval():
    comparison = rk.compare(SYSTEMS, DATA, ["ndcg@5", "err"], resamples=50)
    table = compared(comparison, "all", None, ("feature 0",))
    for place, measure in enumerate(("ndcg@5", "err")):
        halves = [(high - low) / 2 for low, high in (comparison[name][measure].interval for name in SYSTEMS)]
        assert digits(number(sorted(halves)[2], table.decimals[place])) == 2
    for system in table.systems:
        for result, decimals in zip(system.results, table.decimals, strict=True):
            assert len(result.spread.rpartition(".")[2].rstrip(")")) == decimals
    gains = [gain for system in table.systems for gain in system.gains if gain is not None]
    halves = sorted((gain.high - gain.low) / 2 for gain in gains)
    assert digits(number(halves[1], table.gain_decimals[0])) == 2
    hero = figures(comparison, "feature 0", "feature 1", comparison.measures[0])
    pair = comparison.pair("feature 1", "feature 0", "ndcg@5")
    half = (pair.interval[1] - pair.interval[0]) / 2
    decimals = len(hero[2].value.partition(".")[2])
    assert digits(number(half, decimals)) == 2
    assert hero[2].value == f"{pair.difference:+.{decimals}f}"


def test_only_marks_that_occur_are_explained():
    noise = {name: np.random.default_rng(seed).normal(size=DATA.rows) for seed, name in enumerate("ab")}
    plain = compared(rk.compare(noise, DATA, "ndcg", resamples=50), "all", None, ())
    assert not any(result.better_than for system in plain.systems for result in system.results)
    told = " ".join(plain.marks)
    for absent in ("significantly", "Holm", " p ", "<", "corrected"):
        assert absent not in told
    assert "±: half" in told
    clear = {"grades": DATA.grades, **noise}
    several = compared(rk.compare(clear, DATA, "ndcg", resamples=200), "all", None, ("a",))
    told = " ".join(several.marks)
    assert ">: significantly better" in told
    assert "Over a: the gain by ndcg" in told
    assert "Letters and p: Holm-corrected for the 3 pairs tested." in told
    assert not set(several.marks) & set(several.notes)
    one = evaluated(rk.evaluate(SYSTEMS["feature 0"], DATA, "ndcg"), "it", "Evaluation", "")
    assert [mark[:2] for mark in one.marks] == ["±:", "Co"]


def test_a_comparison_is_told_in_short_sentences_with_the_numbers_of_its_pair():
    comparison = rk.compare({"noise": np.random.default_rng(0).normal(size=DATA.rows), "grades": DATA.grades}, DATA, "ndcg")
    pair = comparison.pair("grades", "noise", "ndcg")
    lead, told, counts, *_ = verdict_of(comparison, "noise", "grades", comparison.measures[0])
    assert lead == "grades is better than noise."
    gap, low, high = re.findall(r"[+-]\d\.\d+", told)
    for shown, value in zip((gap, low, high), (pair.difference, *pair.interval), strict=True):
        assert float(shown) == pytest.approx(value, abs=0.6 * 10.0 ** -len(shown.partition(".")[2]))
    sure = f"significantly better (p {pair.randomisation.holm_text.replace('<', 'below')})"
    assert told == f"On 40 queries of {DATA.source}: {gap} ndcg ({low} to {high}), {sure}."
    assert pair.wins > 1
    assert counts == f"Of 40 queries {pair.wins} are better, {pair.losses} worse and {pair.ties} the same."
    turned = verdict_of(comparison, "grades", "noise", comparison.measures[0])
    assert turned[0] == "noise is worse than grades."
    assert f": {gap.replace('+', '-')} ndcg (" in turned[1]
    assert "significantly worse" in turned[1]
    same = rk.compare({"a": DATA.grades, "b": DATA.grades}, DATA, "ndcg")
    assert verdict_of(same, "a", "b", same.measures[0]) == (
        "b is as good as a.",
        f"On 40 queries of {DATA.source}: no difference in ndcg.",
    )


@pytest.mark.parametrize("others", [0, 60])
def test_a_comparison_calls_significant_what_stays_so_among_all_pairs(others):
    """The same two systems: with many others like the old one beside them their p-value is raised above 0.05."""
    random = np.random.default_rng(1)
    scores = {name: DATA.grades + noise * random.normal(size=DATA.rows) for name, noise in (("new", 1.0), ("old", 1.6))}
    scores |= {f"other {place}": DATA.grades + 1.6 * random.normal(size=DATA.rows) for place in range(others)}
    comparison = rk.compare(scores, DATA, "ndcg", against=["old"])
    p, found = comparison.pair("new", "old", "ndcg").randomisation, verdict_of(comparison, "old", "new", rk.NDCG())
    assert p.raw < 0.05
    assert (p.holm > 0.05) == (others > 0) == (found[0] == "We cannot tell whether new is better than old.")
    assert ("not distinguishable from zero" in found[1]) == (others > 0)
    assert f"(p {p.holm_text.replace('<', 'below')})" in found[1]


def test_a_comparison_names_the_query_that_carries_the_gain():
    data = random_dataset(3, queries=30)
    scores = data.in_row_order(-data.grades.astype(float))
    after, query = scores.copy(), int(np.flatnonzero(~np.isnan(rk.evaluate(scores, data, "ndcg")["ndcg"].per_query))[2])
    rows = slice(data.offsets[query], data.offsets[query + 1])
    after[rows] = data.grades[rows]
    comparison = rk.compare({"before": scores, "after": data.in_row_order(after)}, data, "ndcg")
    told = verdict_of(comparison, "before", "after", comparison.measures[0])
    assert told[0] == "We cannot tell whether after is better than before."
    assert "not distinguishable from zero (p 1.0000)" in told[1]
    assert told[-1].startswith(f"Query '{data.qids[query]}' alone carries all of the gain")


def test_one_ranker_is_told_with_its_value_then_its_interval():
    ranker = rk.Feature(1)
    result = rk.evaluate(ranker, DATA, "ndcg@5").results[0]
    shown = of_training(ranker, DATA, "ndcg@5")
    value = shown.verdict[1].removeprefix("Its ndcg@5 is ").rstrip(".")
    assert float(value) == pytest.approx(result.mean, abs=0.006)
    low, high = (number(end, len(value.partition(".")[2])) for end in result.interval)
    assert shown.verdict[2] == f"On queries like the {result.queries} of {DATA.source} it is {low} to {high} (95% interval)."
    assert shown.figures[0].value == value
    assert shown.figures_title == f"On {DATA.source}."


def test_the_learning_curve_has_the_digits_of_its_intervals(adapted):
    halves = [
        (high - low) / 2
        for line in adapted.curve.lines
        for low, high in zip(line.lows, line.highs, strict=True)
        if low is not None
    ]
    assert digits(number(sorted(halves)[len(halves) // 2], adapted.curve.decimals)) == 2


def test_what_serving_takes_is_what_was_measured(adapted, choice, tmp_path):
    shown = adapted.serving
    assert [one.name for one in shown.rankers] == [system.name for system in adapted.tables[0].systems]
    for one in shown.rankers:
        cost, path = choice.costs[one.name], tmp_path / f"{one.name}.rankinite"
        choice.models[one.name].save(path)
        assert one.bytes == path.stat().st_size
        assert (one.microseconds, one.times_background) == (cost.microseconds, cost.times_background)
        assert {name: exactness for exactness, names in one.served_by for name in names.split(", ")} == cost.served_by
        assert one.deployed == (one.name == choice.verdict.recommended)
    sentence = next((text for text in adapted.verdict if text.startswith("It is served in ")), None)
    assert (sentence is None) == (choice.verdict.recommended == "background")
    deployed = replace(choice, verdict=replace(choice.verdict, decision="deploy"))
    cost = choice.costs[choice.name]
    assert f"It is served in {cost.microseconds:.1f} µs per document" in " ".join(deployed_report(deployed, adapted).verdict)


def deployed_report(choice, adapted):
    from rankinite.report.serving_section import serving_sentence

    return replace(adapted, verdict=serving_sentence(choice))


def test_baselines_are_named_for_the_page(hostile, adapted):
    assert adapted.tables[0].baselines == ("background", "target")
    assert hostile.tables[0].baselines == (hostile.queries.before_name,)
    data = rk.synthesise(12, world=WORLD)
    shown = of_comparison(rk.compare(SYSTEMS, data, "ndcg", resamples=50), data, SYSTEMS, before="feature 2")
    assert shown.tables[0].baselines == ("feature 2",)
