"""Delimiters: the same table is read whatever stands between its cells, told by its first line or by the caller."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankinite as rk
from rankinite.data.io.delimiters import delimiter_of
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from rankinite.errors import ArgumentError, DataError
from refusals import refused

FRAME = pd.DataFrame(
    {"qid": ["a", "a", "b"], "label": [1, 0, 2], "bm25": [0.5, 1.5, 2.0], "brand": ["Zen; Inc", "Acme, Ltd", "Zen; Inc"]}
)
NO_COLUMNS = dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch", "positions"))


def written(path: Path, delimiter: str) -> Path:
    FRAME.to_csv(path, sep=delimiter, index=False)
    return path


def contents(data: rk.Dataset) -> tuple[object, ...]:
    vocabulary = {name: one.names for name, one in data.categories.items()}
    return data.feature_names, data.features.tolist(), data.grades.tolist(), data.qids.tolist(), vocabulary


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".export"])
def test_the_first_line_tells_the_delimiter(tmp_path: Path, delimiter: str, suffix: str) -> None:
    path = written(tmp_path / f"t{suffix}", delimiter)
    assert contents(rk.read(path)) == contents(rk.read(FRAME))
    settings = ReadSettings(NO_COLUMNS, None, None, (), "zero", "error", zero_based=False, like=None)
    with open_pieces(path, settings) as pieces:
        assert np.concatenate([piece.features for piece in pieces]).tolist() == rk.read(FRAME).features.tolist()


@pytest.mark.parametrize(
    ("named", "delimiter"),
    [(";", ";"), ("semicolon", ";"), ("tab", "\t"), ("\\t", "\t"), ("\t", "\t"), ("pipe", "|"), ("^", "^"), ("space", " ")],
)
def test_the_caller_may_name_it(tmp_path: Path, named: str, delimiter: str) -> None:
    for suffix in (".csv", ".txt", ".tsv"):
        assert contents(rk.read(written(tmp_path / f"t{suffix}", delimiter), delimiter=named)) == contents(rk.read(FRAME))


@pytest.mark.parametrize(
    ("line", "kind", "delimiter"),
    [
        ("a;b;c", "csv", ";"),
        ("a,b;c", "csv", ","),  # the format's own counts where it is there
        ('"a;b"|c', "csv", "|"),  # what is in quotes is no delimiter
        ("a;b|c", "csv", ","),  # two others: not clear
        ("a", "csv", ","),
        ("a;b", "tsv", ";"),
        ("a\tb;c", "tsv", "\t"),
        ("1;0;3.5", "csv", ";"),
    ],
)
def test_only_a_clear_line_tells(line: str, kind: str, delimiter: str) -> None:
    assert delimiter_of(line, kind, None) == delimiter


def test_files_without_a_header_may_have_any(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1;0.5;7\n0;0.25;8\n")
    data = rk.read(tmp_path / "t.csv", group=[2])
    assert (data.grades.tolist(), data.features.tolist()) == ([1, 0], [[0.5, 7], [0.25, 8]])


def test_letor_files_are_still_letor(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("1 qid:1 1:0.5 # a;b;c|d|e\n0 qid:1 1:2 # x\n")
    assert rk.read(tmp_path / "t.txt").features.tolist() == [[0.5], [2]]


@pytest.mark.parametrize("delimiter", ["", "ab", "a", "1", '"', "\n", ".", "-", "é"])
def test_what_could_be_part_of_a_number_or_a_name_is_refused(tmp_path: Path, delimiter: str) -> None:
    with refused(ArgumentError, setting="delimiter", value=delimiter):
        rk.read(written(tmp_path / "t.csv", ";"), delimiter=delimiter)


def test_it_is_refused_where_nothing_is_cut(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.txt").write_text("1 qid:1 1:0.5\n")
    for source, options in ((tmp_path / "t.parquet", {}), (tmp_path / "t.txt", {"format": "letor"}), (FRAME, {})):
        with refused(ArgumentError, setting="delimiter", value=";"):
            rk.read(source, delimiter=";", **options)


def test_a_file_cut_at_the_wrong_place_is_answered_with_the_delimiter(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("qid;label;x\na;1;0.5\n")
    with pytest.raises(DataError) as caught:
        rk.read(tmp_path / "t.csv", delimiter=",")
    assert "`delimiter='semicolon'`" in caught.value.remedy
    with pytest.raises(DataError) as caught:
        rk.read(written(tmp_path / "u.csv", ";"), delimiter=",")  # one row has a comma, so it has too many cells
    assert "`delimiter=…`" in caught.value.remedy


def test_decimal_commas_are_no_categories(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    with pytest.raises(DataError, match="decimal comma") as caught:
        rk.read(tmp_path / "t.csv")
    assert "'bm25'" in caught.value.problem
    assert rk.read(tmp_path / "t.csv", categories=["bm25"]).categories["bm25"].names == ("0,5", "1,5", "2,0")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize(
    ("rows", "line", "cells"),
    [
        (["1;2;3", "1;2", "1;3;4"], 3, 2),
        (["1;2;3", "", "1;2;3;4"], 4, 4),
        (['1;2;"a', 'b"', "1;2"], 4, 2),  # a line break in quotes
    ],
)
def test_a_ragged_row_is_named_by_its_line(
    tmp_path: Path, delimiter: str, suffix: str, rows: list[str], line: int, cells: int
) -> None:
    path = tmp_path / f"ragged{suffix}"
    content = "\n".join(["qid;label;a", *rows]).replace(";", delimiter).encode() + b"\n"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    settings = ReadSettings(NO_COLUMNS, None, None, (), "zero", "error", zero_based=False, like=None)

    def piecewise() -> None:
        with open_pieces(path, settings) as pieces:
            list(pieces)

    for reading in (lambda: rk.read(path), piecewise):
        with refused(DataError, place=f"{path}:{line}", value=cells) as caught:
            reading()
        assert "instead of 3" in str(caught.value)
        assert "TSV" not in str(caught.value)


def test_a_broken_table_is_called_what_it_is(tmp_path: Path) -> None:
    for delimiter, name in ((",", "CSV"), ("\t", "TSV"), (";", "a table with ';' between its cells")):
        (tmp_path / "t.tsv").write_bytes("qid;label;a\n\xff;2;3\n".replace(";", delimiter).encode("latin-1"))
        with refused(DataError, place="t.tsv", value=name):
            rk.read(tmp_path / "t.tsv", delimiter=delimiter)
