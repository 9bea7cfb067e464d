"""The report of an ensemble: its members, the ways to combine them, and how much they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankinite.adapt.choice import size_of
from rankinite.data.dataset import Dataset
from rankinite.ensembles.member_choice import MemberChoice
from rankinite.ensembles.member_diversity import Diversity, diversity
from rankinite.ensembles.weight_finders import AVERAGE
from rankinite.evaluation.compare import Comparison, compare
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.grid import number
from rankinite.measures.base import Measure, sign_of
from rankinite.report import handover, tables
from rankinite.report import provenance as repeating
from rankinite.report.diversity_section import diversity_section
from rankinite.report.document import Report, ResultTable
from rankinite.report.queries import JudgedRanker, grades_by_rank, queries_of
from rankinite.report.verdicts import explanation_of, overlap_notes, verdict_of

ENSEMBLE = "ensemble"
"""What the ensemble is called beside its members."""
NOTES = {
    "Members": "Trained without these queries.",
    "Combinations, judged by folds": "Each query is judged by weights that were chosen on other folds of the queries held out.",
    "Subsets": "Averages of some members. The best of many looks better here than it is.",
}


def of_ensemble(
    ranker: Scorer,
    members: Mapping[str, Scorer],
    *,
    choice: MemberChoice | None = None,
    test: Dataset | None = None,
    measures: Sequence[Measure | str] | Measure | str = "ndcg@10",
    diverse: Diversity | None = None,
    data: Mapping[str, Dataset | None] | None = None,
    facts: Mapping[str, Mapping[str, Any]] | None = None,
    title: str = "Ensemble",
) -> Report:
    """The report of an ensemble and its members, which share a scale.

    ``choice``: how it was chosen, whose tables and diversity are shown. ``test``: data on which ensemble and members are
    compared, and without a choice their diversity is taken. ``diverse``: the diversity, if it is known already. ``data``: the
    data whose fingerprints to list, by name.

    >>> write(of_ensemble(ranker, members, choice=choice, test=test), "report.html")           # doctest: +SKIP
    """
    compared = None if test is None else compare({**members, ENSEMBLE: ranker}, test, measures, against=[ENSEMBLE])
    judged: dict[str, Any] = {} if test is None or compared is None else _test_sections(compared, ranker, members, test)
    if diverse is None and choice is not None:
        diverse = choice.diversity
    elif diverse is None and test is not None and compared is not None:
        diverse = diversity(members, test, compared.measures[0])
    size = f"An ensemble of {len(members)} members: {size_of(ranker)}."
    verdict = [*judged.pop("verdict", ()), *([] if choice is None else [choice.verdict]), size]
    return Report(
        title=title,
        verdict=(*verdict, *(() if choice is None else choice.notes), *overlap_notes(compared)),
        tables=(*judged.pop("tables", ()), *([] if choice is None else _choice_tables(choice))),
        diversity=None if diverse is None else diversity_section(diverse),
        facts=(
            *repeating.caller_facts(facts),
            *([] if choice is None else repeating.caller_facts({"Weights": _weights(choice)})),
            repeating.data_facts({**(data or {}), "test": test}),
            repeating.version_facts(),
        ),
        handover=handover.after_ensemble(size),
        **judged,
    )


def _test_sections(compared: Comparison, ranker: Scorer, members: Mapping[str, Scorer], test: Dataset) -> dict[str, Any]:
    """The ensemble against its best member on test data, which says more than against the average member."""
    measure = compared.measures[0]
    best = max(members, key=lambda name: sign_of(measure) * compared[name][measure].mean)
    rankers = {**members, ENSEMBLE: ranker}
    before, after = (
        JudgedRanker(name, scores_of(rankers[name], test, name), compared[name][measure]) for name in (best, ENSEMBLE)
    )
    favoured = f"{best} is the best member on these very data, which favours it."
    sizes = {name: size_of(one) for name, one in rankers.items()}
    return {
        "verdict": (*verdict_of(compared, best, ENSEMBLE, measure), favoured),
        "explanation": explanation_of(compared, best, ENSEMBLE, measure),
        "figures": tables.figures(compared, best, ENSEMBLE, measure),
        "figures_title": f"On {test.source}.",
        "tables": (tables.compared(compared, "Test", ENSEMBLE, (ENSEMBLE,), sizes=sizes),),
        "queries": queries_of(test, before, after, favoured),
        "grades": grades_by_rank(test, before, after),
    }


def _choice_tables(choice: MemberChoice) -> list[ResultTable]:
    named = choice.name if choice.name in choice.combinations.systems else None
    steps = (f"{size}: {step.added} {number(step.value)}" for size, step in enumerate(choice.path, 1))
    further = {"Subsets": (f"Forward selection, chosen and judged on the same queries: {', '.join(steps)}.",)}
    return [
        tables.compared(
            comparison,
            f"{title} on the queries held out",
            named if comparison is choice.combinations else AVERAGE,
            (AVERAGE,),
            (NOTES[title], *further.get(title, ())),
        )
        for title, comparison in choice.tables().items()
    ]


def _weights(choice: MemberChoice) -> dict[str, str]:
    scale = {"scores are scaled": choice.weighing.scale}
    return {**scale, **{name: f"{weight:.6g}" for name, weight in choice.weighing.weights.items() if weight}}
