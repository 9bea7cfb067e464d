"""Sketches of queries: exact for few, a known sample of many, and the same whatever the order."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.overlap import known_queries, shuffled
from rankinite.data.identity import MOST_KEYS, QuerySketch, contents_of, unite_sketches
from refusals import refused

MANY = 20_000


@cache
def many(seed: int = 0, queries: int = MANY) -> rk.Dataset:
    """Queries of two documents with one feature."""
    features = np.random.default_rng(seed).normal(size=(2 * queries, 1))
    return rk.read(features, grades=np.zeros(2 * queries), group=[2] * queries)


def parts(data, first, last):
    return data.select_queries(np.arange(first, last))


@given(st.integers(0, 500), st.integers(0, 500))
@settings(max_examples=60, deadline=None)
def test_few_queries_are_all_found_and_no_others(seed, other):
    data = random_dataset(seed)
    sketch, known = QuerySketch.of(data), set(known_queries(data)) - {""}
    assert (sketch.queries, sketch.level, sketch.complete) == (len(known), 0, True)
    judged = rk.concat([random_dataset(other, queries=3), parts(data, 2, 5)], prefixes=("a", "b"))
    contents = contents_of(judged)
    assert sketch.found(contents).tolist() == [query in known for query in known_queries(judged)]
    assert sketch.covered(contents).tolist() == [query != "" for query in known_queries(judged)]


@given(st.integers(0, 500))
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_and_queries_does_not_matter(seed):
    data = random_dataset(seed)
    assert QuerySketch.of(shuffled(data, seed)).keys.tobytes() == QuerySketch.of(data).keys.tobytes()


def mix(key: int) -> int:
    """As the format has it."""
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB % 2**64
    return key ^ (key >> 31)


def key_by_the_format(rows: np.ndarray) -> int:
    """docs/formats/model.md in plain Python."""
    step, keys = 0x9E3779B97F4A7C15, []
    for row in rows:
        total = 0
        for feature, value in enumerate(row):
            bits = 0x7FC00000 if np.isnan(value) else int(np.float32(value + 0.0).view(np.uint32))
            spread = bits * step % 2**64
            total += (spread ^ (spread >> 32)) * (mix((feature + 2) * step % 2**64) | 1)
        keys.append(mix(total % 2**64))
    return (sum(keys) + len(keys) * step) % 2**64


def test_keys_are_those_of_the_format():
    data = random_dataset(3)
    features = data.features.copy()
    features[::3, 0], features[1::4, 1], features[2::5, 2] = np.nan, -0.0, 0.0
    data = replace(data, features=features)
    telling = [query for query, own in enumerate(known_queries(data)) if own]
    keys = [key_by_the_format(features[data.offsets[query] : data.offsets[query + 1]]) for query in telling]
    assert QuerySketch.of(data).keys.tolist() == sorted(keys)


def test_threads_change_nothing():
    with rk.threads(1):
        alone = QuerySketch.of(many())
    with rk.threads(2):
        assert QuerySketch.of(many()).keys.tobytes() == alone.keys.tobytes()


def test_of_many_queries_those_below_a_level_are_kept():
    sketch, contents = QuerySketch.of(many()), contents_of(many())
    kept = sorted(key for key in set(contents.keys.tolist()) if key < 2 ** (64 - sketch.level))
    assert sketch.keys.tolist() == kept
    assert len(kept) <= MOST_KEYS < len([key for key in contents.keys.tolist() if key < 2 ** (65 - sketch.level)])
    assert sketch.covered(contents).sum() == len(kept)
    assert sketch.keys.nbytes <= 8 * MOST_KEYS  # a model must not grow with its data
    assert sketch.queries == pytest.approx(MANY, rel=0.1)  # 5 standard errors


def test_nothing_is_found_that_is_not_there():
    sketch = QuerySketch.of(many())
    assert not sketch.found(contents_of(many(1))).any()


@given(st.lists(st.tuples(st.integers(0, 12_000), st.integers(1, 8_000)), min_size=2, max_size=4), st.randoms())
@settings(max_examples=20, deadline=None)
def test_the_union_is_the_sketch_of_all_queries_together_in_any_order(spans, random):
    pieces = [QuerySketch.of(parts(many(), first, first + count)) for first, count in spans]
    inside = np.isin(np.arange(MANY), np.concatenate([np.arange(first, first + count) for first, count in spans]))
    whole = QuerySketch.of(many().select_queries(inside))
    random.shuffle(pieces)
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = unite_sketches(joined, piece)
    assert (joined.level, joined.complete) == (whole.level, True)
    assert joined.keys.tobytes() == whole.keys.tobytes()


def test_what_is_not_known_stays_so():
    sketch = QuerySketch.of(random_dataset())
    assert unite_sketches(None, None) is None
    for partly in (
        unite_sketches(None, sketch),
        unite_sketches(sketch, None),
        unite_sketches(unite_sketches(sketch, None), sketch),
    ):
        assert not partly.complete
        assert partly.keys.tolist() == sketch.keys.tolist()


def test_other_features_than_those_named_do_not_count():
    data = random_dataset(features=3)
    sketch = QuerySketch.of(data, ("f2", "f0"))
    assert sketch.features == ("f2", "f0")
    assert sketch.keys.tolist() == QuerySketch.of(data.select_features(["f2", "f0"])).keys.tolist()
    assert sketch.renamed(["a", "b"]).features == ("a", "b")
    assert sketch.renamed(["a", None]) is None


@pytest.mark.parametrize(("keys", "level"), [([2, 1], 0), ([1, 1], 0), ([2**63], 1), ([0], -1), ([0], 64), ([[0]], 0)], ids=str)
def test_keys_that_cannot_be_are_refused(keys, level):
    with refused(rk.DataError, place="sketch of queries", value=level):
        QuerySketch(("1",), np.asarray(keys, np.uint64), level)
