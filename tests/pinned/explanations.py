"""What explains rankers of every kind: contributions, importances, pairs, queries, whole data; text, summaries and facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

import rankinite as rk
from pinned.digest import of, of_model, outcome
from pinned.samples import judged, mixed, models, with_category


@cache
def rows() -> rk.Dataset:
    """Six queries with the features of the models in ``tests/model_files``."""
    features = (mixed(24 * 4, 20).reshape(24, 4) * 4 - 2).astype(np.float32)
    features[::7, 2] = np.nan
    return rk.Dataset(
        features,
        np.floor(mixed(24, 21) * 4),
        np.arange(0, 25, 4),
        np.array([f"q{number}" for number in range(6)]),
        ("bm25", "url length", "clicks", "age"),
        doc_ids=np.array([f"d{row}" for row in range(24)]),
    )


def of_models() -> Iterator[tuple[str, Callable[[], str]]]:
    """All that a model answers, for models of every kind."""
    for path in models():
        name, ranker, data = path.stem, rk.load(path), adapted(rk.load(path), rows())
        yield f"{name}: scores", lambda r=ranker, d=data: of(r.score(d))
        yield f"{name}: scores of an array", lambda r=ranker, d=data: of(r.score(d.features))
        yield f"{name}: saved", lambda r=ranker: of_model(r)
        yield f"{name}: facts", lambda r=ranker: of(r.facts())
        yield f"{name}: summary", lambda r=ranker: of([repr(r), r.line(), r.summary(), r.sizes()])
        yield f"{name}: tables", lambda r=ranker: of([one.text() for one in r.tables(None)])
        for what in ("text", "importance", "by_feature", "rounds", "outputs"):
            if hasattr(ranker, what):
                yield f"{name}: {what}", lambda r=ranker, w=what: of(answered(getattr(r, w)))
        yield f"{name}: contributions", lambda r=ranker, d=data: of_contributions(r.contributions(d, permutations=20))
        yield (
            f"{name}: pair",
            lambda r=ranker, d=data: of_result(r.explain(d, "q1", above=0, below=2, repeats=3, permutations=20)),
        )
        yield (
            f"{name}: query",
            lambda r=ranker, d=data: of_result(r.explain(d, "q2", repeats=3, permutations=20, measure="err")),
        )
        yield f"{name}: all queries", lambda r=ranker, d=data: of_result(r.explain(d, permutations=20))
        yield f"{name}: permutation importance", lambda r=ranker, d=data: of_result(r.permutation_importance(d, repeats=2))
        if hasattr(ranker, "probabilities"):
            yield f"{name}: probabilities", lambda r=ranker, d=data: of(r.probabilities(d))
            yield f"{name}: staged scores", lambda r=ranker, d=data: of(list(r.staged_scores(d, 1)))
            yield f"{name}: outputs of rows", lambda r=ranker, d=data: of(r.outputs_of(d))
            yield f"{name}: truncated", lambda r=ranker, d=data: of_model(r.truncate(1), d)


def adapted(ranker: Any, data: rk.Dataset) -> rk.Dataset:
    """Rows with the features of a ranker: these where it has the same names, others where it has further ones."""
    names = tuple(ranker.feature_names)
    if set(names) <= set(data.feature_names):
        return data
    found = mixed(data.rows * len(names), 22).reshape(data.rows, len(names))
    return rk.Dataset(np.floor(found * 3), data.grades, data.offsets, data.qids, names, doc_ids=data.doc_ids)


def answered(value: Any) -> Any:
    return value() if callable(value) else value


def of_contributions(found: Any) -> str:
    return of([found.values, found.base, list(found.feature_names), found.errors])


def of_result(found: Any) -> str:
    return of(found.to_dict())


def variants() -> Iterator[tuple[str, Callable[[], str]]]:
    """Settings of explanations, and rankers that are not among the files."""
    data, sets = judged(), with_category()
    forest = rk.LambdaMART.plain(trees=4, leaves=5, min_rows=4).fit(data)
    of_sets = rk.LambdaMART.plain(trees=4, leaves=5, min_rows=4).fit(sets)
    net = rk.LambdaRank(hidden=(3,), epochs=3, nan="mean").fit(data)
    for name, settings in {
        "": {}, "measure": {"measure": "err"}, "seed": {"seed": 3, "repeats": 2}, "confidence": {"confidence": 0.6},
        "features": {"features": ["bm25", "age"]},
    }.items():  # fmt: skip
        yield (
            f"permutation importance {name}",
            lambda s=settings: of_result(rk.permutation_importance(forest, data, **{"repeats": 3} | s)),
        )
    yield (
        "permutation importance of errors",
        lambda: of_result(rk.permutation_importance(forest, data, measure="pairwise-errors", repeats=2)),
    )
    yield "pair by ids", lambda: of_result(forest.explain(data, "q0-1", above="d0-13", below="d0-20"))
    yield "pair of a net", lambda: of_result(net.explain(data, "q0-1", above=1, below=2, permutations=30, seed=2))
    yield "pair with a category", lambda: of_result(of_sets.explain(sets, "q0-2", above=0, below=5))
    yield "query with a category", lambda: of_result(of_sets.explain(sets, "q0-2", repeats=3))
    yield "all queries with a category", lambda: of_result(of_sets.explain(sets))
    yield "contributions with a category", lambda: of_contributions(of_sets.contributions(sets))
    yield "category: facts", lambda: of(of_sets.facts())
    yield "category: text", lambda: of(of_sets.text())
    yield "no such query", lambda: of_result(forest.explain(data, "none"))
    yield "importance, gain", lambda: of(forest.importance("gain"))
    yield "importance, count", lambda: of(forest.importance("count"))
    yield "pair as text", lambda: of(str(forest.explain(data, "q0-1", above=1, below=2)))
    yield "query as text", lambda: of(str(forest.explain(data, "q0-1", repeats=2)))
    yield "all queries as text", lambda: of(str(forest.explain(data)))
    yield "extended", lambda: of_model(forest.extended(forest), data)
    yield "renamed", lambda: of_model(forest.renamed(["a", "b", "c", "d", "e", "f"]))
    yield "sum", lambda: of_model(0.5 * forest + 2.0 * net, data)
    yield (
        "matched features",
        lambda: of_model(rk.match_features(forest.renamed(list("123456")), data.feature_names, "here"), data),
    )
    yield "history", lambda: of(rk.LambdaMART.plain(trees=4, leaves=5).fit(data, judged(2, 12)).history.to_dict())
    yield "scorer", lambda: of(np.asarray(forest.scorer()(data.features[:5].astype(np.float64))))


def digests() -> dict[str, str]:
    return {name: outcome(make) for part in (of_models(), variants()) for name, make in part}
