"""Data as frames: reading a frame of a data set gives the same data set, and what users do to frames is respected."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow as pa
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.categories import Vocabulary
from rankinite.errors import ArgumentError
from refusals import refused

USUAL = ("weight", "Label", "fold")
"""Features by the names of other things."""
FIELDS = ("features", "grades", "offsets", "qids", "doc_ids", "weights", "batches", "positions")


def full(seed: int = 1) -> rk.Dataset:
    """Data with everything that a frame has room for: two kinds of categories, missing values, positions."""
    data = random_dataset(seed, queries=9, features=5).rename_features([*USUAL, "brand", "code"])
    features = data.features.copy()
    features[::7, 0] = np.nan
    features[:, 3] = np.arange(data.rows) % 3
    features[:, 4] = np.arange(data.rows) % 2
    features[::5, 3] = features[1::5, 4] = np.nan
    words = {"brand": Vocabulary(("007", "acme", "zeta"), numeric=False), "code": Vocabulary(("-4", "31"), numeric=True)}
    grades = data.grades + 0.25
    return rk.Dataset(
        features,
        grades,
        data.offsets,
        data.qids,
        data.feature_names,
        data.doc_ids,
        data.weights,
        data.batches,
        categories=words,
    ).with_positions(np.arange(1, data.rows + 1))


def assert_same(found: rk.Dataset, data: rk.Dataset) -> None:
    for name in FIELDS:
        wanted = getattr(data, name)
        assert (getattr(found, name) is None) == (wanted is None), name
        if wanted is not None:
            np.testing.assert_array_equal(getattr(found, name), wanted, err_msg=name)
    assert found.feature_names == data.feature_names
    assert found.categories == data.categories


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["to_pandas", "to_arrow"])
def test_a_frame_is_read_back_to_the_same_data(kind: str, seed: int) -> None:
    data = full(seed)
    assert_same(rk.read(getattr(data, kind)()), data)


def test_a_frame_without_extras_is_read_back() -> None:
    data = random_dataset(4)
    bare = rk.Dataset(data.features, data.grades, data.offsets, data.qids, data.feature_names)
    assert_same(rk.read(bare.to_pandas()), bare)
    assert list(bare.to_pandas()) == ["qid", "grade", "f0", "f1", "f2"]
    unjudged = bare.without_grades()
    assert list(unjudged.to_pandas()) == ["qid", "f0", "f1", "f2"]
    assert not rk.read(unjudged.to_pandas(), unjudged="keep").judged


def test_polars_states_no_roles_so_that_usual_names_decide() -> None:
    data = full().rename_features(["a", "b", "c", "brand", "code"])
    found = rk.read(data.to_polars(), positions="position", categories=["code"])
    assert_same(found, data)


def test_rows_come_in_the_order_of_scores() -> None:
    data = full()
    frame = data.to_pandas().assign(score=rk.Feature("Label").score(data))
    np.testing.assert_array_equal(frame["score"], frame["Label"])


def test_a_frame_that_was_filtered_and_shuffled_keeps_its_roles() -> None:
    data = full()
    frame = data.to_pandas()
    kept = frame[frame["qid"] != data.qids[2]].sample(frac=1.0, random_state=3)  # leaves pandas' row numbers behind
    found = rk.read(kept)
    assert found.feature_names == data.feature_names
    assert sorted(found.qids.tolist()) == sorted(set(data.qids.tolist()) - {data.qids[2]})
    by_document = dict(zip(found.doc_ids, found.features.tolist(), strict=True))
    others = data.select_queries(data.qids != data.qids[2])
    for document, row in zip(others.doc_ids, others.features.tolist(), strict=True):
        np.testing.assert_array_equal(by_document[document], row)


def test_renamed_and_added_columns_are_found_by_their_names_again() -> None:
    data = full().select_features(["Label", "brand"]).rename_features(["a", "b"])
    frame = data.to_pandas().rename(columns={"qid": "query_id", "grade": "label"}).assign(price=1.0)
    found = rk.read(frame)
    assert found.feature_names == ("a", "b", "price")
    np.testing.assert_array_equal(found.grades, data.grades)
    np.testing.assert_array_equal(found.qids, data.qids)


@pytest.mark.parametrize(
    "entry", [None, 3, {"rankinite.roles": "no JSON", "rankinite.features": 7}, {1: 2}, {"rankinite.roles": "[]"}]
)
def test_damaged_notes_of_a_frame_are_passed_over(entry: object) -> None:
    data = random_dataset(2)
    frame = data.to_pandas()
    frame.attrs["rankinite"] = entry
    np.testing.assert_array_equal(rk.read(frame).features, data.features)


def test_named_columns_go_before_stated_ones() -> None:
    frame = random_dataset(2).to_pandas().assign(clicks=lambda frame: frame["f0"].abs())
    found = rk.read(frame, grades="clicks", ignore=["grade"])
    np.testing.assert_array_equal(found.grades, frame["clicks"])


def test_an_arrow_table_is_a_parquet_file_like_ours(tmp_path) -> None:
    data = random_dataset(3)
    pa.parquet.write_table(data.to_arrow(), tmp_path / "a.parquet")
    assert_same(rk.read(tmp_path / "a.parquet"), data)
    assert json.loads(data.to_arrow().schema.metadata[b"rankinite.roles"])["grades"] == "grade"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with refused(ArgumentError, value=library):
        getattr(random_dataset(), f"to_{library}")()
