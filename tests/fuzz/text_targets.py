"""Small texts: measures, score files, settings in TOML."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import numpy as np

import rankinite as rk
from fuzz.data_targets import judged_documents, put
from fuzz.mutation import NUMBERS, damaged_bytes, number, text
from fuzz.target import Target

MEASURES = ("ndcg", "dcg", "avendcg", "err", "ap", "rr", "precision", "recall", "p", "ndcg:gains=linear", "err:max_grade=2")


def make_measure(rng: Random, folder: Path) -> Path:
    spelled = rng.choice(MEASURES)
    for _ in range(rng.randrange(3)):
        spelled += rng.choice([f"@{number(rng)}", f":{text(rng)}={number(rng)}", f":gains={number(rng)}", ":", "@", text(rng)])
    return put(folder / "measure.txt", spelled.encode(errors="replace"))


def read_measure(path: Path) -> None:
    measure = rk.parse_measure(path.read_text(encoding="utf-8"))
    assert rk.parse_measure(str(measure)) == measure
    data = judged_documents()
    rk.evaluate(data.features[:, 0].astype(float), data, [measure])


def make_scores(rng: Random, folder: Path) -> Path:
    if rng.random() < 0.5:
        return put(folder / "scores.txt", "\n".join(number(rng) for _ in range(9)).encode())
    sink = io.BytesIO()
    kind = rng.choice(["f8", "f4", "i8", "?", "c16", "U3", "f8,i4"])
    np.save(sink, np.zeros(rng.choice([9, 9, 9, (9, 1), (3, 3), 0, ()]), kind))
    content = sink.getvalue()
    return put(folder / "scores.npy", damaged_bytes(rng, content) if rng.random() < 0.8 else content)


def read_scores(path: Path) -> None:
    data = judged_documents()
    assert rk.read_scores(path, data).shape == (data.rows,)


def make_settings(rng: Random, folder: Path) -> Path:
    keys = ["data", "valid", "trees", "rate", "measure", "out", "leaves", "seed", text(rng)]
    values = [number(rng), f'"{text(rng)}"', "[1, 2]", "{}", "true", "[" * rng.choice([1, 5, 100_000]), rng.choice(NUMBERS)]
    lines = ["[train]" if rng.random() < 0.9 else f"[{text(rng)}]"]
    lines += [f"{rng.choice(keys)} = {rng.choice(values)}" for _ in range(rng.randrange(5))]
    raw = "\n".join(lines).encode(errors="replace")
    return put(folder / "settings.toml", damaged_bytes(rng, raw) if rng.random() < 0.3 else raw)


def read_settings(path: Path) -> None:
    """The verb refuses with exit code 2, as nothing that these files name is there."""
    import sys
    from contextlib import redirect_stderr, redirect_stdout

    from rankinite.cli import main

    before, caught = sys.argv, io.StringIO()
    sys.argv = ["rankinite", "train", "--config", str(path), "--out", str(path.parent / "model.rankinite"), "nothing.txt"]
    try:
        with redirect_stdout(caught), redirect_stderr(caught):
            main()
    except SystemExit as ended:
        if ended.code == 2:
            raise rk.DataError(caught.getvalue()) from ended
        raise RuntimeError(f"exit code {ended.code}: {caught.getvalue()}") from ended
    finally:
        sys.argv = before


TARGETS = (
    Target("measures", make_measure, read_measure),
    Target("score files", make_scores, read_scores),
    Target("settings files", make_settings, read_settings),
)
