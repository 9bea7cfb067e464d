"""Builders of reports: from a choice among methods of adaptation, from a comparison, or from a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from rankinite.adapt.result import Choice, size_of
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.evaluate import evaluate, finite, percent
from rankinite.evaluation.inputs import scores_of
from rankinite.evaluation.training_overlap import TrainingOverlaps
from rankinite.grid import number
from rankinite.measures.base import Measure, sign_of
from rankinite.models.forest import Forest
from rankinite.report import handover, models, tables
from rankinite.report import provenance as repeating
from rankinite.report.document import Facts, Figure, Report
from rankinite.report.queries import JudgedRanker, check_same_queries, grades_by_rank, queries_of
from rankinite.report.verdicts import description_of, explanation_of, overlap_notes, verdict_of

CallerFacts = Mapping[str, Mapping[str, Any]]
"""Facts that the caller adds: headings, each with names and values."""


@dataclass(frozen=True)
class _Contrast:
    """Two systems on the same data, whose queries are shown one by one."""

    data: Dataset
    comparison: Comparison
    measure: Measure
    before: JudgedRanker
    after: JudgedRanker
    note: str = ""
    rankers: tuple[Any, Any] | None = None

    @classmethod
    def of(cls, comparison: Comparison, data: Dataset, measure: Measure, scores: Mapping[str, Any], note: str = "") -> Self:
        """From the scores of two systems by name, the one before first."""
        before, after = (JudgedRanker(name, values, comparison[name][measure]) for name, values in scores.items())
        return cls(data, comparison, measure, before, after, note)

    def sections(self) -> dict[str, Any]:
        """The parts of a report that show them."""
        return {
            "figures": tables.figures(self.comparison, self.before.name, self.after.name, self.measure),
            "queries": queries_of(self.data, self.before, self.after, self.note, self.rankers),
            "grades": grades_by_rank(self.data, self.before, self.after),
        }


def of_choice(
    choice: Choice,
    target: Dataset,
    *,
    test: Dataset | None = None,
    data: Mapping[str, Dataset | None] | None = None,
    facts: CallerFacts | None = None,
    title: str = "Adaptation",
) -> Report:
    """The report of what :func:`rankinite.adapt.choose` found, on the same target.

    Queries are shown one by one on the test data, if there are some, else on the target, where each is judged by rankers
    that had not seen it. ``data``: further data whose fingerprints to list, by name. ``facts``: what else should be known
    to repeat it, such as the command.

    >>> write(of_choice(choice, market, test=test), "report.html")                            # doctest: +SKIP
    """
    contrast = _choice_contrast(choice, target, test)
    known = {trial.method.name: trial.ranker for trial in choice.trials}
    rankers = {**(choice.backgrounds if len(choice.backgrounds) > 1 else {}), **choice.models}
    parts = _parts(rankers, [choice.name])
    adapted = {choice.background_name(choice.forest) or "background": choice.forest}
    refused = Facts("Not tried", tuple(choice.refused.items()))
    served = Facts("What serving each would take", tuple((name, cost.sentence()) for name, cost in choice.costs.items()))
    return Report(
        title=title,
        verdict=(*choice.recommendation(), *overlap_notes(choice.unseen, choice.test, choice.shifted)),
        explanation=choice.explanation(),
        tables=tables.choice_tables(choice),
        curve=tables.curve_of(choice),
        trainings=models.trainings(choice.models),
        importance=models.importance_of(_forests({"background": known["background"], **adapted, **parts})),
        moved_trees=models.moved_trees(choice.forest, parts),
        moved_weights=models.moved_weights(parts),
        facts=(
            *repeating.caller_facts(facts),
            *([refused] if choice.refused else []),
            *([served] if choice.costs else []),
            *_repeating_facts({"target": target, "test": test, **(data or {})}, choice.unseen, rankers),
        ),
        handover=handover.after_choice(choice),
        **contrast.sections(),
    )


def _choice_contrast(choice: Choice, target: Dataset, test: Dataset | None) -> _Contrast:
    """The background and the chosen ranker: on the test data if there are some, else on the target."""
    _check_same(choice.unseen, target, "target")
    names = ("background", choice.name)
    known = {trial.method.name: trial for trial in choice.trials}
    if test is None:
        scores = {name: known[name].unseen for name in names}
        note = "Each query is judged by rankers that had not seen it."
        return _Contrast.of(choice.unseen, target, choice.measure, scores, note)
    if choice.test is None:
        raise ArgumentError(
            "was not given to choose, which has no results on it",
            owner="of_choice",
            setting="test",
            value=test.source,
            remedy="Give the test data to choose, too",
        )
    _check_same(choice.test, test, "test")
    scores = {name: scores_of(known[name].ranker, test, name) for name in names}
    found = _Contrast.of(choice.test, test, choice.measure, scores, "Rankers fitted to all target data, on the test data.")
    return replace(found, rankers=(known[names[0]].ranker, known[names[1]].ranker))


def of_comparison(
    comparison: Comparison,
    data: Dataset,
    rankers: Mapping[str, Any],
    *,
    before: str | None = None,
    after: str | None = None,
    models_of: Mapping[str, Any] | None = None,
    facts: CallerFacts | None = None,
    title: str = "Comparison",
) -> Report:
    """The report of what :func:`rankinite.compare` found, with the same rankers (or scores) and data.

    ``before`` and ``after``: the two systems whose queries are shown one by one; the first, and the best of the others, if left
    out. ``models_of``: rankers to look into, by name, where ``rankers`` are scores.

    >>> write(of_comparison(compare(systems, test, "ndcg@10"), test, systems), "report.html")  # doctest: +SKIP
    """
    _check_same(comparison, data, "data")
    _check_rankers(comparison, rankers)
    measure = comparison.measures[0]
    old = comparison.systems[0] if before is None else before
    new = best_system(comparison, old, measure) if after is None else after
    scores = {name: scores_of(rankers[name], data, name) for name in (old, new)}
    looked = {name: (models_of or rankers).get(name) for name in comparison.systems}
    sizes = {name: size_of(ranker) for name, ranker in looked.items() if hasattr(ranker, "stored")}
    parts, better = _parts(looked, [new]), comparison.pair(new, old, measure).better
    return Report(
        title=title,
        verdict=(*verdict_of(comparison, old, new, measure), *overlap_notes(comparison)),
        explanation=explanation_of(comparison, old, new, measure),
        tables=(tables.compared(comparison, "All systems", new if better == new else None, (old,), sizes=sizes),),
        trainings=models.trainings(looked),
        importance=models.importance_of(_forests({**_parts(looked, [old]), **parts})),
        moved_trees=models.moved_trees(looked[old], parts),
        moved_weights=models.moved_weights(parts),
        facts=(*repeating.caller_facts(facts), *_repeating_facts({"data": data}, comparison, looked)),
        handover=handover.after_comparison(comparison, old, new, measure, looked[new]),
        **replace(_Contrast.of(comparison, data, measure, scores), rankers=(looked[old], looked[new])).sections(),
    )


def of_training(
    ranker: Any,
    data: Dataset | None = None,
    measures: Sequence[Measure | str] | Measure | str = "ndcg@10",
    *,
    base: Any = None,
    note: str = "",
    trained_on: Mapping[str, Dataset | None] | None = None,
    facts: CallerFacts | None = None,
    title: str = "Training",
) -> Report:
    """The report of a training: the ranker judged by ``data`` if there are some, against its base if it had one.

    ``note``: what to know of the data, in a sentence. ``trained_on``: other data whose fingerprints to list, by name.
    """
    if data is not None and base is not None:
        both = {"base": base, "model": ranker}
        compared = of_comparison(compare(both, data, measures), data, both, facts=facts, title=title)
        verdict = (*compared.verdict, *([note] if note else []))
        listed = repeating.data_facts({**(trained_on or {}), "judged on": data})
        others = tuple(listed if shown.title == "Data" else shown for shown in compared.facts)
        return replace(compared, verdict=verdict, facts=others)
    parts = _parts({"model": ranker}, ["model"])
    judged = _judged_sections(ranker, data, measures, note)
    return Report(
        title=title,
        verdict=(*description_of(ranker), *judged.pop("verdict", ())),
        trainings=models.trainings({"model": ranker}),
        importance=models.importance_of(_forests(parts)),
        moved_weights=models.moved_weights(parts),
        facts=(
            *repeating.caller_facts(facts),
            *([listed] if (listed := repeating.data_facts({**(trained_on or {}), "judged on": data})).entries else []),
            *repeating.model_facts({"model": ranker}),
            repeating.version_facts(),
        ),
        handover=handover.after_training(ranker, judged=data is not None, flattered=bool(note)),
        **judged,
    )


def _judged_sections(ranker: Any, data: Dataset | None, measures: Any, note: str) -> dict[str, Any]:
    """The parts of a report that show one ranker alone on data; none without data."""
    if data is None:
        return {}
    scores = scores_of(ranker, data)
    evaluation = replace(evaluate(scores, data, measures), overlap=TrainingOverlaps(data).of(ranker))
    met = evaluation.warnings if evaluation.overlap is not None and evaluation.overlap.queries else ()
    result = evaluation.results[0]
    side = JudgedRanker("model", scores, result)
    low, high = map(number, result.interval)
    sure = percent(evaluation.confidence)
    sentence = f"On {data.source} {result.measure} is {number(result.mean)} ({sure} interval {low} to {high})."
    shown = [
        Figure(str(one.measure), number(one.mean), f"{number(one.interval[0])} to {number(one.interval[1])}")
        for one in evaluation.results
        if finite(one.mean) is not None
    ]
    return {
        "verdict": (sentence, *met, *([note] if note else [])),
        "figures": (*shown, Figure("queries", str(result.queries), f"{result.skipped} skipped")),
        "tables": (tables.evaluated(evaluation, "model", "Evaluation", size_of(ranker)),),
        "queries": queries_of(data, None, side),
        "grades": grades_by_rank(data, None, side),
    }


def best_system(comparison: Comparison, old: str, measure: Measure) -> str:
    """The best of the systems that were tested against another."""
    comparison[old]  # an unknown name has its own error
    sign = sign_of(measure)
    tested = {pair.second if pair.first == old else pair.first for pair in comparison.pairs if old in {pair.first, pair.second}}
    others = [name for name in comparison.systems if name in tested]
    return max(others, key=lambda name: sign * comparison[name][measure].mean)


def _repeating_facts(
    data: Mapping[str, Dataset | None], comparison: Comparison, rankers: Mapping[str, Any]
) -> tuple[Facts, ...]:
    """The data, the tests, the models and the versions by which a result can be repeated."""
    measuring, settings = test_facts(comparison), repeating.model_facts(rankers)
    return repeating.data_facts(data), measuring, *settings, repeating.version_facts()


def _check_same(comparison: Comparison, data: Any, name: str) -> None:
    check_same_queries(comparison[comparison.systems[0]], data, name)


def _check_rankers(comparison: Comparison, rankers: Mapping[str, Any]) -> None:
    missing = [name for name in comparison.systems if name not in rankers]
    if missing:
        raise ArgumentError(
            f"there is no ranker {quoted(missing[0])}, which is a system of the comparison",
            owner="of_comparison",
            value=missing[0],
            remedy="Give all rankers that were compared",
        )


def _parts(rankers: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parts of the rankers of these names; parts that are also rankers of their own keep their names."""
    known = {id(ranker): name for name, ranker in rankers.items() if ranker is not None}
    found: dict[str, Any] = {}
    for name in names:
        for label, part in models.inside(name, rankers[name], known):
            if not any(models.same(part, other) for other in found.values()):
                found[label if label not in found else f"{label} ({len(found) + 1})"] = part
    return found


def _forests(parts: Mapping[str, Any]) -> dict[str, Forest]:
    found: dict[str, Forest] = {}
    for name, part in parts.items():
        if isinstance(part, Forest) and not any(models.same(part, other) for other in found.values()):
            found[name] = part
    return found


def test_facts(comparison: Comparison) -> Facts:
    """How systems were measured and tested."""
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
