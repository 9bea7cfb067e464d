"""Other names for columns and features: as if the source had them in the first place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.renaming import read_names
from rankinite.errors import ArgumentError, DataError
from refusals import refused

FRAME = pd.DataFrame(
    {
        "Suche": ["a", "a", "b"],
        "Note": [1, 0, 2],
        "BM25 score": np.float32([0.5, 1.5, 2]),
        "len": np.float32([1, 2, 3]),
        "brand": ["x", "y", "x"],
    }
)
NAMES = {"Suche": "qid", "Note": "grade", "BM25 score": "bm25"}
NO_COLUMNS = dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch", "positions"))


def contents(data: rk.Dataset) -> tuple[object, ...]:
    vocabulary = {name: one.names for name, one in data.categories.items()}
    return data.feature_names, data.features.tolist(), data.grades.tolist(), data.qids.tolist(), vocabulary


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", None])
def test_a_table_is_read_as_if_its_columns_were_called_so(tmp_path: Path, name: str | None) -> None:
    source: object = FRAME
    if name is not None:
        source = tmp_path / name
        writers = {".csv": lambda path: FRAME.to_csv(path, index=False), ".parquet": FRAME.to_parquet}
        writers.get(Path(name).suffix, FRAME.to_feather)(source)
    expected = rk.read(FRAME.rename(columns=NAMES))
    assert contents(rk.read(source, rename=NAMES)) == contents(expected)
    chosen = rk.read(source, rename=NAMES, features=["bm*"], ignore=["len"])
    assert contents(chosen) == contents(expected.select_features(["bm25"]))
    settings = ReadSettings(NO_COLUMNS, None, None, (), "zero", "error", zero_based=False, like=None, renaming=NAMES)
    with open_pieces(source, settings) as pieces:
        assert [contents(piece) for piece in pieces] == [contents(expected)]


def test_a_frame_of_rows_is_still_not_copied() -> None:
    values = np.random.default_rng(0).random((6, 3), dtype=np.float32)
    frame = pd.DataFrame(values, columns=["a", "b", "c"], copy=False)
    data = rk.read(frame, grades=[0, 1, 0, 1, 2, 0], group=[6], rename={"b": "bm25"})
    assert data.feature_names == ("a", "bm25", "c")
    assert np.shares_memory(data.features, values)


LETOR = "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 3:4\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1\tbm25\n3\tlength\n", ("bm25", "2", "length")),
        ("1=bm25\n# why not\n\n3 = length\n", ("bm25", "2", "length")),
        ("bm25\ntitle\nlength\n", ("bm25", "title", "length")),
        ("bm25\ntitle\nlength\nclicks\n", ("bm25", "title", "length", "clicks")),  # 0 in all rows: not mentioned
    ],
)
def test_a_file_of_names_for_letor_data(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    (tmp_path / "names.tsv").write_text(text)
    (tmp_path / "t.txt").write_text(LETOR)
    data = rk.read(tmp_path / "t.txt", rename=tmp_path / "names.tsv")
    assert data.feature_names == names
    assert data.features[:, :3].tolist() == [[0.5, 1, 0], [0.25, 0, 4]]
    assert not data.features[:, 3:].any()
    absent = rk.read(tmp_path / "t.txt", rename=str(tmp_path / "names.tsv"), missing="nan").features
    assert np.isnan(absent[:, 3:]).all()


def test_a_file_of_names_counts_from_where_the_file_does(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("bm25\nlength\n")
    (tmp_path / "t.txt").write_text("1 qid:1 0:0.5 1:1\n")
    assert rk.read(tmp_path / "t.txt", rename=tmp_path / "names.txt", zero_based=True).feature_names == ("bm25", "length")


def test_a_model_with_names_scores_letor_data(tmp_path: Path) -> None:
    world = rk.World(documents=8, features=4)
    train, test = rk.synthesise(20, world=world), rk.synthesise(5, part="test", world=world)
    names = ["bm25", "length", "price", "stock"]
    model = rk.MART(trees=3, leaves=4, min_rows=2).fit(train.rename_features(names))
    rk.write(test, tmp_path / "test.txt")
    with pytest.raises(DataError):
        model.score(rk.read(tmp_path / "test.txt"))
    named = rk.read(tmp_path / "test.txt", rename=dict(zip("1234", names, strict=True)))
    assert model.score(named).tolist() == model.score(test.rename_features(names)).tolist()


def test_data_like_renamed_ones(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text("1 qid:1 1:1 2:2 3:3 4:4\n0 qid:1 1:5\n")
    (tmp_path / "narrow.txt").write_text("1 qid:9 1:7 2:8\n")
    wide = rk.read(tmp_path / "wide.txt", rename={"1": "bm25"})
    narrow = rk.read(tmp_path / "narrow.txt", rename={"1": "bm25"}, like=wide)
    assert (narrow.feature_names, narrow.features.tolist()) == (("bm25", "2", "3", "4"), [[7, 8, 0, 0]])
    chosen = rk.read(tmp_path / "wide.txt", rename={"1": "bm25"}, features="bm25,4")
    again = rk.read(tmp_path / "narrow.txt", rename={"1": "bm25"}, features="bm25,4", like=chosen)
    assert (again.feature_names, again.features.tolist()) == (("bm25", "4"), [[7, 0]])


def test_a_name_that_is_new_already_is_no_fault(tmp_path: Path) -> None:
    done = FRAME.rename(columns=NAMES)
    assert contents(rk.read(done, rename=NAMES)) == contents(rk.read(done))
    with refused(DataError, value=["bm26"]):
        rk.read(done, rename={"bm26": "score"})


@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_faults(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text(LETOR if suffix == ".txt" else "qid,grade,1,2,3\na,1,1,2,3\n")
    with refused(DataError, place=path, value=["9x"]):
        rk.read(path, rename={"9x": "bm25"})
    with refused(DataError, place=path, value="2"):
        rk.read(path, rename={"1": "2"})
    assert rk.read(path, rename={"1": "2", "2": "1"}).feature_names == ("2", "1", "3")


@pytest.mark.parametrize(
    ("text", "line"), [("1\ta\n1\tb\n", 2), ("1\ta\n2\ta\n", 2), ("1=\n", 1), ("a\nb\na\n", 3), ("=x\n", 1)]
)
def test_faults_of_files_of_names(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "n").write_text(text)
    with refused(ArgumentError, place=f"n:{line}"):
        read_names(tmp_path / "n")


def test_files_that_are_no_names(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("# nothing\n")
    with refused(DataError, place="n"):
        read_names(tmp_path / "n")
    (tmp_path / "n").write_text("one\ntwo\tthree\n")
    with refused(DataError, place="n:2"):
        read_names(tmp_path / "n")
