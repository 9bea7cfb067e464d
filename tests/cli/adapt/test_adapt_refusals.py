"""``rankinite adapt``: what it refuses before anything is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankinite as rk
from oracles.adapt_command import call, quick


@pytest.fixture(scope="module")
def bad(home):
    """Files that cannot be adapted with."""
    train = rk.read(home / "train.txt")
    rk.write(train.select_queries(np.arange(1)), home / "one.txt")
    rk.write(train.map_grades(lambda grades: grades * 0 + 1), home / "flat.txt")
    (home / "few.csv").write_text("qid,grade,1,3\na,1,0.5,1\na,0,0.25,1\nb,1,0.5,2\nb,0,1,2\nc,1,3,1\nc,0,1,1\n")
    rk.write(rk.concat([rk.read(home / "test.txt"), train.select_queries(np.arange(2))]), home / "shared.txt")
    rk.write(replace(train, grades=train.grades * 2), home / "eight.txt")
    (home / "scores.txt").write_text("0.5\n" * train.rows)
    (home / "taken").write_text("mine")
    return home


REFUSED = {
    "a feature is missing": (["--grades", "grade"], {"train": "few.csv"}, ["few.csv", "'2', '4', '5'"]),
    "one query": ([], {"train": "one.txt"}, ["one.txt: 1 of 1 "]),
    "queries of one grade": ([], {"train": "flat.txt"}, ["flat.txt: 0 of 12 "]),
    "no such method": (["--methods", "smart,magic"], {}, ["'magic'", "'background', 'interpolate'", "'pool-20', 'average'"]),
    "no such measure": (["--measure", "ndgc"], {}, ["'ndgc'"]),
    "no such measure to report": (["--also", "ndcg@1,ndgc"], {}, ["'ndgc'"]),
    "grades beyond a measure": (["--also", "err"], {"train": "eight.txt"}, ["eight.txt", "err:max_grade=8"]),
    "untrainable": (["--measure", "p@5"], {}, ["p@5"]),
    "no model": ([], {"background": "scores.txt"}, ["scores.txt"]),
    "no file": ([], {"background": "nothing.rankinite"}, ["nothing.rankinite"]),
    "test queries trained on": (
        ["--test", "shared.txt"],
        {},
        ["shared.txt (--test): it shares 2 of its 22 ", "train.txt (--train)", "'30000001'", "--allow-overlap"],
    ),
    "validation queries trained on": (["--valid", "shared.txt"], {}, ["(--valid): it shares 2 of ", "(--train)"]),
    "test queries validated on": (["--valid", "test.txt", "--test", "test.txt"], {}, ["it shares 20 of ", "(--valid)"]),
    "shifted queries trained on": (["--shifted", "shared.txt"], {}, ["(--shifted): it shares 2 of ", "(--train)"]),
    "target queries in the background's data": (["-B", "shared.txt"], {}, ["it shares 2 of ", "(--background-data)"]),
    "a map without data": (["--map-grades", "0=0"], {}, ["--map-grades 0=0 ", "--background-data"]),
    "half a map": (["--map-grades", "0=0,1", "-B", "web.txt"], {}, ["--map-grades 0=0,1 ", "'1'"]),
    "a grade mapped twice": (["--map-grades", "0=0,0=1", "-B", "web.txt"], {}, ["--map-grades 0=0,0=1 ", "'0=1'"]),
    "a map with a gap": (
        ["--map-grades", "0=0,1=1", "-B", "web.txt"],
        {},
        ["--map-grades", "web.txt:", "does not contain", "4"],
    ),
    "a rate beyond 1": (["--background-rate", "2"], {}, ["--background-rate 2.0 "]),
    "a risk beyond 1": (["--risk", "2"], {}, ["--risk 2.0 "]),
    "a gain tolerated": (["--tolerate", "-0.1"], {}, ["--tolerate -0.1 "]),
}
"""Options, other files than usual, and what standard error names."""


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_before_anything_is_written(bad, tmp_path, case):
    options, others, texts = REFUSED[case]
    named = {name: bad / path for name, path in others.items()}
    done = call(*quick(bad, *(bad / word if Path(word).suffix == ".txt" else word for word in options), **named),
                "--out", tmp_path / "out")  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert [text for text in texts if text not in done.err] == [], done.err
    assert done.err.splitlines()[-1].startswith("rankinite: ")
    assert not (tmp_path / "out").exists()


def test_methods_none_of_which_can_be_tried_are_refused_with_all_reasons(bad, tmp_path):
    command = ("adapt", "feature:1", "--train", bad / "train.txt", "--methods", "pool,trada", "--out", tmp_path / "out")
    done = call(*command)
    assert done.code == 2
    assert "--methods pool --methods trada " in done.err
    assert "Give --background-data" in done.err


def test_two_backgrounds_of_one_name_are_refused(bad, tmp_path):
    model = bad / "web.rankinite"
    done = call("adapt", f"a={model}", f"a={model}", "--train", bad / "train.txt", "--out", tmp_path / "out")
    assert done.code == 2
    assert "'a'" in done.err


@pytest.mark.parametrize(("out", "place"), [("taken", "taken: "), ("none/out", "out: "), ("taken/out", "taken/out: ")])
def test_a_folder_that_cannot_be_written_is_refused(bad, out, place):
    done = call(*quick(bad), "--out", bad / out)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rankinite: ")
    assert place in done.err
    assert (bad / "taken").read_text() == "mine"
