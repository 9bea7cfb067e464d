"""LightGBM, XGBoost and CatBoost: a background of each, and what each can do with it and the target's data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk
from _adaptation_cells import LEAVES, RATE, TREES, Backgrounds
from rankinite.adapt.methods.pool import pool_data

MORE, STEP = 100, 5
"""Trees added at most, and how often their number is looked at."""
POOLED_TREES = TREES + TREES // 10
Scores = Callable[[rk.Dataset], np.ndarray]
Staged = list[tuple[Any, Scores]]
"""Candidates that come of one fit, such as its numbers of trees, each with its name."""


def steps(most: int) -> Iterable[int]:
    return range(STEP, most + 1, STEP)


def both(background: Scores, added: Callable[[rk.Dataset, int], np.ndarray], most: int) -> Staged:
    """The background with so many trees added, none being a candidate too."""
    return [(0, background), *((n, lambda data, n=n: background(data) + added(data, n)) for n in steps(most))]


class LightGBM:
    """Background, continued training, refitted leaves and pool_data data of LightGBM."""

    def __init__(self, backgrounds: Backgrounds) -> None:
        import lightgbm

        def train(path: Path) -> None:
            self._trained(backgrounds.data, RATE, TREES).save_model(path)

        self.backgrounds = backgrounds
        self.booster = lightgbm.Booster(model_file=backgrounds.made("lightgbm.txt", train))

    def background(self, data: rk.Dataset) -> np.ndarray:
        return self._scores(self.booster, data)

    def continued(self, data: rk.Dataset, rate: float) -> Staged:
        model = self._trained(data, rate, MORE, init_score=self.background(data))
        return both(self.background, lambda other, n: self._scores(model, other, n), MORE)

    def refitted(self, data: rk.Dataset, decay: float) -> Staged:
        model = self.booster.refit(data.features, data.grades, decay_rate=decay, group=np.diff(data.offsets))
        return [("", lambda other: self._scores(model, other))]

    def pool_data(self, data: rk.Dataset, weight: float) -> Staged:
        whole = pool_data(self.backgrounds.data, data, weight)
        model = self._trained(whole, RATE, POOLED_TREES, weight=np.repeat(whole.weights, np.diff(whole.offsets)))
        return [(n, lambda other, n=n: self._scores(model, other, n)) for n in stages()]

    def _scores(self, model: Any, data: rk.Dataset, rounds: int | None = None) -> np.ndarray:
        return model.predict(data.features, num_iteration=rounds, num_threads=self.backgrounds.threads)

    def _trained(self, data: rk.Dataset, rate: float, rounds: int, **about: Any) -> Any:
        import lightgbm

        settings = {**lightgbm_settings(self.backgrounds.threads), "learning_rate": rate}
        own = lightgbm.Dataset(data.features, data.grades, group=np.diff(data.offsets), params={"verbosity": -1}, **about)
        return lightgbm.train(settings, own, rounds)


def stages() -> Iterable[int]:
    """Numbers of trees that are tried of a model trained anew."""
    return range(30, POOLED_TREES + 1, 30)


def lightgbm_settings(threads: int) -> dict[str, Any]:
    shape = {"objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE}
    return {**shape, "verbosity": -1, "num_threads": threads, "deterministic": True, "force_row_wise": True}


class XGBoost:
    """Background, continued training, refreshed leaves and pool_data data of XGBoost."""

    def __init__(self, backgrounds: Backgrounds) -> None:
        import xgboost

        def train(path: Path) -> None:
            self._trained(backgrounds.data, RATE, TREES).save_model(path)

        self.backgrounds = backgrounds
        self.path = backgrounds.made("xgboost.json", train)
        self.booster = xgboost.Booster({"nthread": backgrounds.threads}, model_file=self.path)

    def background(self, data: rk.Dataset) -> np.ndarray:
        return self.booster.inplace_predict(data.features, predict_type="margin")

    def continued(self, data: rk.Dataset, rate: float) -> Staged:
        model = self._trained(data, rate, MORE, base_margin=self.background(data))

        def added(other: rk.Dataset, rounds: int) -> np.ndarray:
            return model.inplace_predict(other.features, iteration_range=(0, rounds), predict_type="margin")

        return both(self.background, added, MORE)

    def refreshed(self, data: rk.Dataset, rate: float) -> Staged:
        import xgboost

        refresh = {"process_type": "update", "updater": "refresh", "refresh_leaf": 1, "verbosity": 0, "eta": rate}
        settings = {**xgboost_settings(self.backgrounds.threads), **refresh}
        model = xgboost.train(settings, xgboost_data(data), TREES, xgb_model=self.path)
        return [("", lambda other: model.inplace_predict(other.features, predict_type="margin"))]

    def pool_data(self, data: rk.Dataset, weight: float) -> Staged:
        whole = pool_data(self.backgrounds.data, data, weight)
        model = self._trained(whole, RATE, POOLED_TREES, weight=whole.weights)  # one per query, as XGBoost has it
        return [(n, lambda other, n=n: model.inplace_predict(other.features, iteration_range=(0, n))) for n in stages()]

    def _trained(self, data: rk.Dataset, rate: float, rounds: int, **about: Any) -> Any:
        import xgboost

        return xgboost.train({**xgboost_settings(self.backgrounds.threads), "eta": rate}, xgboost_data(data, **about), rounds)


def xgboost_settings(threads: int) -> dict[str, Any]:
    shape = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}
    return {**shape, "eta": RATE, "nthread": threads}


def xgboost_data(data: rk.Dataset, **about: Any) -> Any:
    import xgboost

    return xgboost.DMatrix(data.features, data.grades, qid=data.query_of_row(), **about)


class CatBoost:
    """Background of CatBoost, and trees added to its scores with ``baseline``."""

    def __init__(self, backgrounds: Backgrounds) -> None:
        import catboost

        def train(path: Path) -> None:
            model = catboost.CatBoost(catboost_settings(backgrounds.threads)).fit(catboost_data(backgrounds.data))
            model.save_model(str(path), format="cbm")

        self.backgrounds = backgrounds
        self.model = catboost.CatBoost().load_model(str(backgrounds.made("catboost.cbm", train)))

    def background(self, data: rk.Dataset) -> np.ndarray:
        return self._scores(self.model, data)

    def _scores(self, model: Any, data: rk.Dataset, rounds: int = 0) -> np.ndarray:
        return model.predict(data.features, ntree_end=rounds, thread_count=self.backgrounds.threads)

    def continued(self, data: rk.Dataset, rate: float) -> Staged:
        import catboost

        own = catboost_data(data, baseline=self.background(data))
        model = catboost.CatBoost({**catboost_settings(self.backgrounds.threads), "learning_rate": rate, "iterations": MORE})
        model.fit(own)
        return both(self.background, lambda other, n: self._scores(model, other, n), MORE)


def catboost_settings(threads: int) -> dict[str, Any]:
    """Symmetric trees of 8 or 16 leaves are the nearest to 12; YetiRank is what CatBoost recommends."""
    shape = {"loss_function": "YetiRank", "depth": 4, "learning_rate": RATE, "iterations": TREES}
    return {**shape, "thread_count": threads, "verbose": False, "allow_writing_files": False, "random_seed": 0}


def catboost_data(data: rk.Dataset, **about: Any) -> Any:
    import catboost

    return catboost.Pool(data.features, data.grades, group_id=data.query_of_row(), **about)
