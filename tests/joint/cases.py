"""What is trained, and on what: every kind of tree and of draw, and data that are hard to share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import rankinite as rk
from rankinite.data.categories import drop_unused_categories
from rankinite.models.files.container import model_bytes

WORLD = rk.World(features=70, documents=20, noise=0.3)
QUERIES, SAMPLE = 60, 400  # more rows than the sample that edges are made from
CATEGORY_ROWS = 2


@dataclass(frozen=True)
class Case:
    learner: object
    data: str = "gaps"
    valid: bool = True
    base: bool = False


def _settings(**settings):
    return {"trees": 6, "leaves": 8, "min_rows": 3, "bin_sample": SAMPLE, "category_rows": CATEGORY_ROWS, **settings}


CASES = {
    "newton": Case(rk.LambdaMART.plain(**_settings())),
    "least squares": Case(rk.LambdaMART.paper(**_settings())),
    "early stopping": Case(rk.LambdaMART.plain(**_settings(trees=40, patience=2, rate=0.5))),
    "no validation": Case(rk.LambdaMART.plain(**_settings(train_history=False)), valid=False),
    "rows drawn": Case(rk.LambdaMART.plain(**_settings(row_share=0.6))),
    "queries drawn": Case(rk.LambdaMART.plain(**_settings(query_share=0.6, row_share=0.8))),
    "features drawn": Case(rk.LambdaMART.plain(**_settings(feature_share=0.5, node_feature_share=0.5))),
    "rows drawn at nodes": Case(rk.LambdaMART.plain(**_settings(node_row_share=0.5))),
    "random thresholds": Case(rk.LambdaMART.plain(**_settings(thresholds="random"))),
    "monotone": Case(rk.LambdaMART.plain(**_settings(monotone=("+3", "-5")))),
    "symmetric": Case(rk.LambdaMART.plain(**_settings(shape="symmetric"))),
    "symmetric, least squares, drawn": Case(rk.LambdaMART.paper(**_settings(shape="symmetric", row_share=0.7))),
    "ERR": Case(rk.LambdaMART.plain(**_settings(measure="err"))),
    "weights": Case(rk.LambdaMART.plain(**_settings()), data="weights"),
    "weights, least squares": Case(rk.LambdaMART.paper(**_settings()), data="weights"),
    "MART": Case(rk.MART(**_settings(trees=12)), data="weights"),  # beyond the rounds after which the driver keeps a forest
    "unmeasured": Case(rk.MART(**_settings()), data="strange", valid=False),
    "MART, graded": Case(rk.MART(**_settings(loss="graded"))),
    "MART, balanced": Case(rk.MART(**_settings(loss="balanced"))),
    "RankNet": Case(rk.RankNetTrees(**_settings())),
    "base": Case(rk.LambdaMART.plain(**_settings()), base=True),
    "base, MART": Case(rk.MART(**_settings()), base=True, data="weights"),
    "uneven": Case(rk.LambdaMART.plain(**_settings()), data="uneven"),
    "apart": Case(rk.LambdaMART.plain(**_settings()), data="apart"),
    "categories": Case(rk.LambdaMART.plain(**_settings()), data="categories", base=True),
    "categories, least squares, drawn": Case(
        rk.LambdaMART.paper(**_settings(node_row_share=0.6, min_curvature=0.5)), data="categories"
    ),
    "categories, symmetric, drawn": Case(
        rk.LambdaMART.plain(**_settings(shape="symmetric", row_share=0.7)), data="categories", valid=False
    ),
    "many categories": Case(rk.LambdaMART.plain(**_settings(query_share=0.8)), data="many categories"),
}
BASE = rk.Feature("1")
CATEGORIES = {"categories": 30, "many categories": 450}


def data_of(kind: str, part: str) -> rk.Dataset:
    """Judged data: with missing values, with weights, of queries of very different lengths, or with a third that no cut
    parts from each other, as all its values are missing."""
    drawn = rk.synthesise(QUERIES if part == "train" else 20, part=part, world=WORLD)
    features = np.array(drawn.features)
    features[::7, 3] = np.nan
    features[::5, 10] = 0.0
    data = replace(drawn, features=features)
    if kind == "weights":
        return data.with_weights(np.resize([1.0, 0.5, 3.0, 0.0], data.queries))
    if kind == "strange":  # a grade that no gain is made of: nothing is measured, at no member
        return replace(data, grades=np.where(np.arange(data.rows) == data.rows - 5, 5000.0, data.grades))
    if kind == "uneven":
        return data.select_rows((np.arange(data.rows) % 20 < 3) | (np.arange(data.rows) >= data.rows // 2))
    if kind == "apart":
        features[2 * data.rows // 3 :] = np.nan
        return replace(data, features=features)
    return with_categories(data, CATEGORIES[kind], part) if kind in CATEGORIES else data


def with_categories(data: rk.Dataset, count: int, part: str) -> rk.Dataset:
    """Two features as categories that tell something of the grade. Some are missing, some are in the last rows alone, and each
    part has some that the other has not."""
    random = np.random.default_rng(len(part))
    features = np.array(data.features)
    meaning = np.random.default_rng(7).permutation(count)
    for column in (5, 66):
        worth = data.grades / 5 + random.uniform(0, 0.8, data.rows)
        features[:, column] = meaning[np.minimum(worth / 1.6 * count, count - 1).astype(int)]
        features[random.random(data.rows) < 0.05, column] = np.nan
        features[-30:, column] = np.arange(30) % 3
    names = tuple(sorted({f"{part} {k:03d}" if k % 10 == 3 else f"word {k:03d}" for k in range(count)}))
    vocabulary = rk.Vocabulary(names)
    return drop_unused_categories(replace(data, features=features, categories={"6": vocabulary, "67": vocabulary}))


def base_of(kind: str) -> rk.Ranker:
    """What training may go on from: a feature, or a forest with other categories."""
    if kind not in CATEGORIES:
        return BASE
    other = with_categories(rk.synthesise(30, part="test", world=WORLD), CATEGORIES[kind], "base")
    return rk.LambdaMART.plain(trees=2, leaves=4, min_rows=3).fit(other)


def folder_of(root: Path, kind: str, shards: int) -> Path:
    return root / f"{kind}-{shards}"


def write_folders(root: Path, kind: str, shards: int) -> None:
    """The folders of bins of a kind of data: training data in so many, validation data in two."""
    folder = folder_of(root, kind, shards)
    base, settings = base_of(kind), {"bin_sample": SAMPLE, "category_rows": CATEGORY_ROWS}
    train = rk.bin(data_of(kind, "train"), folder / "train", shards=shards, base=base, **settings)
    rk.bin(data_of(kind, "valid"), folder / "valid", shards=2, like=train, base=base)
    base.save(folder / "base.rankinite")


def binned(root: Path, kind: str, shards: int, part: str) -> rk.Binned:
    return rk.Binned(sorted((folder_of(root, kind, shards) / part).iterdir()))


def trained_on(case: Case, train: rk.Dataset, valid: rk.Dataset, base: rk.Ranker) -> str:
    """The digest of the model."""
    model = case.learner.fit(train, valid if case.valid else None, base=base if case.base else None)
    return hashlib.sha256(model_bytes(model.stored())).hexdigest()


def in_memory(case: Case) -> str:
    return trained_on(case, data_of(case.data, "train"), data_of(case.data, "valid"), base_of(case.data))


def from_folders(case: Case, root: Path, shards: int) -> str:
    train, valid = (binned(root, case.data, shards, part) for part in ("train", "valid"))
    return trained_on(case, train, valid, rk.load(folder_of(root, case.data, shards) / "base.rankinite"))
