"""Made the files of this folder. Run it only to add a kind of ranker: those that are here must stay as they are.

    python tests/model_files/make_models.py NAME …

writes the model files of these names, their text where they have one, and their scores on rows.csv. A name that is there
already is refused.
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

import rankinite as rk
from rankinite.ensembles import Summarised
from rankinite.models.normalised import Normalised

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
    "normalised-all": lambda: Normalised(mart(), "all", centre=1.25, spread=0.75),
    "normalised-query": lambda: Normalised(lambdamart(), "query"),
    "normalised-rank": lambda: Normalised(lambdamart(), "rank"),
    "normalised-probability": lambda: Normalised(MAKERS["mart-binary"](), "probability", spread=2.0),
    "normalised-peak": lambda: Normalised(MAKERS["normalised-probability"](), "peak"),
    "query-summaries": lambda: Summarised(rk.LambdaMART.plain(**SMALL), (rk.MART(**SMALL),), folds=3).fit(drawn()),
    "stack": lambda: rk.combine.stacked([lambdamart(), net()], drawn(), hidden=(2,)).ranker,
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


def rows() -> rk.Dataset:
    """The rows that are scored."""
    with (HERE / "rows.csv").open(newline="") as handle:
        _, *lines = csv.reader(handle)
    features = [[np.float32(value or "nan") for value in line[1:]] for line in lines]
    data = rk.read(np.asarray(features), grades=np.zeros(len(lines)), qid=[line[0] for line in lines], missing="nan")
    return data.rename_features(list(FEATURES))


def main(names: list[str]) -> None:
    """Write the files of these rankers."""
    if not (HERE / "rows.csv").exists():
        write_rows()
    path = HERE / "scores.json"
    scores: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        if name in scores:
            raise SystemExit(f"{name}: its files are here already and must stay as they are.")
        ranker = MAKERS[name]()
        ranker.save(HERE / f"{name}.rankinite")
        if hasattr(ranker, "text"):
            (HERE / f"{name}.txt").write_text(ranker.text())
        scores[name] = [score.hex() for score in ranker.score(rows()).tolist()]
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(values)}" for name, values in scores.items())
    path.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or list(MAKERS))
