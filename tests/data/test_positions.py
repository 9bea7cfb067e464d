"""Positions of shown documents: read, carried along and written like everything else that rows have, or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.identity import fingerprint
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from refusals import refused

NO_COLUMNS = dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch", "positions"))


@pytest.fixture
def data():
    found = random_dataset(3)
    return found.with_positions(found.in_row_order(np.arange(found.rows) % 7 + 1))


def of_document(data):
    """Document → position."""
    return dict(zip(data.doc_ids.tolist(), data.positions.tolist(), strict=True))


def test_rows_keep_their_positions_through_selections_and_joins(data):
    expected = of_document(data)
    chosen = data.select_queries([2, 0, 5])
    assert of_document(chosen).items() <= expected.items()
    assert of_document(data.select_rows(data.in_row_order(data.grades > 1))).items() <= expected.items()
    assert of_document(rk.sample_documents(data, 0.5)).items() <= expected.items()
    parts = rk.split(data, (0.5, 0.5))
    assert of_document(rk.concat(parts)) == expected
    assert len(rk.augment(data, 0.7, 2).positions) > data.rows
    assert data.select_features([0]).positions is not None
    assert data.with_positions(None).positions is None


def test_positions_count_in_the_fingerprint(data):
    assert (
        len(
            {
                fingerprint(data),
                fingerprint(data.with_positions(None)),
                fingerprint(data.with_positions(data.in_row_order(data.positions[::-1]))),
            }
        )
        == 3
    )


def test_pieces_have_the_positions_of_their_rows(data):
    settings = ReadSettings(NO_COLUMNS, None, None, (), "zero", "error", zero_based=False, like=None)
    with open_pieces(data, settings, rows=5) as pieces:
        assert np.concatenate([piece.positions for piece in pieces]).tolist() == data.positions.tolist()


@pytest.mark.parametrize("suffix", ["txt", "txt.gz", "parquet", "arrow", "csv", "tsv.gz"])
def test_what_is_written_is_read_back(data, tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    rk.write(data, path)
    named = {"positions": "position"} if suffix[1:3] == "sv" else {}
    found = rk.read(path, **named)
    assert found.positions.dtype == np.int32
    np.testing.assert_array_equal(found.positions, data.positions)
    assert len(found.feature_names) == len(data.feature_names)


def test_scattered_rows_keep_theirs(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("1 qid:a 1:1\n0 qid:b 1:2\n0 qid:a 1:3\n")
    (tmp_path / "log.txt.position").write_text("# shown at\n1\n2\n9\n")
    assert rk.read(path).positions.tolist() == [1, 9, 2]
    (tmp_path / "other").write_text("4\n5\n6\n")
    assert rk.read(path, positions=tmp_path / "other").positions.tolist() == [4, 6, 5]
    assert rk.read(path, positions=[7, 8, 9]).positions.tolist() == [7, 9, 8]
    frame = pd.DataFrame({"qid": ["a", "b", "a"], "grade": [1, 0, 0], "shown": [1, 2, 9], "x": [1, 2, 3]})
    read = rk.read(frame, positions="shown")
    assert (read.positions.tolist(), read.feature_names) == ([1, 9, 2], ("x",))
    assert rk.read(frame, positions=tmp_path / "other", ignore="shown").positions.tolist() == [4, 6, 5]


def test_a_column_is_not_taken_for_positions_by_its_name():
    frame = pd.DataFrame({"qid": ["a", "a"], "grade": [1, 0], "position": [1, 2]})
    assert (rk.read(frame).positions, rk.read(frame).feature_names) == (None, ("position",))


@pytest.mark.parametrize(("position", "value"), [(0, 0), (-3, -3), (1.5, 1.5), (2.0**40, 2.0**40), (np.inf, np.inf)])
def test_impossible_positions_are_refused(position, value, tmp_path):
    with refused(rk.DataError, place="array, row 1", value=value):
        rk.read(np.ones((2, 1)), grades=[0, 1], group=[2], positions=[1, position])
    with refused(rk.DataError, place="data, row 1", value=float(value)):
        rk.Dataset(np.ones((2, 1)), np.zeros(2), [0, 2], ["a"], ("x",), positions=np.asarray([1, position]))
    (tmp_path / "a.txt").write_text("1 qid:a 1:1\n0 qid:a 1:2\n")
    (tmp_path / "a.txt.position").write_text(f"1\n{position}\n")
    with refused(rk.DataError, place="a.txt.position:2", value=float(value)):
        rk.read(tmp_path / "a.txt")


def test_positions_that_are_missing_on_some_rows_are_refused(tmp_path, data):
    frame = pd.DataFrame({"qid": ["a", "a"], "grade": [1, 0], "shown": [1, None], "x": [1, 2]})
    with refused(rk.DataError, place="table, row 1", value="positions"):
        rk.read(frame, positions="shown")
    with refused(rk.DataError, place="array, row 1"):
        rk.read(np.ones((2, 1)), grades=[0, 1], group=[2], positions=[1, None])
    (tmp_path / "a.txt").write_text("1 qid:a 1:1\n0 qid:a 1:2\n")
    (tmp_path / "a.txt.position").write_text("1\n")
    with refused(rk.DataError, place="a.txt.position", value=1):
        rk.read(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text("1 qid:b 1:1\n")
    with refused(rk.DataError, place="b.txt.position"):
        rk.read([tmp_path / "a.txt", tmp_path / "b.txt"])
    with refused(rk.DataError, place=data.source, value=None):
        rk.concat([data, data.with_positions(None)], prefixes=["a", "b"])


def test_words_and_wrong_shapes_are_refused():
    with refused(rk.DataError, place="array, row 0", value="top"):
        rk.read(np.ones((2, 1)), grades=[0, 1], group=[2], positions=["top", "left"])
    with refused(rk.DataError, place="positions", value=(3,)):
        rk.read(np.ones((2, 1)), grades=[0, 1], group=[2], positions=[1, 2, 3])
    with refused(rk.ArgumentError, setting="positions", value="shown"):
        rk.read(np.ones((2, 1)), grades=[0, 1], group=[2], positions="shown")


def test_positions_of_other_data_are_not_left_beside_a_file(tmp_path, data):
    rk.write(data, tmp_path / "log.txt")
    with refused(rk.DataError, place="log.txt.position"):
        rk.write(data.with_positions(None), tmp_path / "log.txt")
