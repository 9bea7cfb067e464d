"""Categories at the command line: --category wherever data are read, and text without it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.main import get_command

import rankinite as rk
from rankinite.cli.app import app
from rankinite.cli.commands import loaded


def test_every_verb_that_takes_columns_takes_categories():
    options = {name: {one for each in loaded(name).params for one in each.opts} for name in get_command(app).commands}
    reading = {name for name, found in options.items() if "--ignore" in found}
    assert {"train", "evaluate", "describe", "convert", "score", "bin", "adapt"} <= reading
    assert reading == {name for name, found in options.items() if "--category" in found}


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame(
        {"qid": [1, 1, 2, 2], "label": [1, 0, 0, 1], "x": [0.5, 1, 2, 3], "brand": ["b", "a", None, "b"], "shop": [3, 7, 7, 7]}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_describe_lists_categories(run, table):
    plain = json.loads(run("describe", table, "--json").out)[0]
    assert [one["name"] for one in plain["categories"]] == ["brand"]
    named = run("describe", table, "--category", "shop")
    assert "7 75.0%, 3 25.0%" in named.out
    assert "shop" not in run("describe", table, "--ignore", "shop").out


def test_convert_keeps_categories(run, table, tmp_path):
    out = tmp_path / "t.parquet"
    assert run("convert", table, "--category", "shop", "--out", out).code == 0
    assert rk.read(out).categories == rk.read(table, categories=["shop"]).categories
    done = run("convert", table, "--out", tmp_path / "t.txt")
    assert done.code == 2
    assert "Write Parquet" in done.err
    done = run("convert", table, "--ignore", "brand", "--category", "shop", "--out", tmp_path / "t.txt")
    assert done.code == 0
    assert rk.read(tmp_path / "t.txt", categories=["2"]).categories["2"].names == ("3", "7")


def test_bad_categories_are_named_as_options(run, table):
    rk.write(rk.read(table), table.with_suffix(".parquet"))
    done = run("describe", table.with_suffix(".parquet"), "--category", "x")
    assert done.code == 2
    assert "t.parquet, row 0: the category 'x' is 0.5" in done.err
    assert "Leave 'x' out of --category" in done.err
    done = run("describe", table, "--category", "nonsense")
    assert done.code == 2
    assert "'nonsense'" in done.err


def test_synth_draws_categories(run, tmp_path):
    out = tmp_path / "t.parquet"
    words = ("synth", "--queries", 20, "--documents", 5, "--categories", 3, "--categories", 40)
    assert run(*words, "--out", out).code == 0
    data = rk.read(out)
    assert list(data.categories) == ["brand", "shop"]
    assert dict(data.categories) == dict(rk.synthesise(20, world=rk.World(documents=5, categories=(3, 40))).categories)
    done = run(*words, "--out", tmp_path / "t.txt")
    assert done.code == 2
    assert "Write Parquet" in done.err
    assert run("synth", "--categories", 1, "--out", out).code == 2
