"""TREC files and score files: what they say, and what is wrong with them, by file and line."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from rankinite.data.io.given_scores import is_run
from rankinite.data.io.plain_scores import read_scores
from rankinite.data.io.preference_files import read_preferences
from rankinite.data.io.trec import read_qrels, read_run, read_trec
from rankinite.errors import DataError
from refusals import refused

QRELS = "2 0 b 1\n1 0 a 2\n1 0 c -1\n2 0 a 0\n"
RUN = "1 Q0 x 1 9.5 t\n1 Q0 a 2 3 t\n2 Q0 a 1 1 t\n3 Q0 z 1 1 t\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["j.qrels", "j.qrels.gz"])
def test_judgements_are_data_without_features(tmp_path: Path, name: str) -> None:
    data = read_qrels(put(tmp_path, name, QRELS))
    assert data.qids.tolist() == ["2", "1"]
    assert data.doc_ids.tolist() == ["b", "a", "a", "c"]
    assert data.grades.tolist() == [1, 0, 2, -1]
    assert data.features.shape == (4, 0)


def test_runs_add_unjudged_documents_and_leave_others_unreturned(tmp_path: Path) -> None:
    other = put(tmp_path, "b.run", "2\tQ0\tb\t1\t0.5\tt\n")
    data, (first, second) = read_trec(put(tmp_path, "q", QRELS), [put(tmp_path, "a.run", RUN), other])
    rows = dict(
        zip(
            zip(np.repeat(data.qids, np.diff(data.offsets)).tolist(), data.doc_ids.tolist(), strict=True), range(5), strict=True
        )
    )
    assert set(rows) == {("2", "b"), ("2", "a"), ("1", "a"), ("1", "c"), ("1", "x")}  # query 3 has no judgements
    assert {pair: data.grades[row] for pair, row in rows.items() if data.grades[row]} == {("2", "b"): 1, ("1", "a"): 2}
    assert {pair: first[row] for pair, row in rows.items() if first[row] > -np.inf} == {
        ("1", "x"): 9.5,
        ("1", "a"): 3,
        ("2", "a"): 1,
    }
    assert {pair: second[row] for pair, row in rows.items() if second[row] > -np.inf} == {("2", "b"): 0.5}


def test_what_a_run_returns_without_a_judgement_is_counted(tmp_path: Path) -> None:
    more = put(tmp_path, "b.run", "2 Q0 b 1 0.5 t\n4 Q0 b 1 2 t\n3 Q0 b 1 1 t\n4 Q0 c 1 1 t\n5 Q0 c 1 -inf t\n")
    _, (first, second) = read_trec(put(tmp_path, "q", QRELS), [put(tmp_path, "a.run", RUN), more])
    assert (first.unjudged_queries, first.documents, first.unjudged_documents) == (("3",), 3, 1)
    assert (second.unjudged_queries, second.documents, second.unjudged_documents) == (("4", "3"), 1, 0)
    assert (first + second).unjudged_queries == ()


def test_judgements_of_other_queries_are_refused(tmp_path: Path) -> None:
    with refused(DataError, place="b.run", value=["11", "12"]):
        read_trec(put(tmp_path, "q", QRELS), [put(tmp_path, "b.run", "12 Q0 b 1 0.5 t\n11 Q0 b 1 2 t\n")])


def test_a_run_is_read_for_the_rows_of_data(tmp_path: Path) -> None:
    data = read_qrels(put(tmp_path, "q", QRELS))
    assert read_run(put(tmp_path, "r", "1 Q0 a 1 7 t\n"), data).tolist() == [-np.inf, -np.inf, 7, -np.inf]
    with refused(DataError, place="r:2", value="x"):
        read_run(put(tmp_path, "r", "1 Q0 a 1 7 t\n1 Q0 x 1 7 t\n"), data)


def test_words_after_the_tag_of_a_run_are_ignored(tmp_path: Path) -> None:
    data = read_qrels(put(tmp_path, "q", QRELS))
    path = put(tmp_path, "r", "1 Q0 a 1 7 my tag\n2 Q0 b 1 3 t # a note 9\n")
    plain = put(tmp_path, "plain", "1 Q0 a 1 7 my\n2 Q0 b 1 3 t\n")
    assert is_run(path)
    assert read_run(path, data).tolist() == read_run(plain, data).tolist()
    assert rk.evaluate(str(path), data, "map").to_csv() == rk.evaluate(str(plain), data, "map").to_csv()


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("1 0 a 2\n1 0 b\n", "bad:2", 3),
        ("1 0 a 2\n1 0 b 1 x\n", "bad:2", 5),
        ("1 0 a two\n", "bad:1", "two"),
        ("1 0 a nan\n", "bad:1", "nan"),
        ("1 0 a 2\n\n1 0 a 1\n", "bad:3", "a"),
        ("\n\n", "bad", 0),
        ("1 0 \udcff 1\n", "bad", 4),
    ],
)
def test_bad_judgements(tmp_path: Path, text: str, place: str, value: object) -> None:
    path = tmp_path / "bad"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with refused(DataError, place=place, value=value):
        read_qrels(path)


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("1 Q0 a 1 7\n", "bad:1", 5),
        ("1 Q0 a 1 high t\n", "bad:1", "high"),
        ("1 Q0 a 1 NaN t\n", "bad:1", "NaN"),
        ("1 Q0 a 1 7 t\n1 Q0 a 2 6 t\n", "bad:2", "a"),
        ("", "bad", 0),
    ],
)
def test_bad_runs(tmp_path: Path, text: str, place: str, value: object) -> None:
    with refused(DataError, place=place, value=value):
        read_trec(put(tmp_path, "q", QRELS), [put(tmp_path, "bad", text)])


def test_scores_are_in_the_order_of_the_source(tmp_path: Path) -> None:
    data = random_dataset(1)
    part = data.select_rows(data.in_row_order(data.grades > 0))
    numbers = np.arange(data.rows, dtype=np.float64)
    np.save(tmp_path / "s.npy", numbers)
    for path in (tmp_path / "s.npy", put(tmp_path, "s.txt", "\n".join(map(str, numbers)))):
        assert [f"d{score:.0f}" for score in read_scores(path, data)] == data.doc_ids.tolist()
        assert [f"d{score:.0f}" for score in read_scores(path, part)] == part.doc_ids.tolist()


def test_bad_scores(tmp_path: Path) -> None:
    data = random_dataset(1)
    with refused(DataError, place="s", value=2):
        read_scores(put(tmp_path, "s", "1\n2\n"), data)
    with refused(DataError, place="s:2", value="NaN"):
        read_scores(put(tmp_path, "s", "1\nnan\n"), data)
    with refused(DataError, place="s:1", value="one"):
        read_scores(put(tmp_path, "s", "one\n"), data)
    with refused(DataError, place="none"):
        read_scores(tmp_path / "none", data)
    with refused(DataError, place="s.npy", value=b"1\n2\n"):
        read_scores(put(tmp_path, "s.npy", "1\n2\n"), data)
    np.save(tmp_path / "two.npy", np.zeros((2, 2)))
    with refused(DataError, place="two.npy", value=(2, 2)):
        read_scores(tmp_path / "two.npy", data)


def test_preferences_name_documents_by_id(tmp_path: Path) -> None:
    data = read_qrels(put(tmp_path, "q", QRELS))
    judged = read_preferences(put(tmp_path, "p", "qid\tbetter\tworse\tP\n# doubtful\n1\ta\tc\n2\ta\tb\t0.25\n"), data)
    assert data.doc_ids[judged.better].tolist() == ["a", "a"]
    assert data.doc_ids[judged.worse].tolist() == ["c", "b"]
    assert judged.probability.tolist() == [1, 0.25]
    assert data.with_preferences(judged).preferences is judged


def test_preferences_count_positions_where_there_are_no_ids(tmp_path: Path) -> None:
    data = replace(read_qrels(put(tmp_path, "q", QRELS)), doc_ids=None)
    judged = read_preferences(put(tmp_path, "p", "1\t1\t0\n"), data)
    assert (judged.better.tolist(), judged.worse.tolist()) == ([3], [2])
    with refused(DataError, place="p:1", value="2"):
        read_preferences(put(tmp_path, "p", "1\t2\t0\n"), data)


def test_documents_may_share_an_id_that_nobody_names(tmp_path: Path) -> None:
    data = read_qrels(put(tmp_path, "q", QRELS + "2 0 x 1\n2 0 y 1\n"))
    data = replace(data, doc_ids=np.where(np.isin(data.doc_ids.tolist(), ["x", "y"]), "same", data.doc_ids.tolist()))
    judged = read_preferences(put(tmp_path, "p", "2\ta\tb\n"), data)
    assert data.doc_ids[judged.better].tolist() == ["a"]
    assert np.isfinite(read_run(put(tmp_path, "r", "2 Q0 a 1 7 t\n"), data)).sum() == 1
    with refused(DataError, place="p:1", value="same"):
        read_preferences(put(tmp_path, "p", "2\ta\tsame\n"), data)
    with refused(DataError, place="r:1", value="same"):
        read_run(put(tmp_path, "r", "2 Q0 same 1 7 t\n"), data)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("7\ta\tb", "7"),
        ("1\ta\tb", "b"),
        ("1\ta\ta", "a"),
        ("1\ta\tc\t1.5", "1.5"),
        ("1\ta\tc\tnan", "nan"),
        ("1\ta\tc\tsure", "sure"),
        ("1 a c", 1),
    ],
)
def test_bad_preferences(tmp_path: Path, line: str, value: object) -> None:
    with refused(DataError, place="p:1", value=value):
        read_preferences(put(tmp_path, "p", line), read_qrels(put(tmp_path, "q", QRELS)))
