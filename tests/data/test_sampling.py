"""Samples have the size asked for, come from their query, and make up the augmented sets of paper 004 §2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.datasets import contents, pairs, random_dataset
from rankinite.data.sampling import AUG50, AUG70, augment, sample_documents
from rankinite.errors import ArgumentError
from refusals import refused


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 1.0))
def test_samples_are_parts_of_their_queries(seed: int, share: float) -> None:
    data = random_dataset(seed, most=9)
    sample = sample_documents(data, share, seed=seed)
    whole, part = contents(data), contents(sample)
    assert list(part) == list(whole)
    for qid, said in part.items():
        documents = whole[qid]["documents"]
        chosen = said["documents"]
        assert len(chosen) == max(1, math.floor(share * len(documents) + 0.5))
        assert chosen == [document for document in documents if document in chosen]
        assert (said["weight"], said["batch"]) == (whole[qid]["weight"], whole[qid]["batch"])


def test_the_whole_share_is_the_identity_and_seeds_differ() -> None:
    data = random_dataset(0, 20)
    assert contents(sample_documents(data, 1.0)) == contents(data)
    first, again, other = (sample_documents(data, 0.5, seed=seed) for seed in (1, 1, 2))
    assert contents(first) == contents(again)
    assert contents(first) != contents(other)


def test_every_document_is_as_likely() -> None:
    data = random_dataset(7, queries=400, most=9)
    counts = np.zeros(data.rows)
    for seed in range(40):
        counts[np.isin(data.doc_ids, sample_documents(data, 0.5, seed=seed).doc_ids)] += 1
    size = np.diff(data.offsets)[data.query_of_row()]
    position = np.arange(data.rows) - data.offsets[data.query_of_row()]
    expected = np.maximum(1, np.floor(size / 2 + 0.5)) / size
    for place in range(5):  # no position in the query is favoured
        here = (position == place) & (size > 5)
        assert abs((counts[here] / 40 - expected[here]).mean()) < 0.02


@pytest.mark.parametrize(("recipe", "share", "copies"), [(AUG70, 0.7, 5), (AUG50, 0.5, 10)])
def test_augmented_data_are_the_original_and_its_samples(recipe: tuple[float, int], share: float, copies: int) -> None:
    data = random_dataset(2, most=9)
    more = augment(data, *recipe, seed=3)
    assert more.queries == data.queries * (copies + 1)
    assert contents(more.select_queries(data.qids.tolist())) == contents(data)
    whole = contents(data)
    for qid, said in contents(more).items():
        original = whole[qid.split("~")[0]]
        assert set(said["documents"]) <= set(original["documents"])
        assert said["weight"] == original["weight"]
        if "~" in qid:
            assert len(said["documents"]) == max(1, math.floor(share * len(original["documents"]) + 0.5))
    assert {f"{qid}~{copy}" for qid in whole for copy in range(1, copies + 1)} | set(whole) == set(more.qids.tolist())


def test_preferences_follow_the_documents() -> None:
    data = random_dataset(4, most=9)
    judged = pairs(data)
    for qid, better, worse, probability in pairs(augment(data, *AUG70)):
        assert (qid.split("~")[0], better, worse, probability) in judged
    kept = augment(data, 1.0, 2)
    assert pairs(kept) == sorted(
        (qid + mark, better, worse, probability) for mark in ("", "~1", "~2") for qid, better, worse, probability in judged
    )


def test_augmented_data_can_be_augmented_again() -> None:
    twice = augment(augment(random_dataset(5), 0.5, 2), 0.5, 2)
    assert twice.queries == 7 * 9
    assert "q0~1~~2" in twice.qids.tolist()


def test_impossible_samples_are_refused() -> None:
    data = random_dataset(6)
    for share in (0.0, 1.1, math.nan):
        with refused(ArgumentError, setting="share"):
            sample_documents(data, share)
    with refused(ArgumentError, setting="copies", value=0):
        augment(data, 0.5, 0)
