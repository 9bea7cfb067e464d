"""The report of a cross-validation: the learners on all queries, and fold by fold."""

from __future__ import annotations

from collections.abc import Sequence

from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Fold
from rankinite.ensembles.cross_validation import dealt_folds
from rankinite.errors import DataError
from rankinite.evaluation.compare import Comparison
from rankinite.grid import number, percent
from rankinite.report import handover, tables
from rankinite.report import provenance as repeating
from rankinite.report.builders import CallerFacts, best_system, test_facts
from rankinite.report.document import Facts, Report
from rankinite.report.folds_section import folds_section
from rankinite.report.verdicts import explanation_of, verdict_of

UNSEEN = "Each query is judged by rankers that had not seen it: those trained without its fold."


def of_cross_validation(
    comparison: Comparison,
    data: Dataset | Sequence[Dataset] | Sequence[Fold],
    folds: int | Batches = 5,
    *,
    seed: int = 0,
    facts: CallerFacts | None = None,
    title: str = "Cross-validation",
) -> Report:
    """The report of what :func:`rankinite.cross_validate` found, given the same data, folds and seed.

    The first system is the baseline of the others. ``facts``: what else should be known to repeat it, such as the command.

    >>> write(of_cross_validation(cross_validate(learners, data), data), "folds.html")         # doctest: +SKIP
    """
    dealt = dealt_folds(data, folds, seed)
    sizes = _checked_sizes(comparison, dealt)
    listed = repeating.data_facts({f"test of fold {place}": fold.test for place, fold in enumerate(dealt, 1)})
    about = Facts("Folds", (("folds", str(len(dealt))), ("seed of the dealing", str(seed))))
    known = (*repeating.caller_facts(facts), about, listed, test_facts(comparison), repeating.version_facts())
    if len(comparison.systems) == 1:
        return _of_one(comparison, sizes, known, title)
    measure, old = comparison.measures[0], comparison.systems[0]
    new = best_system(comparison, old, measure)
    taken = new if comparison.pair(new, old, measure).better == new else None
    return Report(
        title=title,
        verdict=verdict_of(comparison, old, new, measure),
        explanation=explanation_of(comparison, old, new, measure),
        figures=tables.figures(comparison, old, new, measure),
        tables=(tables.compared(comparison, "All folds", taken, (old,), (UNSEEN,)),),
        folds=folds_section(comparison, sizes, taken),
        facts=known,
        handover=handover.after_cross_validation(comparison, old, new, measure),
    )


def _of_one(comparison: Comparison, sizes: Sequence[int], facts: tuple[Facts, ...], title: str) -> Report:
    """The report of a single learner, which is compared with none."""
    (name,) = comparison.systems
    evaluation = comparison[name]
    result = evaluation.results[0]
    low, high = map(number, result.interval)
    value = f"On {evaluation.source} its {result.measure} is {number(result.mean)}"
    return Report(
        title=title,
        verdict=(f"{name} alone was judged.", f"{value} ({percent(evaluation.confidence)} interval {low} to {high})."),
        tables=(tables.evaluated(evaluation, name, "All folds", "", (UNSEEN,)),),
        folds=folds_section(comparison, sizes, name),
        facts=facts,
    )


def _checked_sizes(comparison: Comparison, dealt: Sequence[Fold]) -> list[int]:
    """The test queries of each fold; refuses folds other than those that were compared."""
    qids = [qid for fold in dealt for qid in fold.test.qids.tolist()]
    if qids != comparison[comparison.systems[0]].qids.tolist():
        raise DataError(
            "the test queries of these folds are not those that were judged",
            place=dealt[0].test.source,
            value=len(qids),
            remedy="Give the data, the folds and the seed that cross_validate had",
        )
    return [fold.test.queries for fold in dealt]
