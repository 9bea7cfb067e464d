"""What the papers found, tried on the same pairs and samples: the variants that ``rk.adapt.choose`` does not try by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import rankinite as rk
from _adaptation_cells import MEASURES, MORE, SHAPE, TREES, Backgrounds, judged
from _adaptation_pairs import Pair
from rankinite.adapt import Trada, pool, smart
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn

BETAS = (1, 3, 10, 30, 100)
BETA = 10.0
LEAVES = (2, 5, 10, 20)
LOSSES = {"λ": rk.LambdaMART, "squared": rk.MART}
"""What the background is trained for: λ of NDCG@10 as in the other tables, or squared loss as in paper 003."""
WAYS: dict[str, dict[str, Any]] = {
    "RA": {"responses": "leaves"},
    "R, S": {"splits": True},
    "R, T": {"trim": True},
    "R, S, T": {"splits": True, "trim": True},
}
DRAWN, PLAIN = "drawn at the nodes", "plain"
ROWS, SCALED = "smart, rate 0.1, rows drawn", "smart, rate 0.1, rows drawn, base scaled"
SAME_SIZE = f"target, {TREES + MORE} trees"
Variants = Iterator[tuple[str, Callable[[], Any]]]


def responses(beta: float) -> str:
    """What tuning responses layer by layer with this β is called."""
    return f"R, β = {beta:g}"


def boosted(leaves: int, drawn: str) -> str:
    """What LambdaSMART at rate 0.5 with so many leaves is called."""
    return f"smart, rate 0.5, {leaves} leaves, {drawn}"


def ours(name: str) -> str:
    """What a learner is called that has our λ and splits in place of the papers'."""
    return f"{name}, ours"


def fit_findings(pair: Pair, target: rk.Dataset, draw: int, backgrounds: Backgrounds) -> dict[str, Any]:
    """All variants, judged on the closed test and the open ones."""
    systems: dict[str, Any] = {}
    for variants in (tuned(target, backgrounds), boosters(target, draw, backgrounds), equal_size(target, draw, backgrounds)):
        for name, fit in variants:
            started = time.perf_counter()
            ranker = fit()
            systems[name] = {"seconds": time.perf_counter() - started, **judged(ranker, pair.material)}
    return {"systems": systems}


def tuned(target: rk.Dataset, backgrounds: Backgrounds) -> Variants:
    """Trada (003) in all its forms, with β fixed, and trees appended to it or to the background."""
    for loss, learner in LOSSES.items():
        background, more = backgrounds.ours(learner), learner(trees=MORE, **SHAPE)
        ways = {responses(beta): {"beta": float(beta)} for beta in BETAS}
        ways |= {name: {"beta": BETA, **way} for name, way in WAYS.items()}
        yield f"{loss}: background", lambda own=background: own
        for name, way in ways.items():
            yield f"{loss}: {name}", lambda own=background, way=way: Trada(same_scale=True, **way).adapt(own, target)
        base = Trada(beta=BETA, same_scale=True).adapt(background, target)
        yield f"{loss}: R and trees", lambda own=base, more=more: more.fit(target, base=own)
        yield f"{loss}: additive", lambda own=background, more=more: more.fit(target, base=own)


def boosters(target: rk.Dataset, draw: int, backgrounds: Backgrounds) -> Variants:
    """LambdaSMART of 001 (rate 0.5; Figure 4) and of 000 (rate 0.1, 70 % of the rows drawn for each tree), as in the papers and
    with our λ and splits."""
    background = backgrounds.ours()

    def adapted(learner: rk.LambdaMART, scale: Any = None) -> Callable[[], Any]:
        return lambda: smart(background, target, scale=scale, learner=learner, seed=draw)

    for leaves in LEAVES:
        for drawn, share in ((DRAWN, 0.7), (PLAIN, 1.0)):
            settings = {"leaves": leaves, "node_row_share": share, "node_feature_share": share}
            yield boosted(leaves, drawn), adapted(replace(nodes_drawn(MEASURES[0], draw, preset="paper"), **settings))
    nodes, rows = boosted(LEAVES[-1], DRAWN), rows_drawn(MEASURES[0], draw, preset="paper")
    yield ours(nodes), adapted(nodes_drawn(MEASURES[0], draw))
    yield ROWS, adapted(rows)
    yield SCALED, adapted(rows, "fit")
    yield ours(ROWS), adapted(rows_drawn(MEASURES[0], draw))
    yield ours(SCALED), adapted(rows_drawn(MEASURES[0], draw), "fit")


def equal_size(target: rk.Dataset, draw: int, backgrounds: Backgrounds) -> Variants:
    """What 003 §5.5.4 compares and ``choose`` has not: the target alone with as many trees, and pooling with W = 20."""
    learner = rk.LambdaMART(trees=TREES + MORE, seed=draw, **SHAPE)
    yield SAME_SIZE, lambda: learner.fit(target)
    yield "pool-20", lambda: pool(backgrounds.data, target, weight=20.0, learner=learner)
