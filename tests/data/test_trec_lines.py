"""Runs and judgements as TREC files: what is written is read back the same, by us and by others, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, nDCG
from ir_measures import P as PrecisionAt

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.io.trec_lines import as_qrels, as_run
from refusals import refused


def named(data: rk.Dataset, **names: str) -> rk.Dataset:
    """The data with another name for its first query or document."""
    changed = {field: np.asarray([name, *getattr(data, field).tolist()[1:]]) for field, name in names.items()}
    return replace(data, preferences=None, **changed)


def returned_by(data: rk.Dataset, scores: np.ndarray) -> dict[str, list[tuple[str, float]]]:
    """The documents of each query, best first, those that tie in the order of rows: sorted one query at a time."""
    found: dict[str, list[tuple[str, float]]] = {}
    for qid, first, last in zip(data.qids.tolist(), data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        rows = sorted((row for row in range(first, last) if scores[row] > -np.inf), key=lambda row: (-scores[row], row))
        found[qid] = [(str(data.doc_ids[row]), float(scores[row])) for row in rows]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_runs_rank_what_is_returned_and_read_back_to_the_same_bits(tmp_path: Path, seed: int) -> None:
    data, random = random_dataset(seed, queries=9).without_grades(), np.random.default_rng(seed)
    scores = data.in_row_order(random.choice([-np.inf, -1.5, 0.1 + 0.2, 1e-300, 3e22, np.inf, random.normal()], data.rows))
    rk.write_run(tmp_path / "a.run", data, scores, tag="mine")
    lines = [line.split() for line in (tmp_path / "a.run").read_text().splitlines()]
    assert {tuple(line[i] for i in (1, 5)) for line in lines} == {("Q0", "mine")}
    expected = [(q, d, r, s) for q, docs in returned_by(data, scores).items() for r, (d, s) in enumerate(docs, 1)]
    assert [(line[0], line[2], int(line[3]), float(line[4])) for line in lines] == expected
    assert rk.read_run(tmp_path / "a.run", data).tobytes() == scores.tobytes()


def test_runs_of_a_ranker_are_those_of_its_scores(tmp_path: Path) -> None:
    data = random_dataset(3)
    for name, ranker in (("a.run.gz", rk.Feature("f1")), ("b.run.gz", data.in_row_order(data.features[:, 1].tolist()))):
        rk.write_run(tmp_path / name, data, ranker)
    assert (tmp_path / "a.run.gz").read_bytes() == (tmp_path / "b.run.gz").read_bytes()
    assert rk.read_run(tmp_path / "a.run.gz", data).tolist() == data.features[:, 1].tolist()


def test_judgements_read_back_the_same(tmp_path: Path) -> None:
    data = random_dataset(5, queries=20)
    data = data.map_grades(lambda grades: grades - 1)  # −1: not judged
    for write in (lambda path: rk.write_qrels(path, data), lambda path: rk.write(data, path)):
        write(tmp_path / "web.qrels.zst")
        read = rk.read(tmp_path / "web.qrels.zst", unjudged="keep")
        for name in ("qids", "doc_ids", "grades", "offsets"):
            assert getattr(read, name).tolist() == getattr(data, name).tolist()
        (tmp_path / "web.qrels.zst").unlink()
    assert as_qrels(data).splitlines()[0] == f"{data.qids[0]} 0 {data.doc_ids[0]} {int(data.grades[0])}"


@pytest.mark.parametrize("seed", range(3))
def test_other_tools_find_the_same_measures_in_the_files(tmp_path: Path, seed: int) -> None:
    data, random = random_dataset(seed, queries=15, most=20), np.random.default_rng(seed)
    drawn = np.where(random.random(data.rows) < 0.3, -np.inf, np.round(random.normal(size=data.rows), 1))  # with ties
    scores = data.in_row_order(drawn)
    rk.write_qrels(tmp_path / "web.qrels", data)
    rk.write_run(tmp_path / "web.run", data, scores)
    theirs = ir_measures.calc_aggregate(
        [AP, nDCG @ 5, PrecisionAt @ 3],
        list(ir_measures.read_trec_qrels(str(tmp_path / "web.qrels"))),
        list(ir_measures.read_trec_run(str(tmp_path / "web.run"))),
    )
    judged, (read,) = rk.read_trec(tmp_path / "web.qrels", [tmp_path / "web.run"])
    for ranker, rows in ((scores, data), (read, judged)):
        ours = rk.evaluate(ranker, rows, ["map", "ndcg@5", "p@3"], convention="trec")
        means = [ours[measure].mean for measure in ours.measures]
        assert means == pytest.approx([theirs[AP], theirs[nDCG @ 5], theirs[PrecisionAt @ 3]], abs=1e-12)


BLANKS = ["", " ", "a b", " a", "a ", "a\tb", "a\nb", "a\u00a0b"]


@pytest.mark.parametrize("name", BLANKS)
def test_names_that_would_read_back_as_others_are_refused(name: str) -> None:
    data = random_dataset(2)
    scores = np.zeros(data.rows)
    for odd in (named(data, qids=name), named(data, doc_ids=name)):
        with refused(rk.DataError, place=data.source, value=name):
            as_run(odd, scores)
        with refused(rk.DataError, place=data.source, value=name):
            as_qrels(odd)
    with refused(rk.DataError, place=data.source, value=name):
        as_run(data, scores, name)


@pytest.mark.parametrize("name", ["#1", "\ufeffq"])
def test_a_query_must_not_begin_as_a_file_or_a_comment_does(tmp_path: Path, name: str) -> None:
    data = random_dataset(2)
    with refused(rk.DataError, place=data.source, value=name):
        as_run(named(data, qids=name), np.zeros(data.rows))
    rk.write_run(tmp_path / "x.run", named(data, doc_ids=name), data.in_row_order(np.zeros(data.rows)))
    assert name in (tmp_path / "x.run").read_text(encoding="utf-8")


def test_what_nobody_could_read_back_is_not_written(tmp_path: Path) -> None:
    data, path = random_dataset(2), tmp_path / "x"
    twice = named(data, doc_ids=str(data.doc_ids[1])) if data.offsets[1] > 1 else None
    assert twice is not None
    path.write_text("before")
    for write in (
        lambda: rk.write_run(path, twice, data.in_row_order(np.zeros(data.rows))),
        lambda: rk.write_qrels(path, twice),
        lambda: rk.write_run(path, replace(data, doc_ids=None, preferences=None), data.in_row_order(np.zeros(data.rows))),
        lambda: rk.write_qrels(path, replace(data, doc_ids=None, preferences=None)),
        lambda: rk.write_run(path, data, data.in_row_order(np.full(data.rows, -np.inf))),
        lambda: rk.write_run(path, data, data.in_row_order(np.full(data.rows, np.nan))),
        lambda: rk.write_run(path, data, np.zeros(data.rows + 1)),
        lambda: rk.write_qrels(path, data.map_grades(lambda grades: grades / 2)),
        lambda: rk.write_qrels(path, data.without_grades()),
        lambda: rk.write_qrels(path, data.select_rows(data.in_row_order(np.zeros(data.rows, bool)))),
    ):
        with refused(rk.DataError):
            write()
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
