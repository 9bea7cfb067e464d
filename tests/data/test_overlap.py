"""Queries that two data sets share: what makes two of them one, against plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.overlap import known_queries, shared_queries, shuffled
from rankinite.data.dataset import Dataset
from rankinite.data.identity import check_apart, contents_of
from refusals import refused

WORLD = rk.World(features=4, documents=6, noise=0.3)
TRAIN, VALID = (rk.synthesise(12, part=part, world=WORLD, doc_ids=True) for part in ("train", "valid"))


@st.composite
def coarse_data(draw) -> Dataset:
    """Few values and few rows, so that queries often look alike; NaN, both zeros and one-document queries among them."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    values = st.sampled_from([0.0, -0.0, 1.0, float("nan")])
    rows = draw(st.lists(st.tuples(values, values), min_size=sum(sizes), max_size=sum(sizes)))
    qids = draw(st.lists(st.sampled_from("abcdefgh"), min_size=len(sizes), max_size=len(sizes), unique=True))
    ids = draw(st.none() | st.lists(st.sampled_from(["", "x", "y"]), min_size=sum(sizes), max_size=sum(sizes)))
    grades = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=sum(sizes), max_size=sum(sizes)))
    names = draw(st.permutations(["1", "2"]))
    return Dataset.from_rows(
        np.asarray(rows, np.float32), np.asarray(grades, np.float32), np.repeat(qids, sizes), names,
        doc_ids=None if ids is None else np.asarray(ids),
    )  # fmt: skip


@given(coarse_data(), coarse_data())
@settings(max_examples=300, deadline=None)
def test_shared_queries_are_those_with_the_same_rows_or_documents(learnt, judged):
    shared = shared_queries(learnt, judged)
    if not shared:
        check_apart({"train": learnt}, {"valid": judged})
        return
    with refused(rk.DataError, place="data (valid)", value=judged.qids[shared].tolist()):
        check_apart({"train": learnt}, {"valid": judged})


@given(st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_neither_order_nor_ids_nor_grades_matter(seed):
    other = shuffled(TRAIN, seed, [f"other {number}" for number in range(TRAIN.queries)])
    turned = replace(other, grades=4.0 - other.grades)
    assert sorted(contents_of(turned).keys.tolist()) == sorted(contents_of(TRAIN).keys.tolist())
    with refused(rk.DataError, value=turned.qids.tolist()):
        check_apart({"train": TRAIN}, {"valid": turned})


def test_features_are_found_by_name():
    columns = ["3", "1", "4", "2"]
    with refused(rk.DataError, value=TRAIN.qids.tolist()):
        check_apart({"train": TRAIN}, {"valid": TRAIN.select_features(columns)})
    moved = TRAIN.select_features(columns).rename_features(TRAIN.feature_names)
    check_apart({"train": replace(TRAIN, doc_ids=None)}, {"valid": replace(moved, doc_ids=None)})


def test_columns_of_zeros_change_nothing():
    """LETOR leaves out what is 0, and so may one of two files."""
    wide = replace(
        TRAIN, features=np.pad(TRAIN.features, ((0, 0), (0, 2))), feature_names=(*TRAIN.feature_names, "5", "6"), doc_ids=None
    )
    for pair in ((TRAIN, wide), (wide, TRAIN)):
        with refused(rk.DataError, value=TRAIN.qids.tolist()):
            check_apart({"train": pair[0]}, {"valid": pair[1]})


def test_queries_that_say_too_little_are_not_compared():
    """One-document queries and rows of zeros look alike in any two files, whatever their ids."""
    alone = TRAIN.select_rows(np.isin(np.arange(TRAIN.rows), TRAIN.offsets[:-1]))
    empty = replace(TRAIN, features=np.zeros_like(TRAIN.features), doc_ids=None)
    for data in (alone, empty):
        assert known_queries(data) == [""] * data.queries
        check_apart({"train": data}, {"valid": data.select_queries([0])})


def test_two_domains_may_both_count_from_1():
    counted = [str(number) for number in range(1, 13)]
    check_apart({"train": replace(TRAIN, qids=counted)}, {"valid": replace(VALID, qids=counted)})


def test_the_same_documents_with_other_features_are_the_same_query():
    again = replace(TRAIN.select_queries([2, 7]), features=TRAIN.select_queries([2, 7]).features + np.float32(0.5))
    with refused(rk.DataError, value=again.qids.tolist()):
        check_apart({"train": TRAIN}, {"valid": rk.concat([VALID, again])})
    check_apart({"train": TRAIN}, {"valid": replace(again, doc_ids=None)})
    check_apart({"train": TRAIN}, {"valid": replace(again, qids=["other", "another"])})


def test_a_refusal_names_place_number_query_rule_and_remedy():
    with refused(rk.DataError, place="synthetic valid 0 + synthetic train 0 (test)", value=[TRAIN.qids[4]]) as caught:
        check_apart({"train": TRAIN}, {"valid": VALID, "test": rk.concat([VALID, TRAIN.select_queries([4])])})
    assert "`allow_overlap=True`" in caught.value.remedy
    check_apart({"train": TRAIN}, {"test": TRAIN}, allow_overlap=True)
    check_apart({"train": TRAIN, "valid": VALID}, {"valid": VALID, "test": None})  # one name is one data set
