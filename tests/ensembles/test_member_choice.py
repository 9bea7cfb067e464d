"""The choice of members: what is judged did not choose, and the plain average is kept unless another way is clearly better."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import holdouts
from rankinite.ensembles import Average, bag_members, challenge, choose_members, diversity, seed_members
from rankinite.ensembles.recipes import CHALLENGE_SUBSETS
from rankinite.ensembles.weight_finders import AVERAGE, ScoredMembers, Weighing, even, forward_path, weight_finders
from refusals import refused

WORLD = rk.World(features=6, documents=10, noise=0.3)
TRAIN = rk.synthesise(60, world=WORLD)
TEST = rk.synthesise(30, part="test", world=WORLD)
TREES = rk.LambdaMART.plain(trees=6, leaves=4, min_rows=3, row_share=0.7, train_history=False)
MEMBERS = {"trees": TREES, "net": rk.LambdaRank(hidden=(3,), epochs=3), "points": rk.MART(trees=4, leaves=4, min_rows=3)}
NDCG = rk.NDCG(10)


@pytest.fixture(scope="module")
def choice():
    subsets = {"no points": ("trees", "net")}
    return choose_members(Average(MEMBERS), TRAIN, share=0.5, measures=["ndcg@10", "err"], subsets=subsets, folds=3, seed=4)


@pytest.fixture(scope="module")
def held_out():
    """The queries held out, and members that were trained without them, by hand."""
    rest, held = rk.split(TRAIN, (0.5, 0.5), seed=4)
    return held, {name: rk.Normalised(one, "all", *spread(one, rest)) for name, one in fitted(rest).items()}


def fitted(data):
    return {name: trainer.fit(data) for name, trainer in MEMBERS.items()}


def spread(ranker, data):
    scores = ranker.score(data)
    return scores.mean(), scores.std()


def mean_value(scores, data, measure=NDCG):
    return rk.evaluate(scores, data, measure).results[0].mean


def test_tables_are_about_members_that_did_not_see_the_queries(choice, held_out):
    held, members = held_out
    for name, ranker in members.items():
        assert choice.members[name][NDCG].mean == pytest.approx(mean_value(ranker.score(held), held), abs=1e-6)
    both = (members["trees"].score(held) + members["net"].score(held)) / 2
    assert choice.subsets["no points"]["err"].mean == pytest.approx(mean_value(both, held, rk.ERR()), abs=1e-6)
    everything = sum(ranker.score(held) for ranker in members.values()) / 3
    for table in (choice.members, choice.combinations, choice.subsets):
        assert table[AVERAGE][NDCG].mean == pytest.approx(mean_value(everything, held), abs=1e-6)
    assert set(choice.subsets.systems) == {AVERAGE, "no points", "without trees", "without net", "without points"}


def test_frames_have_every_table_and_member(choice):
    frame = choice.to_pandas()
    for title, table in choice.tables().items():
        rows = frame[frame["table"] == title].set_index(["system", "measure"])["mean"]
        assert rows.to_dict() == {(name, str(m)): table[name][m].mean for name in table.systems for m in table.measures}
    assert frame[frame["chosen"]][["table", "system"]].drop_duplicates().values.tolist() == [
        ["Combinations, judged by folds", choice.name]
    ]
    values = choice.to_pandas(per_query=True)
    shown = values[(values["table"] == "Members") & (values["system"] == "net") & (values["measure"] == "err")]["value"]
    np.testing.assert_array_equal(shown, choice.members["net"]["err"].per_query)
    members = choice.diversity.to_pandas()
    assert members["member"].tolist() == list(choice.diversity.names)
    assert members["adds"].tolist() == [one.adds for one in choice.diversity.members]
    page = choice._repr_html_()
    assert choice.verdict in page
    assert page.count("<table>") == 5


def test_every_way_is_judged_on_queries_that_did_not_choose_its_weights(choice, held_out):
    held, members = held_out
    for name, search in (("exact, greedy", rk.combine.greedy), ("Powell", rk.combine.powell)):
        scores = np.empty(held.rows)
        for part in holdouts(held, 3, seed=4):
            scores[part.rows] = search(members, part.rest).ranker.score(part.held)
        assert choice.combinations[name][NDCG].mean == pytest.approx(mean_value(scores, held), abs=2e-3)
    chosen = [
        "average",
        *("average by query", "average by rank", "exact, greedy", "exact, cyclic", "Powell"),
        *("stacked, linear", "best subset listed", "forward selection"),
    ]
    assert list(choice.combinations.systems) == chosen


def test_another_way_is_kept_only_where_it_gains_more_than_two_standard_errors(choice):
    values = {name: result[NDCG].per_query for name, result in choice.combinations.evaluations.items()}
    best = max((name for name in values if name != AVERAGE), key=lambda name: values[name].mean())
    gains = values[best] - values[AVERAGE]
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    assert (choice.gain, choice.error) == pytest.approx((gains.mean(), error))
    assert choice.name == (best if gains.mean() > 2 * error else AVERAGE)
    assert choice.name in choice.verdict or "plain average" in choice.verdict


class Constant:
    """A trainer of a ranker that is always the same: a feature, perhaps turned round."""

    def __init__(self, feature, ascending=False):
        self.ranker = rk.Feature(feature, ascending)

    def fit(self, _train, _valid=None, **_settings):
        return self.ranker

    def settings(self):
        return {"feature": str(self.ranker)}

    def reseeded(self, _number):
        return self


def graded_data(queries=80):
    """Feature 0 is the grade with noise, feature 1 noise."""
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 4, queries * 8)
    features = np.column_stack([grades + rng.normal(0, 1, len(grades)), rng.normal(0, 1, len(grades))])
    return rk.Dataset.from_rows(features, grades, np.repeat(np.arange(queries), 8), ("signal", "noise"))


def test_members_that_harm_are_left_out_and_equal_ones_are_all_kept():
    data = graded_data()
    good, noise = Constant(0), Constant(1)
    found = choose_members(Average({"good": good, "again": good, "noise": noise, "bad": Constant(0, True)}), data, share=0.5)
    assert found.name != AVERAGE
    ranker = found.fit(data)
    assert mean_value(ranker.score(data), data) > mean_value(Average({"a": good, "b": noise}).fit(data).score(data), data)
    assert abs(found.weighing.weights.get("noise", 0.0)) < 0.2 * abs(found.weighing.weights["good"])
    same = choose_members(Average({"good": good, "again": good, "third": good}), data, share=0.5)
    assert (same.name, same.gain, same.error) == (AVERAGE, 0.0, 0.0)


def test_what_was_chosen_is_trained_on_all_queries_and_scaled_there(choice):
    members = {name: rk.Normalised(one, "all", *spread(one, TRAIN)) for name, one in fitted(TRAIN).items()}
    plain = sum(ranker.score(TEST) for ranker in members.values()) / 3
    kept = {"average": even(MEMBERS), "weighed": Weighing({"trees": 0.7, "net": 0.3, "points": 0.0})}
    np.testing.assert_allclose(kept["average"].blend(members).score(TEST), plain)
    np.testing.assert_allclose(
        kept["weighed"].blend(members).score(TEST), 0.7 * members["trees"].score(TEST) + 0.3 * members["net"].score(TEST)
    )
    by_rank = even(["trees", "net"], "rank").blend(members)
    assert [part.ranker for _, part in by_rank.parts] == [members["trees"].ranker, members["net"].ranker]
    np.testing.assert_allclose(choice.fit(TRAIN).score(TEST), choice.weighing.blend(members).score(TEST), atol=1e-9)


def test_finished_members_of_both_kinds_are_kept(tmp_path, monkeypatch):
    average = Average(MEMBERS, tmp_path)
    first = choose_members(average, TRAIN, share=0.3, folds=2)
    ranker = first.fit(TRAIN)
    for kind in (rk.LambdaMART, rk.MART):
        monkeypatch.setattr(kind, "fit", None)  # would fail if called
    assert choose_members(average, TRAIN, share=0.3, folds=2).verdict == first.verdict
    assert np.array_equal(first.fit(TRAIN).score(TEST), ranker.score(TEST))


def test_forward_selection_takes_the_member_that_helps_most(held_out):
    held, members = held_out
    scored = ScoredMembers.of(members, held)
    path = forward_path(scored, NDCG)
    assert [len(names) for names, _ in path] == [1, 2, 3]
    for (names, value), before in zip(path, [(), *(names for names, _ in path)], strict=False):
        rivals = [(*before, other) for other in members if other not in before]
        values = [mean_value(np.mean([members[one].score(held) for one in rival], axis=0), held) for rival in rivals]
        assert value == pytest.approx(max(values), abs=1e-6)
        assert set(before) < set(names)


def test_searches_that_take_too_long_or_cannot_be_are_left_out():
    assert "exact, greedy" not in weight_finders(21, NDCG, {})
    assert {"exact, cyclic", "stacked, linear"} <= set(weight_finders(21, NDCG, {}))
    other = rk.Precision(5)
    assert isinstance(other, rk.TrainableMeasure) or "stacked, linear" not in weight_finders(3, other, {})
    assert "forward selection" not in weight_finders(2, NDCG, {})
    function = rk.FunctionMeasure("first", lambda grades: float(grades[0]))
    assert not [way for way in weight_finders(3, function, {}) if way.startswith("exact")]
    assert "stacked, linear" in weight_finders(3, function, {})


def test_the_subsets_of_the_paper_are_those_of_table_3():
    twelve = set(challenge().trainers)
    sizes = {name: len(members) for name, members in CHALLENGE_SUBSETS.items()}
    assert sizes == {
        "all minus MARTs": 10, "LambdaMART only": 8, "all minus LambdaRanks": 10, "augmented only": 4, "non-augmented": 8,
        "just ERR": 5, "just NDCG": 5,
    }  # fmt: skip
    assert all(set(members) <= twelve for members in CHALLENGE_SUBSETS.values())
    assert {*CHALLENGE_SUBSETS["augmented only"], *CHALLENGE_SUBSETS["non-augmented"]} == twelve


def test_members_of_one_learner_are_those_of_seeds_and_bags():
    seeds = [one.fit(TRAIN).score(TEST) for one in seed_members(TREES, 3).values()]
    np.testing.assert_allclose(np.mean(seeds, axis=0), rk.Seeds(TREES, 3).fit(TRAIN).score(TEST))
    parts = [one.fit(TRAIN).score(TEST) for one in bag_members(TREES, 3).values()]
    np.testing.assert_allclose(np.mean(parts, axis=0), rk.Bag(TREES, 3).fit(TRAIN).score(TEST))
    with refused(rk.ArgumentError, value=0, place="LambdaMART"):
        seed_members(rk.LambdaMART.plain())


def test_bad_choices_are_refused():
    average = Average(MEMBERS)
    with refused(rk.ArgumentError, owner="choose_members", setting="share", value=0.0):
        choose_members(average, TRAIN, share=0.0)
    with refused(rk.ArgumentError, owner="choose_members", setting="share", value=0.05):
        choose_members(average, TRAIN, share=0.05)
    with refused(rk.ArgumentError, owner="choose_members", setting="subsets", value=["trees", "nobody"]):
        choose_members(average, TRAIN, subsets={"some": ("trees", "nobody")})


# ---- diversity --------------------------------------------------------------------------------------------------------


def test_diversity_is_what_one_would_compute_by_hand(held_out):
    held, members = held_out
    found = diversity(members, held, draws=2)
    values = np.array([rk.evaluate(one.score(held), held, NDCG).results[0].per_query for one in members.values()])
    np.testing.assert_allclose(found.correlations, np.corrcoef(1.0 - values), atol=1e-6)
    scores = np.array([one.score(held) for one in members.values()])
    centred = np.hstack([scores[:, a:b] - scores[:, a:b].mean(axis=1)[:, None] for a, b in pairs(held.offsets)])
    alike = np.corrcoef(centred)
    whole = mean_value(scores.mean(axis=0), held)
    assert found.together == pytest.approx(whole, abs=1e-6)
    for place, one in enumerate(found.members):
        rest = mean_value(np.delete(scores, place, axis=0).mean(axis=0), held)
        assert (one.without, one.adds) == pytest.approx((rest, whole - rest), abs=1e-6)
        assert one.interval[0] <= one.adds <= one.interval[1]
        assert one.scores == pytest.approx(np.delete(alike[place], place).mean(), abs=1e-5)
        assert one.errors == pytest.approx(np.delete(np.corrcoef(values)[place], place).mean(), abs=1e-5)
        assert one.alone == pytest.approx(values[place].mean(), abs=1e-6)


def pairs(offsets):
    return itertools.pairwise(offsets)


def test_the_curve_has_all_subsets_where_they_are_few_and_the_same_ones_for_a_seed(held_out):
    held, members = held_out
    found = diversity(members, held)
    assert [(point.size, point.subsets) for point in found.curve] == [(1, 3), (2, 3), (3, 1)]
    scores = [one.score(held) for one in members.values()]
    two = [np.mean(pair, axis=0) for pair in itertools.combinations(scores, 2)]
    values = [mean_value(scores, held) for scores in two]
    point = found.curve[1]
    assert (point.mean, point.lowest, point.highest) == pytest.approx((np.mean(values), min(values), max(values)), abs=1e-6)
    assert found.curve[-1].mean == pytest.approx(found.together)
    few = [diversity(members, held, draws=2, seed=seed).curve for seed in (1, 1)]
    assert few[0] == few[1]
    assert few[0][0].subsets == 2


def test_equal_members_correlate_wholly_and_constant_ones_not_at_all():
    data = graded_data(20)
    found = diversity({"a": rk.Feature(0), "b": rk.Feature(0), "flat": rk.Linear(("noise",), np.zeros(1))}, data)
    assert found.correlations[0][1] == pytest.approx(1.0)
    assert np.isnan(found.members[2].scores)
    assert "–" in found.grid().text()
    assert found.names == ("a", "b", "flat")


def test_members_are_chosen_without_queries_of_weight_0():
    data = TRAIN.with_weights(np.arange(60) % 3 > 0)
    every, weighed = (
        choose_members(Average({"trees": TREES, "points": MEMBERS["points"]}), train, share=0.5, folds=3)
        for train in (data, data.select_queries(data.weights > 0))
    )
    assert (every.gain, every.error, every.weighing) == (weighed.gain, weighed.error, weighed.weighing)
