"""Keys of rows: what they depend on, and what they must not."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.dataset import Dataset
from rankinite.data.identity import content_order, row_keys


def shuffled(data, seed):
    """The same rows with both queries and the rows within them in another order, and where each row went."""
    random = np.random.default_rng(seed)
    rows = [data.offsets[q] + random.permutation(np.diff(data.offsets)[q]) for q in random.permutation(data.queries)]
    order = np.concatenate(rows)
    qids = data.qids[data.query_of_row()][order]
    return Dataset.from_rows(data.features[order], data.grades[order], qids, data.feature_names), order


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000))
def test_keys_go_with_the_rows(seed):
    data = random_dataset(seed)
    other, order = shuffled(data, seed)
    np.testing.assert_array_equal(row_keys(other), row_keys(data)[order])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_order_lists_every_query_by_rising_key(seed):
    data = random_dataset(seed, most=40)
    order, keys = content_order(data), row_keys(data)
    for query in range(data.queries):
        rows = order[data.offsets[query] : data.offsets[query + 1]]
        assert sorted(rows) == list(range(data.offsets[query], data.offsets[query + 1]))
        assert (np.diff(keys[rows].astype(object)) > 0).all()


def test_equal_rows_stay_as_they_stand():
    data = rk.read(np.ones((50, 3)), grades=np.ones(50), group=[20, 30])
    np.testing.assert_array_equal(content_order(data), np.arange(50))


def key_of(features, grade=1.0, qid="a"):
    data = Dataset.from_rows(
        np.asarray([features], np.float32), np.asarray([grade], np.float32), np.asarray([qid]), ["x", "y", "z"][: len(features)]
    )
    return int(row_keys(data)[0])


def test_zeros_are_alike_and_so_are_missing_values():
    odd = np.frombuffer(np.uint32(0xFFC12345).tobytes(), np.float32)[0]
    assert np.isnan(odd)
    assert key_of([0.0, 1.0]) == key_of([-0.0, 1.0])
    assert key_of([np.nan, 1.0]) == key_of([odd, 1.0]) == key_of([-np.nan, 1.0])
    assert key_of([1.0], grade=0.0) == key_of([1.0], grade=-0.0)


def test_whatever_a_row_says_changes_its_key():
    same = key_of([1.0, 2.0, 3.0])
    others = [
        key_of([1.0, 3.0, 2.0]),
        key_of([2.0, 1.0, 3.0]),
        key_of([-1.0, 2.0, 3.0]),
        key_of([np.nan, 2.0, 3.0]),
        key_of([0.0, 2.0, 3.0]),
        key_of([np.nextafter(np.float32(1.0), np.float32(2.0)), 2.0, 3.0]),
        key_of([1.0, 2.0, 3.0], grade=2.0),
        key_of([1.0, 2.0, 3.0], qid="b"),
    ]
    assert len({same, *others}) == 9


def test_rows_of_few_small_numbers_do_not_collide():
    """Small whole numbers differ in few bits, all of them high."""
    grid = np.stack(np.meshgrid(*[np.arange(16)] * 4), axis=-1).reshape(-1, 4)
    data = rk.read(grid.astype(float), grades=np.zeros(len(grid)), group=[len(grid)])
    assert len(np.unique(row_keys(data))) == len(grid)


def test_threads_do_not_change_the_keys():
    data = rk.read(np.random.default_rng(0).normal(size=(40_000, 3)), grades=np.zeros(40_000), group=[20] * 2000)
    with rk.threads(1):
        alone = row_keys(data)
    with rk.threads(2):
        np.testing.assert_array_equal(row_keys(data), alone)


@pytest.mark.parametrize("switch", ["0", "1"])
def test_every_process_finds_the_same_keys(switch):
    """With the compiler or without: a model trained here must be the model trained there."""
    code = (
        "import numpy as np, rankinite as rk\n"
        "from rankinite.data.identity import row_keys\n"
        "data = rk.read(np.array([[1.5, -0.0], [np.nan, 7]]), grades=[0, 2], qid=['a', 'ä'])\n"
        "print(*row_keys(data))\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": switch}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    data = rk.read(np.array([[1.5, -0.0], [np.nan, 7]]), grades=[0, 2], qid=["a", "ä"])
    assert [int(word) for word in done.stdout.split()] == row_keys(data).tolist()
