"""A background and target data in files, and ``rankinite adapt`` with few trees."""

from __future__ import annotations

from importlib import import_module

import pytest

import rankinite as rk
from oracles.adapt_command import call

WORLD = rk.World(documents=12, features=5, noise=0.3)


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    """What is trained on the target alone, or boosted from the background, has few rounds here."""
    with pytest.MonkeyPatch.context() as patched:

        def small(measure, seed=0, *_):
            return rk.LambdaMART.plain(measure=measure, trees=8, leaves=4, rate=0.3, min_rows=5, seed=seed)

        for module, name in (
            ("shared_fits", "target_learner"),
            ("methods.neighbours", "target_learner"),
            ("methods.smart", "rows_drawn"),
        ):
            patched.setattr(import_module(f"rankinite.adapt.{module}"), name, small)
        linear = import_module("rankinite.adapt.methods.lambdaboost")
        patched.setattr(linear, "LambdaBoost", lambda **settings: rk.LambdaBoost(**{**settings, "rounds": 8}))
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a background, its data, and target data."""
    folder = tmp_path_factory.mktemp("adapting")
    web = rk.synthesise(40, world=WORLD)
    rk.LambdaMART.plain(trees=10, leaves=5, min_rows=5, rate=0.3).fit(web).save(folder / "web.rankinite")
    rk.write(web, folder / "web.txt")
    for name, queries, domain, part in (
        ("train", 12, 1, "train"),
        ("valid", 12, 1, "valid"),
        ("test", 20, 1, "test"),
        ("shifted", 20, 2, "test"),
    ):
        rk.write(rk.synthesise(queries, world=WORLD, domain=domain, part=part), folder / f"{name}.txt")
    return folder


@pytest.fixture(scope="module")
def everything(home):
    """The command with all inputs."""
    data = ("--background-data", home / "web.txt", "--test", home / "test.txt", "--shifted", home / "shifted.txt")
    return ("adapt", home / "web.rankinite", "--train", home / "train.txt", *data, "--also", "ndcg@1")


@pytest.fixture(scope="module")
def whole(everything, home):
    """The folder that it writes, and what it prints."""
    return home / "whole", call(*everything, "--all-models", "--out", home / "whole")


@pytest.fixture(scope="module")
def expected(home):
    """The same in Python."""
    train, web, test, shifted = (rk.read(home / f"{name}.txt") for name in ("train", "web", "test", "shifted"))
    background = rk.load(home / "web.rankinite")
    return rk.adapt.choose(background, train, background_data=web, test=test, shifted=shifted, also=["ndcg@1"])
