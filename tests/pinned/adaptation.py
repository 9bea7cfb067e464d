"""What ``adapt.choose`` finds on small data, part by part; each method of the catalogue, and each function of adaptation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import rankinite as rk
import rankinite.adapt
import rankinite.report
from pinned.digest import of, of_model, outcome, untimed
from pinned.samples import judged

adapt = rankinite.adapt
SMALL = rk.LambdaMART.plain(trees=6, leaves=4, rate=0.3, min_rows=3, train_history=False)
METHODS = (
    *(
        "background",
        "interpolate",
        "interpolate-lambdarank",
        "lambdaboost",
        "trada",
        "trada-leaves",
        "trada-trim",
        "trada-splits",
    ),
    *("trada-trees", "trada-trees-lambda", "additive", "additive-lambda", "smart", "smart-paper", "smart-nodes", "target"),
    *("target-lambda", "neighbours", "pool", "pool-lambda", "pool-10", "pool-10-lambda", "pool-20"),
)


def target() -> rk.Dataset:
    return judged(3, 10, gaps=False)


def valid() -> rk.Dataset:
    return judged(5, 6, gaps=False)


def test() -> rk.Dataset:
    return judged(7, 8, gaps=False)


def background_data() -> rk.Dataset:
    return judged(gaps=False)


@cache
def background(loss: str = "lambda") -> Any:
    learner: Any = SMALL if loss == "lambda" else rk.MART(trees=8, leaves=4, rate=0.3, min_rows=3)
    return learner.fit(background_data())


@cache
def linear() -> Any:
    return rk.LambdaBoost(rounds=5).fit(background_data())


def alone() -> Iterator[tuple[str, str]]:
    """Each method of the catalogue on both kinds of forest: its ranker, and what it is worth on queries held out."""
    for loss in ("lambda", "squared"):
        asked = [name for name in METHODS if loss == "squared" or not name.endswith("-lambda")]
        found = adapt.choose(
            background(loss), target(), background_data=background_data(), methods=asked, folds=2, curve=False, same_scale=True
        )
        for name in found.models:
            unseen = of(found.unseen[name].results[0].per_query)[:8]
            yield f"{name}, {loss}", f"{of_model(found.models[name], target())} unseen:{unseen}"
        yield f"not tried, {loss}", of(dict(found.refused))
        yield f"verdict, {loss}", f"{found.name} {found.verdict.decision} {found.verdict.expected:.6f}"
    for name in ("trada", "interpolate", "additive"):
        found = adapt.choose(background(), target(), methods=[name], folds=2, curve=False)
        yield f"{name} alone", of([found.name, found.verdict.decision, found.unseen[name].results[0].per_query])


def choices() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, more = target(), {"methods": ["interpolate", "lambdaboost", "trada", "additive", "pool"]}
    few = ["interpolate", "additive"]
    yield "choice", partial(adapt.choose, background(), data, background_data=background_data(), test=test(), folds=3, **more)
    yield "choice with validation data", partial(adapt.choose, background(), data, valid(), methods=few, folds=2, curve=False)
    yield (
        "choice of backgrounds",
        partial(adapt.choose, {"forest": background(), "linear": linear()}, data, methods=few, folds=2, curve=False),
    )
    yield "choice for ERR", partial(
        adapt.choose, background(), data, measure="err", also=["ndcg@3", "pairwise-errors"], methods=few, folds=2,
        shifted=test(), curve=False, risk=0.3, tolerate=0.01, seed=3,
    )  # fmt: skip
    yield (
        "choice to be served",
        partial(adapt.choose, background(), data, methods=[*few, "lambdaboost"], folds=2, curve=False, deployable="es-ltr"),
    )


def functions() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, forest, domain = target(), background(), background_data()
    line = rk.LambdaBoost(rounds=4)
    yield "interpolate, exact", partial(adapt.interpolate, forest, data, learner=SMALL, folds=2)
    yield "interpolate, powell", partial(adapt.interpolate, [forest, linear()], data, learner=SMALL, folds=2)
    yield "interpolate, lambdarank", partial(adapt.interpolate, forest, data, how="lambdarank", learner=SMALL, folds=2)
    yield "interpolate, validation data", partial(adapt.interpolate, forest, data, valid(), learner=SMALL)
    yield (
        "interpolate, seed and measure",
        partial(adapt.interpolate, forest, data, learner=SMALL, folds=3, seed=2, measure="err"),
    )
    yield "lambdaboost", partial(adapt.lambdaboost, forest, data, learner=line, folds=2)
    yield "lambdaboost, scale", partial(adapt.lambdaboost, linear(), data, learner=line, folds=2, scale=0.5)
    yield "lambdaboost, no scale", partial(adapt.lambdaboost, linear(), data, learner=line, folds=2, scale=None)
    yield "smart", partial(adapt.smart, forest, data, learner=SMALL, folds=2)
    yield "smart, no scale", partial(adapt.smart, forest, data, learner=SMALL, folds=2, scale=None)
    yield "smart, validation data", partial(adapt.smart, linear(), data, valid(), learner=SMALL, scale=2.0)
    yield "pool", partial(adapt.pool, domain, data, learner=SMALL, weight=3.0)
    yield "pool, validation data", partial(adapt.pool, domain, data, valid(), learner=SMALL)
    for name, settings in {
        "": {}, "share": {"share": 0.2}, "nearest": {"nearest": 3}, "within": {"within": 0.5}, "keep": {"keep": 4},
        "no scaling": {"scaling": "none"}, "seed rows": {"seed_rows": 20},
    }.items():  # fmt: skip
        yield f"neighbours {name}", partial(neighboured, settings)
    for name, settings in {
        "": {}, "beta": {"beta": 2.0}, "beta found": {"beta": None, "folds": 2},
        "beta found by validation": {"beta": None, "valid": valid()},
        "leaves": {"responses": "leaves"}, "splits": {"splits": True}, "trim": {"trim": True}, "rate": {"rate": 0.05},
        "squared": {"loss": "squared", "same_scale": True}, "pairs": {"loss": "pairs"},
        "lambda, err": {"loss": "lambda", "measure": "err"},
        "all": {"beta": 5.0, "splits": True, "trim": True, "responses": "leaves"},
    }.items():  # fmt: skip
        yield f"trada {name}", partial(adapt.trada, forest, data, **settings)
    yield "trada of squared losses", partial(adapt.trada, background("squared"), data, same_scale=True)
    yield "trada of squared losses, other scale", partial(adapt.trada, background("squared"), data)


def neighboured(settings: dict[str, Any]) -> Any:
    which = adapt.Neighbours(**{"same_scale": True} | settings)
    return adapt.neighbours(background(), target(), background_data(), which=which, learner=SMALL, folds=2)


def moves() -> Iterator[tuple[str, str]]:
    for name, settings in {"trada": {}, "splits": {"splits": True}, "trim": {"trim": True}}.items():
        yield f"moved by {name}", of(adapt.moved(background(), adapt.trada(background(), target(), **settings)).to_dict())
    yield "neighbours chosen", of(adapt.Neighbours(same_scale=True).choose(target(), background_data()))


def digests() -> dict[str, str]:
    found = dict(alone())
    found |= {name: outcome(lambda m=make: of_model(m(), target())) for name, make in functions()}
    for name, make in choices():
        choice = make()
        evidence = untimed(json.loads(json.dumps(choice.to_dict())))
        found |= {f"{name}: evidence, {key}": of(value) for key, value in evidence.items()}
        report = untimed(json.loads(rankinite.report.of_choice(choice, target()).to_json()))
        found |= {f"{name}: report, {key}": of(value) for key, value in report.items()}
        found[f"{name}: deployed"] = of_model(choice.ranker, target())
        found[f"{name}: gains"] = of(choice.gains())
        found[f"{name}: curve"] = of(None if choice.curve is None else choice.curve.values)
    return found | dict(moves())
