"""One cell of the experiment on adapting: a pair, a number of target queries, a draw. What is fitted in it, and what is kept.

A cell is a JSON file with the value of every test query, so that the page can be written anew without fitting anything.
Finished cells are also archived beside the programs, so that a run on another machine goes on where the last one was.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk
from _adaptation_pairs import CLASSIC, FURTHER, PAIRS, QUERIES, SHIFTS, WORLD, Pair
from _measure import SMOKE, sized
from rankinite.installed import code_key

MEASURES = [rk.NDCG(10), rk.NDCG(1), rk.NDCG(3)]
DIGITS = 5
"""Of a query's value, as it is kept: more than any mean is shown with."""
ARCHIVE = Path(__file__).parent / "cells"
TREES, LEAVES, RATE, MORE = 300, 12, 0.05, 30
SHAPE = {"leaves": LEAVES, "rate": RATE, "patience": None, "train_history": False}
SETTINGS = {
    "background": [TREES, LEAVES, RATE, MORE],
    "measures": list(map(str, MEASURES)),
    "classic": [[*pair, other] for pair, other in CLASSIC.items()],
    "artificial": [SHIFTS, FURTHER, WORLD, QUERIES],
}
PEERS = (
    *("LightGBM", "LightGBM continued", "LightGBM refit", "LightGBM pooled", "LightGBM average"),
    *("XGBoost", "XGBoost continued", "XGBoost refresh", "XGBoost pooled"),
    *("CatBoost", "CatBoost baseline", "libraries averaged"),
)
Fit = Callable[[Pair, rk.Dataset, int, "Backgrounds"], dict[str, Any]]


@dataclass(frozen=True)
class Cell:
    """What is fitted at once."""

    pair: Pair
    size: int | None
    draw: int
    folder: Path
    kind: str

    def __str__(self) -> str:
        return f"{self.pair.name} n={self.size or 'all'} draw {self.draw}"

    @property
    def path(self) -> Path:
        return self.folder / self.kind / f"{self.pair.name}_{self.size or 'all'}_{self.draw}.json"

    def kept(self, *, code: str | None = None) -> bool:
        """Whether it is there or in the archive, with today's settings; and made by this code, if one is given."""
        key = (self.pair.name, self.size, self.draw)
        found = [archived(self.kind)[key]] if key in archived(self.kind) and not SMOKE else []
        if self.path.exists():
            found.append(json.loads(self.path.read_text(encoding="utf-8")))
        return any(own["settings"] == _digest(SETTINGS) and code in (None, own["code"]) for own in found)

    def run(self, fit: Fit, threads: int) -> dict[str, Any]:
        """Fit everything and keep what came out."""
        started = time.perf_counter()
        with rk.threads(threads):
            target = self.pair.sample(self.size, self.draw)
            found = fit(self.pair, target, self.draw, Backgrounds(self.pair, self.folder / "backgrounds", threads))
        about = {"pair": self.pair.name, "size": self.size, "draw": self.draw, "queries": target.queries, "rows": target.rows}
        keys = {"settings": _digest(SETTINGS), "code": code_key()}
        content = {**about, **keys, "seconds": time.perf_counter() - started, **found}
        with _whole(self.path) as path:
            path.write_text(json.dumps(content), encoding="utf-8")
        return content


class Backgrounds:
    """The models of a pair's background data, trained once and kept in files."""

    def __init__(self, pair: Pair, folder: Path, threads: int) -> None:
        self.pair, self.folder, self.threads = pair, folder, threads
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def data(self) -> rk.Dataset:
        return self.pair.material.background

    def ours(self, learner: type[rk.LambdaMART | rk.MART] = rk.LambdaMART) -> rk.Forest:
        name = f"{learner.__name__}-{code_key()}.rankinite"
        return rk.load(self.made(name, lambda path: learner(trees=sized(TREES, 10), **SHAPE).fit(self.data).save(path)))

    def made(self, name: str, train: Callable[[Path], object]) -> Path:
        """The file of a model, trained unless it is there."""
        path = self._path(name)
        if not path.exists():
            with _whole(path) as unfinished:
                train(unfinished)
        return path

    def _path(self, name: str) -> Path:
        return self.folder / f"{self.pair.name}-{_digest(SETTINGS)}-{name}"


def fit_methods(pair: Pair, target: rk.Dataset, draw: int, backgrounds: Backgrounds) -> dict[str, Any]:
    """Every method of ``rk.adapt.choose``, and what it chose."""
    material = pair.material
    choice = rk.adapt.choose(
        backgrounds.ours(), target,
        background_data=material.background, measure=MEASURES[0], also=MEASURES[1:], seed=draw, curve=False,
        same_scale=True,
    )  # fmt: skip
    systems = {
        trial.method.name: {
            "unseen": choice.unseen[trial.method.name][MEASURES[0]].mean,
            "seconds": trial.seconds,
            **judged(trial.ranker, material),
        }
        for trial in choice.trials
    }
    decided = {"chosen": choice.name, "recommended": choice.verdict.recommended, "best": choice.verdict.best}
    return {**decided, "refused": dict(choice.refused), "systems": systems}


def judged(ranker: Any, material: Any) -> dict[str, Any]:
    """The values of every query of the closed test and of the open ones; None where a query tells nothing."""
    opens = {name: _values(ranker, data) for name, data in material.opens.items()}
    return {"test": _values(ranker, material.test), "opens": opens}


def _values(ranker: Any, data: rk.Dataset) -> dict[str, list[float | None]]:
    scored = np.asarray(ranker(data), float) if callable(ranker) else ranker
    evaluation = rk.evaluate(scored, data, MEASURES)
    return {str(m): [None if np.isnan(v) else round(v, DIGITS) for v in evaluation[m].per_query.tolist()] for m in MEASURES}


# ---- files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A place to write a file to, which takes its name when it is finished."""
    own = path.with_name(f"{os.getpid()}-{path.name}")
    yield own
    own.replace(path)


def _digest(settings: Any) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


def cells_of(kind: str, names: list[str], draws: int, folder: Path) -> list[Cell]:
    """The cells of these pairs, draw by draw: what is there after a while then holds all pairs and sizes."""
    return [
        Cell(PAIRS[name], size, draw, folder, kind) for draw in range(draws) for name in names for size in PAIRS[name].sizes
    ]


def read_cells(kind: str, folder: Path) -> list[Mapping[str, Any]]:
    """All cells with today's settings, those of the folder before those of the archive."""
    found = {**archived(kind), **_in_folder(kind, folder)}
    return [own for own in found.values() if own["settings"] == _digest(SETTINGS) and own["pair"] in PAIRS]


# ---- the archive ---------------------------------------------------------------------------------------------------------

Key = tuple[str, int | None, int]
"""The pair, the number of target queries, the draw."""


def _in_folder(kind: str, folder: Path) -> dict[Key, Mapping[str, Any]]:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / kind).glob("*.json"))]
    return {(own["pair"], own["size"], own["draw"]): own for own in found}


@cache
def archived(kind: str) -> dict[Key, Mapping[str, Any]]:
    """The cells of the archive."""
    path = ARCHIVE / f"adaptation-{kind}.json.xz"
    found = json.loads(lzma.decompress(path.read_bytes())) if path.exists() else []
    return {(own["pair"], own["size"], own["draw"]): own for own in found}


def _rounded(content: Any) -> Any:
    """The same with as many digits as a cell keeps; older ones had more."""
    if isinstance(content, dict):
        return {name: _rounded(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_rounded(value) for value in content]
    return round(content, DIGITS) if isinstance(content, float) else content


def archive(kind: str, folder: Path) -> int:
    """Put the cells of the folder into the archive, in place of older ones of the same key; how many it has then."""
    found = sorted(read_cells(kind, folder), key=lambda own: (own["pair"], own["size"] or 10**9, own["draw"]))
    if found:
        place = SMOKE or ARCHIVE
        place.mkdir(exist_ok=True)
        content = lzma.compress(json.dumps([_rounded(own) for own in found], separators=(",", ":")).encode(), preset=9)
        (place / f"adaptation-{kind}.json.xz").write_bytes(content)
    return len(found)
