"""``rankinite optimum``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from inspect import signature

import pytest

import rankinite as rk

WORLD = rk.World(features=4, documents=8, terms=2, seed=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("optimum")
    data = rk.synthesise(150, world=WORLD)
    rk.write(data, folder / "train.parquet")
    rk.LambdaRank(hidden=(3,), epochs=5, rate=0.01).fit(data).save(folder / "net.rankinite")
    rk.LambdaMART.plain(trees=2).fit(data).save(folder / "trees.rankinite")
    return folder


def test_it_prints_the_table_the_verdict_and_the_warning(run, files):
    done = run("optimum", files / "net.rankinite", files / "train.parquet", "--directions", 5, "--step", 0.05)
    assert done.code == 0
    assert "0.05 *" in done.out
    assert "ocal optimum of ndcg@10 at steps of 0.05" in done.out
    assert "step function" in done.out


def test_steps_are_those_of_python(run, files):
    net, data = rk.load(files / "net.rankinite"), rk.read(files / "train.parquet")
    done = run("optimum", files / "net.rankinite", files / "train.parquet", "--directions", 30, "--steps", "1e-9, 0.2")
    found = rk.local_optimum(net, data, directions=30, steps=(1e-9, 0.2))
    assert found.step == 0.2
    assert str(found) in done.out
    done = run("optimum", files / "net.rankinite", files / "train.parquet", "--directions", 3, "--steps", "1e-9")
    assert done.code == 0
    assert "No verdict" in done.out
    steps = signature(rk.local_optimum).parameters["steps"].default
    assert ",".join(map(str, steps)) in run("optimum", "--help").out


def test_json_is_what_python_gives(run, files):
    done = run("optimum", files / "net.rankinite", files / "train.parquet", "-m", "err", "--directions", 4, "-s", 3, "--json")
    data = rk.read(files / "train.parquet")
    expected = rk.local_optimum(rk.load(files / "net.rankinite"), data, "err", directions=4, seed=3).to_dict()
    assert json.loads(done.out) == json.loads(json.dumps(expected))


def test_curves_are_drawn(run, files, tmp_path):
    picture = tmp_path / "curves.png"
    done = run("optimum", files / "net.rankinite", files / "train.parquet", "--directions", 2, "--plot", picture)
    assert done.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("trees.rankinite", "train.parquet"), ""),
        (("net.rankinite", "train.parquet", "-m", "nonsense"), "nonsense"),
        (("net.rankinite", "train.parquet", "--share", "0.7"), "--share 0.7"),
        (("net.rankinite", "train.parquet", "--steps", "short"), "--steps short"),
        (("net.rankinite", "train.parquet", "--steps", "0.1,0"), "--steps"),
        (("net.rankinite", "train.parquet", "--plot", "curves.txt"), ".png"),
        (("gone.rankinite", "train.parquet"), "gone.rankinite"),
    ],
)
def test_bad_input_ends_with_exit_code_2(run, files, monkeypatch, arguments, words):
    monkeypatch.chdir(files)
    done = run("optimum", *arguments, "--directions", 2)
    assert done.code == 2
    assert words in done.err
    assert not done.out
