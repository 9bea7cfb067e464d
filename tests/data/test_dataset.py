"""Laws of the data set: choosing, joining and reordering lose and invent nothing."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.datasets import contents, pairs, random_dataset
from rankinite.data.dataset import Dataset
from rankinite.data.folds import split
from rankinite.data.grouping import group_rows
from rankinite.data.joining import concat
from rankinite.data.preferences import Preferences
from rankinite.errors import ArgumentError, DataError
from refusals import refused

SEEDS = st.integers(0, 10_000)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "10", "9", ""]), max_size=30))
def test_regrouping_is_stable(qids: list[str]) -> None:
    names, offsets, order = group_rows(np.asarray(qids, np.dtypes.StringDType()))
    expected = list(dict.fromkeys(qids))
    assert names.tolist() == expected
    rows = np.arange(len(qids)) if order is None else order
    for query, name in enumerate(expected):
        rows_of_query = rows[offsets[query] : offsets[query + 1]].tolist()
        assert rows_of_query == [row for row, qid in enumerate(qids) if qid == name]
    assert (order is None) == (rows.tolist() == list(range(len(qids))))


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_selecting_all_queries_changes_nothing(seed: int) -> None:
    data = random_dataset(seed)
    for everything in (np.arange(data.queries), np.ones(data.queries, bool), data.qids.tolist()):
        same = data.select_queries(everything)
        assert contents(same) == contents(data)
        assert pairs(same) == pairs(data)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True))
def test_selected_queries_are_those_asked_for_in_that_order(seed: int, chosen: list[int]) -> None:
    data = random_dataset(seed)
    part = data.select_queries(chosen)
    assert part.qids.tolist() == [f"{data.qids[query]}" for query in chosen]
    whole = contents(data)
    assert contents(part) == {str(data.qids[query]): whole[str(data.qids[query])] for query in chosen}
    assert pairs(part) == [pair for pair in pairs(data) if pair[0] in set(part.qids.tolist())]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_joined_parts_can_be_taken_apart_again(seed: int) -> None:
    first, second = random_dataset(seed), random_dataset(seed + 1)
    joined = concat([first, second], prefixes=("a:", "b:"))
    for prefix, part in (("a:", first), ("b:", second)):
        back = joined.select_queries([f"{prefix}{qid}" for qid in part.qids.tolist()])
        assert list(contents(back).values()) == list(contents(part).values())
        assert [pair[1:] for pair in pairs(back)] == [pair[1:] for pair in pairs(part)]


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans())
def test_source_order_is_kept(seed: int, scattered: bool) -> None:
    data = random_dataset(seed, scattered=scattered)
    values = np.random.default_rng(seed).random(data.rows)
    assert (data.to_input_order(data.from_input_order(values)) == values).all()
    assert (data.from_input_order(data.to_input_order(values)) == values).all()
    # Document ids were given in the order of the source.
    assert data.to_input_order(data.doc_ids).tolist() == [f"d{row}" for row in range(data.rows)]


def test_dropped_rows_keep_their_number_in_the_source() -> None:
    data = random_dataset(3)
    part = data.select_rows(data.in_row_order(data.grades > 1))
    assert 0 < part.rows < data.rows
    numbers = part.from_input_order(np.arange(data.rows))
    assert [f"d{number}" for number in numbers] == part.doc_ids.tolist()
    kept = {pair for pair in pairs(data) if {pair[1], pair[2]} <= set(part.doc_ids.tolist())}
    assert set(pairs(part)) == kept
    with refused(DataError, place=data.source, value=part.rows):
        part.from_input_order(np.zeros(part.rows))


def test_arrays_are_read_only_and_the_callers_stay_writeable() -> None:
    features = np.zeros((2, 1), np.float32)
    data = Dataset.from_rows(features, np.zeros(2), np.asarray(["a", "a"]), ["f"])
    features[0, 0] = 1
    for name in ("features", "grades", "offsets", "qids"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[:] = getattr(data, name)[:]


def test_features_are_chosen_and_renamed_by_name_or_position() -> None:
    data = random_dataset(1)
    part = data.select_features(["f2", 0])
    assert part.feature_names == ("f2", "f0")
    assert (part.features == data.features[:, [2, 0]]).all()
    assert data.rename_features({"f1": "bm25"}).feature_names == ("f0", "bm25", "f2")
    assert data.rename_features(["a", "b", "c"]).feature_names == ("a", "b", "c")
    with refused(DataError, place=data.source, value="f9"):
        data.select_features(["f9"])
    with refused(DataError, place=data.source, value=3):
        data.select_features([3])
    with refused(DataError, value="f9"):
        data.rename_features({"f9": "x"})


def test_grades_are_mapped_by_a_table_or_a_function() -> None:
    data = random_dataset(2)
    table = {0: 0, 1: 0, 2: 1, 3: 1, 4: 3}
    assert data.map_grades(table).grades.tolist() == [table[int(grade)] for grade in data.grades]
    assert (data.map_grades(lambda grades: grades / 4).grades == data.grades / 4).all()
    with refused(DataError, place=data.source, value=[4.0]):
        data.map_grades({0: 0, 1: 0, 2: 1, 3: 1})


def test_weights_belong_to_queries() -> None:
    rows = np.zeros((3, 1), np.float32), np.zeros(3), np.asarray(["a", "b", "a"])
    assert Dataset.from_rows(*rows, ["f"], weights=np.asarray([2.0, 3.0, 2.0])).weights.tolist() == [2, 3]
    with refused(DataError, place="query 'a'", value=(2.0, 4.0)):
        Dataset.from_rows(*rows, ["f"], weights=np.asarray([2.0, 3.0, 4.0]))


def test_bad_data_are_refused() -> None:
    good = random_dataset(5)
    with refused(DataError, place="row 1"):
        Dataset.from_rows(np.zeros((2, 1)), np.asarray([0, np.nan]), np.asarray(["a", "a"]), ["f"])
    with refused(DataError, place="features", value=(2, 1)):
        Dataset.from_rows(np.zeros((2, 1)), np.zeros(2), np.asarray(["a", "a"]), ["f", "g"])
    with refused(DataError, place="random 6", value=2):
        concat([good, random_dataset(6, features=2)])
    with refused(DataError, place="random 6", value="x"):
        concat([good, random_dataset(6).rename_features({"f0": "x"})])
    with refused(DataError, place="random 5 + random 6", value="q0"):
        concat([good, random_dataset(6)])
    with refused(DataError, place="random 5", value="nobody"):
        good.select_queries(["nobody"])
    with refused(DataError, place="random 5", value=7):
        good.select_queries([7])
    with refused(DataError, place="random 5", value=2):
        good.select_queries(np.ones(2, bool))
    with refused(DataError, place="preference 0", value=1.5):
        Preferences(np.zeros(1, np.int64), np.ones(1, np.int64), np.asarray([1.5]))


def test_copies_stay_read_only() -> None:
    data = random_dataset(3)
    for copy in (pickle.loads(pickle.dumps(data)), deepcopy(data)):
        assert contents(copy) == contents(data)
        assert not copy.features.flags.writeable
        assert not copy.offsets.flags.writeable
    weights = np.ones(data.queries)
    weighted = data.with_weights(weights)
    weights[0] = 9
    assert weighted.weights is not None
    assert weighted.weights[0] == 1


def test_choosing_takes_what_is_meant_or_refuses() -> None:
    data = Dataset.from_rows(np.zeros((4, 1)), np.zeros(4), np.asarray(["1", "0", "10", "10"]), ["f"])
    assert data.select_queries("10").qids.tolist() == ["10"]
    for wrong, value in [([0.7], "float64"), ([-1], -1), ([0, 0], "1"), ([True], 1)]:
        with refused(DataError, value=value):
            data.select_queries(wrong)
    for mask in (np.asarray([0, 2]), np.ones(3, bool), np.ones(5, bool)):
        with refused(DataError, value=mask.shape):
            data.select_rows(mask)


def test_float_grades_can_be_mapped() -> None:
    data = Dataset.from_rows(np.zeros((2, 1)), np.asarray([0.1, 0.7]), np.asarray(["a", "a"]), ["f"])
    assert data.map_grades({0.1: 1, 0.7: 2}).grades.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("better", "worse", "probability", "place", "value"),
    [
        ([0], [9], [1.0], "preference 0", (0, 9)),
        ([0], [3], [1.0], "preference 0", (0, 3)),
        ([0.5], [1], [1.0], "better", (1,)),
        ([0, 1], [1], [1.0], "worse", (1,)),
        ([0], [1], [1.5], "preference 0", 1.5),
    ],
)
def test_preferences_are_pairs_of_rows_of_one_query(better, worse, probability, place, value) -> None:
    data = Dataset.from_rows(np.zeros((4, 1)), np.zeros(4), np.asarray(["a", "a", "b", "b"]), ["f"])
    with refused(DataError, place=place, value=value):
        data.with_preferences(Preferences(better, worse, probability))


@pytest.mark.parametrize(
    "weight",
    [np.nan, -1.0, np.inf, 1e308, 1e101, 5e-324],
)
def test_weights_are_numbers_that_can_be_added_and_squared(weight) -> None:
    data = Dataset.from_rows(np.zeros((4, 1)), np.zeros(4), np.asarray(["a", "a", "b", "b"]), ["f"])
    with refused(DataError, place="query 'b'") as caught:
        data.with_weights([1.0, weight])
    assert repr(caught.value.value) == repr(weight)
    with refused(DataError, place="weights", value=(1,)):
        data.with_weights([1.0])
    assert data.with_weights([0.0, 1e100]).weights.tolist() == [0.0, 1e100]
    assert data.with_weights([0.0, 1e-100]).weights.tolist() == [0.0, 1e-100]


def test_joining_fills_what_only_some_parts_have() -> None:
    plain = Dataset.from_rows(np.zeros((1, 1)), np.zeros(1), np.asarray(["a"]), ["f"])
    rich = Dataset.from_rows(np.zeros((1, 1)), np.zeros(1), np.asarray(["b"]), ["f"], doc_ids=np.asarray(["d"]))
    both = concat(part for part in (plain, rich.with_weights([3.0])))
    assert both.doc_ids is not None
    assert both.doc_ids.tolist() == ["", "d"]
    assert both.weights is not None
    assert both.weights.tolist() == [1.0, 3.0]
    assert concat([plain, rich]).weights is None
    with refused(ArgumentError, owner="concat", setting="parts"):
        concat([])
    with refused(ArgumentError, owner="concat", setting="prefixes", value=["a"]):
        concat([plain, rich], prefixes=["a"])


def test_joined_selections_count_their_own_rows() -> None:
    data = random_dataset(4)
    joined = concat([data.select_queries([0]), data.select_queries([1])])
    assert joined.input_rows == joined.rows
    assert joined.from_input_order(np.arange(joined.rows)).tolist() == list(range(joined.rows))


def test_seeds_are_not_negative() -> None:
    with refused(ArgumentError, setting="seed", value=-1):
        split(random_dataset(1), seed=-1)
