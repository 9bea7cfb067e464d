"""Builders of reports: from a choice among methods of adaptation, from a comparison, or from a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from rankinite.adapt.choice import Choice, size_of
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.errors import ArgumentError, quoted
from rankinite.evaluation.caveats import TrainingOverlaps
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import scores_of
from rankinite.frames import finite
from rankinite.grid import number, percent, shared_decimals, spread
from rankinite.measures.base import Measure, sign_of
from rankinite.report import handover, tables
from rankinite.report import provenance as repeating
from rankinite.report.document import Facts, Figure, Report
from rankinite.report.importance_section import importance_of, importance_sections
from rankinite.report.moved_section import moved_sections, moved_weights
from rankinite.report.parts import parts_of
from rankinite.report.queries import JudgedRanker, check_same_queries, grades_by_rank, queries_of
from rankinite.report.serving_section import serving_section, serving_sentence
from rankinite.report.trainings import trainings
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
    rankers = {**(choice.backgrounds if len(choice.backgrounds) > 1 else {}), **choice.models}
    refused = Facts("Not tried", tuple(choice.refused.items()))
    shown = tables.choice_tables(choice)
    warnings = overlap_notes(choice.unseen, choice.test, choice.shifted)
    return Report(
        title=title,
        verdict=(*choice.recommendation(), *serving_sentence(choice), *warnings),
        explanation=choice.explanation(),
        **tables.choice_figures(choice),
        tables=shown,
        curve=tables.curve_of(choice),
        serving=serving_section(choice, [system.name for system in shown[0].systems], shown[0].decimals[0]),
        trainings=trainings(choice.models),
        **importance_sections(_deployed_last(choice), contrast.data, choice.measure, contrast.after.result),
        **moved_sections(choice.forest, choice.verdict.recommended, rankers),
        facts=(
            *repeating.caller_facts(facts),
            *([refused] if choice.refused else []),
            *_repeating_facts({"target": target, "test": test, **(data or {})}, choice.unseen, rankers),
        ),
        handover=handover.after_choice(choice),
        **contrast.sections(),
    )


def _deployed_last(choice: Choice) -> dict[str, Any]:
    """The background and the method chosen, the one to deploy last, with names that say which this is."""
    models, name = choice.models, choice.name
    if choice.verdict.recommended == name:
        what = "to deploy" if choice.verdict.decision == "deploy" else "to try online"
        return {"background": models["background"], f"{name} ({what})": models[name]}
    return {f"{name} (candidate)": models[name], "background (to keep)": models["background"]}


def _choice_contrast(choice: Choice, target: Dataset, test: Dataset | None) -> _Contrast:
    """The background and the chosen ranker: on the test data if there are some, else on the target."""
    target = without_weightless(target) if isinstance(target, Dataset) else target  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
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
    better, contrast = comparison.pair(new, old, measure).better, _Contrast.of(comparison, data, measure, scores)
    return Report(
        title=title,
        verdict=(*verdict_of(comparison, old, new, measure), *overlap_notes(comparison)),
        explanation=explanation_of(comparison, old, new, measure),
        figures=tables.figures(comparison, old, new, measure),
        figures_title=f"On {data.source}.",
        tables=(tables.compared(comparison, "All systems", new if better == new else None, (old,), sizes=sizes),),
        trainings=trainings(looked),
        **importance_sections({name: looked[name] for name in (old, new)}, data, measure, contrast.after.result),
        **moved_sections(looked[old], new, looked),
        facts=(*repeating.caller_facts(facts), *_repeating_facts({"data": data}, comparison, looked)),
        handover=handover.after_comparison(comparison, old, new, measure, looked[new]),
        **replace(contrast, rankers=(looked[old], looked[new])).sections(),
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
    judged = _judged_sections(ranker, data, measures, note)
    return Report(
        title=title,
        verdict=(*description_of(ranker), *judged.pop("verdict", ())),
        trainings=trainings({"model": ranker}),
        moved_weights=moved_weights(parts_of("model", {"model": ranker})),
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
        return {"importance": importance_of({"model": ranker}, None)}
    scores = scores_of(ranker, data)
    evaluation = replace(evaluate(data.in_row_order(scores), data, measures), overlap=TrainingOverlaps(data).of(ranker))
    met = evaluation.warnings if evaluation.overlap is not None and evaluation.overlap.queries else ()
    result = evaluation.results[0]
    side = JudgedRanker("model", scores, result)
    decimals = {one.measure: shared_decimals([one.interval]) for one in evaluation.results}
    low, high = (number(end, decimals[result.measure]) for end in result.interval)
    sentence = f"Its {result.measure} is {number(result.mean, decimals[result.measure])}."
    sure = percent(evaluation.confidence)
    evidence = f"On queries like the {result.queries} of {data.source} it is {low} to {high} ({sure} interval)."
    shown = [
        Figure(str(one.measure), number(one.mean, decimals[one.measure]), spread(one.mean, one.interval, decimals[one.measure]))
        for one in evaluation.results
        if finite(one.mean) is not None
    ]
    return {
        **importance_sections({"model": ranker}, data, result.measure, result),
        "verdict": (sentence, evidence, *met, *([note] if note else [])),
        "figures_title": f"On {data.source}.",
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
