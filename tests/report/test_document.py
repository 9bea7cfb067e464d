"""What a report says follows from the results it is made of."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from rankinite.data.identity import fingerprint
from rankinite.errors import ArgumentError, DataError
from rankinite.report import moved_section, of_choice, of_comparison, of_training, queries
from rankinite.report.queries import JudgedRanker, grades_by_rank, queries_of, tied_ranks
from rankinite.report.tables import compared, only_against
from refusals import refused


def judged(scores, data, measure="ndcg@10") -> JudgedRanker:
    return JudgedRanker("it", np.asarray(scores, float), rk.evaluate(scores, data, measure).results[0])


def test_a_choice_is_shown_as_it_was_made(adapted, choice, market):
    _, _, target, _, test = market
    advice = choice.recommendation()
    assert adapted.verdict[: len(advice)] == advice
    assert adapted.explanation == choice.explanation()
    assert [table.source for table in adapted.tables] == [target.source, test.source]
    for table, comparison in zip(adapted.tables, (choice.unseen, choice.test), strict=True):
        assert {system.name: system.letter for system in table.systems} == dict(comparison.letters)
        assert [system.name for system in table.systems if system.chosen] == [choice.name]
        for system in table.systems:
            for result, measure in zip(system.results, comparison.measures, strict=True):
                assert result.mean == comparison[system.name][measure].mean
                assert (result.low, result.high) == comparison[system.name][measure].interval
            for base, gain in zip(table.baselines, system.gains, strict=True):
                if system.name == base:
                    assert gain is None
                else:
                    pair = comparison.pair(system.name, base, choice.measure)
                    assert (gain.difference, gain.p, gain.wins) == (pair.difference, pair.randomisation.holm, pair.wins)
                    assert gain.p_text == pair.randomisation.holm_text


def test_means_over_the_queries_are_those_of_evaluate(adapted, choice, market):
    background, _, _, _, test = market
    shown = adapted.queries
    for values, ranker in ((shown.before, background), (shown.after, choice.models[choice.name])):
        result = rk.evaluate(ranker, test, choice.measure).results[0]
        assert len(values) == result.queries
        assert np.mean(values) == pytest.approx(result.mean, abs=1e-6)
    assert shown.skipped + len(shown.qids) == test.queries


def test_without_test_data_every_query_is_judged_by_rankers_that_had_not_seen_it(choice, market):
    target = market[2]
    shown = of_choice(choice, target).queries
    counted = choice.unseen[choice.name][choice.measure].per_query
    assert shown.source == target.source
    np.testing.assert_allclose(shown.after, counted[~np.isnan(counted)], atol=1e-6)


def test_documents_stand_by_rank_with_the_grades_and_ids_of_the_data(adapted, choice, market):
    test, shown = market[4], adapted.queries
    documents, scores = shown.documents, choice.models[choice.name].score(test)
    rows_of = {str(qid): range(test.offsets[q], test.offsets[q + 1]) for q, qid in enumerate(test.qids)}
    for query, qid in enumerate(shown.qids):
        here = slice(documents.offsets[query], documents.offsets[query + 1])
        row_of = {str(test.doc_ids[row]): row for row in rows_of[qid]}
        rows = [row_of[name] for name in documents.ids[here]]
        assert sorted(rows) == list(rows_of[qid])
        assert list(scores[rows]) == sorted(scores[rows], reverse=True)
        assert list(documents.grades[here]) == test.grades[rows].tolist()
        np.testing.assert_allclose(documents.score_after[here], scores[rows], atol=1e-4)


@given(
    st.lists(st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=1, max_size=6), min_size=1, max_size=4)
)
@settings(max_examples=80, deadline=None)
def test_ranks_count_the_documents_above(lists):
    scores, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    expected = [0 if part == -np.inf else 1 + sum(other > part for other in entry) for entry in lists for part in entry]
    assert tied_ranks(scores, offsets).tolist() == expected


def test_tied_documents_count_at_all_their_ranks_in_equal_parts():
    data = rk.read(np.zeros((4, 1)), grades=[2, 0, 0, 1], group=[4])
    shown = grades_by_rank(data, None, judged([1.0, 1.0, 0.0, -1.0], data))
    assert shown.grades == (0, 1, 2)
    assert shown.after == ((0.5, 0.0, 0.5), (0.5, 0.0, 0.5), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert shown.queries == (1, 1, 1, 1)


def test_shares_of_grades_follow_from_the_order():
    data = rk.synthesise(40, world=rk.World(documents=7, features=3))
    scores = np.random.default_rng(0).normal(size=data.rows)
    shown = grades_by_rank(data, None, judged(scores, data))
    for rank in range(7):
        found = [data.grades[start + np.argsort(-scores[start : start + 7])[rank]] for start in data.offsets[:-1]]
        assert shown.after[rank] == pytest.approx([np.mean(np.asarray(found) == grade) for grade in shown.grades], abs=1e-4)


def test_documents_that_were_not_returned_come_last_without_a_score():
    data = rk.read(np.zeros((3, 1)), grades=[0, 2, 1], group=[3])
    shown = queries_of(data, None, judged([-np.inf, 1.0, 2.0], data)).documents
    assert (shown.grades, shown.rank_after, shown.score_after) == ((1, 2, 0), (1, 2, 0), (2.0, 1.0, None))


def test_of_large_data_the_first_documents_before_and_after_are_kept(monkeypatch):
    data = rk.synthesise(30, world=rk.World(documents=40, features=3), doc_ids=True)
    rng = np.random.default_rng(1)
    before, after = (judged(rng.normal(size=data.rows), data) for _ in range(2))
    whole = queries_of(data, before, after).documents
    assert (whole.top, whole.left_out, len(whole.grades)) == (0, (), data.rows)
    monkeypatch.setattr(queries, "DOCUMENT_BYTES", data.rows * 25)
    cut = queries_of(data, before, after).documents
    assert cut.top == 10
    everything = zip(whole.ids, whole.rank_before, whole.rank_after, strict=True)
    assert cut.ids == tuple(name for name, old, new in everything if old <= 10 or new <= 10)
    assert sum(cut.left_out) + len(cut.ids) == data.rows
    assert np.diff(cut.offsets).tolist() == [40 - left for left in cut.left_out]


def test_trainings_show_the_round_that_was_kept(adapted, market):
    background = market[0]
    shown = next(training for training in adapted.trainings if training.name == "background")
    assert (shown.best, shown.rounds) == (background.history.best, len(background.history.valid) - 1)
    assert shown.valid == pytest.approx(background.history.valid, abs=1e-5)
    assert shown.best_value == pytest.approx(background.history.valid[shown.best], abs=1e-5)
    assert "average" not in {training.name for training in adapted.trainings}  # it is made of the others


def test_what_moved_is_what_moved_in_the_ranker_to_deploy(adapted, choice, market):
    background = market[0]
    moved = rk.adapt.moved(background, choice.models["trada-splits"])
    shown = next(trees for trees in adapted.moved_trees if trees.name == "trada-splits")
    assert (shown.leaves_changed, shown.thresholds_changed) == (moved.leaves_changed.sum(), moved.thresholds_changed.sum())
    changes = choice.models["lambdaboost"].parts[-1][1].changes()
    weights = adapted.moved_weights[0]
    assert dict(zip(weights.features, weights.changes, strict=True)) == pytest.approx(changes, rel=1e-4)
    assert adapted.moved_note.startswith(f"In the parts of {choice.name} ")
    kept = replace(choice, verdict=replace(choice.verdict, decision="keep"), ranker=background)
    shown = of_choice(kept, market[2], test=market[4])
    assert (shown.moved_trees, shown.moved_weights, shown.moved_note) == ((), (), "")
    assert shown.losses.ranker == "background (to keep)"
    assert set(shown.importance.rankers) == {"background (to keep)", f"{choice.name} (candidate)"}


def test_the_forest_that_was_adapted_is_named_where_another_ranker_is_better(market):
    background, _, target, *_ = market
    weak = background.truncate(1)
    given = {"net": rk.LambdaRank(epochs=20).fit(target), "weak": weak, "other": rk.Feature(0)}
    found = rk.adapt.choose(given, target, methods=["trada"], curve=False)
    assert (found.background_name(found.models["background"]), found.background_name(found.forest)) == ("net", "weak")
    verdict = replace(found.verdict, name="trada", decision="deploy")
    shown = of_choice(replace(found, verdict=verdict, ranker=found.models["trada"]), target)
    assert [trees.name for trees in shown.moved_trees] == ["trada"]
    assert shown.moved_note == ""
    assert shown.importance.rankers == ("background", "trada (to deploy)")
    settings = dict(next(facts.entries for facts in shown.facts if facts.title == "Settings of the models"))
    assert "base as weak" in settings["trada"]


def test_what_moved_counts_what_it_leaves_out(adapted, choice, market, monkeypatch):
    monkeypatch.setattr(moved_section, "FEATURES", 2)
    moved = moved_section.moved_trees(market[0], {"trada-splits": choice.models["trada-splits"]})[0]
    whole = next(trees for trees in adapted.moved_trees if trees.name == "trada-splits")
    assert (whole.others, moved.features) == (0, whole.features[:2])
    assert moved.others == len(whole.features) - 2


@pytest.mark.parametrize("against", [None, ["a"], ["a", "c"], ["a", "b", "c"], ["d"]])
def test_the_table_says_which_pairs_were_tested(against):
    data = rk.synthesise(12, world=rk.World(documents=5, features=4))
    systems = {name: rk.Feature(number) for number, name in enumerate("abcd")}
    comparison = rk.compare(systems, data, ["ndcg", "err"], resamples=50, against=against)
    notes = " ".join(compared(comparison, "all", None, ("a",)).marks)
    everything = against is None or len(against) == 3
    assert only_against(comparison) == (() if everything else tuple(against))
    assert ("Only pairs" in notes) is not everything
    pairs = {frozenset((first, second)) for first in systems for second in systems if first != second}
    tested = [pair for pair in pairs if against is None or pair & set(against)]
    assert f"Holm-corrected for the {len(tested)} pairs tested, measure by measure" in notes


def test_a_choice_says_that_methods_were_only_against_the_baselines_alone(adapted):
    for table in adapted.tables:
        assert any(mark.startswith("Only pairs with background or target were tested") for mark in table.marks)
    assert ("pairs tested", "those with background or target") in next(
        f for f in adapted.facts if f.title == "Measuring"
    ).entries


def test_settings_and_seeds_are_listed_whole_of_blends_too(adapted, choice, market):
    background, _, target, _, _ = market
    shown = dict(next(facts for facts in adapted.facts if facts.title == "Settings of the models").entries)
    linear = choice.models["lambdaboost"].parts[-1][1]
    plain = [f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in linear.settings.items()]
    assert shown["lambdaboost, part 2"] == ", ".join(plain)
    assert all(f"{name} " in shown["background"] for name in background.settings)
    assert shown["trada-splits"].endswith("base as background")
    assert ("seed", "0") in adapted.facts[0].entries
    net = rk.RankNet(hidden=(2,), epochs=2, seed=7).fit(target, base=background)
    trained = of_training(net)
    shown = dict(next(facts for facts in trained.facts if facts.title == "Settings of the models").entries)
    assert any("seed 7" in text for text in shown.values())


def test_what_has_no_data_is_absent(market):
    background, _, _, _, test = market
    bare = of_training(replace(background, history=None))
    assert (bare.tables, bare.queries, bare.grades, bare.curve, bare.trainings) == ((), None, None, None, ())
    scores = {"a": np.arange(test.rows), "b": -np.arange(test.rows)}
    shown = of_comparison(rk.compare(scores, test, "ndcg", resamples=100), test, scores)
    assert (shown.importance, shown.trainings, shown.moved_trees, shown.moved_weights, shown.curve) == (None, (), (), (), None)
    assert "Settings of the models" not in {facts.title for facts in shown.facts}


def test_training_is_judged_alone_or_against_its_base(market):
    background, web, target, _, test = market
    alone = of_training(background, test, ["ndcg@10", "err"], trained_on={"train": web})
    assert alone.queries.before is None
    assert alone.tables[0].systems[0].results[1].mean == rk.evaluate(background, test, "err").results[0].mean
    more = rk.LambdaMART.plain(trees=3, leaves=6, min_rows=5, rate=0.3).fit(target, base=background)
    shown = of_training(more, test, base=background)
    assert (shown.queries.before_name, shown.queries.after_name) == ("base", "model")
    assert shown.moved_trees[0].added == 3


def test_an_error_gets_better_by_falling():
    data = rk.synthesise(30, world=rk.World(documents=6, features=3))
    systems = {"noise": np.random.default_rng(0).normal(size=data.rows), "grades": data.grades}
    shown = of_comparison(rk.compare(systems, data, rk.PairwiseErrors(), resamples=100), data, systems)
    assert shown.queries.higher_is_better is False
    better = shown.queries.source
    assert shown.verdict[0] == "grades is better than noise."
    assert shown.verdict[1].startswith(f"On 30 queries of {better}: -")
    assert shown.verdict[1].endswith(", significantly better (p below 0.0100).")  # 1 of 100 resamples
    assert shown.tables[0].systems[0].chosen  # the best is first, though its value is the lowest


def test_fingerprints_tell_data_apart(market):
    test = market[4]
    assert fingerprint(test) == fingerprint(replace(test, source="elsewhere"))
    others = [
        replace(test, grades=np.roll(test.grades, 1)),
        replace(test, qids=np.roll(test.qids, 1)),
        test.select_queries([0, 1]),
    ]
    renamed = replace(test, feature_names=tuple(reversed(test.feature_names)))
    assert len({fingerprint(data) for data in (test, renamed, *others)}) == 5


def test_everything_is_plain_data(adapted, hostile):
    for report in (adapted, hostile):
        shown = json.loads(report.to_json())
        assert shown == json.loads(json.dumps(report.to_dict()))
        assert set(shown) == set(report.__dataclass_fields__)
        assert shown["schema"] == 2


def test_other_data_than_those_compared_are_refused(choice, market):
    background, _, target, _, test = market
    with refused(DataError, place=test.source, value="target"):
        of_choice(choice, test)
    with refused(DataError, place="target", value="list"):
        of_choice(choice, [1])
    untested = replace(choice, test=None)
    with refused(ArgumentError, owner="of_choice", setting="test", value=test.source):
        of_choice(untested, target, test=test)
    comparison = rk.compare({"a": background, "b": rk.Feature(0)}, test, "ndcg", resamples=100)
    with refused(ArgumentError, owner="of_comparison", value="b"):
        of_comparison(comparison, test, {"a": background})
    with pytest.raises(ArgumentError):  # by the comparison, which has no such system
        of_comparison(comparison, test, {"a": background, "b": rk.Feature(0)}, before="c")
