"""The options of reading on a file as a company exports it: ``;``, an index, UUIDs, words for grades, gaps, ids, dates."""

from __future__ import annotations

import json
import random
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import rankinite as rk

QUERIES, DOCUMENTS = 20, 6
GRADES = {"Good": 2, "Fair": 1, "Bad": 0}
FOLLOWED = ("--qid", "search_uuid", "--grades", "judgement", "--ignore", "seen_on", "--doc-id", "url")
MAPPED = ("--map-grades", "Good=2,Fair=1,Bad=0", "--unjudged", "drop")


@pytest.fixture(scope="module")
def frame():
    draw, rng = random.Random(1), np.random.default_rng(1)
    rows = QUERIES * DOCUMENTS
    relevance = rng.random(rows)
    words = np.asarray(["Bad", "Fair", "Good"], object)[(3 * relevance).astype(int)]
    words[rng.random(rows) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "search_uuid": np.repeat([str(UUID(int=draw.getrandbits(128))) for _ in range(QUERIES)], DOCUMENTS),
            "judgement": words,
            "url": [f"https://shop.example/{row}" for row in range(rows)],
            "bm25_title": relevance + rng.random(rows),
            "bm25_body": relevance + 2 * rng.random(rows),
            "Page Length": rng.integers(100, 9000, rows),
            "importance": np.repeat(1.0 + np.arange(QUERIES) % 3, DOCUMENTS),
            "seen_on": "2024-05-01",
        }
    )


@pytest.fixture
def export(frame, tmp_path):
    frame.to_csv(tmp_path / "export.csv", sep=";")
    return tmp_path / "export.csv"


def read_in_python(frame, **more):
    plain = frame.assign(judgement=frame.judgement.map(GRADES)).dropna()
    options = {"qid": "search_uuid", "grades": "judgement", "doc_id": "url", "ignore": ["seen_on"], **more}
    return rk.read(plain, **options)


def contents(data):
    return data.feature_names, data.features.tolist(), data.grades.tolist(), data.qids.tolist(), data.doc_ids.tolist()


def test_an_export_is_told_what_to_say_about_it_and_read_once_it_has(run, export, frame, tmp_path):
    done = run("train", export, "--out", tmp_path / "m.rankinite")
    assert done.code == 2
    assert f"Most is settled by {' '.join(FOLLOWED)}:" in done.err
    assert "--map-grades Bad=N,Fair=N,Good=N" in done.err
    assert "=[" not in done.err
    out = tmp_path / "clean.parquet"
    done = run("convert", export, *FOLLOWED, *MAPPED, "--out", out)
    assert done.code == 0
    assert f"{export}: its first column, which has no name, is left out" in done.err
    assert contents(rk.read(out)) == contents(read_in_python(frame))
    quiet = run("convert", export, *FOLLOWED, *MAPPED, "--out", out, "--quiet")
    assert quiet.err == ""


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_or_named(run, frame, tmp_path, delimiter):
    path = tmp_path / "t.csv"
    frame.drop(columns="seen_on").to_csv(path, sep=delimiter, index=False)
    words = ("describe", path, "--qid", "search_uuid", "--grades", "judgement", "--doc-id", "url", *MAPPED, "--json")
    found = json.loads(run(*words).out)[0]
    named = json.loads(run(*words, "--delimiter", {"\t": "tab"}.get(delimiter, delimiter)).out)[0]
    assert found == named
    assert found["rows"] == int(frame.judgement.notna().sum())


def test_features_weights_and_names_are_those_of_python(run, export, frame, tmp_path):
    out = tmp_path / "few.parquet"
    chosen = ("--features", "bm25_*,length", "--rename", "Page Length=length", "--weight", "importance")
    assert run("convert", export, *FOLLOWED, *MAPPED, *chosen, "--out", out).code == 0
    names = {"features": ["bm25_*", "length"], "rename": {"Page Length": "length"}, "weight": "importance"}
    expected, found = read_in_python(frame, **names), rk.read(out)
    assert found.feature_names == ("bm25_title", "bm25_body", "length")
    assert contents(found) == contents(expected)
    assert found.weights.tolist() == expected.weights.tolist() == (1.0 + np.arange(QUERIES) % 3).tolist()


def test_a_model_with_names_meets_letor_data(run, frame, tmp_path, settings):
    names = ["bm25_title", "bm25_body", "Page Length"]
    data = read_in_python(frame, features=names)
    rk.write(data, tmp_path / "named.parquet")
    rk.write(data, tmp_path / "numbers.txt")
    model = tmp_path / "m.rankinite"
    assert run("train", tmp_path / "named.parquet", *settings, "--out", model).code == 0
    refused = run("score", model, tmp_path / "numbers.txt")
    assert refused.code == 2
    assert "--rename" in refused.err
    assert "--names" in refused.err
    (tmp_path / "names.txt").write_text("\n".join(names) + "\n")
    expected = run("score", model, tmp_path / "named.parquet").out
    assert run("score", model, tmp_path / "numbers.txt", "--names", tmp_path / "names.txt").out == expected
    pairs = [word for number, name in enumerate(names, 1) for word in ("--rename", f"{number}={name}")]
    assert run("score", model, tmp_path / "numbers.txt", *pairs).out == expected
    assert run("score", model, tmp_path / "numbers.txt", "--rename", "1=bm25_title,2=bm25_body,3=Page Length").out == expected


def test_validation_data_have_the_features_that_were_chosen(run, export, files, settings, tmp_path):
    out = tmp_path / "m.rankinite"
    for data, chosen in ((export, (*FOLLOWED, *MAPPED, "--features", "bm25_*")), (files.train, ("--features", "1,3"))):
        other = data if data == export else files.valid
        words = ("train", data, "--valid", other, *chosen, *settings, "--allow-overlap", "--out", out)
        done = run(*words)
        assert done.code == 0, done.err
        assert rk.load(out).feature_names == (("bm25_title", "bm25_body") if data == export else ("1", "3"))


def test_settings_of_reading_are_kept_and_repeat_the_model(run, export, settings, tmp_path):
    (tmp_path / "names.tsv").write_text("Page Length\tlength\n")
    out = tmp_path / "one" / "m.rankinite"
    out.parent.mkdir()
    words = ("--names", tmp_path / "names.tsv", "--features", "bm25_*,length", *FOLLOWED, *MAPPED)
    assert run("train", export, *words, *settings, "--out", out).code == 0
    again = tmp_path / "again.rankinite"
    assert run("train", "--config", out.with_suffix(".toml"), "--out", again).code == 0
    assert again.read_bytes() == out.read_bytes()


def test_a_file_of_names_is_not_written_over(run, export, tmp_path):
    (tmp_path / "names.tsv").write_text("Page Length\tlength\n")
    done = run("convert", export, *FOLLOWED, *MAPPED, "--names", tmp_path / "names.tsv", "--out", tmp_path / "names.tsv")
    assert done.code == 2
    assert "--names" in done.err
    assert (tmp_path / "names.tsv").read_text() == "Page Length\tlength\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--map-grades", "Good"), "--map-grades Good cannot be used"),
        (("--map-grades", "Good=2,Good=1"), "'Good=1'"),
        (("--map-grades", "Good=2,=1"), "'=1'"),
        (("--rename", "bm25"), "--rename bm25 "),
        (("--rename", "a=b,c=b"), "'b' is named twice"),
        (("--rename", "NAMES"), "--names"),
        (("--delimiter", ""), "--delimiter '' is empty"),
        (("--delimiter", "ab"), "--delimiter ab is no delimiter"),
        (("--weight", ""), "--weight '' is empty"),
        (("--features", "bm26_*,prize"), "'bm26_*'"),
        (("--map-grades", "Good=2,Fair=1"), "export.csv:"),
    ],
)
def test_what_cannot_be_used_is_refused_in_the_shells_words(run, export, tmp_path, words, expected):
    names = tmp_path / "names.tsv"
    names.write_text("a\tb\n")
    done = run("describe", export, *FOLLOWED, *(str(names) if word == "NAMES" else word for word in words))
    assert (done.code, done.out) == (2, "")
    assert expected in done.err


@pytest.mark.parametrize("verb", ["describe", "explain"])
def test_a_number_of_features_is_answered_with_the_new_option(run, letor, verb):
    words = ("describe", letor) if verb == "describe" else ("explain", "feature:1", letor, "--all-queries")
    done = run(*words, "--features", 2)
    assert done.code == 2
    assert "--show-features 2" in done.err
    assert run(*words, "--show-features", 2).code == 0
    assert run("describe", letor, "--features", "2,", "--json").code == 0


def test_grades_of_letor_files_are_mapped_in_every_verb(run, letor, tmp_path):
    two = tmp_path / "two.txt"
    assert run("convert", letor, "--map-grades", "0=0,1=1,2=1", "--out", two).code == 0
    assert rk.read(two).grades.tolist() == rk.read(letor).map_grades({0: 0, 1: 1, 2: 1}).grades.tolist()
    expected = run("evaluate", "feature:1", two, "-m", "err", "--json").out.replace(str(two), "x")
    mapped = run("evaluate", "feature:1", letor, "-m", "err", "--json", "--map-grades", "0=0,1=1,2=1").out
    assert mapped.replace(str(letor), "x") == expected
    refused = run("evaluate", "feature:1", letor, "--map-grades", "0=0,1=1")
    assert f"{letor}:1" in refused.err


def test_judgements_of_trec_are_mapped_too(run, tmp_path):
    (tmp_path / "t.qrels").write_text("q 0 a 2\nq 0 b 1\nq 0 c 0\n")
    (tmp_path / "t.run").write_text("q Q0 b 1 3 x\nq Q0 a 2 2 x\nq Q0 c 3 1 x\n")
    words = ("evaluate", tmp_path / "t.run", tmp_path / "t.qrels", "-m", "rr", "--json")
    means = [json.loads(run(*words, *more).out)["measures"]["rr"]["mean"] for more in ((), ("--map-grades", "0=0,1=0,2=1"))]
    assert means == [1.0, 0.5]
    assert run(*words, "--map-grades", "0=0,1=0").code == 2


def test_grades_with_fractions_are_binned_and_explained(run, tmp_path):
    rng = np.random.default_rng(0)
    data = rk.read(rng.random((200, 2)), grades=rng.random(200) * 5.5, group=[10] * 20)
    rk.write(data, tmp_path / "t.parquet")
    printed = run("describe", tmp_path / "t.parquet").out
    assert len([line for line in printed.splitlines() if "█" in line]) == 10
    for words in ("err:max_grade=6", "err alone refuses", "ap:relevant=0.5"):
        assert words in printed
    assert run("evaluate", "feature:1", tmp_path / "t.parquet", "-m", "err").code == 2
    for measure in ("err:max_grade=6", "ap:relevant=0.5"):
        assert run("evaluate", "feature:1", tmp_path / "t.parquet", "-m", measure).code == 0
    whole = tmp_path / "whole.parquet"
    rk.write(data.map_grades(np.floor), whole)
    assert "whole numbers" not in run("describe", whole).out
