"""The same inputs given to LightGBM and XGBoost: ``python -m fuzz --peers``.

LightGBM does not read qid in LIBSVM text, so LETOR files go to XGBoost alone. Any Python exception of theirs counts as a
refusal, even one that names no place. What is read may have been misread.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from fuzz import data_targets, model_targets
from fuzz.target import Target

ROWS = np.resize(np.float32([0.0, 1.0, -1.0, np.nan, 1e30, 0.5]), (6, 4))
QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 1, "min_data_in_bin": 1}


def score_by_lightgbm(path: Path) -> None:
    import lightgbm

    lightgbm.Booster(model_file=path).predict(ROWS, num_threads=1)


def score_by_xgboost(path: Path) -> None:
    import xgboost

    model = xgboost.Booster({"nthread": 1}, model_file=path)
    model.predict(xgboost.DMatrix(ROWS, nthread=1))


def train_by_lightgbm(path: Path) -> None:
    """Its own reader, with the group file under the name that it looks for."""
    import lightgbm

    sizes = path.with_name(path.name + ".group")
    if sizes.exists():
        shutil.copy(sizes, path.with_name(path.name + ".query"))
    objective = "lambdarank" if sizes.exists() else "regression"
    lightgbm.train({**QUIET, "objective": objective, "num_leaves": 3}, lightgbm.Dataset(path, params=QUIET), 1)


def train_by_xgboost(path: Path) -> None:
    """Its own reader of LIBSVM text; group sizes are given as a program would give them."""
    import xgboost

    matrix = xgboost.DMatrix(f"{path}?format=libsvm", nthread=1)
    sizes = path.with_name(path.name + ".group")
    if sizes.exists():
        matrix.set_group(np.asarray(sizes.read_text().split(), np.float64).astype(np.int64))
    objective = "rank:ndcg" if sizes.exists() else "reg:squarederror"
    xgboost.train({"objective": objective, "max_depth": 2, "nthread": 1}, matrix, 1)


def _given_to(peer: str, target: Target, run) -> Target:
    return replace(target, name=f"{target.name}, by {peer}", inputs=target.name, run=run, refusals=(Exception,))


_OURS = {target.name: target for target in (*data_targets.TARGETS, *model_targets.TARGETS)}
TARGETS = (
    _given_to("LightGBM", _OURS["LightGBM text"], score_by_lightgbm),
    _given_to("XGBoost", _OURS["XGBoost JSON"], score_by_xgboost),
    _given_to("XGBoost", _OURS["XGBoost UBJSON"], score_by_xgboost),
    _given_to("XGBoost", _OURS["letor"], train_by_xgboost),
    _given_to("LightGBM", _OURS["group files"], train_by_lightgbm),
    _given_to("XGBoost", _OURS["group files"], train_by_xgboost),
    _given_to("LightGBM", _OURS["csv and tsv"], train_by_lightgbm),
)
