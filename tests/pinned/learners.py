"""A model of each learner, with each setting that takes another path, and its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import rankinite as rk
from pinned.digest import folder, of, of_model, outcome
from pinned.samples import clicked, fractional, judged, with_category, with_preferences, with_weights

SMALL: dict[str, Any] = {"trees": 4, "leaves": 5, "min_rows": 4}
PLAIN = rk.LambdaMART.plain
NET: dict[str, Any] = {"hidden": (4,), "epochs": 3, "nan": "mean"}
BOOST: dict[str, Any] = {"rounds": 4, "nan": "mean"}

MEASURES = ("ndcg", "err", "dcg@5", "ap", "rr", "rbp", "success@3", "ndcg@3:gains=linear")
LAMBDAMART: dict[str, dict[str, Any]] = {
    "plain": {},
    **{
        f"measure={name}": {"measure": name}
        for name in ("ndcg", "err", "dcg@5", "ap", "rr", "rbp", "success@3", "ndcg@3:gains=linear")
    },
    "sigma": {"sigma": 2.5},
    "reach": {"reach": 2, "measure": "ndcg@3"},
    "truncation": {"truncation": 4},
    "normalise": {"normalise": True},
    "not normalised": {"normalise": False},
    "symmetric": {"shape": "symmetric"},
    "symmetric, random thresholds": {"shape": "symmetric", "thresholds": "random"},
    "symmetric, drawn": {"shape": "symmetric", "row_share": 0.7, "feature_share": 0.6, "seed": 3},
    "random thresholds": {"thresholds": "random"},
    "mse": {"criterion": "mse"},
    "mse, symmetric": {"criterion": "mse", "shape": "symmetric"},
    "depth": {"depth": 2, "leaves": 8},
    "min_rows": {"min_rows": 60},
    "min_curvature": {"min_curvature": 8.0},
    "l2": {"l2": 2.0},
    "rate": {"rate": 0.3},
    "row_share": {"row_share": 0.5},
    "row_share, seed": {"row_share": 0.5, "seed": 9},
    "query_share": {"query_share": 0.5},
    "feature_share": {"feature_share": 0.5},
    "node_row_share": {"node_row_share": 0.5},
    "node_feature_share": {"node_feature_share": 0.5},
    "all draws": {"row_share": 0.9, "query_share": 0.8, "feature_share": 0.8, "node_row_share": 0.7, "node_feature_share": 0.6},
    "monotone": {"monotone": ("+bm25", "-age")},
    "monotone, symmetric": {"monotone": ("+bm25", "-age"), "shape": "symmetric"},
    "bins": {"bins": 7},
    "bin_sample": {"bin_sample": 90},
    "no train history": {"train_history": False},
    "watch": {"watch": "err"},
    "exact step": {"step": "exact"},
    "exact step, bounds": {"step": "exact", "step_low": 0.5, "step_high": 2.0},
    "newton-exact step": {"step": "newton-exact"},
    "leaves step": {"step": "leaves"},
    "reoptimised": {"reoptimise": 2},
    "exact step on validation data": {"step": "exact", "step_data": "valid"},
}
MART: dict[str, dict[str, Any]] = {
    "squared": {},
    "graded": {"loss": "graded"},
    "binary": {"loss": "binary", "sigma": 0.5},
    "balanced": {"loss": "balanced", "relevant": 2.0},
    "max_grade": {"loss": "graded", "max_grade": 6},
    "exact step": {"step": "exact", "watch": "ndcg@5"},
    "newton-exact step": {"step": "newton-exact", "watch": "ndcg@5"},
    "leaves step": {"step": "leaves", "watch": "ndcg@5"},
    "symmetric, drawn": {"shape": "symmetric", "row_share": 0.6, "thresholds": "random"},
}
MCRANK: dict[str, dict[str, Any]] = {
    "plain": {},
    "drawn": {"node_row_share": 0.7, "node_feature_share": 0.7, "criterion": "mse"},
    "symmetric": {"shape": "symmetric", "row_share": 0.8},
    "watch": {"watch": "ndcg@3"},
}
NETS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two layers": {"hidden": (4, 3)},
    "linear": {"hidden": ()},
    "sgd": {"optimiser": "sgd", "rate": 0.01},
    "sgd, linear": {"optimiser": "sgd", "rate": 0.01, "hidden": ()},
    "decay": {"decay": 0.5, "patience": 1, "epochs": 6},
    "restarts": {"restarts": 2},
    "l2": {"l2": 0.1},
    "sigma": {"sigma": 2.0},
    "seed": {"seed": 5},
    "no train history": {"train_history": False},
}
LAMBDABOOST: dict[str, dict[str, Any]] = {
    "plain": {},
    "rate": {"rate": 0.5},
    "exact step": {"step": "exact"},
    "exact step, bounds": {"step": "exact", "step_low": 0.5, "step_high": 2.0},
    "sigma": {"sigma": 3.0},
    "err": {"measure": "err"},
    "watch": {"watch": "ap"},
}


def squared_error(scores: Any, grades: Any, offsets: Any) -> Any:
    """A loss of a user's own."""
    return grades - scores, np.ones_like(scores)


def cases() -> Iterator[tuple[str, Callable[[], Any], rk.Dataset]]:
    data, valid = judged(), judged(2, 12)
    full, full_valid = judged(gaps=False), judged(2, 12, gaps=False)
    kinds = {"LambdaMART": (PLAIN, LAMBDAMART), "MART": (rk.MART, MART), "McRank": (rk.McRank, MCRANK)}
    for kind, (learner, variants) in kinds.items():
        for name, settings in variants.items():
            given = valid if settings.get("step_data") == "valid" else None
            yield f"{kind}: {name}", lambda m=learner, s=settings, v=given: m(**SMALL | s).fit(data, v), data
    for kind, maker, variants, usual in (
        ("RankNet", rk.RankNet, NETS, NET),
        ("LambdaRank", rk.LambdaRank, NETS | {"err": {"measure": "err"}}, NET),
        ("LambdaBoost", rk.LambdaBoost, LAMBDABOOST, BOOST),
    ):
        made: Any = maker
        for name, settings in variants.items():
            yield f"{kind}: {name}", lambda m=made, s=settings, u=usual: m(**u | s).fit(data), data
    sets, clicks, pairs, weighted = with_category(), clicked(), with_preferences(data), with_weights(data)
    every: dict[str, Any] = {
        "LambdaMART": PLAIN(**SMALL), "MART": rk.MART(**SMALL), "McRank": rk.McRank(**SMALL),
        "RankNetTrees": rk.RankNetTrees(**SMALL), "RankNet": rk.RankNet(**NET), "LambdaRank": rk.LambdaRank(**NET),
        "LambdaBoost": rk.LambdaBoost(**BOOST),
    }  # fmt: skip
    forest, net, linear = (every[name].fit(judged(1)) for name in ("LambdaMART", "RankNet", "LambdaBoost"))
    for kind, one in every.items():
        yield f"{kind}: weights", lambda one=one: one.fit(weighted), data
        yield f"{kind}: validation data", lambda one=one: one.fit(data, valid), data
        yield f"{kind}: no missing values", lambda one=one: one.fit(full, full_valid), full
        yield f"{kind}: category", lambda one=one: one.fit(sets), sets
        yield f"{kind}: one-hot", lambda one=one: one.fit(sets.one_hot(["kind"])), sets.one_hot(["kind"])
        yield f"{kind}: fractions of grades", lambda one=one: one.fit(fractional(data)), data
        yield f"{kind}: preferences", lambda one=one: one.fit(pairs), data
        for name, base in {"forest": forest, "net": net, "linear ranker": linear, "feature": rk.Feature("bm25")}.items():
            yield f"{kind}: from a {name}", lambda one=one, base=base: one.fit(data, base=base), data
            yield f"{kind}: from a {name}, validation data", lambda one=one, base=base: one.fit(data, valid, base=base), data
    trees: dict[str, Callable[[], Any]] = {
        "LambdaMART: patience": lambda: PLAIN(**SMALL | {"trees": 40, "rate": 0.5, "patience": 3}).fit(data, valid),
        "LambdaMART: automatic number of trees": lambda: rk.LambdaMART(leaves=4, min_rows=4, rate=0.4, patience=3).fit(data),
        "LambdaMART: automatic number of trees, plain": lambda: PLAIN(trees=None, leaves=4, rate=0.4, patience=3).fit(data),
        "LambdaMART: automatic number of trees, validation data": lambda: PLAIN(
            trees=None, leaves=4, rate=0.5, patience=3
        ).fit(data, valid),
        "LambdaMART: automatic number of trees, from a forest": lambda: PLAIN(
            trees=None, leaves=4, rate=0.5, patience=3
        ).fit(data, base=forest),
        "LambdaMART: defaults but for trees": lambda: rk.LambdaMART(trees=4, min_rows=4).fit(data),
        "LambdaMART: paper": lambda: rk.LambdaMART.paper(trees=3).fit(data),
        "LambdaMART: minimised measure": lambda: PLAIN(**SMALL, watch="pairwise-errors").fit(data, valid),
        "MART: RBP, exact step": lambda: rk.MART(**SMALL, watch="rbp", step="exact", sigma=2.0).fit(data, valid),
        "MART: patience": lambda: rk.MART(**SMALL | {"trees": 40, "rate": 0.5, "patience": 3}).fit(data, valid),
        "MART: automatic number of trees": lambda: rk.MART(trees=None, leaves=4, rate=0.4, patience=3).fit(data),  # type: ignore[arg-type]
        "McRank: patience": lambda: rk.McRank(**SMALL | {"trees": 20, "rate": 0.5, "patience": 3}).fit(data, valid),
        "RankNetTrees: patience": lambda: rk.RankNetTrees(**SMALL | {"trees": 20, "rate": 0.5, "patience": 3}).fit(data, valid),
        "RankNetTrees: sigma, exact step": lambda: rk.RankNetTrees(**SMALL, sigma=0.5, step="exact").fit(data),
        "LambdaRank: patience": lambda: rk.LambdaRank(**NET | {"epochs": 12, "patience": 2, "rate": 0.05}).fit(data, valid),
        "LambdaBoost: patience": lambda: rk.LambdaBoost(**BOOST | {"rounds": 12, "patience": 2}).fit(data, valid),
        "CustomTrees": lambda: rk.CustomTrees(loss=squared_error, **SMALL).fit(data),
        "CustomTrees: validation data, symmetric": lambda: rk.CustomTrees(
            loss=squared_error, **SMALL, shape="symmetric", watch="ndcg@5"
        ).fit(data, valid),
        "CustomTrees: start": lambda: rk.CustomTrees(loss=squared_error, start=1.5, **SMALL).fit(data),
    }  # fmt: skip
    for name, make in trees.items():
        yield name, make, data
    for name, settings in {
        "category_rows": {"category_rows": 60}, "category_smooth": {"category_smooth": 1.0},
        "symmetric": {"shape": "symmetric"}, "drawn": {"node_feature_share": 0.5, "row_share": 0.7},
        "random thresholds": {"thresholds": "random"},
    }.items():  # fmt: skip
        yield f"LambdaMART: category, {name}", lambda s=settings: PLAIN(**SMALL | s).fit(sets), sets
    for name, settings in {
        "no debiasing": {}, "pairwise": {"debias": "pairwise"}, "additive": {"debias": "additive"},
        "pairwise, power": {"debias": "pairwise", "debias_power": 0.5},
        "additive, power": {"debias": "additive", "debias_power": 0.5},
    }.items():  # fmt: skip
        yield f"LambdaMART: clicks, {name}", lambda s=settings: PLAIN(**SMALL | s).fit(clicks), clicks
    checked = lambda: resumed(data, valid)  # noqa: E731 - as the others
    yield "LambdaMART: from a checkpoint", checked, data


def resumed(data: rk.Dataset, valid: rk.Dataset) -> Any:
    """A model that was finished from its checkpoint."""
    with folder() as here:
        PLAIN(**SMALL | {"trees": 2}).fit(data, valid, callbacks=[rk.Checkpoint(here / "checkpoint", every=1)])
        return PLAIN(**SMALL).fit(data, valid, callbacks=[rk.Checkpoint(here / "checkpoint", every=1)])


def progress() -> Iterator[tuple[str, str]]:
    """What callbacks are told."""
    for name, one in {
        "LambdaMART": PLAIN(**SMALL),
        "LambdaRank": rk.LambdaRank(**NET),
        "LambdaBoost": rk.LambdaBoost(**BOOST),
    }.items():
        seen: list[Any] = []
        one.fit(
            judged(),
            judged(2, 12),
            callbacks=[lambda p, seen=seen: seen.append([p.round, p.rounds, str(p.measure), p.train, p.valid, p.best])],
        )
        yield f"{name}: progress", of(seen)


def digests() -> dict[str, str]:
    return {name: outcome(lambda m=make, d=data: of_model(m(), d)) for name, make, data in cases()} | dict(progress())
