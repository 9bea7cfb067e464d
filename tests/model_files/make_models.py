"""Made the files of this folder. Run it only to add a kind of ranker: those that are here must stay as they are.

    python tests/model_files/make_models.py NAME …

writes the model files of these names, their text where they have one, and their scores on rows.csv, or, where the name begins
with "categories", on rows-categories.csv. A name that is there already is refused.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rankinite as rk
from rankinite import adapt, combine, ensembles

HERE = Path(__file__).parent
FEATURES = ("bm25", "url length", "clicks", "age")
SMALL: dict[str, Any] = {"trees": 3, "leaves": 4, "min_rows": 3, "patience": None}


@cache
def drawn(domain: int = 0) -> rk.Dataset:
    """20 queries of 6 documents; some clicks are missing."""
    data = rk.synthesise(20, domain=domain, world=rk.World(features=len(FEATURES), documents=6, terms=3, seed=14))
    features = data.features.copy()
    features[np.random.default_rng(14).random(data.rows) < 0.2, 2] = np.nan
    return replace(data, features=features, feature_names=FEATURES)


def filled(domain: int) -> rk.Dataset:
    """The same without missing values."""
    data = drawn(domain)
    return replace(data, features=np.nan_to_num(data.features))


@cache
def lambdamart() -> Any:
    return rk.LambdaMART.plain(**SMALL).fit(drawn())


@cache
def mart() -> Any:
    return rk.MART(**SMALL).fit(drawn())


@cache
def net() -> Any:
    return rk.LambdaRank(hidden=(3, 2), epochs=3, nan="mean").fit(drawn())


@cache
def linear() -> Any:
    return rk.LambdaRank(hidden=(), epochs=3, nan="mean").fit(drawn())


@cache
def lambdaboost() -> Any:
    return rk.LambdaBoost(rounds=3, nan="mean").fit(drawn())


@cache
def stack() -> Any:
    return combine.stacked([lambdamart(), net()], drawn(), hidden=(2,)).ranker


@cache
def clicks(shown: int = 6) -> rk.Dataset:
    """What was clicked, and where it was shown."""
    data = drawn()
    return rk.simulate_clicks(data, data.features[:, 0].astype(float), 400, rk.ClickSettings(shown=shown, seed=14)).data


def squared(scores: Any, grades: Any, _offsets: Any) -> Any:
    """A loss of users."""
    return grades - scores, np.ones_like(scores)


def adapted(method: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """The ranker of a method of adaptation, small."""
    return method(*args, learner=rk.LambdaMART.plain(**(SMALL | {"trees": 2})), folds=2, **settings)


def chosen(background: Any, target: rk.Dataset, name: str) -> Any:
    """The ranker of one of the methods of ``choose``."""
    return adapt.choose(background, target, methods=[name], folds=2, curve=False).models[name]


SHOPS, SIZES = ("acme", "big co", "née & fils", "d'or", "0"), (7, -1, 12)


@cache
def with_categories() -> rk.Dataset:
    """20 queries of 6 documents with two features that are categories: words, and whole numbers."""
    random = np.random.default_rng(41)
    shop, size, bm25 = random.integers(0, len(SHOPS), 120), random.integers(0, len(SIZES), 120), random.random(120)
    grades = np.clip(np.round(2 * bm25 + (shop % 2) + (size == 1)), 0, 4)
    frame = pd.DataFrame(
        {
            "bm25": bm25,
            "shop": pd.Categorical([None if random.random() < 0.1 else SHOPS[code] for code in shop]),
            "size": pd.Categorical([SIZES[code] for code in size]),
        }
    )
    return rk.read(frame, grades=grades, qid=np.arange(120) // 6)


@cache
def of_categories() -> Any:
    return rk.LambdaMART.plain(**SMALL).fit(with_categories())


MAKERS: dict[str, Callable[[], Any]] = {
    "lambdamart": lambdamart,
    "lambdamart-symmetric": lambda: rk.LambdaMART.plain(**SMALL, shape="symmetric", measure="err").fit(drawn()),
    "mart": mart,
    "mart-binary": lambda: rk.MART(**SMALL, loss="binary", sigma=0.5).fit(drawn()),
    "mcrank": lambda: rk.McRank(**(SMALL | {"trees": 2})).fit(drawn()),
    "ranknet-trees": lambda: rk.RankNetTrees(**SMALL).fit(drawn()),
    "from-forest": lambda: rk.LambdaMART.plain(**(SMALL | {"trees": 2})).fit(drawn(1), base=mart()),
    "from-feature": lambda: rk.LambdaMART.plain(**(SMALL | {"trees": 2})).fit(drawn(1), base=rk.Feature("bm25")),
    "trada": lambda: rk.adapt.trada(lambdamart(), drawn(1), beta=10.0, splits=True),
    "net": net,
    "linear": linear,
    "lambdaboost": lambda: rk.LambdaBoost(rounds=5, nan="mean").fit(drawn()),
    "lambdaboost-from-linear": lambda: rk.LambdaBoost(rounds=5, nan="mean").fit(filled(1), base=linear()),
    "lambdaboost-correction": lambda: rk.LambdaBoost(rounds=5, nan="mean").fit(drawn(1), base=linear()),
    "feature": lambda: rk.Feature("clicks"),
    "feature-ascending": lambda: rk.Feature(1, ascending=True),
    "blend": lambda: 0.3 * lambdamart() + 0.7 * (net() + 2.0 * rk.Feature("bm25")),
    "normalised-all": lambda: rk.Normalised(mart(), "all", centre=1.25, spread=0.75),
    "normalised-query": lambda: rk.Normalised(lambdamart(), "query"),
    "normalised-rank": lambda: rk.Normalised(lambdamart(), "rank"),
    "normalised-probability": lambda: rk.Normalised(MAKERS["mart-binary"](), "probability", spread=2.0),
    "normalised-peak": lambda: rk.Normalised(MAKERS["normalised-probability"](), "peak"),
    "query-summaries": lambda: ensembles.Summarised(rk.LambdaMART.plain(**SMALL), (rk.MART(**SMALL),), folds=3).fit(drawn()),
    "stack": stack,
    # From here on as 0.3.0 wrote them before its modules moved.
    "lambdamart-held-out": lambda: rk.LambdaMART(leaves=4, min_rows=3, trees=None, rate=0.5, patience=2).fit(drawn()),
    "lambdamart-exact-steps": lambda: rk.LambdaMART.plain(**SMALL, step="exact").fit(drawn()),
    "lambdamart-reoptimised": lambda: rk.LambdaMART.plain(**SMALL, reoptimise=2).fit(drawn()),
    "clicks-pairwise": lambda: rk.LambdaMART.plain(**SMALL, debias="pairwise").fit(clicks()),
    "clicks-additive": lambda: rk.LambdaMART.plain(**SMALL, debias="additive").fit(clicks()),
    "custom-trees": lambda: rk.CustomTrees(**SMALL, loss=squared, start=0.5).fit(drawn()),
    "mart-graded": lambda: rk.MART(**SMALL, loss="graded").fit(drawn()),
    "ranknet": lambda: rk.RankNet(hidden=(3,), epochs=2, nan="mean").fit(drawn()),
    "ranknet-linear": lambda: rk.RankNet(hidden=(), epochs=2, nan="mean").fit(drawn()),
    "unknown-queries": lambda: rk.LambdaMART.plain(**SMALL).fit(drawn(1), base=rk.load(HERE / "lambdamart.rankinite")),
    "renamed": lambda: lambdamart().renamed(['a "b"', "née", "c", "d e"]).renamed(FEATURES).truncate(2),
    "bag": lambda: rk.Bag(rk.LambdaMART.plain(**SMALL), parts=2).fit(drawn()),
    "seeds-of-nets": lambda: rk.Seeds(rk.LambdaRank(hidden=(2,), epochs=2, nan="mean"), count=2).fit(drawn()),
    "augmented": lambda: rk.Augmented(rk.LambdaMART.plain(**SMALL), copies=2).fit(drawn()),
    "rescaled": lambda: ensembles.Rescaled(rk.MART(**SMALL, loss="binary"), "peak").fit(drawn()),
    "average-of-members": lambda: ensembles.Average(
        {
            "trees": rk.LambdaMART.plain(**SMALL),
            "net": rk.LambdaRank(hidden=(2,), epochs=2, nan="mean"),
        }
    ).fit(drawn()),
    "distilled-select": lambda: rk.distil(lambdamart(), drawn(), trees=2, how="select", folds=2).ranker,
    "distilled-grow": lambda: rk.distil(lambdamart(), drawn(), trees=2, leaves=4, how="grow", folds=2).ranker,
    "distilled-net": lambda: rk.distil(lambdamart(), filled(0), hidden=(2,), how="net", folds=2).ranker,
    "distilled-linear": lambda: rk.distil(lambdamart(), filled(0), hidden=(), how="net", folds=2).ranker,
    "exact-weights": lambda: combine.exact(lambdamart(), net(), drawn()).ranker,
    "powell-weights": lambda: combine.powell([lambdamart(), net()], drawn(), most=50).ranker,
    "average-of-scales": lambda: combine.average([lambdamart(), linear()], drawn()).ranker,
    "average-of-ranks": lambda: combine.average([lambdamart(), linear()], drawn(), scale="rank").ranker,
    "stack-linear": lambda: combine.stacked([lambdamart(), linear()], drawn()).ranker,
    "normalised-net": lambda: rk.Normalised(net(), "all", centre=0.5, spread=2.0),
    "normalised-linear": lambda: rk.Normalised(linear(), "rank"),
    "normalised-boosted": lambda: rk.Normalised(lambdaboost(), "query"),
    "normalised-feature": lambda: rk.Normalised(rk.Feature("bm25"), "query"),
    "normalised-blend": lambda: rk.Normalised(0.5 * rk.Feature("bm25") + 2.0 * linear(), "rank"),
    "normalised-stack": lambda: rk.Normalised(stack(), "query"),
    "normalised-summaries": lambda: rk.Normalised(rk.load(HERE / "query-summaries.rankinite"), "rank"),
    "normalised-grades": lambda: rk.Normalised(rk.load(HERE / "mcrank.rankinite"), "all", centre=1.0, spread=0.5),
    "lambdasmart": lambda: adapted(adapt.smart, lambdamart(), drawn(1)),
    "lambdasmart-from-linear": lambda: adapted(adapt.smart, linear(), filled(1)),
    "adapted-lambdaboost": lambda: adapt.lambdaboost(linear(), filled(1), folds=2),
    "adapted-lambdaboost-of-trees": lambda: adapt.lambdaboost(lambdamart(), filled(1), folds=2),
    "interpolated": lambda: adapted(adapt.interpolate, lambdamart(), drawn(1)),
    "interpolated-powell": lambda: adapted(adapt.interpolate, [lambdamart(), linear()], drawn(1), how="powell"),
    "interpolated-lambdarank": lambda: adapted(adapt.interpolate, [lambdamart(), linear()], drawn(1), how="lambdarank"),
    "neighbours": lambda: adapted(adapt.neighbours, lambdamart(), drawn(1), drawn()),
    "pooled": lambda: adapt.pool(drawn(1), drawn(), learner=rk.LambdaMART.plain(**(SMALL | {"trees": 2}))),
    "chosen-trada": lambda: chosen(lambdamart(), drawn(1), "trada"),
    "chosen-lambdaboost": lambda: chosen(linear(), filled(1), "lambdaboost"),
    "blend-of-adapted": lambda: 0.5 * MAKERS["trada"]() + 0.5 * rk.Normalised(MAKERS["lambdasmart-from-linear"](), "query"),
    "categories": of_categories,
    "categories-symmetric": lambda: rk.LambdaMART.plain(**SMALL, shape="symmetric").fit(with_categories()),
    "categories-mcrank": lambda: rk.McRank(**(SMALL | {"trees": 1})).fit(with_categories()),
    "categories-from-forest": lambda: rk.MART(**SMALL).fit(with_categories(), base=of_categories()),
    "categories-blend": lambda: 0.25 * of_categories() + 0.75 * rk.Normalised(of_categories(), "query"),
    "categories-distilled": lambda: (
        rk.distil(of_categories(), with_categories(), trees=2, leaves=4, how="grow", folds=2).ranker
    ),
}


def write_rows() -> None:
    """The rows that are scored: three queries of other data, with values that equal thresholds."""
    data = rk.synthesise(3, part="test", world=rk.World(features=len(FEATURES), documents=5, terms=3, seed=14))
    features = data.features.copy()
    features[::4, 2] = np.nan
    thresholds = lambdamart().trees
    for row, node in enumerate(np.flatnonzero(thresholds.feature >= 0)[: data.rows].tolist()):
        features[row, thresholds.feature[node]] = thresholds.threshold[node]
    features[5:7] = features[4]  # equal rows tie
    with (HERE / "rows.csv").open("w", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("qid", *FEATURES))
        for qid, row in zip(np.repeat(data.qids, 5).tolist(), features, strict=True):
            writer.writerow((qid, *("" if np.isnan(value) else str(value) for value in row)))


def write_category_rows() -> None:
    """Three queries with categories that the models know, do not know, or miss."""
    random = np.random.default_rng(42)
    with (HERE / "rows-categories.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("qid", "bm25", "shop", "size"))
        for row in range(15):
            shop, size = [*SHOPS, "new", ""][random.integers(7)], [*SIZES, 99, ""][random.integers(5)]
            writer.writerow((f"q{row // 5}", str(np.float32(random.random())), shop, size))


def rows(name: str) -> rk.Dataset:
    """The rows that a model of this name scores."""
    if not name.startswith("categories"):
        with (HERE / "rows.csv").open(newline="") as handle:
            _, *lines = csv.reader(handle)
        features: Any = np.asarray([[np.float32(value or "nan") for value in line[1:]] for line in lines])
        data = rk.read(features, grades=np.zeros(len(lines)), qid=[line[0] for line in lines], missing="nan")
        return data.rename_features(list(FEATURES))
    with (HERE / "rows-categories.csv").open(newline="", encoding="utf-8") as handle:
        _, *lines = csv.reader(handle)
    frame = pd.DataFrame(
        {
            "bm25": [np.float32(line[1]) for line in lines],
            "shop": pd.Categorical([line[2] or None for line in lines]),
            "size": pd.Categorical([int(line[3]) if line[3] else None for line in lines]),
        }
    )
    return rk.read(frame, grades=np.zeros(len(lines)), qid=[line[0] for line in lines])


def main(names: list[str]) -> None:
    """Write the files of these rankers."""
    if not (HERE / "rows.csv").exists():
        write_rows()
    if not (HERE / "rows-categories.csv").exists():
        write_category_rows()
    path = HERE / "scores.json"
    scores: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        if name in scores:
            raise SystemExit(f"{name}: its files are here already and must stay as they are.")
        ranker = MAKERS[name]()
        ranker.save(HERE / f"{name}.rankinite")
        if hasattr(ranker, "text"):
            (HERE / f"{name}.txt").write_text(ranker.text(), encoding="utf-8")
        scores[name] = [score.hex() for score in ranker.score(rows(name)).tolist()]
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(values)}" for name, values in scores.items())
    path.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
