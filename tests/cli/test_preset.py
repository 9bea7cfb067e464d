"""``--preset``: the papers' settings from the shell."""

from __future__ import annotations

import pytest

import rankinite as rk


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("preset") / "train.txt"
    rk.write(rk.synthesise(20), path)
    return path


def trained(run, data, *options):
    out = data.with_name("model.rankinite")
    assert run("train", data, "--trees", 3, "--min-rows", 5, "--out", out, *options).code == 0
    return rk.load(out)


def test_a_preset_says_what_is_not_given(run, data):
    paper = trained(run, data, "--preset", "paper")
    assert (paper.settings["criterion"], paper.settings["normalise"]) == ("mse", False)
    expected = rk.LambdaMART.paper(trees=3, min_rows=5).fit(rk.read(data))
    assert paper.score(rk.read(data)).tobytes() == expected.score(rk.read(data)).tobytes()
    both = trained(run, data, "--preset", "paper", "--normalise")
    assert (both.settings["criterion"], both.settings["normalise"]) == ("mse", True)


def test_the_settings_file_repeats_a_preset(run, data):
    first = trained(run, data, "--preset", "paper")
    again = data.with_name("again.rankinite")
    assert run("train", data, "--config", data.with_name("model.toml"), "--out", again).code == 0
    assert rk.load(again).score(rk.read(data)).tobytes() == first.score(rk.read(data)).tobytes()


def test_learners_without_trees_have_none(run, data):
    out = data.with_name("net.rankinite")
    failed = run("train", data, "--learner", "lambdarank", "--preset", "paper", "--out", out)
    assert failed.code == 2
    assert "--preset paper" in failed.err
    assert not out.exists()
