"""The systems of the study of defaults: settings of ours that could be defaults, and the peers as they come.

A system is trained round by round until its watch has seen enough, and gives the scores of any data after every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import rankinite as rk
from _measure import sized
from rankinite.engine.parallel import thread_count

ROUNDS, PATIENCE = sized((1_000, 200), (10, 5))
"""With validation data: rounds at most, and rounds without a better value before training ends; the same for all systems."""
COUNTS = sized((100, 200, 300, 500), (5, 10))
"""Numbers of trees of ours that are looked at without validation data."""
OUT_OF_BOX = 0
"""Instead of a number of trees: what the system does by itself."""
Staged = Callable[[rk.Dataset], Iterator[np.ndarray]]
"""The scores of data after every round."""


@dataclass
class Watch:
    """The value on validation data after every round, and whether more rounds are wanted."""

    valid: rk.Dataset
    least: int
    """Rounds that are wanted in any case, as they are looked at without validation data too."""
    values: list[float] = field(default_factory=list)

    def wants_more(self, value: float) -> bool:
        self.values.append(value)
        rounds = len(self.values)
        return rounds < self.least or (rounds < ROUNDS and kept_round(self.values) > rounds - PATIENCE)


def kept_round(values: list[float]) -> int:
    """The number of trees that early stopping keeps."""
    best = 0
    for place, value in enumerate(values):
        if value > values[best]:
            best = place
        elif place - best >= PATIENCE:
            break
    return best + 1


def ndcg(scores: np.ndarray, data: rk.Dataset) -> np.ndarray:
    """NDCG@10 of every query, expected under ties; NaN where all documents have one grade."""
    return rk.evaluate(np.asarray(scores, float), data, [rk.NDCG(10)])[rk.NDCG(10)].per_query


# ---- ours ------------------------------------------------------------------------------------------------------------------


def rankinite(train: rk.Dataset, watch: Watch, settings: dict[str, Any], seed: int) -> Staged:
    kept: list[rk.Forest] = []

    def is_over(progress: Any) -> bool:
        if watch.wants_more(progress.valid):
            return False
        kept.append(progress.ranker())  # before it is cut to the best round: the others are looked at too
        return True

    fixed = {"trees": ROUNDS, "patience": None, "watch": "ndcg@10", "train_history": False, "seed": seed}
    forest = rk.LambdaMART.plain(**fixed, **settings).fit(train, watch.valid, callbacks=[is_over])
    whole = kept[0] if kept else forest  # training also ends when nothing is left to split
    return whole.staged_scores


def out_of_box(train: rk.Dataset, settings: dict[str, Any], seed: int) -> rk.Forest:
    """Trained without validation data and without a number of trees: held-out parts of the training queries choose it."""
    fixed = {"trees": None, "patience": PATIENCE, "watch": "ndcg@10", "train_history": False, "seed": seed}
    return rk.LambdaMART.plain(**fixed, **settings).fit(train)


# ---- peers: whatever is not named here is as the library has it ------------------------------------------------------------


def lightgbm(train: rk.Dataset, watch: Watch, settings: dict[str, Any], seed: int) -> Staged:
    import lightgbm as library

    data = library.Dataset(train.features, train.grades, group=np.diff(train.offsets), params={"verbosity": -1})
    fixed = {"objective": "lambdarank", "verbosity": -1, "num_threads": thread_count(), "seed": seed}
    model = library.Booster({**fixed, **settings}, data)

    def part(data: rk.Dataset, place: int) -> np.ndarray:
        return model.predict(data.features, start_iteration=place, num_iteration=1, raw_score=True)

    return boosted(watch, lambda _: model.update(), part)


def xgboost(train: rk.Dataset, watch: Watch, settings: dict[str, Any], seed: int) -> Staged:
    import xgboost as library

    data = library.QuantileDMatrix(train.features, train.grades, qid=train.query_of_row())
    fixed = {"objective": "rank:ndcg", "nthread": thread_count(), "seed": seed}
    model = library.Booster({**fixed, **settings}, [data])

    def part(data: rk.Dataset, place: int) -> np.ndarray:
        return model.inplace_predict(data.features, iteration_range=(place, place + 1), predict_type="margin")

    return boosted(watch, lambda place: model.update(data, place), part)


def boosted(watch: Watch, update: Callable[[int], Any], part: Callable[[rk.Dataset, int], np.ndarray]) -> Staged:
    """Rounds one by one, for libraries that can be asked for what one round adds."""
    total, more = np.zeros(watch.valid.rows), True
    while more:
        place = len(watch.values)
        update(place)
        total += part(watch.valid, place)
        more = watch.wants_more(float(np.nanmean(ndcg(total, watch.valid))))
    rounds = len(watch.values)

    def staged(data: rk.Dataset) -> Iterator[np.ndarray]:
        scores = np.zeros(data.rows)
        for place in range(rounds):
            scores = scores + part(data, place)
            yield scores

    return staged


def catboost(train: rk.Dataset, watch: Watch, settings: dict[str, Any], seed: int) -> Staged:
    """All rounds, as its default number is as many."""
    import catboost as library

    fixed = {"thread_count": thread_count(), "random_seed": seed, "verbose": False, "allow_writing_files": False}
    model = library.CatBoostRanker(loss_function="YetiRank", **fixed, **settings)
    model.fit(train.features, train.grades, group_id=train.query_of_row())
    for scores in model.staged_predict(watch.valid.features):
        watch.wants_more(float(np.nanmean(ndcg(scores, watch.valid))))
    return lambda data: model.staged_predict(data.features)


# ---- all of them -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class System:
    """What is trained, and the numbers of trees that are looked at without validation data."""

    train: Callable[[rk.Dataset, Watch, dict[str, Any], int], Staged]
    settings: dict[str, Any] = field(default_factory=dict)
    counts: tuple[int, ...] = COUNTS


PEERS = {
    "lightgbm": System(lightgbm, {}, (sized(100, 10),)),
    "xgboost": System(xgboost, {}, (sized(100, 10),)),
    "catboost": System(catboost, {}, (sized(1_000, 10),)),
}
OLD = {"leaves": 31, "rate": 0.1, "min_rows": 20, "measure": "ndcg@10"}
"""Our defaults before the study, 500 trees; spelt out, so that the study does not change with them."""
OLD_COUNT = 500
DRAWN = {"row_share": 0.7, "node_feature_share": 0.5}
SYMMETRIC = {"shape": "symmetric"}
LOOSE = {"leaves": 15, "rate": 0.05, "min_rows": 20, "measure": "ndcg@10", **DRAWN}
"""The middle of the best-first candidates."""
LEVEL = {**LOOSE, **SYMMETRIC, "leaves": 32}
"""The middle of the symmetric candidates."""
VARIATIONS: dict[str, dict[str, Any]] = {
    "slow": {"rate": 0.03},
    "queries": {"row_share": 1.0, "query_share": 0.7},
    "features-per-tree": {"node_feature_share": 1.0, "feature_share": 0.5},
    "drawn-more": {"row_share": 0.5, "node_feature_share": 0.3},
    "rows-5": {"min_rows": 5},
    "rows-50": {"min_rows": 50},
    "l2": {"l2": 5.0},
    "ndcg-30": {"measure": "ndcg@30"},
    "ndcg-all": {"measure": "ndcg"},
}
"""One change each to both middles."""

DEEP = {**OLD, **SYMMETRIC, "leaves": 64, "rate": 0.05, "row_share": 0.7}
"""Larger symmetric trees that draw rows only: where most features say something, drawing features costs much."""
DEEP_VARIATIONS: dict[str, dict[str, Any]] = {
    "rows": {},
    "rows-ndcg-30": {"measure": "ndcg@30"},
    "rows-small-leaves": {"min_rows": 5},
    "rows-slow": {"rate": 0.03},
    "rows-l2": {"l2": 1.0},
    "rows-leaves-32": {"leaves": 32},
    "rows-small-leaves-ndcg-30": {"min_rows": 5, "measure": "ndcg@30"},
}
"""One change each to these."""


def grid() -> dict[str, dict[str, Any]]:
    """Shape, leaves, rate and whether trees draw, crossed."""
    found: dict[str, dict[str, Any]] = {}
    for rate in (0.05, 0.1):
        for leaves in (7, 15, 31):
            plain = {**OLD, "leaves": leaves, "rate": rate}
            found[f"best-{leaves}-{rate * 100:02.0f}"] = plain
            found[f"best-{leaves}-{rate * 100:02.0f}-drawn"] = {**plain, **DRAWN}
        for leaves in (16, 32, 64):
            level = {**OLD, **SYMMETRIC, "leaves": leaves, "rate": rate}
            found[f"symmetric-{leaves}-{rate * 100:02.0f}"] = level
            found[f"symmetric-{leaves}-{rate * 100:02.0f}-drawn"] = {**level, **DRAWN}
    return found


def candidates() -> dict[str, System]:
    """All settings that could be defaults, by name."""
    found = grid()
    for name, middle in (("best-15-05-drawn", LOOSE), ("symmetric-32-05-drawn", LEVEL)):
        found.update({f"{name}-{change}": {**middle, **changed} for change, changed in VARIATIONS.items()})
    large = {**LEVEL, "leaves": 64, "rate": 0.1}
    found["symmetric-64-10-drawn-ndcg-30"] = {**large, "measure": "ndcg@30"}
    found["symmetric-64-10-drawn-less"] = {**large, "row_share": 0.8, "node_feature_share": 0.8}
    found.update({f"symmetric-64-05-{name}": {**DEEP, **changed} for name, changed in DEEP_VARIATIONS.items()})
    found["best-31-10-ndcg-30"] = {**OLD, "measure": "ndcg@30"}
    found["best-31-10-ndcg-all"] = {**OLD, "measure": "ndcg"}
    return {name: System(rankinite, settings) for name, settings in found.items()}


OLD_NAME = "best-31-10"
CANDIDATES = candidates()
SYSTEMS = {**CANDIDATES, **PEERS}
