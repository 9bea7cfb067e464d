"""Reports made from what there is: a choice among ways to adapt, a comparison, or a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankinite.adapt.result import Choice, size_of
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.evaluate import evaluate, finite, percent
from rankinite.evaluation.inputs import scores_of
from rankinite.evaluation.meaning import interval_meaning, p_meaning
from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings
from rankinite.grid import number
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import trained_of
from rankinite.models.forest import Forest
from rankinite.report import models, tables
from rankinite.report import provenance as repeating
from rankinite.report.document import Facts, Figure, Report
from rankinite.report.queries import Judged, grades_by_rank, queries_of

Given = Mapping[str, Mapping[str, Any]]
"""Facts of the caller's own: headings, each with names and values."""


def of_choice(
    choice: Choice,
    target: Dataset,
    *,
    test: Dataset | None = None,
    data: Mapping[str, Dataset | None] | None = None,
    facts: Given | None = None,
    title: str = "Adaptation",
) -> Report:
    """What :func:`rankinite.adapt.choose` found, on the target it was given.

    Queries are shown one by one on the test data, if they were given to both, else on the target, where each is judged by
    rankers that had not seen it. ``data``: further data whose fingerprints to list, by name. ``facts``: what else should be
    known to repeat it, such as the command.

    >>> write(of_choice(choice, market, test=test), "report.html")                            # doctest: +SKIP
    """
    _check_same(choice.unseen, target, "target")
    if test is not None and choice.test is None:
        raise ArgumentError("test data are given to the report, but the choice has no results on them. Give them to choose.")
    known = {trial.method.name: trial for trial in choice.trials}
    if test is not None and choice.test is not None:
        _check_same(choice.test, test, "test")
        shown, seen, note = test, choice.test, "Rankers fitted to all target data, on the test data."
        scores = {name: scores_of(known[name].ranker, test, name) for name in ("background", choice.name)}
    else:
        shown, seen, note = target, choice.unseen, "Each query is judged by rankers that had not seen it."
        scores = {name: known[name].unseen for name in ("background", choice.name)}
    before, after = (Judged(name, own, seen[name][choice.measure]) for name, own in scores.items())
    background = known["background"].ranker
    rankers = {**(choice.backgrounds if len(choice.backgrounds) > 1 else {}), **choice.models}
    parts = _parts(rankers, [choice.name])
    adapted = {choice.background_name(choice.forest) or "background": choice.forest}
    refused = Facts("Not tried", tuple(choice.refused.items()))
    listed = {"target": target, "test": test, **(data or {})}
    return Report(
        title=title,
        verdict=(*choice.recommendation(), *_met(choice.unseen, choice.test, choice.shifted)),
        explanation=choice.explanation(),
        figures=tables.figures(seen, "background", choice.name, choice.measure),
        tables=tables.choice_tables(choice),
        curve=tables.curve_of(choice),
        queries=queries_of(shown, before, after, note),
        grades=grades_by_rank(shown, before, after),
        trainings=models.trainings(choice.models),
        importance=models.importance_of(_forests({"background": background, **adapted, **parts})),
        moved_trees=models.moved_trees(choice.forest, parts),
        moved_weights=models.moved_weights(parts),
        facts=(
            *repeating.given_facts(facts),
            *([refused] if choice.refused else []),
            repeating.data_facts(listed),
            _test_facts(choice.unseen),
            *repeating.model_facts(rankers),
            repeating.version_facts(),
        ),
    )


def of_comparison(
    comparison: Comparison,
    data: Dataset,
    rankers: Mapping[str, Any],
    *,
    before: str | None = None,
    after: str | None = None,
    models_of: Mapping[str, Any] | None = None,
    facts: Given | None = None,
    title: str = "Comparison",
) -> Report:
    """What :func:`rankinite.compare` found, given its rankers (or scores) and data once more.

    ``before`` and ``after``: the two systems whose queries are shown one by one; the first, and the best of the others, if left
    out. ``models_of``: rankers to look into, by name, where ``rankers`` are scores.

    >>> write(of_comparison(compare(systems, test, "ndcg@10"), test, systems), "report.html")  # doctest: +SKIP
    """
    _check_same(comparison, data, "data")
    missing = [name for name in comparison.systems if name not in rankers]
    if missing:
        raise ArgumentError(f"the comparison has a system {missing[0]!r}, but the rankers have not. Give the same rankers.")
    measure = comparison.measures[0]
    old = comparison.systems[0] if before is None else before
    new = _best(comparison, old, measure) if after is None else after
    first, second = (Judged(name, scores_of(rankers[name], data, name), comparison[name][measure]) for name in (old, new))
    looked = {name: (models_of or rankers).get(name) for name in comparison.systems}
    sizes = {name: size_of(ranker) for name, ranker in looked.items() if hasattr(ranker, "stored")}
    parts, better = _parts(looked, [new]), comparison.pair(new, old, measure).better
    return Report(
        title=title,
        verdict=(*_verdict(comparison, old, new, measure), *_met(comparison)),
        explanation=_explanation(comparison, old, new, measure),
        figures=tables.figures(comparison, old, new, measure),
        tables=(tables.compared(comparison, "All systems", new if better == new else None, (old,), sizes=sizes),),
        queries=queries_of(data, first, second),
        grades=grades_by_rank(data, first, second),
        trainings=models.trainings(looked),
        importance=models.importance_of(_forests({**_parts(looked, [old]), **parts})),
        moved_trees=models.moved_trees(looked[old], parts),
        moved_weights=models.moved_weights(parts),
        facts=(
            *repeating.given_facts(facts),
            repeating.data_facts({"data": data}),
            _test_facts(comparison),
            *repeating.model_facts(looked),
            repeating.version_facts(),
        ),
    )


def of_training(
    ranker: Any,
    data: Dataset | None = None,
    measures: Sequence[Measure | str] | Measure | str = "ndcg@10",
    *,
    base: Any = None,
    note: str = "",
    trained_on: Mapping[str, Dataset | None] | None = None,
    facts: Given | None = None,
    title: str = "Training",
) -> Report:
    """A ranker that was trained, judged by ``data`` if there are some; against its base, if it had one.

    ``note``: what to know of the data, in a sentence. ``trained_on``: other data whose fingerprints to list, by name.
    """
    if data is not None and base is not None:
        both = {"base": base, "model": ranker}
        told = of_comparison(compare(both, data, measures), data, both, facts=facts, title=title)
        verdict = (*told.verdict, *([note] if note else []))
        listed = repeating.data_facts({**(trained_on or {}), "judged on": data})
        others = tuple(listed if own.title == "Data" else own for own in told.facts)
        return replace(told, verdict=verdict, facts=others)
    parts = _parts({"model": ranker}, ["model"])
    judged = _judged(ranker, data, measures, note)
    return Report(
        title=title,
        verdict=(*_made(ranker), *judged.pop("verdict", ())),
        trainings=models.trainings({"model": ranker}),
        importance=models.importance_of(_forests(parts)),
        moved_weights=models.moved_weights(parts),
        facts=(
            *repeating.given_facts(facts),
            *([listed] if (listed := repeating.data_facts({**(trained_on or {}), "judged on": data})).entries else []),
            *repeating.model_facts({"model": ranker}),
            repeating.version_facts(),
        ),
        **judged,
    )


def _judged(ranker: Any, data: Dataset | None, measures: Any, note: str) -> dict[str, Any]:
    """What data say of one ranker alone."""
    if data is None:
        return {}
    scores = scores_of(ranker, data)
    evaluation = replace(evaluate(scores, data, measures), overlap=TrainingOverlaps(data).of(ranker))
    met = evaluation.warnings if evaluation.overlap is not None and evaluation.overlap.queries else ()
    result = evaluation.results[0]
    side = Judged("model", scores, result)
    low, high = map(number, result.interval)
    sure = percent(evaluation.confidence)
    said = f"On {data.source} {result.measure} is {number(result.mean)} ({sure} interval {low} to {high})."
    shown = [Figure(str(own.measure), number(own.mean), f"{number(own.interval[0])} to {number(own.interval[1])}")
             for own in evaluation.results if finite(own.mean) is not None]  # fmt: skip
    return {
        "verdict": (said, *met, *([note] if note else [])),
        "figures": (*shown, Figure("queries", str(result.queries), f"{result.skipped} skipped")),
        "tables": (tables.evaluated(evaluation, "model", "Evaluation", size_of(ranker)),),
        "queries": queries_of(data, None, side),
        "grades": grades_by_rank(data, None, side),
    }


def _met(*comparisons: Comparison | None) -> tuple[str, ...]:
    """Which systems met queries that they were trained on: the verdict has to say that."""
    warnings: list[str] = []
    for comparison in comparisons:
        if comparison is not None:
            overlaps = {name: result.overlap for name, result in comparison.evaluations.items()}
            met = {name: overlap for name, overlap in overlaps.items() if overlap is not None and overlap.queries}
            warnings += overlap_warnings(met, comparison[comparison.systems[0]].source)
    return tuple(warnings)


def _made(ranker: Any) -> tuple[str, ...]:
    trained = trained_of(ranker)
    maker = f", trained by {trained.learner}" if trained is not None and trained.learner else ""
    return (f"A ranker of {size_of(ranker)}{maker}.",)


def _best(comparison: Comparison, old: str, measure: Measure) -> str:
    comparison[old]  # an unknown name has its own error
    sign = sign_of(measure)
    tested = {pair.second if pair.first == old else pair.first for pair in comparison.pairs if old in {pair.first, pair.second}}
    others = [name for name in comparison.systems if name in tested]
    return max(others, key=lambda name: sign * comparison[name][measure].mean)


def _verdict(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """One sentence with the number that decides."""
    pair = comparison.pair(new, old, measure)
    p = pair.p(comparison.test)
    if pair.better is None:
        return (f"{new} is as good as {old} by {measure}.",)
    side = "better" if pair.better == new else "worse"
    gap = f"by {number(abs(pair.difference))} of {measure}"
    if p.holm <= comparison.alpha:
        return (f"{new} is {side} than {old} {gap} (p {p.holm_text}; at most {comparison.alpha:g} is asked for).",)
    chance = f"which may be chance (p {p.holm_text}; at most {comparison.alpha:g} is asked for)"
    return (f"{new} is not surely {side} than {old}: it is {side} {gap}, {chance}.",)


def _explanation(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """What the numbers beside the verdict mean."""
    pair = comparison.pair(new, old, measure)
    decides = f"It decides: where it is above {comparison.alpha:g}, the difference may be chance."
    alone = "It is not corrected for the number of comparisons, so it may exclude 0 though the difference may be chance."
    return f"{p_meaning(comparison, pair)} {decides}", f"{interval_meaning(comparison, pair)} {alone}"


def _check_same(comparison: Comparison, data: Any, name: str) -> None:
    if not isinstance(data, Dataset):
        raise DataError(f"{name} is a {type(data).__name__}. Give a Dataset, as rankinite.read returns.")
    qids = comparison[comparison.systems[0]].qids
    if len(qids) != data.queries or (qids != data.qids).any():
        raise DataError(f"{data.source}: these are not the queries that were compared. Give the report the same data.")


def _parts(rankers: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What the rankers of these names are made of; parts that stand under a name of their own keep it."""
    known = {id(ranker): name for name, ranker in rankers.items() if ranker is not None}
    found: dict[str, Any] = {}
    for name in names:
        for label, part in models.inside(name, rankers[name], known):
            if not any(models.same(part, own) for own in found.values()):
                found[label if label not in found else f"{label} ({len(found) + 1})"] = part
    return found


def _forests(parts: Mapping[str, Any]) -> dict[str, Forest]:
    found: dict[str, Forest] = {}
    for name, part in parts.items():
        if isinstance(part, Forest) and not any(models.same(part, own) for own in found.values()):
            found[name] = part
    return found


def _test_facts(comparison: Comparison) -> Facts:
    shared = comparison[comparison.systems[0]]
    return Facts(
        "Measuring",
        (
            ("measures", ", ".join(map(str, comparison.measures))),
            ("convention", shared.convention),
            ("ties", shared.ties),
            ("test", f"{comparison.test}, Holm-corrected, alpha {comparison.alpha:g}"),
            ("pairs tested", f"those with {' or '.join(tested)}" if (tested := tables.only_against(comparison)) else "all"),
            ("resamples", str(comparison.resamples)),
            ("seed of the resamples", str(comparison.seed)),
        ),
    )
