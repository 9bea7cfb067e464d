"""Small data from fixed numbers, which no random generator of another library and no reader has a part in."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk

QUERIES, DOCUMENTS = 30, 12
KINDS = np.array([0.7, 0.0, 0.5, 0.1, 0.8, 0.2])
"""How good documents of each kind are, in no order of the codes."""
MODELS = Path(__file__).parents[1] / "model_files"
LATER_MODELS = (
    *("adapted-lambdaboost", "average-of-members", "categories-blend", "categories-mcrank", "categories-symmetric"),
    *("clicks-additive", "distilled-net", "lambdamart-held-out", "lambdasmart-from-linear", "renamed", "seeds-of-nets"),
    *("stack-linear", "unknown-queries"),
)
"""Of the models that 0.3.0 wrote, one of each kind: what is pinned of them need not be pinned of the others."""


def models() -> list[Path]:
    """The model files of which something is pinned: all that 0.1.0 wrote, and some of those since."""
    written = list(json.loads((MODELS / "scores.json").read_text()))
    return [MODELS / f"{name}.rankinite" for name in sorted((*written[: written.index("lambdamart-held-out")], *LATER_MODELS))]


def mixed(count: int, salt: int) -> Any:
    """Numbers from 0 to 1 in no apparent order."""
    numbers = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt * 1_000_003)) * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(29)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(32)
    return (numbers >> np.uint64(40)).astype(np.float64) / 2.0**24


@cache
def judged(domain: int = 0, queries: int = QUERIES, *, gaps: bool = True) -> rk.Dataset:
    """Six features, grades from 0 to 4 that follow from some of them, weights and names of documents."""
    rows = queries * DOCUMENTS
    features = mixed(rows * 6, 1 + domain).reshape(rows, 6).astype(np.float32)
    features[:, 5] = np.floor(features[:, 5] * 6)
    if gaps:
        features[::11, 2] = np.nan
    noisy = features[:, 0] + features[:, 1] * features[:, 3 + domain % 2] + 0.3 * mixed(rows, 50 + domain)
    noisy += 0.4 * np.nan_to_num(features[:, 2], nan=1.5) + KINDS[features[:, 5].astype(int)] - 0.5
    return rk.Dataset(
        features,
        np.floor(np.clip(1.6 * noisy, 0.0, 4.0)),
        np.arange(0, rows + 1, DOCUMENTS),
        np.array([f"q{domain}-{query}" for query in range(queries)]),
        ("bm25", "pagerank", "clicks", "age", "url length", "kind"),
        doc_ids=np.array([f"d{domain}-{row}" for row in range(rows)]),
    )


@cache
def with_category(domain: int = 0) -> rk.Dataset:
    """The same, whose last feature is a category."""
    data = judged(domain)
    names = np.array(["news", "blog", "shop", "wiki", "forum", "video"])[data.features[:, 5].astype(int)]
    return replace(data, categories=dict(categorical(names, data).categories), features=categorical(names, data).features)


def categorical(names: Any, data: rk.Dataset) -> rk.Dataset:
    import pandas as pd

    frame = pd.DataFrame(data.features[:, :5], columns=list(data.feature_names[:5]))
    frame["kind"] = names
    frame["grade"], frame["qid"] = data.grades, np.repeat(data.qids, np.diff(data.offsets))
    return rk.read(frame, missing="nan")


@cache
def clicked() -> rk.Dataset:
    """Clicks as grades, and the positions at which documents were shown."""
    data = judged()
    return rk.simulate_clicks(data, data.features[:, 3].astype(float), 300, rk.ClickSettings(seed=1)).data


def with_weights(data: rk.Dataset) -> rk.Dataset:
    return data.with_weights(0.5 + np.arange(data.queries) % 4)


def with_preferences(data: rk.Dataset) -> rk.Dataset:
    first = np.arange(0, data.rows, DOCUMENTS)
    pairs = rk.Preferences(
        np.concatenate([first, first + 4]), np.concatenate([first + 1, first + 7]), np.tile([0.9, 0.6], len(first))
    )
    return data.with_preferences(pairs)


def tied_scores(data: rk.Dataset) -> Any:
    """Scores with many ties."""
    return np.round(data.features[:, 0] * 8.0).astype(np.float64)


def fractional(data: rk.Dataset) -> rk.Dataset:
    """Grades between whole numbers."""
    return replace(data, grades=np.round(np.clip(2.2 * (data.features[:, 0] + data.features[:, 1]), 0.0, 4.0) * 8) / 8)


def unjudged(data: rk.Dataset) -> rk.Dataset:
    """The same where nobody judged every fifth document."""
    grades = data.grades.copy()
    grades[::5] = -1
    return replace(data, grades=grades)
