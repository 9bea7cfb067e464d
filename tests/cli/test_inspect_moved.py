"""``rankinite inspect ADAPTED --moved BACKGROUND``."""

from __future__ import annotations

import json

import pytest

import rankinite as rk
from rankinite.adapt.forest_diff import moved
from rankinite.adapt.methods.trada import trada

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(100, world=WORLD)
FOREST = rk.MART(trees=4, leaves=6, min_rows=5, rate=0.2).fit(SOURCE)
ADAPTED = trada(FOREST, rk.synthesise(3, domain=1, world=WORLD), splits=True, trim=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moved")
    rankers = {"web": FOREST, "adapted": ADAPTED, "scaled": rk.Normalised(ADAPTED, "query"), "short": FOREST.truncate(2)}
    rankers |= {"column": rk.Feature("1"), "blend": 0.5 * FOREST + 0.5 * rk.Feature("1")}
    for name, ranker in rankers.items():
        ranker.save(folder / f"{name}.rankinite")
    return folder


@pytest.mark.parametrize("adapted", ["adapted", "scaled"])
def test_every_tree_and_the_features_that_moved_are_shown(run, folder, adapted):
    done = run("inspect", folder / f"{adapted}.rankinite", "--moved", folder / "web.rankinite", "--importance", 2)
    printed = moved(FOREST, ADAPTED)
    assert str(printed) in done.out
    assert printed.feature_grid(2).text() in done.out
    assert "trained by Trada" in done.out


def test_json_has_it_too(run, folder):
    done = run("inspect", folder / "adapted.rankinite", "--moved", folder / "web.rankinite", "--json")
    assert json.loads(done.out)["moved"] == moved(FOREST, ADAPTED).to_dict()
    assert "moved" not in json.loads(run("inspect", folder / "adapted.rankinite", "--json").out)


@pytest.mark.parametrize(
    ("adapted", "background", "words"),
    [
        ("column", "web", "--moved"),
        ("blend", "web", "--part"),
        ("adapted", "column", ""),
        ("short", "web", ""),
        ("adapted", "nowhere", "nowhere.rankinite"),
    ],
)
def test_what_cannot_be_compared_is_refused(run, folder, adapted, background, words):
    done = run("inspect", folder / f"{adapted}.rankinite", "--moved", folder / f"{background}.rankinite")
    assert done.code != 0
    assert not done.out
    assert words in " ".join(done.err.split())
