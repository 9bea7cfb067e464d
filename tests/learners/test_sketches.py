"""Rankers know which queries they were trained on: whatever is made of them, and whatever way they are stored."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import rankinite as rk
from oracles.overlap import known_queries, shuffled
from oracles.trees import random_forest
from rankinite.adapt import lambdaboost, neighbours, pool, smart, trada
from rankinite.data.identity import contents_of
from rankinite.models.files.container import Stored, write_model
from rankinite.models.files.matching import match_features
from refusals import refused

WORLD = rk.World(features=5, documents=8, terms=4, noise=0.3, seed=3)
PARTS = ("train", "valid", "test")
TRAIN, VALID, TEST = (rk.synthesise(14, part=part, world=WORLD) for part in PARTS)
TARGET = rk.synthesise(9, domain=1, world=WORLD)
EVERY = rk.concat([TRAIN, VALID, TEST, TARGET])
TREES = {"trees": 3, "leaves": 4, "min_rows": 3}

LEARNERS = {
    "lambdamart": rk.LambdaMART.plain(**TREES),
    "mart": rk.MART(**TREES),
    "mcrank": rk.McRank(**TREES),
    "ranknet trees": rk.RankNetTrees(**TREES),
    "net": rk.LambdaRank(hidden=(3,), epochs=2),
    "linear net": rk.RankNet(hidden=(), epochs=2),
    "lambdaboost": rk.LambdaBoost(rounds=3),
}
EACH = pytest.mark.parametrize("learner", LEARNERS)


def queries_of(ranker) -> set[str]:
    """The queries, of all there are, that the ranker says it was trained on."""
    found = np.zeros(EVERY.queries, np.bool_)
    for sketch in ranker.trained_on:
        if sketch is not None:
            found |= sketch.found(contents_of(EVERY, sketch.features))
    return set(EVERY.qids[found].tolist())


def queries_in(*parts: rk.Dataset) -> set[str]:
    """Those whose rows are in one of the parts, as plain Python sees them."""
    inside = {query for part in parts for query in known_queries(part)}
    return {qid for qid, own in zip(EVERY.qids.tolist(), known_queries(EVERY), strict=True) if own in inside}


def is_complete(ranker) -> bool:
    return all(sketch is not None and sketch.complete for sketch in ranker.trained_on)


@cache
def forest(part: str = "train") -> rk.Forest:
    ranker = LEARNERS["lambdamart"].fit(rk.synthesise(14, part=part, world=WORLD))
    assert isinstance(ranker, rk.Forest)
    return ranker


def foreign() -> rk.Forest:
    """A model that does not say what it was trained on."""
    return replace(forest(), sketch=None)


def combined() -> dict[str, tuple[object, tuple[rk.Dataset, ...], bool]]:
    """Rankers made of others: the queries in them, and whether these are all."""
    first, other = forest(), forest("test")
    linear = rk.LambdaBoost(rounds=2).fit(TRAIN)
    averaged, weighed = rk.combine.average([first, other], VALID), rk.combine.exact(first, other, VALID)
    on_valid = rk.MART(**TREES, step="newton-exact", step_data="valid").fit(TRAIN, VALID)
    return {
        "blend": (0.3 * first + 0.7 * other, (TRAIN, TEST), True),
        "weighted sum of a weighted sum": (2.0 * (weighed.ranker + rk.Feature(0)), (TRAIN, VALID, TEST), True),
        "one part, weighed": (1.0 * rk.Blend(((1.0, other),), forest("valid").sketch), (VALID, TEST), True),
        "added to a weighed part": (other + rk.Blend(((1.0, first),), forest("valid").sketch), (TRAIN, VALID, TEST), True),
        "foreign part": (0.5 * foreign() + other, (TEST,), False),
        "feature part": (first + rk.Feature(0), (TRAIN,), True),
        "normalised": (rk.Normalised(other, "rank"), (TEST,), True),
        "extended": (first.extended(other), (TRAIN, TEST), True),
        "foreign, extended": (foreign().extended(other), (TEST,), False),
        "truncated": (first.truncate(1), (TRAIN,), True),
        "boosted from a forest": (rk.LambdaMART.plain(**TREES).fit(TEST, base=first), (TRAIN, TEST), True),
        "boosted from a foreign forest": (rk.LambdaMART.plain(**TREES).fit(TEST, base=foreign()), (TEST,), False),
        "boosted from a net": (rk.LambdaMART.plain(**TREES).fit(TEST, base=LEARNERS["net"].fit(TRAIN)), (TRAIN, TEST), True),
        "a linear correction": (rk.LambdaBoost(rounds=2).fit(TEST, base=linear), (TRAIN, TEST), True),
        "steps weighed on validation data": (on_valid, (TRAIN, VALID), True),
        "exact": (weighed.ranker, (TRAIN, VALID, TEST), True),
        "greedy": (rk.combine.greedy([first, other, rk.Feature(1)], VALID).ranker, (TRAIN, VALID, TEST), True),
        "powell": (rk.combine.powell([first, other], VALID, most=20).ranker, (TRAIN, VALID, TEST), True),
        "stacked": (rk.combine.stacked([first, other], VALID).ranker, (TRAIN, VALID, TEST), True),
        "stacked net": (rk.combine.stacked([first, rk.Feature(0)], VALID, hidden=(2,)).ranker, (TRAIN, VALID), True),
        "average, whose weights no query chose": (averaged.ranker, (TRAIN, TEST), True),
        "trada": (trada(first, TARGET), (TRAIN, TARGET), True),
        "trada of a foreign forest": (trada(foreign(), TARGET), (TARGET,), False),
        "smart": (smart(rk.Feature(1), TARGET, learner=rk.LambdaMART.plain(**TREES)), (TARGET,), True),
        "corrected background": (lambdaboost(0.0 * rk.Feature(1), TARGET, learner=rk.LambdaBoost(rounds=3)), (TARGET,), True),
        "pooled": (pool(TRAIN, TARGET, learner=rk.LambdaMART.plain(**TREES)), (TRAIN, TARGET), True),
    }


COMBINED = combined()


@EACH
def test_a_ranker_knows_its_training_queries_and_no_others(learner, tmp_path):
    ranker = LEARNERS[learner].fit(TRAIN, VALID)
    assert queries_of(ranker) == queries_in(TRAIN)
    assert is_complete(ranker)
    ranker.save(tmp_path / "model")
    again = rk.load(tmp_path / "model")
    assert again.sketch.keys.tobytes() == ranker.sketch.keys.tobytes()
    assert (again.sketch.features, again.sketch.level, again.sketch.complete) == (TRAIN.feature_names, 0, True)
    assert queries_of(again) == queries_in(TRAIN)


@EACH
def test_the_sketch_does_not_depend_on_order_or_threads(learner, tmp_path):
    with rk.threads(1):
        LEARNERS[learner].fit(TRAIN, VALID).save(tmp_path / "one")
    with rk.threads(2):
        LEARNERS[learner].fit(shuffled(TRAIN, 1), shuffled(VALID, 2)).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("name", COMBINED)
def test_what_is_made_of_rankers_knows_their_queries(name, tmp_path):
    ranker, parts, complete = COMBINED[name]
    assert queries_of(ranker) == queries_in(*parts)
    assert is_complete(ranker) == complete
    ranker.save(tmp_path / "model")
    again = rk.load(tmp_path / "model")
    assert queries_of(again) == queries_of(ranker)
    assert is_complete(again) == complete
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_interpolation_and_neighbours_know_their_queries():
    """Their weights may leave a part out, but the target's queries chose them."""
    learner = rk.LambdaMART.plain(**TREES)
    settings = {"learner": learner, "folds": 3}
    ranker = neighbours(forest(), TARGET, VALID, which=rk.adapt.Neighbours(keep=0.5), **settings)
    assert queries_in(TARGET) <= queries_of(ranker) <= queries_in(TRAIN, TARGET, VALID)
    weighed = rk.adapt.interpolate(forest(), TARGET, TEST, **settings)
    assert queries_of(weighed) >= queries_in(TEST) or weighed is forest()


def test_a_base_that_found_nothing_better_is_itself():
    assert rk.LambdaMART.plain(**TREES).fit(TRAIN, base=forest()).sketch.keys.tolist() == forest().sketch.keys.tolist()


def test_names_that_change_take_the_sketch_along():
    names = ["a", "b", "c", "d", "e"]
    renamed = forest().renamed(names)
    assert renamed.sketch.features == tuple(names)
    assert rk.evaluate(renamed, TRAIN.rename_features(names), "ndcg").overlap.queries == TRAIN.queries
    counted = forest().renamed(["0", "1", "2", "3", "4"])  # as arrays may be called
    matched, _ = match_features(counted, TRAIN.feature_names, "data")
    assert rk.evaluate(matched, TRAIN, "ndcg").overlap.queries == TRAIN.queries
    unused = replace(forest(), trees=forest().truncate(0).trees)
    assert unused.renamed([None, "b", "c", "d", "e"]).sketch is None  # keys by all features say nothing of some


# ---- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["blend", "stacked net", "exact", "extended", "a linear correction", "normalised"])
def test_files_without_sketches_load_to_the_same_bits_and_are_not_known(name, tmp_path):
    """What earlier versions wrote."""
    ranker, _, _ = COMBINED[name]
    write_model(tmp_path / "old", without_sketches(ranker.stored()))
    old = rk.load(tmp_path / "old")
    assert old.score(TEST).tobytes() == ranker.score(TEST).tobytes()
    assert set(old.trained_on) == {None}
    assert "It is not known whether the ranker was trained on queries of" in rk.evaluate(old, TEST, "ndcg").warnings[0]
    old.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "old").read_bytes()


def without_sketches(stored: Stored) -> Stored:
    def bare(facts):
        if isinstance(facts, dict):
            return {name: bare(value) for name, value in facts.items() if name != "sketch"}
        return [bare(value) for value in facts] if isinstance(facts, list) else facts

    arrays = {name: array for name, array in stored.arrays.items() if not name.endswith("sketch")}
    return Stored(stored.kind, bare(stored.facts), arrays)


def test_a_ranker_without_a_sketch_is_stored_as_ever(tmp_path):
    plain = random_forest(1).stored()
    assert "sketch" not in plain.facts
    assert "sketch" not in plain.arrays


def damaged(changed) -> Stored:
    stored = forest().stored()
    facts, arrays = changed(json.loads(json.dumps(stored.facts)), dict(stored.arrays))
    return Stored(stored.kind, facts, arrays)


DAMAGED = {
    "no array": (
        lambda facts, arrays: (facts, {name: array for name, array in arrays.items() if name != "sketch"}),
        "array 'sketch'",
    ),
    "no object": (lambda facts, arrays: (facts | {"sketch": [1]}, arrays), "sketch"),
    "no level": (lambda facts, arrays: (facts | {"sketch": {"complete": True}}, arrays), "sketch/level"),
    "level too high": (lambda facts, arrays: (facts | {"sketch": {"complete": True, "level": 99}}, arrays), "sketch"),
    "not complete": (lambda facts, arrays: (facts | {"sketch": {"level": 0}}, arrays), "sketch/complete"),
    "falling": (lambda facts, arrays: (facts, arrays | {"sketch": np.asarray([2, 1])}), "sketch"),
    "floats": (lambda facts, arrays: (facts, arrays | {"sketch": np.asarray([1.0])}), "array 'sketch'"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_sketches_are_refused(case, tmp_path):
    changed, place = DAMAGED[case]
    write_model(tmp_path / "model", damaged(changed))
    with refused(rk.DataError, place=f"model: {place}"):
        rk.load(tmp_path / "model")


def test_a_model_of_many_queries_stays_small(tmp_path):
    rows = np.random.default_rng(0).normal(size=(24_000, 2))
    data = rk.read(rows, grades=rows[:, 0] > 0, group=[3] * 8_000)
    ranker = rk.LambdaBoost(rounds=2, train_history=False).fit(data)
    ranker.save(tmp_path / "model")
    assert 0 < (tmp_path / "model").stat().st_size < 40_000
    assert rk.load(tmp_path / "model").sketch.level == ranker.sketch.level > 0


# ---- training ---------------------------------------------------------------------------------------------------------


@EACH
def test_no_learner_stops_by_what_it_learnt_from(learner):
    maker, mixed = LEARNERS[learner], rk.concat([VALID, shuffled(TRAIN, 1).select_queries([0, 5])])
    with refused(rk.DataError, place=f"{TRAIN.source} (valid)", value=TRAIN.qids.tolist()) as caught:
        maker.fit(TRAIN, TRAIN)
    assert "allow_overlap" in caught.value.remedy
    with refused(rk.DataError, place="(valid)", value=["2", "5"]):
        maker.fit(TRAIN, mixed)
    allowed = maker.fit(TRAIN, mixed, allow_overlap=True)
    assert allowed.settings == maker.fit(TRAIN, VALID).settings
    with refused(rk.ArgumentError, setting="allow_overlap", value="yes"):
        maker.fit(TRAIN, allow_overlap="yes")


def test_a_checkpoint_goes_on_to_the_same_bytes(tmp_path):
    learner = rk.LambdaMART.plain(**TREES)
    learner.fit(TRAIN, VALID).save(tmp_path / "whole")
    kept = tmp_path / "checkpoint"
    rk.LambdaMART.plain(**(TREES | {"trees": 2})).fit(TRAIN, VALID, callbacks=[rk.Checkpoint(kept, every=1)])
    resumed = learner.fit(TRAIN, VALID, callbacks=[rk.Checkpoint(kept, every=1)])
    resumed.save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    "adapt",
    [
        lambda valid, **settings: smart(forest(), TARGET, valid, learner=rk.LambdaMART.plain(**TREES), **settings),
        lambda valid, **settings: lambdaboost(forest(), TARGET, valid, learner=rk.LambdaBoost(rounds=2), **settings),
        lambda valid, **settings: trada(forest(), TARGET, None, valid=valid, **settings),
        lambda valid, **settings: rk.adapt.interpolate(
            forest(), TARGET, valid, learner=rk.LambdaMART.plain(**TREES), **settings
        ),
        lambda valid, **settings: neighbours(forest(), TARGET, TRAIN, valid, learner=rk.LambdaMART.plain(**TREES), **settings),
        lambda valid, **settings: pool(TRAIN, TARGET, valid, learner=rk.LambdaMART.plain(**TREES), **settings),
        lambda valid, **settings: rk.combine.stacked([forest(), rk.Feature(0)], TARGET, valid=valid, **settings),
    ],
    ids=["smart", "lambdaboost", "trada", "interpolate", "neighbours", "pool", "stacked"],
)
def test_no_adaptation_is_judged_by_what_it_learnt_from(adapt):
    with refused(rk.DataError, place="(valid)") as caught:
        adapt(shuffled(TARGET, 3))
    assert sorted(caught.value.value) == sorted(TARGET.qids.tolist())
    assert adapt(shuffled(TARGET, 3), allow_overlap=True)
