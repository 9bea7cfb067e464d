"""Tables whose columns are not all features: the shell says what to do with each, and doing it helps."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

QUERIES, DOCUMENTS = 30, 8


@pytest.fixture
def table(tmp_path):
    """Logged searches as they come: text, ids, positions and clicks beside two features."""
    rng = np.random.default_rng(0)
    query, rows = np.repeat(np.arange(QUERIES), DOCUMENTS), QUERIES * DOCUMENTS
    grade = rng.integers(0, 4, rows)
    frame = pd.DataFrame(
        {
            "session_id": [f"s{number // 2}" for number in query],
            "query_uuid": [f"{number:032x}" for number in query],
            "product_id": rng.integers(10**6, 10**7, rows),
            "url": [f"http://example.org/{row}" for row in range(rows)],
            "page title": "text",
            "seen": "2024-05-01",
            "position": np.tile(np.arange(DOCUMENTS) + 1, QUERIES),
            "clicks": rng.integers(0, 2, rows),
            "bm25": grade + rng.random(rows),
            "doc_length": rng.integers(100, 9000, rows),
            "label": grade,
        }
    )
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    return path


FOLLOWED = ["--qid", "query_uuid", "--doc-id", "url", "--ignore", "session_id", "--ignore", "page title"]
FOLLOWED += ["--ignore", "seen"]


@pytest.mark.parametrize("verb", ["describe", "train"])
def test_columns_that_cannot_be_features_are_named_at_once(run, table, tmp_path, verb):
    done = run(verb, table, *(["--out", tmp_path / "m.rankinite"] if verb == "train" else []))
    assert done.code == 2
    for words in ("--qid query_uuid", "--group", "--ignore seen"):
        assert words in done.err
    assert run("describe", table, *FOLLOWED).code == 0


def test_text_that_looks_like_an_id_is_named(run, table):
    done = run("describe", table, "--qid", "query_uuid", "--ignore", "seen")
    assert done.code == 0
    assert "product_id, url (named like the id of a document)" in done.out
    assert "session_id (named like the id of a query)" in done.out


def test_odd_features_are_named_until_they_are_left_out(run, table, tmp_path, settings):
    odd = ("product_id", "position", "clicks")
    done = run("describe", table, *FOLLOWED)
    assert "3 features may not be meant as such: product_id (" in done.out
    printed = json.loads(run("describe", table, *FOLLOWED, "--json").out)[0]
    assert [feature["name"] for feature in printed["odd_features"]] == list(odd)
    trained = run("train", table, *FOLLOWED, *settings, "--out", tmp_path / "m.rankinite")
    assert trained.code == 0
    advice = " ".join(f"--ignore {name}" for name in odd)
    assert f"{table}: 3 features may not be meant as such: product_id (" in trained.err
    assert advice in trained.err
    assert advice in done.out
    ignored = [word for name in odd for word in ("--ignore", name)]
    assert "may not be meant" not in run("describe", table, *FOLLOWED, *ignored).out
    again = run("train", table, *FOLLOWED, *ignored, *settings, "--out", tmp_path / "m.rankinite")
    assert again.code == 0
    assert "may not be meant" not in again.err
    quiet = run("train", table, *FOLLOWED, *settings, "--out", tmp_path / "m.rankinite", "--quiet")
    assert not quiet.err


def test_features_of_letor_files_are_judged_by_their_values(run, tmp_path):
    rng, lines = np.random.default_rng(0), []
    for query in range(QUERIES):
        for place in range(DOCUMENTS):
            grade = rng.integers(0, 3)
            odd = f"2:{len(lines)} 3:{place + 1} 4:{query + 100}"
            lines.append(f"{grade} qid:{query} 1:{rng.random():.3f} {odd} 5:{rng.integers(0, 2)}\n")
    path = tmp_path / "t.txt"
    path.write_text("".join(lines))
    done = run("describe", path)
    assert "3 features may not be meant as such: 2 (rises from row to row" in done.out
    assert "; 3 (counts the documents" in done.out
    assert "; 4 (has one value in each query" in done.out
    assert "--ignore 2 --ignore 3 --ignore 4" in done.out
    assert "may not be meant" not in run("describe", path, "--ignore", 2, "--ignore", 3, "--ignore", 4).out


@pytest.mark.usefixtures("small")
def test_adapt_names_odd_features_of_the_target(run, files, tmp_path):
    lines = [f"{line.split(' #')[0]} 7:{row}" for row, line in enumerate(files.train.read_text().splitlines())]
    target = tmp_path / "target.txt"
    target.write_text("\n".join(lines) + "\n")
    done = run("adapt", files.model, "--train", target, "--methods", "interpolate", "--out", tmp_path / "out", "--folds", 2)
    assert f"{target}: 1 feature may not be meant as such: 7 (rises from row to row" in done.err


def test_two_grades_and_a_text_in_later_data_are_refused_in_the_shells_words(run, tmp_path):
    good, bad, two = (tmp_path / name for name in ("good.csv", "bad.csv", "two.csv"))
    good.write_text("qid,label,x\n1,1,5\n1,0,6\n")
    bad.write_text("qid,label,x\n1,1,five\n1,0,six\n")
    two.write_text("qid,label,relevance,x\n1,1,1,5\n1,0,0,6\n")
    later = run("train", good, "--valid", bad, "--out", tmp_path / "m.rankinite")
    assert later.code == 2
    assert str(bad) in later.err
    assert "'x'" in later.err
    refused = run("describe", two)
    assert refused.code == 2
    assert "--grades" in refused.err
    assert "--ignore" in refused.err


@pytest.mark.parametrize("option", ["--grades", "--qid", "--doc-id", "--ignore"])
def test_an_empty_name_is_no_column(run, tmp_path, option):
    (tmp_path / "t.csv").write_text("qid,label,x\na,1,0.5\na,0,0.25\n")
    done = run("describe", tmp_path / "t.csv", option, "")
    assert done.code == 2
    assert ("''" if option == "--ignore" else f"{option} ''") in done.err
