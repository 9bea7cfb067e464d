"""Columns of 0 and 1 at the command line: --one-hot beside --category, and the columns of the ranker that is used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

import rankinite as rk
from rankinite.cli.app import app
from rankinite.cli.commands import loaded


def test_every_verb_that_takes_categories_takes_one_hot():
    options = {name: {one for each in loaded(name).params for one in each.opts} for name in get_command(app).commands}
    assert {name for name, found in options.items() if "--one-hot" in found} == {
        name for name, found in options.items() if "--category" in found
    }


def written(path, words, seed):
    random = np.random.default_rng(seed)
    brand = random.integers(len(words), size=80)
    table = {"qid": np.arange(80) // 8, "label": brand % 3, "x": random.normal(size=80), "brand": [words[k] for k in brand]}
    pd.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.fixture
def files(tmp_path):
    """Training data; new data that lack one of its brands and have others."""
    return written(tmp_path / "train.csv", ["a", "b", "c"], 0), written(tmp_path / "new.csv", ["zz", "c", "a", "new"], 1)


def test_a_net_scores_data_with_other_words(run, files, tmp_path):
    train, new = files
    net = tmp_path / "net.rankinite"
    refusal = run("train", train, "--learner", "lambdarank", "--out", net)
    assert refusal.code == 2
    assert "--one-hot brand" in refusal.err
    done = run("train", train, "--valid", new, "--learner", "lambdarank", "--epochs", "3", "--one-hot", "brand", "--out", net)
    assert done.code == 0, done.err
    ranker = rk.load(net)
    assert ranker.feature_names == ("x", "brand=a", "brand=b", "brand=c")
    scored = run("score", net, new, "--one-hot", "brand")
    assert scored.code == 0, scored.err
    table = pd.read_csv(new)
    by_hand = np.stack([table["x"].astype(np.float32), *(table["brand"] == word for word in "abc")], axis=1)
    assert np.array_equal(np.asarray(scored.out.split(), float), ranker.score(by_hand.astype(np.float32)))
    forgotten = run("score", net, new)
    assert forgotten.code == 2
    assert "--one-hot brand" in forgotten.err
    for verb in (["evaluate", net, new], ["compare", net, "feature:x", "--data", new], ["explain", net, new, "--all-queries"]):
        done = run(*verb, "--one-hot", "brand")
        assert done.code == 0, done.err


def test_convert_writes_the_columns_and_bin_asks_for_that(run, files, tmp_path):
    train, _ = files
    assert run("convert", train, "--one-hot", "brand", "--out", tmp_path / "hot.parquet").code == 0
    assert rk.read(tmp_path / "hot.parquet").feature_names == ("x", "brand=a", "brand=b", "brand=c")
    done = run("bin", train, "--one-hot", "brand", "--out", tmp_path / "train.bins")
    assert done.code == 2
    assert "--one-hot brand" in done.err
    assert "rankinite convert" in done.err


def test_too_many_categories_are_refused(run, tmp_path):
    path = written(tmp_path / "many.csv", [f"w{k}" for k in range(2000)], 2)
    done = run("describe", path, "--one-hot", "brand")
    assert done.code == 0, done.err
    table = pd.DataFrame({"qid": np.arange(400) // 8, "label": 0, "x": 1.0, "brand": [f"w{k % 150}" for k in range(400)]})
    table.to_csv(path, index=False)
    done = run("describe", path, "--one-hot", "brand")
    assert done.code == 2
    assert "--one-hot brand would make 150 columns" in done.err
