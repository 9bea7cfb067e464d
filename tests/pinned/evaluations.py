"""Values of every measure, evaluations and comparisons by every option, and what swapping documents changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import rankinite as rk
import rankinite.measures
from pinned.digest import folder, of, outcome
from pinned.samples import clicked, fractional, judged, mixed, tied_scores, unjudged

CUTOFFS = ("", "@1", "@3", "@10", "@100")
SETTINGS = (
    *(
        "ndcg@5:gains=linear",
        "ndcg:gains=0/1/3/7/15",
        "ndcg@5:short=zero",
        "ndcg@5:short=skip",
        "ndcg:discount=log",
        "dcg@3:gains=linear",
    ),
    *("err:max_grade=4", "err@5:max_grade=6", "ap@5:relevant=2", "ap:of=cutoff", "ap@5:of=all", "rr:relevant=3", "rbp:p=0.5"),
    *(
        "rbp@3:relevant=2",
        "p@5:relevant=2",
        "p@5:of=returned",
        "recall@5:relevant=3",
        "success@3:relevant=4",
        "f1@5:relevant=2",
    ),
    *("q:beta=2", "q@5:gains=linear", "bpref:relevant=2", "auc:relevant=3", "rprec:relevant=2", "balanced-error:threshold=0.4"),
    *("balanced-error:relevant=2", "avendcg@5", "avendcg:gains=linear", "judged@3"),
    *("ndcg_cut_10", "P_5", "map", "recip_rank", "AP(rel=2)", "RBP(p=0.5)@10", "nDCG@10", "set_P", "bpref", "Rprec", "infAP"),
)
"""Measures with settings, and as other tools spell them."""
FEW = ("ndcg@5", "err", "ap", "rr", "p@3", "dcg@3", "pairwise-errors", "judged@3")


def measures() -> list[str]:
    names = [name + cutoff for name in rankinite.measures.known_measures() for cutoff in CUTOFFS]
    return [*names, *SETTINGS]


def data_sets() -> dict[str, rk.Dataset]:
    data = judged()
    few = np.array([0, 0, 0, 1, 1, 1], np.float32)
    return {
        "whole grades": data,
        "fractions": fractional(data),
        "unjudged": unjudged(data),
        "clicks": clicked(),
        "one grade": replace(data, grades=np.where(np.arange(data.rows) < 40, 0.0, data.grades)),
        "short": rk.Dataset(mixed(6, 2).reshape(6, 1), few, np.array([0, 1, 3, 6]), np.array(["a", "b", "c"]), ("f",)),
    }


def scores_for(data: rk.Dataset) -> dict[str, Any]:
    return {"ties": tied_scores(data), "no ties": mixed(data.rows, 70), "equal": np.zeros(data.rows)}


def per_measure() -> Iterator[tuple[str, str]]:
    sets = data_sets()
    for text in measures():
        for name in ("whole grades", "fractions", "unjudged", "short"):
            data = sets[name]
            yield f"{text} of {name}", outcome(lambda t=text, d=data: of_values(tied_scores(d), d, t))
        yield f"{text}, spelt", outcome(lambda t=text: str(rk.parse_measure(t)))
    for name, data in sets.items():
        for kind, scores in scores_for(data).items():
            for text in FEW:
                yield f"{text} of {name}, {kind}", outcome(lambda t=text, d=data, s=scores: of_values(s, d, t))


def of_values(scores: Any, data: rk.Dataset, measure: str, **options: Any) -> str:
    """The mean as it is printed, and a digest of every value."""
    found = rk.evaluate(data.in_row_order(scores), data, measure, **options).results[0]
    return f"{found.mean:.6f} {found.queries} {of([found.mean, found.interval, found.per_query])}"


def evaluations() -> Iterator[tuple[str, str]]:
    data, sets = judged(), data_sets()
    scores = tied_scores(data)
    forest = rk.LambdaMART.plain(trees=3, leaves=4, min_rows=4).fit(data)
    for ties in ("expected", "lowest", "highest", "order", "doc_id"):
        for text in ("ndcg@5", "err", "ap", "rr", "p@3", "bpref", "pairwise-errors"):
            yield f"ties={ties}, {text}", outcome(lambda t=ties, m=text: of_values(scores, data, m, ties=t))
    for name in rankinite.measures.CONVENTIONS:
        for text in FEW:
            for kind in ("whole grades", "one grade", "unjudged"):
                one = sets[kind]
                yield (
                    f"convention={name}, {text} of {kind}",
                    outcome(lambda n=name, m=text, d=one: of_values(tied_scores(d), d, m, convention=n)),
                )
    for name, one in sets.items():
        yield (
            f"evaluation of {name}",
            outcome(lambda d=one: of_json(rk.evaluate(d.in_row_order(tied_scores(d)), d, FEW).to_json())),
        )
    yield "evaluation, confidence", of_json(rk.evaluate(scores, data, FEW, confidence=0.8).to_json())
    yield "evaluation of a model on its data", of_json(rk.evaluate(forest, data, FEW).to_json())
    yield "evaluation of a feature", of_json(rk.evaluate(rk.Feature("bm25"), data, FEW).to_json())
    yield "evaluation as CSV", of(rk.evaluate(scores, data, FEW).to_csv())
    yield "evaluation as LaTeX", of(rk.evaluate(scores, data, FEW).to_latex())
    yield "evaluation as Markdown", of(rk.evaluate(scores, data, FEW).to_markdown())
    yield "evaluation as text", of(str(rk.evaluate(scores, data, FEW)))
    yield "evaluation as a frame", of(rk.evaluate(scores, data, FEW).to_arrow(per_query=True).to_pydict())
    for name, scores_of in {
        "some missing": np.where(np.arange(data.rows) % 7 == 0, -np.inf, scores),
        "too few": scores[:9],
    }.items():
        yield f"evaluation, {name}", outcome(lambda s=scores_of: of_json(rk.evaluate(s, data, FEW).to_json()))


def comparisons() -> Iterator[tuple[str, str]]:
    data = judged()
    rankers: dict[str, Any] = {
        "ties": tied_scores(data),
        "feature": rk.Feature("pagerank"),
        "low": rk.Feature("age", ascending=True),
        "forest": rk.LambdaMART.plain(trees=3, leaves=4, min_rows=4).fit(judged(1)),
    }
    variants: dict[str, dict[str, Any]] = {
        "plain": {}, "t": {"test": "t"}, "bootstrap": {"test": "bootstrap", "resamples": 300},
        "seed": {"seed": 4, "resamples": 300},
        "alpha": {"alpha": 0.3}, "against": {"against": ["feature"]}, "ties": {"ties": "lowest"},
        "confidence": {"confidence": 0.5},
        "convention": {"convention": "letor"}, "few resamples": {"resamples": 20},
    }  # fmt: skip
    for name, options in variants.items():
        settings = {"resamples": 500} | options
        yield f"comparison, {name}", outcome(lambda s=settings: of_json(rk.compare(rankers, data, FEW, **s).to_json()))
    for name, one in data_sets().items():
        two = {"ties": one.in_row_order(tied_scores(one)), "other": one.in_row_order(mixed(one.rows, 71))}
        few = ["ndcg@5", "ap", "rr", "p@3"]
        yield (
            f"comparison on {name}",
            outcome(lambda d=one, t=two, m=few: of_json(rk.compare(t, d, m, resamples=200).to_json())),
        )
    found = rk.compare(rankers, data, FEW, resamples=500)
    for form in ("to_csv", "to_latex", "to_markdown", "to_text", "pairs_to_csv"):
        yield f"comparison, {form}", of(getattr(found, form)())
    yield "comparison, letters", of(found.letters)


def swaps() -> Iterator[tuple[str, str]]:
    grades = np.array([2, 0, 3, 0, 1, 4, 0, 2, 1, 0, 3, 0], np.float32)
    for text in (
        "ndcg",
        "ndcg@5",
        "dcg@3",
        "err",
        "err@4",
        "ap",
        "ap@5",
        "rr",
        "rr@3",
        "rbp",
        "rbp@4",
        "success@3",
        "ndcg@5:gains=linear",
        "p@3",
    ):
        yield f"swaps, {text}", outcome(lambda t=text: of(rk.swap_changes(rk.parse_measure(t), grades)))
    scores, offsets = np.round(mixed(12, 5) * 4), np.array([0, 5, 12])
    for ties in ("order", "lowest", "highest", "expected"):
        yield f"ranks, ties={ties}", outcome(lambda t=ties: of(rk.rank(scores, grades, offsets, ties=t)))


def convention_settings() -> Iterator[tuple[str, str]]:
    for name, one in rankinite.measures.CONVENTIONS.items():
        texts = [one.ties, one.skip_one_grade, one.empty, one.single_precision]
        yield f"convention {name}", " ".join(map(str, texts))


def trec() -> Iterator[tuple[str, str]]:
    """Runs and judgements as files."""
    with folder() as here:
        data = judged(queries=6)
        qrels, run, scores = here / "a.qrels", here / "a.run", here / "scores.txt"
        rk.write_qrels(qrels, data)
        rk.write_run(run, data, rk.Feature("bm25"), tag="t")
        rk.write_scores(scores, data, rk.Feature("bm25"))
        yield "evaluation of a run", outcome(lambda: of_json(rk.evaluate(run, data, FEW).to_json(), "data"))
        yield "evaluation of scores", outcome(lambda: of_json(rk.evaluate(scores, data, FEW).to_json(), "data"))
        both, (found,) = rk.read_trec(qrels, [run])
        yield (
            "evaluation of TREC files",
            outcome(lambda: of_json(rk.evaluate(both.in_row_order(found), both, FEW).to_json(), "data")),
        )


def of_json(text: str, *without: str) -> str:
    """Of the content, without what names the data where these have a path."""
    content = json.loads(text)
    return of({name: value for name, value in content.items() if name not in without})


def digests() -> dict[str, str]:
    parts = (per_measure(), evaluations(), comparisons(), swaps(), convention_settings(), trec())
    return {name: value for part in parts for name, value in part}
