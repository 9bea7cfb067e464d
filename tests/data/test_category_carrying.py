"""Categories stay what they are in everything that is done with data: codes may change, names do not."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from data.test_category_files import data_with
from data.test_category_reading import names_in
from rankinite.data import identity as keys
from rankinite.data.categories import Vocabulary, drop_unused_categories, recode, union
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, check_apart, contents_of, feature_keys, fingerprint, row_keys
from rankinite.data.joining import rejoin
from rankinite.errors import DataError
from rankinite.workers.shared_data import SharedData
from refusals import refused

DATA = data_with(["b", "a", None, "c", "a", "b", "d", "d", "a"], [5, None, 7, 5, 0, -3, 5, 7, 9])


def with_more_names(data: Dataset) -> Dataset:
    """The same rows in other codes."""
    more = {name: union([one, Vocabulary(("-7", "000", "8", "zz"))]) for name, one in data.categories.items()}
    found = recode(data, more)
    assert (found.features[:, 1] != data.features[:, 1]).any()
    return found


def test_keys_of_rows_follow_names_not_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    other = with_more_names(DATA)
    assert row_keys(other).tolist() == row_keys(DATA).tolist()
    assert feature_keys(other, ["c", "x"]).tolist() == feature_keys(DATA, ["c", "x"]).tolist()
    assert len(set(feature_keys(DATA, ["c"]).tolist())) == 5  # a, b, c, d and missing
    monkeypatch.setattr(keys, "_TOGETHER", 1)
    assert row_keys(other).tolist() == row_keys(DATA).tolist()


def test_whole_numbers_have_the_keys_of_plain_numbers() -> None:
    numbers = DATA.select_features(["x", "n"])
    plain = np.asarray([np.nan if name is None else int(name) for name in names_in(numbers, "n")], np.float32)
    read_as_numbers = replace(numbers, features=np.stack([numbers.features[:, 0], plain], axis=1), categories={})
    assert row_keys(read_as_numbers).tolist() == row_keys(numbers).tolist()


def test_fingerprints_tell_vocabularies_apart() -> None:
    different = {fingerprint(data) for data in (DATA, with_more_names(DATA), replace(DATA, categories={}))}
    assert len(different) == 3
    assert fingerprint(drop_unused_categories(with_more_names(DATA))) != fingerprint(with_more_names(DATA))
    assert fingerprint(DATA) == fingerprint(pickle.loads(pickle.dumps(DATA)))


def test_shared_queries_are_found_whatever_the_codes() -> None:
    other = replace(with_more_names(DATA).select_queries(["1"]), qids=np.asarray(["new"]))
    with refused(DataError, value=["new"]):
        check_apart({"train": DATA}, {"test": other})
    assert QuerySketch.of(DATA).found(contents_of(other, DATA.feature_names)).all()
    new = Vocabulary(tuple(f"new {name}" for name in other.categories["c"].names))
    check_apart({"train": DATA}, {"test": replace(other, categories={**other.categories, "c": new})})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.one_of(st.none(), st.text("abc", max_size=2)), min_size=1, max_size=6), min_size=1, max_size=4))
def test_joined_data_have_the_names_of_their_parts(parts: list[list[str | None]]) -> None:
    joined = rk.concat([data_with(names) for names in parts], prefixes=[f"{part}:" for part in range(len(parts))])
    assert names_in(joined, "c") == [name for names in parts for name in names]
    assert names_in(joined, "n") == [name for names in parts for name in names_in(data_with(names), "n")]


def test_categories_and_numbers_are_not_joined() -> None:
    numbers = replace(DATA, categories={"c": DATA.categories["c"]}, qids=np.asarray(["x", "y", "z"]))
    with refused(DataError, value="n") as caught:
        rk.concat([DATA, numbers])
    assert "is a number, but a category" in caught.value.problem
    with refused(DataError, value="n"):
        rk.concat([numbers, DATA])


def test_selections_keep_vocabularies() -> None:
    first, second = DATA.select_queries(["0"]), DATA.select_queries(["2"])
    assert first.categories is DATA.categories
    assert names_in(first, "c") == ["b", "a", None]
    assert names_in(rejoin(first, second), "c") == ["b", "a", None, "d", "d", "a"]
    assert list(rk.augment(DATA, 0.7, 2).categories) == ["c", "n"]
    fold = next(iter(rk.k_folds(DATA, 3)))
    assert fold.train.categories == DATA.categories
    renamed = DATA.rename_features({"c": "brand"})
    assert names_in(renamed, "brand") == names_in(DATA, "c")
    assert list(DATA.select_features(["n", "x"]).categories) == ["n"]


def test_workers_receive_vocabularies(tmp_path: Path) -> None:
    shared = SharedData(tmp_path)
    found = shared.get(shared.put(DATA))
    assert found.categories == DATA.categories
    assert found.features.tobytes() == DATA.features.tobytes()


def test_infinite_values_of_numbers_leave_categories_alone() -> None:
    columns = {"qid": [1, 1], "label": [0, 1], "x": [np.inf, 1.0], "c": ["b", None]}
    for infinite in ("missing", "clip", "keep"):
        data = rk.read(pa.table(columns), infinite=infinite)
        assert names_in(data, "c") == ["b", None]


def test_categories_are_described() -> None:
    found = rk.describe(DATA)
    (text, numbers) = found.categories
    assert (text.name, text.categories, text.once, text.missing) == ("c", 4, 1, 1)
    assert list(text.frequent.items()) == [("a", 3), ("b", 2), ("d", 2), ("c", 1)]
    assert numbers.frequent == {"5": 3, "7": 2, "-3": 1, "0": 1, "9": 1}
    assert "a 33.3%, b 22.2%, d 22.2%" in str(found)
    assert "a 33.3%" in found._repr_html_()
    feature = found.to_dict()["features"][1]
    assert (feature["lowest"], feature["zeros"], feature["missing"], feature["categories"]) == (None, 0, 1, 4)
    assert found.to_dict()["categories"][0]["frequent"]["c"] == 1
    assert found.constant_features == ()
    assert rk.describe(data_with(["a", None, "a"])).constant_features == ("c",)
    assert len(rk.describe(DATA.select_features(["x"])).grids()) == 3


def test_ids_among_categories_are_odd_and_brands_are_not() -> None:
    names: list[str | None] = [f"u{row}" for row in range(120)]
    data = data_with(names, [row % 40 for row in range(120)]).rename_features(["x", "link", "brand_id"])
    assert [odd.name for odd in rk.describe(data).odd_features] == ["link"]
    assert "more than half" in rk.describe(data).odd_features[0].reason
    named = (
        data_with([f"u{row % 30}" for row in range(120)]).rename_features({"c": "user_id"}).select_features(["x", "user_id"])
    )
    assert [odd.name for odd in rk.describe(named).odd_features] == ["user_id"]
