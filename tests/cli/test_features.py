"""One feature as a ranker in the shell: ``feature:`` takes a name, ``column:`` a position."""

from __future__ import annotations

import json

import pytest

import rankinite as rk


@pytest.fixture
def data(tmp_path):
    """Features whose names are the positions of others."""
    path = tmp_path / "t.csv"
    path.write_text("qid,grade,2,0,1\na,2,1,3,2\na,1,3,2,1\na,0,2,1,3\nb,1,1,9,5\nb,0,2,7,6\n")
    return path


@pytest.mark.parametrize(
    ("spec", "feature"),
    [
        ("feature:0", rk.Feature("0")),
        ("column:0", rk.Feature(0)),
        ("ascending:0", rk.Feature("0", ascending=True)),
        ("ascending-column:0", rk.Feature(0, ascending=True)),
    ],
)
def test_a_name_and_a_position_are_told_apart_as_in_python(run, data, spec, feature):
    done = run("score", spec, data, "--json")
    assert done.code == 0
    printed = [score for query in json.loads(done.out)["queries"] for score in query["scores"]]
    assert printed == feature.score(rk.read(data)).tolist()


def test_a_position_is_shown_with_its_name(run, data, tmp_path):
    assert "column:0: position 0 is the feature '2' of" in run("evaluate", "column:0", data).err
    assert "position" not in run("evaluate", "feature:0", data).err
    listed = run("describe", data, "--format", "csv").out.splitlines()[1:4]
    assert [line.split(",")[:2] for line in listed] == [["0", "2"], ["1", "0"], ["2", "1"]]
    rk.Feature(2).save(tmp_path / "third.rankinite")
    shown = run("inspect", tmp_path / "third.rankinite").out
    assert "column:2" in shown
    assert "the feature at position 2, counted from 0; large values first" in shown
    rk.Feature("2", ascending=True).save(tmp_path / "named.rankinite")
    assert "the feature named '2'; small values first" in run("inspect", tmp_path / "named.rankinite").out


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("column:bm25", ["'bm25'", "column:0", "feature:bm25"]),
        ("ascending-column:-1", ["'-1'", "ascending:-1"]),
        ("column:3", ["3", "0 to 2"]),
        ("feature:3", ["'3'", "'2', '0', '1'"]),
    ],
)
def test_what_is_neither_is_refused(run, data, spec, words):
    done = run("evaluate", spec, data)
    assert done.code == 2
    assert all(word in done.err for word in words)


def test_a_mistaken_number_is_answered_in_the_shells_words(run, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:2\n")
    assert "column:0" in run("evaluate", "feature:0", path).err
    assert "feature:2" in run("evaluate", "column:2", path).err


def test_training_goes_on_from_a_position_and_repeats_it(run, files, settings, tmp_path):
    done = run("train", files.train, "--base", "column:1", *settings, "--out", tmp_path / "above.rankinite", "--quiet")
    assert done.code == 0
    train, model = rk.read(files.train), rk.load(tmp_path / "above.rankinite")
    assert model.parts[0][1] == rk.Feature(1)
    assert 'base = "column:1"' in (tmp_path / "above.toml").read_text()  # no path from the folder of the file
    again = run("train", "--config", tmp_path / "above.toml", "--out", tmp_path / "again.rankinite", "--quiet")
    assert again.code == 0
    assert (rk.load(tmp_path / "again.rankinite").score(train) == model.score(train)).all()
