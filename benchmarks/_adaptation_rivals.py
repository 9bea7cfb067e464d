"""What a careful user of other libraries would build: their models continued, refitted and pooled, tuned by the same folds.

Every candidate is judged on the target's queries in the parts by which ``rk.adapt.choose`` tunes its own methods, and the best
mean NDCG@10 wins; that nothing is added to the background is a candidate too. Then the winner is fitted to all of the target.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rankinite as rk
from _adaptation_cells import MEASURES, PEERS, Backgrounds, judged
from _adaptation_libraries import CatBoost, LightGBM, Scores, Staged, XGBoost
from _adaptation_pairs import Pair
from rankinite.adapt.held_out import holdouts_of
from rankinite.adapt.shared_fits import TUNING

RATES = (0.02, 0.05, 0.1)
DECAYS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""LightGBM's refit: how much of a leaf's old value stays."""
WEIGHTS = (1.0, 10.0)
"""What a target query counts in pooled data."""
Fit = Callable[[rk.Dataset], Staged]


def fit_rivals(pair: Pair, target: rk.Dataset, draw: int, backgrounds: Backgrounds) -> dict[str, Any]:
    """All rivals, judged like our own methods."""
    systems: dict[str, Any] = {}
    kept: dict[str, Scores] = {}
    parts = holdouts_of(target, MEASURES[0], TUNING, draw)
    for name, candidates in rivals(backgrounds).items():
        started = time.perf_counter()
        what, kept[name] = tuned(candidates, target, parts)
        systems[name] = {"seconds": time.perf_counter() - started, "settings": what, **judged(kept[name], pair.material)}
    for name, members in AVERAGES.items():
        systems[name] = {"seconds": 0.0, **judged(average([kept[member] for member in members], target), pair.material)}
    assert set(systems) == set(PEERS), set(PEERS) ^ set(systems)
    return {"systems": systems}


AVERAGES = {
    "LightGBM average": ("LightGBM continued", "LightGBM refit", "LightGBM pooled"),
    "libraries averaged": ("LightGBM pooled", "XGBoost pooled", "CatBoost baseline"),
}


def average(members: Sequence[Scores], target: rk.Dataset) -> Scores:
    """The mean of scores that vary alike on the target: the rule of our own average."""
    spreads = [float(np.std(member(target))) or 1.0 for member in members]
    return lambda data: np.mean([member(data) / spread for member, spread in zip(members, spreads, strict=True)], axis=0)


def tuned(candidates: Sequence[tuple[Any, Fit]], target: rk.Dataset, parts: Sequence[Any]) -> tuple[str, Scores]:
    """The candidate with the best mean on queries held out, the first of equals, fitted to all of the target."""
    if len(candidates) == 1 and len(found := candidates[0][1](target)) == 1:
        return "", found[0][1]  # nothing to choose
    values: dict[tuple[int, Any], list[np.ndarray]] = {}
    for part in parts:
        for number, (_, fit) in enumerate(candidates):
            for stage, scores in fit(part.rest):
                own = rk.evaluate(np.asarray(scores(part.held), float), part.held, [MEASURES[0]])[MEASURES[0]].per_query
                values.setdefault((number, stage), []).append(own[~np.isnan(own)])
    number, stage = max(values, key=lambda key: float(np.concatenate(values[key]).mean()))
    name, fit = candidates[number]
    return f"{name}, {stage}", dict(fit(target))[stage]


def rivals(backgrounds: Backgrounds) -> dict[str, list[tuple[Any, Fit]]]:
    """Every rival with its candidates."""
    first, second, third = (library(backgrounds) for library in (LightGBM, XGBoost, CatBoost))
    found: dict[str, list[tuple[Any, Fit]]] = {
        "LightGBM": [("", lambda _: [("", first.background)])],
        "LightGBM continued": [(f"rate {rate:g}", lambda data, rate=rate: first.continued(data, rate)) for rate in RATES],
        "LightGBM refit": [(f"decay {decay:g}", lambda data, decay=decay: first.refitted(data, decay)) for decay in DECAYS],
        "LightGBM pooled": [(f"weight {own:g}", lambda data, own=own: first.pool_data(data, own)) for own in WEIGHTS],
        "XGBoost": [("", lambda _: [("", second.background)])],
        "XGBoost continued": [(f"rate {rate:g}", lambda data, rate=rate: second.continued(data, rate)) for rate in RATES],
        "XGBoost refresh": [(f"rate {rate:g}", lambda data, rate=rate: second.refreshed(data, rate)) for rate in RATES],
        "XGBoost pooled": [(f"weight {own:g}", lambda data, own=own: second.pool_data(data, own)) for own in WEIGHTS],
        "CatBoost": [("", lambda _: [("", third.background)])],
        "CatBoost baseline": [(f"rate {rate:g}", lambda data, rate=rate: third.continued(data, rate)) for rate in RATES],
    }
    return found
