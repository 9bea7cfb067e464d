"""Tables, figures and the learning curve of a report, made from comparisons and evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankinite.adapt.decision import BASELINES
from rankinite.adapt.result import Choice, size_of
from rankinite.errors import ArgumentError
from rankinite.evaluation import evaluate
from rankinite.evaluation.bounds import half_note
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.evaluate import Evaluation, finite, percent
from rankinite.evaluation.pairs import floor_note
from rankinite.grid import number
from rankinite.measures.base import Measure
from rankinite.plurals import counted
from rankinite.report.document import CurveLine, Figure, Gain, ResultTable, System, SystemResult, TargetSizeCurve


def choice_tables(choice: Choice) -> tuple[ResultTable, ...]:
    """One table on unseen target queries, which decided, and one on each other set that was reported."""
    seen = [
        ("Unseen target queries", choice.unseen, "Each query is judged by rankers that had not seen it. This decided."),
        ("Test", choice.test, "Rankers fitted to all target data. The test data decided nothing."),
        ("Shifted queries", choice.shifted, "Queries of another time or kind. They decided nothing."),
    ]
    what = {trial.method.name: trial.method.what for trial in choice.trials}
    sizes = {trial.method.name: size_of(trial.ranker) for trial in choice.trials}
    seconds = {trial.method.name: trial.seconds for trial in choice.trials}
    return tuple(
        compared(comparison, title, choice.name, BASELINES, (note,), what=what, sizes=sizes, seconds=seconds)
        for title, comparison, note in seen
        if comparison is not None
    )


def compared(
    comparison: Comparison,
    title: str,
    chosen: str | None,
    baselines: Sequence[str],
    notes: tuple[str, ...] = (),
    *,
    what: Mapping[str, str] | None = None,
    sizes: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> ResultTable:
    """A comparison as a table."""
    known = [name for name in baselines if name in comparison.systems]
    systems = tuple(
        System(
            letter=letter,
            name=name,
            what=(what or {}).get(name, ""),
            chosen=name == chosen,
            results=tuple(_compared_result(comparison, name, measure) for measure in comparison.measures),
            gains=tuple(_gain(comparison, name, base) for base in known),
            size=(sizes or {}).get(name, ""),
            seconds=(seconds or {}).get(name),
        )
        for name, letter in comparison.letters.items()
    )
    any_of = comparison[comparison.systems[0]]
    return ResultTable(
        title=title,
        source=any_of.source,
        measures=tuple(map(str, comparison.measures)),
        higher_is_better=tuple(measure.higher_is_better for measure in comparison.measures),
        baselines=tuple(known),
        systems=systems,
        alpha=comparison.alpha,
        notes=(*comparison.warnings, *notes, *_counts(any_of), *_test_notes(comparison, known)),
    )


def evaluated(evaluation: Evaluation, name: str, title: str, size: str, notes: tuple[str, ...] = ()) -> ResultTable:
    """One system alone as a table."""
    results = tuple(_result(result, "") for result in evaluation.results)
    return ResultTable(
        title=title,
        source=evaluation.source,
        measures=tuple(map(str, evaluation.measures)),
        higher_is_better=tuple(measure.higher_is_better for measure in evaluation.measures),
        baselines=(),
        systems=(System("a", name, "", chosen=True, results=results, gains=(), size=size, seconds=None),),
        alpha=0.0,
        notes=(*evaluation.warnings, *notes, *_counts(evaluation), _interval_note(evaluation)),
    )


def figures(comparison: Comparison, before: str, after: str, measure: Measure) -> tuple[Figure, ...]:
    """The few numbers at the top: before, after, the difference, and how many queries gain."""
    old, new = (comparison[name][measure] for name in (before, after))
    pair, source = comparison.pair(after, before, measure), comparison[after].source
    return (
        Figure(f"{measure}, {before}", number(old.mean), f"on {source}"),
        Figure(f"{measure}, {after}", number(new.mean), f"on {source}"),
        Figure("change", number(pair.difference, signed=True), "mean over queries"),
        Figure("queries better · same · worse", f"{pair.wins} · {pair.ties} · {pair.losses}", f"of {new.queries}"),
    )


def curve_of(choice: Choice) -> TargetSizeCurve | None:
    """The learning curve, where one was taken."""
    if choice.curve is None:
        return None
    recorded = choice.curve.to_dict()
    lines = tuple(
        CurveLine(
            name=name,
            means=tuple(means),
            gains=tuple(entry["gain"] for entry in recorded["gains"].get(name, ())),
            lows=tuple(entry["low"] for entry in recorded["gains"].get(name, ())),
            highs=tuple(entry["high"] for entry in recorded["gains"].get(name, ())),
        )
        for name, means in recorded["means"].items()
    )
    return TargetSizeCurve(recorded["measure"], tuple(recorded["queries"]), choice.name, lines)


def _compared_result(comparison: Comparison, name: str, measure: Measure) -> SystemResult:
    letters = [comparison.letters[other] for other in comparison.better_than(name, measure)]
    return _result(comparison[name][measure], ("" if len(comparison.systems) <= 26 else ",").join(letters))


def _result(result: evaluate.Result, better_than: str) -> SystemResult:
    low, high = map(finite, result.interval)
    return SystemResult(finite(result.mean), low, high, result.spread, better_than)


def _gain(comparison: Comparison, name: str, base: str) -> Gain | None:
    if name == base:
        return None
    try:
        pair = comparison.pair(name, base, comparison.measures[0])
    except ArgumentError:  # the pair was left out of the tests
        return None
    low, high = map(finite, pair.interval)
    p = pair.p(comparison.test)
    return Gain(pair.difference, low, high, p.holm, p.holm_text, pair.wins, pair.ties, pair.losses)


def _counts(evaluation: Evaluation) -> tuple[str, ...]:
    counts: dict[tuple[int, int], list[str]] = {}
    for result in evaluation.results:
        counts.setdefault((result.queries, result.skipped), []).append(str(result.measure))
    return tuple(
        f"{', '.join(names)}: {counted(queries, 'query')}, {skipped} skipped." for (queries, skipped), names in counts.items()
    )


def _interval_note(*evaluations: Evaluation) -> str:
    shared = evaluations[0]
    spreads = (result.spread for evaluation in evaluations for result in evaluation.results)
    half = half_note(f"{percent(shared.confidence)} interval over queries", spreads)
    return f"{half}. Convention {shared.convention}, ties {shared.ties}."


def _test_notes(comparison: Comparison, baselines: Sequence[str]) -> tuple[str, ...]:
    any_of, measures = comparison[comparison.systems[0]], comparison.measures
    notes = [_interval_note(*comparison.evaluations.values())]
    if baselines:
        below = f"its {percent(any_of.confidence)} interval, then the queries better · same · worse"
        limits = floor_note(pair.p(comparison.test) for pair in comparison.pairs)
        notes.append(f"Over {' and '.join(baselines)}: the gain by {measures[0]} with its p; below it {below}{limits}.")
        notes.append("Intervals are of each gain alone, not corrected.")
    decided = f"{comparison.test} test, paired by query, alpha {comparison.alpha:g}"
    notes.append(f">: significantly better than the systems of these letters ({decided}).")
    pairs, tested = len(comparison.pairs) // len(measures), only_against(comparison)
    if pairs > 1:
        apart = ", measure by measure" if len(measures) > 1 else ""
        notes.append(f"Letters and p are Holm-corrected for the {pairs} pairs tested{apart}.")
    if tested:
        notes.append(f"Only pairs with {' or '.join(tested)} were tested: no letter says anything of other pairs.")
    return tuple(notes)


def only_against(comparison: Comparison) -> tuple[str, ...]:
    """The systems that all others were tested against, where other pairs were left out; none where all pairs were tested."""
    systems = comparison.systems
    partners: dict[str, set[str]] = {name: set() for name in systems}
    for pair in comparison.pairs:
        partners[pair.first].add(pair.second)
        partners[pair.second].add(pair.first)
    everywhere = tuple(name for name in systems if len(partners[name]) == len(systems) - 1)
    return () if len(everywhere) == len(systems) else everywhere
