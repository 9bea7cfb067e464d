"""Judged by queries that it was trained on, a ranker looks better than it is: the warning has their number."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.overlap import known_queries, shuffled
from rankinite.data.identity import QuerySketch
from rankinite.evaluation.caveats import TrainingOverlap, TrainingOverlaps, overlap_warnings

WORLD = rk.World(features=4, documents=6, noise=0.3)
TRAIN, TEST = (rk.synthesise(20, part=part, world=WORLD) for part in ("train", "test"))


@cache
def model(part: str = "train") -> rk.Linear:
    return rk.LambdaBoost(rounds=2).fit(rk.synthesise(20, part=part, world=WORLD))


def with_trained(count: int) -> rk.Dataset:
    """The test queries, and some of the training queries, whatever they are called."""
    data = rk.concat([TEST, shuffled(TRAIN, 0, [f"new {n}" for n in range(20)]).select_queries(np.arange(count))])
    return replace(data, source="mixed.txt")


@given(st.integers(0, 20))
@settings(max_examples=10, deadline=None)
def test_the_queries_trained_on_are_counted(count):
    data = with_trained(count)
    found = rk.evaluate(model(), data, "ndcg@10")
    trained = set(known_queries(TRAIN))
    assert found.overlap == TrainingOverlap(sum(query in trained for query in known_queries(data)), 20 + count)
    assert found.overlap.queries == count
    expected = (f"The ranker was trained on {count} of the {20 + count} queries of mixed.txt, which flatters it.",)
    assert found.warnings == (expected if count else ())


def test_warnings_are_in_every_layout():
    found = rk.evaluate(model(), with_trained(3), "ndcg@10")
    [warning] = found.warnings
    assert warning in str(found)
    assert warning in found.to_markdown()
    content = json.loads(found.to_json())
    assert content["warnings"] == [warning]
    assert content["overlap"] == {"trained_on": 3, "of": 23, "exact": True, "known": True}
    compared = rk.compare({"a": model(), "b": rk.Feature(0)}, with_trained(3), "ndcg@10")
    [warning] = compared.warnings
    assert warning == "a was trained on 3 of the 23 queries of mixed.txt, which flatters it."
    assert warning in compared.to_text()
    assert warning in compared.to_markdown()
    assert json.loads(compared.to_json())["warnings"] == [warning]


def test_a_comparison_warns_of_each_ranker_once():
    data = with_trained(4)
    unknown = replace(model(), sketch=None)
    partly = replace(model("test"), sketch=replace(model("test").sketch, complete=False))
    systems = {"a": model(), "b": model("test"), "c": 0.5 * model() + rk.Feature(1), "d": unknown, "e": partly}
    compared = rk.compare({**systems, "f": rk.Feature(0), "g": np.arange(data.rows), "h": Own()}, data, "ndcg@10")
    assert [compared[name].overlap for name in "fgh"] == [None] * 3
    assert compared.warnings == (
        "a and c were trained on 4 of the 24 queries of mixed.txt, which flatters them.",
        "b was trained on 20 of the 24 queries of mixed.txt, which flatters it.",
        "It is not known whether d was trained on queries of mixed.txt.",
        "e was trained on at least 20 of the 24 queries of mixed.txt, which flatters it.",
    )
    assert rk.compare({"a": model(), "f": rk.Feature(0)}, TEST, "ndcg@10").warnings == ()


class Own:
    """A scorer of a user's, of which nothing is known or asked."""

    def score(self, data):
        return data.features[:, 0]


def test_many_rankers_are_not_all_named():
    overlap = TrainingOverlap(0, 9, known=False)
    warnings = overlap_warnings({f"m{number}": overlap for number in range(7)}, "t.txt")
    assert warnings == ("It is not known whether m0, m1, m2 and 4 others were trained on queries of t.txt.",)


def test_models_from_elsewhere_do_not_say(tmp_path):
    data = lightgbm.Dataset(TRAIN.features, TRAIN.grades, group=np.diff(TRAIN.offsets))
    booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 2}, data, 3)
    booster.save_model(tmp_path / "model.txt")
    loaded = rk.load(tmp_path / "model.txt").renamed(TRAIN.feature_names)
    [warning] = rk.evaluate(loaded, TRAIN, "ndcg@10").warnings
    assert warning == "It is not known whether the ranker was trained on queries of synthetic train 0."
    more = rk.LambdaMART.plain(trees=2, leaves=4).fit(TRAIN, base=loaded)
    [warning] = rk.evaluate(more, TRAIN, "ndcg@10").warnings
    assert warning.startswith("The ranker was trained on at least 20 of the 20 queries")


def test_data_with_other_columns_are_judged_by_those_of_the_model():
    random = np.random.default_rng(0)
    more = np.column_stack([random.normal(size=TRAIN.rows), TRAIN.features[:, ::-1]])
    wide = replace(TRAIN, features=more, feature_names=("new", *reversed(TRAIN.feature_names)))
    assert rk.evaluate(model(), wide, "ndcg@10").overlap == TrainingOverlap(20, 20)


def test_queries_that_lack_features_are_known_only_where_they_are_found():
    """Weights chosen by data of four features, between rankers that need one."""
    narrow = TRAIN.select_features(["1", "2"])
    ranker = rk.Blend(((1.0, rk.Feature("1")), (0.5, rk.Feature("2"))), QuerySketch.of(TRAIN))
    assert rk.evaluate(ranker, TRAIN, "ndcg@10").overlap == TrainingOverlap(20, 20)
    assert rk.evaluate(ranker, narrow, "ndcg@10").overlap == TrainingOverlap(0, 20, known=False)
    empty = TRAIN.features * np.asarray([1, 1, 0, 0], np.float32)  # columns of zeros may be left out of a file
    chosen = QuerySketch.of(replace(TRAIN, features=empty))
    assert rk.evaluate(replace(ranker, sketch=chosen), narrow, "ndcg@10").overlap == TrainingOverlap(20, 20)


# ---- more queries than a sketch holds ----------------------------------------------------------------------------------


def many(first: int, last: int) -> rk.Dataset:
    rows = np.random.default_rng(0).normal(size=(60_000, 1))[3 * first : 3 * last]
    qids = np.repeat(np.arange(first, last), 3)
    return replace(rk.read(rows, grades=rows[:, 0] > 0.0, qid=qids), source="many.txt")


@cache
def large() -> QuerySketch:
    return QuerySketch.of(many(0, 10_000))


@pytest.mark.parametrize(("first", "last"), [(0, 3_000), (8_000, 12_000), (9_000, 15_000), (10_000, 20_000)])
def test_the_number_is_estimated_from_a_sample(first, last):
    data, level = many(first, last), large().level
    found = TrainingOverlaps(data).of(rk.Blend(((1.0, rk.Feature(0)),), large()))
    true, queries = max(0, 10_000 - first) if last > 10_000 else last - first, last - first
    seen = queries / 2**level
    error = queries * np.sqrt(true / queries * (1 - true / queries) / seen)
    assert level > 0
    assert abs(found.queries - true) <= 5 * error
    assert (found.exact, found.known, found.of) == (true == 0, True, queries)
    warnings = overlap_warnings({"m": found}, "many.txt")
    assert warnings == ((f"m was trained on about {found.queries} of the {queries} queries of many.txt, which flatters it.",) if true else ())  # fmt: skip  # noqa: E501


def test_a_sketch_that_covers_none_of_the_queries_leaves_it_unknown():
    """One or two queries are all too few for a sample of one in many."""
    data = many(10_000, 20_000)
    overlap = TrainingOverlaps(data).of(rk.Blend(((1.0, rk.Feature(0)),), large()))
    assert overlap == TrainingOverlap(0, 10_000)
    from rankinite.data.identity import contents_of

    outside = np.flatnonzero(~large().covered(contents_of(data)))[:2]
    few = TrainingOverlaps(data.select_queries(outside)).of(rk.Blend(((1.0, rk.Feature(0)),), large()))
    assert few == TrainingOverlap(0, 2, known=False)
