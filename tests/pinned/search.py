"""What searches, ensembles and distilling find: settings, values of every query, weights and models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import rankinite as rk
import rankinite.ensembles
from pinned.digest import folder, of, of_model, outcome, untimed
from pinned.samples import judged, with_category, with_weights

ensembles = rankinite.ensembles
TREES = rk.LambdaMART.plain(trees=4, leaves=4, min_rows=4, row_share=0.7)
NET = rk.LambdaRank(hidden=(3,), epochs=3, nan="mean")
POINTS = rk.MART(trees=3, leaves=4, min_rows=4)
RATE = {"low": 0.05, "high": 0.5, "log": True}
SPACE: dict[str, Any] = {"leaves": [3, 5, 8], "rate": RATE, "min_rows": {"low": 2, "high": 20}}


def of_tuned(found: Any, data: rk.Dataset) -> str:
    trials = [
        [one.number, dict(one.settings), one.state, None if math.isnan(one.mean) else one.mean, one.rounds, one.size]
        for one in found.trials
    ]
    settings = ", ".join(
        f"{name}={value if isinstance(value, int) else of(value)[:4]}" for name, value in found.settings.items()
    )
    parts: dict[str, Any] = {
        "trials": trials,
        "chosen": found.chosen.number,
        "values": [list(map(float, fold.values)) for one in found.trials for fold in one.folds],
        "estimate": found.estimate,
        "importances": dict(found.importances),
        "nested": None if found.nested is None else found.nested.to_dict(),
        "test": None if found.test is None else found.test.to_dict(),
    }
    model = "" if found.ranker is None else of_model(found.ranker, data)
    return " ".join([f"{settings} {found.value:.6f}", *(f"{name}:{of(value)[:8]}" for name, value in parts.items()), model])


def tunings() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, valid, test = judged(), judged(2, 12), judged(4, 10)
    for name, settings in {
        "tpe": {"trials": 10}, "random": {"sampler": "random", "trials": 4}, "grid": {"sampler": "grid", "trials": 6},
        "seed": {"trials": 4, "seed": 3}, "no race": {"trials": 4, "race": False},
        "generation": {"trials": 9, "generation": 3}, "folds": {"trials": 3, "folds": 4},
        "measure": {"trials": 4, "measure": "err"},
        "outer": {"trials": 2, "outer": 3}, "errors": {"trials": 3, "measure": "pairwise-errors"},
    }.items():  # fmt: skip
        yield f"tune, {name}", partial(rk.tune, TREES, data, space=SPACE, **{"folds": 3} | settings)
    grid = {"leaves": [3, 5, 8], "min_rows": [2, 20]}
    yield "tune, grid", partial(rk.tune, TREES, data, space=grid, sampler="grid", trials=4, folds=3)
    yield "tune, validation data", partial(rk.tune, TREES, data, valid, space=SPACE, trials=4, test=test)
    yield "tune, net", partial(rk.tune, NET, data, space={"rate": RATE, "hidden": [(), (2,)]}, trials=3, folds=3)
    yield "tune, MART", partial(rk.tune, POINTS, data, space={"leaves": [2, 4]}, trials=2, folds=3)
    yield "tune, default space", partial(rk.tune, TREES, data, trials=2, folds=3)
    yield "tune, kept", kept


def kept() -> Any:
    """A search that goes on from trials in a folder."""
    with folder() as here:
        rk.tune(TREES, judged(), space=SPACE, folds=3, trials=3, keep=here / "trials")
        return rk.tune(TREES, judged(), space=SPACE, folds=3, trials=6, keep=here / "trials")


def of_values(found: Any) -> str:
    means = [f"{name}={found[name].results[0].mean:.6f}" for name in found.systems]
    values = {name: [one.per_query for one in found[name].results] for name in found.systems}
    return f"{' '.join(means)} values:{of(values)[:8]} tests:{of(found.pairs_to_arrow().to_pydict())[:8]}"


def cross_validations() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, two = judged(), {"trees": TREES, "net": NET}
    few: dict[str, Any] = {"resamples": 100}
    yield "cross-validation", partial(rk.cross_validate, two, data, 3, **few)
    yield "cross-validation, seed", partial(rk.cross_validate, two, data, 3, seed=2, **few)
    yield "cross-validation, measures", partial(rk.cross_validate, two, data, 3, measures=["err", "ap"], against=["net"], **few)
    yield "cross-validation, parts", partial(rk.cross_validate, two, list(rk.split(data, (0.4, 0.3, 0.3))), **few)
    yield "cross-validation, folds", partial(rk.cross_validate, two, rk.k_folds(data, 3, seed=1), **few)
    yield "cross-validation, batches", partial(rk.cross_validate, two, batched(data), "batches", **few)
    yield "cross-validation, convention", partial(rk.cross_validate, two, data, 3, convention="letor", **few)
    yield "cross-validation, weights", partial(rk.cross_validate, two, with_weights(data), 3, **few)


def batched(data: rk.Dataset) -> rk.Dataset:
    return rk.read(
        data.features,
        grades=data.grades,
        qid=np.repeat(data.qids, np.diff(data.offsets)),
        batch=np.repeat(np.arange(data.queries) % 3, np.diff(data.offsets)),
    )


def trainers() -> Iterator[tuple[str, Callable[[], Any]]]:
    data, valid = judged(), judged(2, 12)
    made: dict[str, Any] = {
        "Bag": rk.Bag(TREES, 3), "Bag, members": rk.Bag(TREES, 4, members=2), "Bag, seed": rk.Bag(TREES, 3, seed=4),
        "Seeds": rk.Seeds(TREES, 3), "Seeds of nets": rk.Seeds(NET, 2), "Augmented": rk.Augmented(TREES, 0.5, 3, seed=2),
        "Average": ensembles.Average({"trees": TREES, "net": NET}), "Rescaled, query": ensembles.Rescaled(TREES, "query"),
        "Rescaled, all": ensembles.Rescaled(TREES, "all"), "Rescaled, rank": ensembles.Rescaled(NET, "rank"),
        "Rescaled, probability": ensembles.Rescaled(POINTS, "probability"),
        "Summarised": ensembles.Summarised(TREES, (POINTS, NET), folds=2),
        "Bag of an average": rk.Bag(ensembles.Average({"trees": TREES, "points": POINTS}), 2),
    }  # fmt: skip
    for name, trainer in made.items():
        yield name, partial(trainer.fit, data)
        if name in ("Bag", "Seeds", "Augmented", "Average", "Summarised"):
            yield f"{name}, validation data", partial(trainer.fit, data, valid)
    yield "twelve models", lambda: ensembles.challenge(TREES, NET, POINTS, ndcg="ndcg@5").fit(data)
    for name, one in ensembles.seed_members(TREES, 2).items():
        yield f"members, {name}", partial(one.fit, data)
    for name, one in ensembles.bag_members(TREES, 3).items():
        yield f"members, {name}", partial(one.fit, data)


def member_choices() -> Iterator[tuple[str, str]]:
    average = ensembles.Average({"trees": TREES, "net": NET, "points": POINTS, "other": TREES.reseeded(1)})
    for name, settings in {
        "": {}, "folds, seed": {"folds": 3, "seed": 2}, "measures": {"measures": ["err", "ndcg@3"]}, "share": {"share": 0.4},
        "subsets": {"subsets": {"two": ["trees", "net"]}},
    }.items():  # fmt: skip
        found = ensembles.choose_members(average, judged(), **{"folds": 2} | settings)
        title = f"choice of members {name}".strip()
        yield title, f"{found.name} {found.gain:.6f} {found.error:.6f} {of([found.gain, found.error, found.verdict])[:8]}"
        yield f"{title}: combinations", of(found.combinations.to_arrow(per_query=True).to_pydict())
        yield f"{title}: members", of(found.members.to_arrow(per_query=True).to_pydict())
        yield f"{title}: path", of([[one.added, one.value] for one in found.path])
        yield f"{title}: diversity", of(str(found.diversity))
        if not name:
            yield f"{title}: model", of_model(found.fit(judged()), judged())


def students() -> Iterator[tuple[str, str]]:
    data, teacher = judged(), rk.Bag(rk.LambdaMART.plain(trees=6, leaves=5, min_rows=4), 3).fit(judged())
    sets, deep = with_category(), rk.LambdaMART.plain(trees=10, leaves=5, min_rows=4).fit(with_category())
    for name, source, rows, settings in (
        ("best", teacher, data, {}),
        ("select", teacher, data, {"how": "select"}),
        ("grow", teacher, data, {"how": "grow"}),
        ("net", teacher, data, {"how": "net", "hidden": (3,)}),
        ("made", teacher, data, {"how": "grow", "made": 1}),
        ("unjudged", teacher, data, {"how": "grow", "unjudged": [judged(6, 10).without_grades()]}),
        ("test, measure, seed", teacher, data, {"test": judged(4, 10), "measure": "err", "seed": 3}),
        ("of categories", deep, sets, {}),
    ):
        made = partial(rk.distil, source, rows, **{"trees": 4, "leaves": 4, "folds": 2} | settings)
        yield f"distilled, {name}", outcome(lambda m=made, r=rows: of_student(m(), r))


def of_student(found: Any, data: rk.Dataset) -> str:
    return f"{found.method} {of([untimed(found.rows), found.values])[:8]} {of_model(found.ranker, data)}"


def digests() -> dict[str, str]:
    data = judged()
    found = {name: outcome(lambda m=make: of_tuned(m(), data)) for name, make in tunings()}
    found |= {name: outcome(lambda m=make: of_values(m())) for name, make in cross_validations()}
    found |= {name: outcome(lambda m=make: of_model(m(), data)) for name, make in trainers()}
    return found | dict(member_choices()) | dict(students())
