"""Running the command line in-process, as the installed command does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import rankinite as rk
from oracles.adapting import make_small
from rankinite import cli
from rankinite.cli.error_text import shell_text
from rankinite.errors import RankiniteError


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str
    error: RankiniteError | None = None
    """What ended the run, with its fields."""


@pytest.fixture
def run(capsys, monkeypatch):
    """``run("describe", path)`` → exit code, standard output, standard error, and the error where there was one."""
    errors = []

    def remembered(error: RankiniteError) -> str:
        errors.append(error)
        return shell_text(error)

    monkeypatch.setattr("rankinite.cli.error_text.shell_text", remembered)

    def call(*arguments) -> Outcome:
        monkeypatch.setattr("sys.argv", ["rankinite", *map(str, arguments)])
        code = 0
        errors.clear()
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err, *errors)

    return call


@pytest.fixture
def small(monkeypatch):
    """Every way to adapt with few trees and rounds."""
    make_small(monkeypatch)


@pytest.fixture(scope="session")
def letor(tmp_path_factory):
    """A small LETOR file with ties, a one-grade query, a duplicate row and a constant feature."""
    path = tmp_path_factory.mktemp("cli") / "small.txt"
    path.write_text(
        "2 qid:a 1:0.5 2:1 3:7 #docid = a1\n"
        "0 qid:a 1:0.5 2:3 3:7 #docid = a2\n"
        "1 qid:a 1:0.1 2:2 3:7 #docid = a3\n"
        "0 qid:b 1:0.9 2:1 3:7 #docid = b1\n"
        "0 qid:b 1:0.2 2:2 3:7 #docid = b2\n"
        "1 qid:c 1:0.3 2:2 3:7 #docid = c1\n"
        "0 qid:c 1:0.3 2:2 3:7 #docid = c2\n"
    )
    return path


@dataclass(frozen=True)
class Files:
    """Artificial data for training, and a model made from it in Python."""

    train: Path
    valid: Path
    test: Path
    model: Path
    folder: Path


SETTINGS = {"trees": 12, "leaves": 6, "min_rows": 5, "rate": 0.3}
"""Quick, and the same everywhere: every variant of a kernel is compiled once."""


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    world = rk.World(documents=10, features=6, noise=0.3)
    paths = {part: folder / f"{part}.txt" for part in ("train", "valid", "test")}
    for part, path in paths.items():
        rk.write(rk.synthesise(60, part=part, world=world, doc_ids=True), path)
    train, valid = (rk.read(paths[part]) for part in ("train", "valid"))
    rk.LambdaMART.plain(**SETTINGS).fit(train, valid).save(folder / "lambdamart.rankinite")
    return Files(**paths, model=folder / "lambdamart.rankinite", folder=folder)


NET_SETTINGS = {"epochs": 6, "rate": 0.02, "hidden": (4,)}
"""The same for nets."""


@pytest.fixture(scope="session")
def nets(files):
    """Models of nets made in Python, by kind; "linear" and "net" on their own, "blend" on top of trees."""
    train, valid = rk.read(files.train), rk.read(files.valid)
    made = {
        "net": rk.LambdaRank(**NET_SETTINGS).fit(train, valid),
        "linear": rk.RankNet(**{**NET_SETTINGS, "hidden": ()}).fit(train, valid),
        "blend": rk.LambdaRank(**NET_SETTINGS).fit(train, valid, base=rk.load(files.model)),
    }
    for kind, model in made.items():
        model.save(files.folder / f"{kind}-of-nets.rankinite")
    return {kind: files.folder / f"{kind}-of-nets.rankinite" for kind in made}


@pytest.fixture
def net_settings():
    """The settings of nets as options."""
    return [f"--{name}={value[0] if name == 'hidden' else value}" for name, value in NET_SETTINGS.items()]


@pytest.fixture
def settings():
    """The settings as options."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
