"""Bad input from the shell: exit code 2, a message with place, value, rule and remedy, and no half-written file."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

GOOD = b"1 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:2\n"
BAD_TEXT = {
    "truncated line": (GOOD + b"1 qid:2 1:0.3 2", [":3:", "2"]),
    "non-numeric grade": (GOOD + b"good qid:2 1:0.3\n", [":3:", "good", "grade"]),
    "index zero": (GOOD + b"1 qid:2 0:0.3\n", [":3:", "0", "--zero-based"]),
    "falling index": (GOOD + b"1 qid:2 2:0.3 1:1\n", [":3:", "1"]),
    "repeated index": (GOOD + b"1 qid:2 1:0.3 1:1\n", [":3:", "1"]),
    "qid missing on some rows": (GOOD + b"1 1:0.3\n", [":3:", "qid"]),
    "NaN grade": (GOOD + b"nan qid:2 1:0.3\n", [":3:", "nan"]),
    "empty file": (b"", ["bad.txt"]),
    "binary file": (bytes(range(256)) * 20, ["bad.txt"]),
    "infinite value": (GOOD + b"1 qid:2 1:1.79e308\n", [":3:", "--infinite missing", "--infinite clip"]),
    "unjudged row": (GOOD + b"-1 qid:2 1:1\n", [":3:", "-1", "--unjudged drop"]),
}


@pytest.mark.parametrize("case", BAD_TEXT)
def test_bad_letor_text(run, tmp_path, case):
    content, words = BAD_TEXT[case]
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    out = tmp_path / "out.parquet"
    done = run("convert", path, "--out", out)
    assert done.code == 2
    assert done.out == ""
    for word in words:
        assert word in done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.txt"]


def test_the_same_in_a_compressed_file(run, tmp_path):
    path = tmp_path / "bad.txt.gz"
    path.write_bytes(gzip.compress(GOOD + b"good qid:2 1:0.3\n"))
    done = run("describe", path)
    assert done.code == 2
    assert f"{path}:3:" in done.err


def test_truncated_compressed_file(run, tmp_path):
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(gzip.compress(GOOD * 1000)[:-20])
    assert run("describe", path).code == 2


def test_path_that_does_not_exist(run, tmp_path):
    done = run("describe", tmp_path / "nowhere.txt")
    assert done.code == 2
    assert "nowhere.txt" in done.err
    done = run("evaluate", tmp_path / "nowhere.scores", tmp_path / "nowhere.txt")
    assert done.code == 2


def test_parquet_without_a_query_column_lists_the_columns(run, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"grade": [1.0], "bm25": [0.5], "length": [3.0]}), path)
    done = run("describe", path)
    assert done.code == 2
    assert "bm25" in done.err
    assert "length" in done.err
    assert "--qid" in done.err
    assert "--group" in done.err


def test_group_sizes_that_do_not_add_up(run, tmp_path):
    (tmp_path / "plain.txt").write_text("1 1:0.5\n0 1:0.1\n")
    (tmp_path / "plain.txt.query").write_text("2\n1\n")
    done = run("describe", tmp_path / "plain.txt")
    assert done.code == 2
    assert "3" in done.err
    assert "2" in done.err


def test_scores_of_another_file(run, letor, tmp_path):
    np.savetxt(tmp_path / "short.txt", np.zeros(3))
    done = run("evaluate", tmp_path / "short.txt", letor)
    assert done.code == 2
    assert "3" in done.err
    assert "7" in done.err


def test_unknown_names_list_the_known(run, letor):
    assert "'1', '2', '3'" in run("evaluate", "feature:bm25", letor).err
    assert "ndcg" in run("evaluate", "feature:1", letor, "-m", "ndgc").err
    assert "lightgbm" in run("evaluate", "feature:1", letor, "--convention", "lgbm").err
    assert "bootstrap" in run("compare", "feature:1", "feature:2", "-d", letor, "--test", "z").err
    for arguments in (
        ("evaluate", "feature:bm25", letor),
        ("compare", "feature:1", "-d", letor),
        ("compare", "feature:1", "feature:1", "-d", letor),
    ):
        assert run(*arguments).code == 2


def test_options_that_exclude_each_other(run, tmp_path):
    done = run("synth", "--domains", 2, "--out", tmp_path / "one.txt")
    assert done.code == 2
    assert "--domains 2" in done.err
    done = run("synth", "--part", "test", "--out", tmp_path / "folder")
    assert done.code == 2
    assert "--part" in done.err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(run, tmp_path):
    (tmp_path / "taken").write_text("")
    done = run("synth", "--queries", 1, "--out", tmp_path / "taken")
    assert done.code == 2
    assert "taken" in done.err


@pytest.mark.parametrize(
    ("arguments", "watched"),
    [
        (("evaluate", "feature:1", "DATA"), False),
        (("train", "DATA", "--min-rows", "1"), False),
        (("train", "DATA", "--min-rows", "1", "--learner", "mart", "--allow-overlap", "--valid", "DATA"), True),
        (("train", "DATA", "--min-rows", "1", "--learner", "mart", "--allow-overlap", "--test", "DATA"), True),
    ],
    ids=str,
)
def test_grades_beyond_exponential_gains(run, tmp_path, arguments, watched):
    """Refused before anything is trained; the remedy that is named works."""
    path, out = tmp_path / "high.txt", tmp_path / "model"
    path.write_bytes(GOOD + b"40 qid:2 1:1 2:2\n3 qid:2 1:2 2:3\n")
    words = [str(path) if word == "DATA" else word for word in arguments]
    command = [*words, "--out", out] if words[0] == "train" else words
    done = run(*command)
    assert (done.code, done.out, out.exists()) == (2, "", False)
    for expected in ("ndcg@10", str(path), "row 2 (query '2')", "40", "31", "ndcg@10:gains=linear"):
        assert expected in done.err
    assert run(*command, "--watch" if watched else "--measure", "ndcg@10:gains=linear").code == 0
