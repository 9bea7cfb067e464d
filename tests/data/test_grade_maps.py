"""Grades that are words, or numbers of another scale, against mapping them by hand; and rows without a grade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankinite as rk
from rankinite.cli.error_text import shell_text
from rankinite.data.grades import grade_map_of
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from rankinite.errors import ArgumentError, DataError
from refusals import refused

WORDS = ["Good", "Bad", "Fair", "Good", "Fair", "Bad"]
GRADES = {"Good": 2, "Fair": 1, "Bad": 0}
NUMBERS = [GRADES[word] for word in WORDS]
FRAME = pd.DataFrame({"qid": list("aabbcc"), "label": WORDS, "x": np.arange(6.0)})


def sources(folder: Path, frame: pd.DataFrame) -> list[object]:
    """The table in every form there is."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_parquet(folder / "t.parquet")
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    coded = arrow.set_column(1, "label", arrow["label"].dictionary_encode())
    return [*(folder / name for name in ("t.csv", "t.csv.gz", "t.parquet")), frame, arrow, coded, pl.from_pandas(frame)]


def test_words_become_their_grades_in_every_source(tmp_path: Path) -> None:
    for source in sources(tmp_path, FRAME):
        data = rk.read(source, map_grades=GRADES)
        assert (data.grades.tolist(), data.feature_names) == (NUMBERS, ("x",))
    matrix = FRAME[["x"]].to_numpy()
    assert rk.read(matrix, grades=WORDS, qid=list("aabbcc"), map_grades=GRADES).grades.tolist() == NUMBERS
    assert rk.read(FRAME, grades=np.asarray(WORDS), ignore="label", map_grades=GRADES).grades.tolist() == NUMBERS


def test_numbers_are_mapped_as_by_hand(tmp_path: Path) -> None:
    data = rk.synthesise(6, world=rk.World(documents=8, features=3))
    expected = data.map_grades({0: 0, 1: 0, 2: 1, 3: 1, 4: 1})
    for name in ("t.txt", "t.csv", "t.parquet"):
        rk.write(data, tmp_path / name)
        for mapping in ({0: 0, 1: 0, 2: 1, 3: 1, 4: 1}, {"0": 0, "1.0": 0, "2": 1, "3": 1, "4": 1}):
            assert rk.read(tmp_path / name, map_grades=mapping).grades.tolist() == expected.grades.tolist()
            settings = ReadSettings(
                dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch", "positions")),
                *(None, None, (), "zero", "error"),
                zero_based=False,
                like=None,
                grade_map=grade_map_of(mapping),
            )
            with open_pieces(tmp_path / name, settings, rows=16) as pieces:
                assert [g for piece in pieces for g in piece.grades.tolist()] == expected.grades.tolist()


def test_a_map_of_words_and_numbers_fits_a_column_of_both() -> None:
    frame = FRAME.assign(label=["0", "1.0", "Good", " Good ", "-1", "1"])
    data = rk.read(frame, map_grades={0: 0, "1": 1, "Good": 3}, unjudged="keep")
    assert data.grades.tolist() == [0, 1, 3, 3, -1, 1]


def test_yes_and_no_of_any_kind(tmp_path: Path) -> None:
    FRAME.assign(label=["True", "False"] * 3).to_csv(tmp_path / "t.csv", index=False)
    frame = FRAME.assign(label=[True, False] * 3)
    for source in (tmp_path / "t.csv", frame):
        assert rk.read(source).grades.tolist() == [1, 0] * 3
        assert rk.read(source, map_grades={"True": 3, "False": 1}).grades.tolist() == [3, 1] * 3


@pytest.mark.parametrize("form", range(7))
def test_words_that_no_map_explains_are_listed(tmp_path: Path, form: int) -> None:
    source = sources(tmp_path, FRAME)[form]
    with refused(DataError, value=["label"]) as caught:
        rk.read(source)
    assert "'Bad', 'Fair', 'Good'" in caught.value.problem
    assert "map_grades={'Bad': …, 'Fair': …, 'Good': …}" in str(caught.value)
    assert shell_text(caught.value).endswith("--map-grades Bad=N,Fair=N,Good=N.")


def test_words_of_an_array_are_listed_too() -> None:
    with refused(DataError, place="array, row 1", value="Good") as caught:
        rk.read(np.zeros((3, 1)), grades=[1, "Good", "Bad"], group=[3])
    assert "'Bad', 'Good'" in caught.value.problem


@pytest.mark.parametrize(("name", "place"), [("t.csv", "t.csv:4"), ("t.parquet", "t.parquet, row 2")])
def test_a_word_that_is_not_in_the_map_has_its_place(tmp_path: Path, name: str, place: str) -> None:
    sources(tmp_path, FRAME)
    with refused(DataError, place=place, value="Fair") as caught:
        rk.read(tmp_path / name, map_grades={"Good": 1, "Bad": 0})
    assert "'Good', 'Bad'" in caught.value.rule


def test_a_number_that_is_not_in_the_map_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("1 qid:1 1:1\n2 qid:1 1:2\n3 qid:2 1:1\n-1 qid:2 1:1\n")
    with refused(DataError, place="t.txt:2", value=2.0) as caught:
        rk.read(tmp_path / "t.txt", map_grades={1: 0})
    assert "nor 3" in caught.value.problem
    kept = rk.read(tmp_path / "t.txt", map_grades={1: 0, 2: 0, 3: 1}, unjudged="keep")
    assert kept.grades.tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("mapping", [{}, {"Good": "2"}, {"Good": float("nan")}, {"Good": None}, {"Good": True}])
def test_maps_that_map_to_nothing(mapping: dict[str, object]) -> None:
    with refused(ArgumentError, setting="map_grades", value=mapping):
        rk.read(FRAME, map_grades=mapping)


# ---- rows without a grade ---------------------------------------------------------------------------------------------


def with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=frame.label.where(frame.index % 3 != 1))


@pytest.mark.parametrize("words", [True, False], ids=["words", "numbers"])
def test_empty_grades_count_as_unjudged(tmp_path: Path, words: bool) -> None:
    whole = FRAME if words else FRAME.assign(label=NUMBERS)
    options = {"map_grades": GRADES} if words else {}
    expected = rk.read(whole.drop(index=[1, 4]), **options)
    for source in sources(tmp_path, with_gaps(whole)):
        dropped = rk.read(source, unjudged="drop", **options)
        assert (dropped.grades.tolist(), dropped.qids.tolist()) == (expected.grades.tolist(), expected.qids.tolist())
        assert dropped.features.tolist() == expected.features.tolist()
        kept = rk.read(source, unjudged="keep", **options).grades
        assert np.flatnonzero(kept == -1).tolist() == [1, 4]
        with refused(DataError, value="grades") as caught:
            rk.read(source, **options)
        assert "missing" in caught.value.problem
        assert "`unjudged='drop'`" in caught.value.remedy


@pytest.mark.parametrize("absent", [None, np.nan, pd.NA, "", "NA"])
def test_absent_grades_of_an_array(absent: object) -> None:
    grades = np.asarray([1, absent, 2], object)
    data = rk.read(np.arange(3.0)[:, None], grades=grades, group=[3], unjudged="drop")
    assert (data.grades.tolist(), data.features[:, 0].tolist()) == ([1, 2], [0, 2])


def test_a_column_of_empty_grades_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.assign(label=None).to_csv(path, index=False)
    data = rk.read(path, unjudged="keep")
    assert (data.judged, data.feature_names) == (False, ("x",))
    with refused(DataError, setting="unjudged", value="drop"):
        rk.read(path, unjudged="drop")


def test_pieces_know_empty_grades_too(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with_gaps(FRAME.assign(label=NUMBERS)).to_parquet(path)
    columns = dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch", "positions"))
    for rule, expected in (("drop", [2, 1, 2, 0]), ("keep", [2, -1, 1, 2, -1, 0])):
        settings = ReadSettings(columns, None, None, (), "zero", rule, zero_based=False, like=None)
        with open_pieces(path, settings, rows=2) as pieces:
            assert [grade for piece in pieces for grade in piece.grades.tolist()] == expected
