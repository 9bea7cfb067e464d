"""Combined rankers: weights, steps, curves and scores, by every way of combining and several measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import rankinite as rk
import rankinite.combine
from pinned.digest import folder, of, outcome
from pinned.samples import judged, mixed, tied_scores

combine = rankinite.combine
MEASURES = ("ndcg@5", "ndcg", "err", "ap", "rr", "dcg@3", "p@3", "rbp", "success@3", "pairwise-errors", "bpref", "auc")


@cache
def rankers() -> list[Any]:
    other = judged(1)
    return [
        rk.LambdaMART.plain(trees=4, leaves=4, min_rows=4).fit(other),
        rk.MART(trees=4, leaves=4, min_rows=4).fit(other),
        rk.LambdaBoost(rounds=4, nan="mean").fit(other),
        rk.Feature("bm25"),
    ]


def of_combination(found: Any, data: rk.Dataset) -> str:
    """Of what was found: first its value, which says most."""
    parts: dict[str, Any] = {
        "weights": found.weights,
        "alpha": found.alpha,
        "alone": found.alone,
        "steps": [[one.what, one.alpha, one.value] for one in found.steps],
        "scores": found.ranker.score(data) if found.is_model else found.scores,
    }
    if found.curve is not None:
        curve = found.curve
        parts["curve"] = [curve.edges, curve.values, curve.at_zero, curve.form, curve.best()]
    return " ".join([f"{found.value:.6f}", *(f"{name}:{of(value)[:8]}" for name, value in parts.items())])


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, valid, (first, second, third, fourth) = judged(), judged(2, 12), rankers()
    every = [first, second, third, fourth]
    scores = [tied_scores(data), mixed(data.rows, 60), data.features[:, 1].astype(float)]
    for measure in MEASURES:
        yield f"exact, {measure}", partial(combine.exact, first, second, data, measure)
        yield f"exact in a range, {measure}", partial(combine.exact, first, second, data, measure, range=(-1.0, 2.0))
        yield f"exact, scores, {measure}", partial(combine.exact, scores[0], scores[1], data, measure)
        yield f"greedy, {measure}", partial(combine.greedy, every, data, measure)
        yield f"cyclic, {measure}", partial(combine.cyclic, every, data, measure)
        yield f"powell, {measure}", partial(combine.powell, every, data, measure, most=60)
        yield f"average, {measure}", partial(combine.average, every, data, measure)
    for name, options in {
        "convex": {"form": "convex"}, "smooth": {"smooth": 0.2}, "folds": {"folds": 3}, "folds, seed": {"folds": 3, "seed": 5},
        "convex range": {"form": "convex", "range": (0.0, 1.0)}, "normalised range": {"range": (0.0, 3.0), "normalise": True},
        "not normalised": {"normalise": False}, "smooth range": {"range": (0.0, 2.0), "smooth": 0.1},
        "names": {"names": ["a", "b"]},
        "bad range": {"range": (1.0, 0.0)},
    }.items():  # fmt: skip
        yield f"exact, {name}", partial(combine.exact, first, fourth, data, **options)
        if name != "names":
            yield f"greedy, {name}", partial(combine.greedy, every, data, **options)
    yield "exact, the same twice", partial(combine.exact, first, first, data)
    yield "exact, nested", partial(combine.exact, ((first, third), second), fourth, data)
    yield "exact, constant", partial(combine.exact, np.zeros(data.rows), scores[0], data)
    yield "cyclic, weights", partial(combine.cyclic, every, data, weights=[1.0, 0.5, 0.0, -1.0], rounds=2)
    yield "cyclic, range", partial(combine.cyclic, every, data, range=(0.0, 2.0))
    for scale in ("all", "query", "rank"):
        yield f"average, {scale}", partial(combine.average, every, data, scale=scale)
        yield f"average, {scale}, weights", partial(combine.average, every, data, scale=scale, weights=[1, 2, 3, 4])
    short = rk.LambdaRank(measure="ndcg@10", hidden=(2,), epochs=4)
    yield "stacked, linear", partial(combine.stacked, every, data, learner=rk.LambdaRank(hidden=(), epochs=4))
    yield "stacked", partial(combine.stacked, [first, third], data)
    yield "stacked, hidden", partial(combine.stacked, every, data, learner=short)
    yield "stacked, validation data", partial(combine.stacked, every, data, valid=valid, learner=short)
    yield "stacked, ERR, seed", partial(combine.stacked, [first, third], data, "err", hidden=(2,), seed=4)
    yield "scores of four", partial(combine.greedy, [*scores, mixed(data.rows, 61)], data)
    yield "names", partial(combine.exact, rk.Feature("age"), rk.Feature("bm25"), data)


def curves() -> Iterator[tuple[str, str]]:
    """What a curve answers."""
    data, (first, second, _, fourth) = judged(), rankers()
    for name, found in {
        "ratios": combine.exact(first, fourth, data),
        "ratios, convex": combine.exact(first, fourth, data, form="convex"),
        "range": combine.exact(first, second, data, range=(-2.0, 2.0)),
        "range, convex": combine.exact(first, second, data, range=(0.0, 1.0), form="convex"),
    }.items():
        curve: Any = found.curve
        alphas = np.linspace(0.01, 0.99, 9)
        yield f"curve of {name}, values", of([curve.value_at(alpha) for alpha in alphas.tolist()])
        yield f"curve of {name}, edges", of(curve.edges)
        yield f"curve of {name}, best", of(curve.best())
        smooth = curve.smoothed(0.1)
        yield f"curve of {name}, smoothed", of([smooth.edges, smooth.values, smooth.best()])
    yield "nested by number", of(str(combine.nested_by_number(["a", "b", "c", "d"], (((1, 3), 2), 4))))
    yield "table", of(str(combine.greedy(rankers(), data).grid()))
    yield "frame", of(combine.greedy(rankers(), data).to_arrow().to_pydict())


def optima() -> Iterator[tuple[str, str]]:
    data, linear = judged(), rankers()[2]
    for name, options in {
        "": {}, "steps": {"steps": (0.01, 0.1)}, "step": {"step": 0.2}, "share": {"share": 0.5, "seed": 2},
        "directions": {"directions": 5},
        "curves": {"curves": 2}, "confidence": {"confidence": 0.8},
    }.items():  # fmt: skip
        settings = {"directions": 4} | options
        yield f"optimum {name}", outcome(lambda s=settings: of(rk.local_optimum(linear, data, **s).to_dict()))


def scores_of_files() -> Iterator[tuple[str, str]]:
    with folder() as here:
        data = judged()
        for number in (0, 3):
            rk.write_scores(here / f"{number}.txt", data, rankers()[number])
            rk.write_run(here / f"{number}.run", data, rankers()[number])
        for suffix in ("txt", "run"):
            made = combine.exact(here / f"0.{suffix}", here / f"3.{suffix}", data)
            yield f"exact, .{suffix}", of_combination(made, data)


def digests() -> dict[str, str]:
    found = {name: outcome(lambda m=make: of_combination(m(), judged())) for name, make in cases()}
    return found | dict(curves()) | dict(optima()) | dict(scores_of_files())
