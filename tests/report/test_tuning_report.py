"""The report of a search: its trials, settings and sentences are those of the search, and say which value is too good."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import rankinite as rk
from rankinite.report import of_training, of_tuning
from rankinite.report.search_section import search_section
from rankinite.tuning.space import Choices, Range
from refusals import refused


@pytest.fixture(scope="module")
def report(tuned, market):
    return of_tuning(tuned, market[1], test=market[4], facts={"Run": {"command": "rankinite tune"}})


def test_every_trial_is_there_with_its_value_its_settings_and_what_it_took(report, tuned):
    assert {one.state for one in tuned.trials} == {"complete", "dropped", "refused"}
    assert [setting.name for setting in report.search.settings] == list(tuned.settings)
    for shown, row, tried in zip(report.search.trials, tuned.table(), tuned.trials, strict=True):
        assert (shown.number, shown.state, shown.chosen, shown.value) == (
            row["trial"], row["state"], row["chosen"], row["ndcg@10"],
        )  # fmt: skip
        assert (shown.rounds, shown.seconds, shown.refusal) == (row["best_round"], row["seconds"], row["refusal"])
        assert shown.folds == sum(len(fold.values) > 0 for fold in tried.folds)
        rate, row_share, leaves, min_rows = shown.settings
        assert (rate, row_share) == (tried.settings["rate"], tried.settings["row_share"])
        assert (int(leaves), int(min_rows)) == (tried.settings["leaves"], tried.settings["min_rows"])


def test_the_best_so_far_is_that_of_the_complete_trials_up_to_here(tuned):
    lucky = {0, tuned.best()[0].number}  # dropped, though the folds they did look good
    trials = [replace(one, state="dropped") if one.number in lucky else one for one in tuned.trials]
    search = search_section(replace(tuned, trials=trials))
    assert search.trials[0].best_so_far is None
    for place, shown in enumerate(search.trials):
        complete = [one.value for one in search.trials[: place + 1] if one.state == "complete"]
        assert shown.best_so_far == (max(complete) if complete else None)


def test_axes_are_the_ranges_and_choices_of_the_space(report, tuned):
    axes = {one.name: one for one in report.search.settings}
    assert (axes["rate"].scale, axes["rate"].low, axes["rate"].high) == ("log", 0.001, 0.5)
    assert (axes["row_share"].scale, axes["row_share"].low, axes["row_share"].high) == ("linear", 0.5, 1.0)
    assert (axes["min_rows"].scale, axes["min_rows"].choices) == ("choices", ("3", "5", "8", "1000000"))
    assert tuned.importances
    assert {name: one.importance for name, one in axes.items()} == {**dict.fromkeys(axes), **tuned.importances}


def test_a_narrow_range_has_no_logarithmic_axis_and_values_beyond_a_space_have_their_place(tuned):
    rates = [one.settings["rate"] for one in tuned.trials]
    space = {
        **tuned.space,
        "rate": Range(0.3, 0.4, log=True),
        "leaves": Choices((8,)),
        "row_share": Range(0.98, 0.99, log=True),
    }
    rate, row_share, leaves, _ = search_section(replace(tuned, space=space)).settings
    assert (rate.scale, rate.low, rate.high) == ("log", min(rates), max(0.4, *rates))
    assert row_share.scale == "linear"
    assert set(leaves.choices) == {"8", "2", "4"}
    bare = search_section(replace(tuned, space={}, importances={}))
    assert {one.scale for one in bare.settings} == {"choices"}
    assert all(set(one.settings) <= {text for axis in bare.settings for text in axis.choices} for one in bare.trials)


def test_the_verdict_has_the_settings_the_reason_and_every_value_with_its_worth(report, tuned):
    said = " ".join(report.verdict)
    first = report.verdict[0]
    assert all(f"{name} {value:.4g}" in first for name, value in tuned.settings.items())
    assert f"ndcg@10 {tuned.value:.4f}, is too good" in said
    assert f"{tuned.estimate.mean:.4f} ({tuned.estimate.low:.4f} to {tuned.estimate.high:.4f})" in said
    assert said.count(f"Its ndcg@10 is {tuned.test['ndcg@10'].mean:.3f}.") == 1
    assert f"{len(tuned.trials)} trials ({tuned.not_complete()})" in said


def test_the_reason_names_the_best_trial_where_a_smaller_one_is_taken(tuned, market):
    best, other = tuned.best()[:2]
    taken = of_tuning(replace(tuned, chosen=best), market[1]).verdict[1]
    assert f"Trial {best.number + 1} of" in taken
    assert "is the best" in taken
    taken = of_tuning(replace(tuned, chosen=other), market[1]).verdict[1]
    assert f"Trial {other.number + 1} of" in taken
    assert f"trial {best.number + 1} with {best.mean:.4f}" in taken


def test_the_model_is_shown_as_the_report_of_a_training_shows_it(report, tuned, market):
    training = of_training(tuned.ranker, market[4], ["ndcg@10"])
    for part in ("queries", "grades", "tables", "trainings", "importance"):
        assert getattr(report, part) == getattr(training, part)
    assert report.queries is not None


def test_without_test_data_validation_data_are_shown_and_said_to_flatter(market):
    _, web, _, valid, _ = market
    found = rk.tune(rk.LambdaMART.plain(trees=4, min_rows=3), web, valid, space={"leaves": [2, 4]}, sampler="grid")
    shown = of_tuning(found, web, valid=valid)
    assert shown.queries.source == valid.source
    assert any("flatter" in sentence for sentence in shown.verdict)
    assert any("too good twice over" in sentence for sentence in shown.verdict)
    assert shown.search.folds == 0
    assert all(one.importance is None for one in shown.search.settings)
    assert of_tuning(found, web).queries is None


def test_errors_are_shown_with_their_sign_and_outer_folds_with_their_value(market):
    learner, space = rk.LambdaMART.plain(trees=4, min_rows=3), {"leaves": [2, 4]}
    found = rk.tune(learner, market[1], space=space, sampler="grid", folds=3, measure="pairwise-errors", race=False, outer=2)
    shown = of_tuning(found, market[1])
    values = [one.value for one in shown.search.trials]
    assert values == [-one.mean for one in found.trials]
    assert [one.best_so_far for one in shown.search.trials] == [values[0], min(values)]
    assert not shown.search.higher_is_better
    low, high = map(float, next(one.note for one in shown.figures if "estimated" in one.label).split(" to "))
    assert 0 < low < high
    assert f"outer folds: {found.nested['pairwise-errors'].mean:.4f}" in " ".join(shown.verdict)


def test_without_a_model_the_search_alone_is_shown(tuned, market):
    shown = of_tuning(replace(tuned, ranker=None, test=None, estimate=None), market[1])
    assert (shown.queries, shown.importance, shown.trainings) == (None, None, ())
    assert len(shown.search.trials) == len(tuned.trials)
    assert [one.title for one in shown.facts] == ["Search", "Settings searched", "Data", "Versions"]


def test_other_test_data_than_those_of_the_search_are_refused(tuned, market):
    with refused(rk.DataError, value="test"):
        of_tuning(tuned, market[1], test=market[3])


def test_the_space_and_the_data_are_listed_to_repeat_it(report, market):
    facts = {one.title: dict(one.entries) for one in report.facts}
    assert facts["Settings searched"]["rate"] == "0.001 to 0.5, drawn by ratio"
    assert facts["Settings searched"]["leaves"] == "2, 4"
    assert list(facts["Data"]) == ["train", "judged on"]
    assert facts["Run"] == {"command": "rankinite tune"}
    assert json.loads(report.to_json())["search"]["trials"][0]["number"] == 1
