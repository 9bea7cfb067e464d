"""Files of scores in every format: in the order of the source, with ranks from a slow sort, complete or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import rankinite as rk
from oracles.datasets import query_at, random_dataset
from rankinite.cli.verbs.score import ScoreFormat
from rankinite.data.io import output_files
from rankinite.data.io.formats import SCORE_FORMATS
from refusals import refused

DATA = random_dataset(4, queries=9)
PART = DATA.select_rows(DATA.in_row_order(DATA.grades != 2))
"""With rows of the source dropped."""


def odd_scores(data: rk.Dataset) -> np.ndarray:
    """Scores with ties, and documents that are not returned."""
    return data.in_row_order(np.random.default_rng(data.rows).choice([-np.inf, 0.1 + 0.2, -7.0, 1e-12, np.inf], data.rows))


def expected_rows(data: rk.Dataset, scores: np.ndarray) -> list[dict[str, object]]:
    """A row for each row of the data, by the place it had in the source; ranks by counting who is in front."""
    rows = []
    for row in sorted(range(data.rows), key=lambda row: row if data.input_row is None else data.input_row[row]):
        query = int(np.searchsorted(data.offsets, row, side="right")) - 1
        others = range(int(data.offsets[query]), int(data.offsets[query + 1]))
        before = sum(scores[o] > scores[row] or (scores[o] == scores[row] and o < row) for o in others)
        rank = None if scores[row] == -np.inf else before + 1
        document = {} if data.doc_ids is None else {"doc_id": str(data.doc_ids[row])}
        rows.append({"qid": query_at(data, row), **document, "score": float(scores[row]), "rank": rank})
    return rows


def separated(path: Path) -> list[dict[str, object]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return [
        {**row, "score": float(row["score"]), "rank": int(row["rank"]) if row["rank"] else None}
        for row in csv.DictReader(io.StringIO(text), delimiter="\t" if ".tsv" in path.name else ",")
    ]


TABLES = {
    "s.csv": separated,
    "s.tsv": separated,
    "S.CSV.gz": separated,
    "s.parquet": lambda path: pa.parquet.read_table(path).to_pylist(),
    "s.pq": lambda path: pa.parquet.read_table(path).to_pylist(),
    "s.arrow": lambda path: pa.ipc.open_file(path).read_all().to_pylist(),
    "s.feather": lambda path: pa.feather.read_table(path).to_pylist(),
}


@pytest.mark.parametrize("data", [DATA, PART, PART.without_grades()], ids=["all", "part", "no grades"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_in_the_order_of_the_source_with_ranks(tmp_path: Path, name: str, data: rk.Dataset) -> None:
    scores = odd_scores(data)
    rk.write_scores(tmp_path / name, data, scores)
    assert TABLES[name](tmp_path / name) == expected_rows(data, scores)


def test_tables_have_no_column_of_ids_that_are_not_there(tmp_path: Path) -> None:
    data = rk.read(np.asarray([[1.0], [3.0], [2.0]]), qid=["b", "a", "b"], unjudged="keep")
    rk.write_scores(tmp_path / "s.csv", data, rk.Feature(0))
    assert (tmp_path / "s.csv").read_text().splitlines()[0] == '"qid","score","rank"'
    assert [(row["qid"], row["rank"]) for row in separated(tmp_path / "s.csv")] == [("b", 2), ("a", 1), ("b", 1)]


@pytest.mark.parametrize("name", ["s", "s.txt.gz", "s.scores", "s.npy"])
def test_lines_and_arrays_are_read_back_to_the_same_bits(tmp_path: Path, name: str) -> None:
    for data in (DATA, PART):
        scores = odd_scores(data)
        rk.write_scores(tmp_path / name, data, scores)
        assert rk.read_scores(tmp_path / name, data).tobytes() == scores.tobytes()


def test_dropped_rows_are_not_returned(tmp_path: Path) -> None:
    rk.write_scores(tmp_path / "s.npy", PART, PART.in_row_order(np.zeros(PART.rows)))
    written = np.load(tmp_path / "s.npy")
    assert len(written) == DATA.rows
    assert (np.flatnonzero(written == 0) == np.sort(PART.input_row)).all()
    assert np.isneginf(written[written != 0]).all()


def test_runs_and_json_go_by_their_suffixes_too(tmp_path: Path) -> None:
    scores = odd_scores(DATA)
    rk.write_scores(tmp_path / "s.run", DATA, scores)
    rk.write_run(tmp_path / "other", DATA, scores)
    assert (tmp_path / "s.run").read_bytes() == (tmp_path / "other").read_bytes()
    rk.write_scores(tmp_path / "s.json", DATA, scores)
    queries = json.loads((tmp_path / "s.json").read_text())["queries"]
    found = [(query["qid"], pair) for query in queries for pair in zip(query["doc_ids"], query["scores"], strict=True)]
    numbers = [None if np.isinf(score) else score for score in scores.tolist()]
    qids = DATA.qids[DATA.query_of_row()].tolist()
    assert found == list(zip(qids, zip(DATA.doc_ids.tolist(), numbers, strict=True), strict=True))


def test_the_command_line_knows_every_format() -> None:
    assert set(get_args(ScoreFormat)) == set(SCORE_FORMATS)


def test_nothing_is_written_that_is_refused(tmp_path: Path) -> None:
    for name in ("s.parquet.gz", "s.arrow.zst", "s.npy.xz"):
        with refused(rk.DataError, place=name, value=Path(name).suffix):
            rk.write_scores(tmp_path / name, DATA, DATA.in_row_order(np.zeros(DATA.rows)))
    with refused(rk.DataError, value=DATA.rows):
        rk.write_scores(tmp_path / "s.csv", DATA, DATA.in_row_order(np.full(DATA.rows, np.nan)))
    with refused(rk.DataError, value=(2,)):
        rk.write_scores(tmp_path / "s.csv", DATA, [1.0, 2.0])
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.parquet"
    path.write_text("before")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_files.os, "fsync", full)
    with refused(rk.DataError, place="s.parquet"):
        rk.write_scores(path, DATA, DATA.in_row_order(np.zeros(DATA.rows)))
    assert [file.name for file in tmp_path.iterdir()] == ["s.parquet"]
    assert path.read_text() == "before"
