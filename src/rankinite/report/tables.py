"""Tables, figures and the learning curve of a report, made from comparisons and evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankinite.adapt.choice import Choice, size_of
from rankinite.adapt.decision import BASELINES
from rankinite.adapt.recommendation import expected_texts
from rankinite.errors import ArgumentError
from rankinite.evaluation import evaluate
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.evaluate import Evaluation
from rankinite.evaluation.pair_tests import floor_note
from rankinite.frames import finite
from rankinite.grid import decimals_for, half_note, number, percent, shared_decimals, spread
from rankinite.measures.base import Measure, sign_of
from rankinite.plurals import counted
from rankinite.report.document import (
    CurveLine,
    Figure,
    FigureGroup,
    Gain,
    Number,
    ResultTable,
    System,
    SystemResult,
    TargetSizeCurve,
)


def choice_tables(choice: Choice) -> tuple[ResultTable, ...]:
    """One table on unseen target queries, which decided, and one on each other set that was reported."""
    seen = [
        ("Target", choice.unseen, "Each query is judged by rankers that had not seen it."),
        ("Test", choice.test, "Rankers fitted to all target data. The test data decided nothing."),
        ("Shifted queries", choice.shifted, "Queries of another time or kind. They decided nothing."),
    ]
    what = {trial.method.name: trial.method.what for trial in choice.trials}
    sizes = {trial.method.name: size_of(trial.ranker) for trial in choice.trials}
    seconds = {trial.method.name: trial.seconds for trial in choice.trials}
    served = {name: cost.microseconds for name, cost in choice.costs.items()}
    return tuple(
        compared(
            comparison,
            title,
            choice.name,
            BASELINES,
            (note,),
            what=what,
            sizes=sizes,
            seconds=seconds,
            microseconds=served,
        )
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
    microseconds: Mapping[str, float] | None = None,
) -> ResultTable:
    """A comparison as a table, the best system first."""
    known = tuple(name for name in baselines if name in comparison.systems)
    any_of, decimals = comparison[comparison.systems[0]], _mean_decimals(comparison)
    systems = tuple(
        System(
            letter=letter,
            name=name,
            what=(what or {}).get(name, ""),
            chosen=name == chosen,
            results=_compared_results(comparison, name, decimals),
            gains=tuple(_gain(comparison, name, base) for base in known),
            size=(sizes or {}).get(name, ""),
            seconds=(seconds or {}).get(name),
            microseconds=(microseconds or {}).get(name),
        )
        for name, letter in _best_first(comparison)
    )
    return ResultTable(
        title=title,
        source=any_of.source,
        **_measured(comparison.measures),
        baselines=known,
        systems=systems,
        alpha=comparison.alpha,
        notes=(*comparison.warnings, *notes, *_counts(any_of)),
        marks=_marks(comparison, systems, known),
        decimals=decimals,
        gain_decimals=_gain_decimals(systems),
    )


def _measured(measures: Sequence[Measure]) -> dict[str, Any]:
    """What a table says of its measures."""
    higher = tuple(measure.higher_is_better for measure in measures)
    return {"measures": tuple(map(str, measures)), "higher_is_better": higher}


def _mean_decimals(comparison: Comparison) -> tuple[int, ...]:
    """The decimals of every measure's means."""
    systems, measures = comparison.systems, comparison.measures
    return tuple(shared_decimals(comparison[name][measure].interval for name in systems) for measure in measures)


def _gain_decimals(systems: Sequence[System]) -> tuple[int, ...]:
    """The decimals of the gains over every baseline."""
    return tuple(
        shared_decimals(_known_ends((one.low, one.high) for one in gains if one is not None))
        for gains in zip(*(system.gains for system in systems), strict=True)
    )


def _best_first(comparison: Comparison) -> list[tuple[str, str]]:
    """The systems with their letters, by the first measure; those that are equal stay in their order."""
    measure = comparison.measures[0]
    return sorted(comparison.letters.items(), key=lambda entry: -sign_of(measure) * comparison[entry[0]][measure].mean)


def evaluated(evaluation: Evaluation, name: str, title: str, size: str, notes: tuple[str, ...] = ()) -> ResultTable:
    """One system alone as a table."""
    decimals = tuple(shared_decimals([result.interval]) for result in evaluation.results)
    results = tuple(_result(result, "", digits) for result, digits in zip(evaluation.results, decimals, strict=True))
    return ResultTable(
        title=title,
        source=evaluation.source,
        **_measured(evaluation.measures),
        baselines=(),
        systems=(System("a", name, "", chosen=True, results=results, gains=(), size=size, seconds=None),),
        alpha=0.0,
        notes=(*evaluation.warnings, *notes, *_counts(evaluation)),
        marks=(_interval_note(evaluation.confidence, [result.spread for result in results]), _rules_note(evaluation)),
        decimals=decimals,
    )


def figures(comparison: Comparison, before: str, after: str, measure: Measure) -> tuple[Figure, ...]:
    """The few numbers at the top: before, after, the difference, and how many queries gain."""
    old, new = (comparison[name][measure] for name in (before, after))
    pair = comparison.pair(after, before, measure)
    digits = shared_decimals([old.interval, new.interval])
    low, high = pair.interval
    decimals = decimals_for((high - low) / 2)
    ends = f"{number(low, decimals, signed=True)} to {number(high, decimals, signed=True)}"
    return (
        Figure(f"{measure}, {before}", number(old.mean, digits), spread(old.mean, old.interval, digits)),
        Figure(f"{measure}, {after}", number(new.mean, digits), spread(new.mean, new.interval, digits)),
        Figure("change", number(pair.difference, decimals, signed=True), ends),
        Figure("queries better · same · worse", f"{pair.wins} · {pair.ties} · {pair.losses}", f"of {new.queries}"),
    )


def choice_figures(choice: Choice) -> dict[str, Any]:
    """The figures of the target's queries and what to expect; apart from them, those of data that decided nothing."""
    others = [("test", choice.test), ("shifted", choice.shifted)]
    seen = choice.unseen[choice.name]
    return {
        "figures": (*figures(choice.unseen, "background", choice.name, choice.measure), *_expected(choice)),
        "figures_title": f"On the target queries of {seen.source}, each judged by rankers that had not seen it.",
        "other_figures": tuple(
            FigureGroup(
                f"On the {name} data, {comparison[choice.name].source}, which decided nothing.",
                figures(comparison, "background", choice.name, choice.measure),
            )
            for name, comparison in others
            if comparison is not None
        ),
    }


def _expected(choice: Choice) -> tuple[Figure, ...]:
    """The gain to expect on new queries, with other domains counted; nothing where these do not apply."""
    if not choice.verdict.ranks:
        return ()
    expected, low, high = expected_texts(choice)
    return (Figure("expected on new queries", expected, f"{low} to {high}"),)


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
    ends = _known_ends(ends for line in lines for ends in zip(line.lows, line.highs, strict=True))
    return TargetSizeCurve(recorded["measure"], tuple(recorded["queries"]), choice.name, lines, shared_decimals(ends))


def _known_ends(intervals: Iterable[tuple[Number, Number]]) -> list[tuple[float, float]]:
    """The intervals of which both ends are known."""
    return [(low, high) for low, high in intervals if low is not None and high is not None]


def _compared_results(comparison: Comparison, name: str, decimals: Sequence[int]) -> tuple[SystemResult, ...]:
    """One system by every measure."""
    comma = "" if len(comparison.systems) <= 26 else ","
    found: list[SystemResult] = []
    for measure, digits in zip(comparison.measures, decimals, strict=True):
        letters = comma.join(comparison.letters[other] for other in comparison.better_than(name, measure))
        found.append(_result(comparison[name][measure], letters, digits))
    return tuple(found)


def _result(result: evaluate.Result, better_than: str, decimals: int) -> SystemResult:
    low, high = map(finite, result.interval)
    return SystemResult(finite(result.mean), low, high, spread(result.mean, result.interval, decimals), better_than)


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


def _interval_note(confidence: float, spreads: Sequence[str]) -> str:
    return f"{half_note(f'{percent(confidence)} interval over queries', spreads)}."


def _rules_note(evaluation: Evaluation) -> str:
    return f"Convention {evaluation.convention}, ties {evaluation.ties}."


def _marks(comparison: Comparison, systems: Sequence[System], baselines: Sequence[str]) -> tuple[str, ...]:
    """What the marks that occur in a table mean."""
    any_of, measures = comparison[comparison.systems[0]], comparison.measures
    tests = f"{comparison.test} test, paired by query"
    found = [_interval_note(any_of.confidence, [result.spread for system in systems for result in system.results])]
    gains = any(gain is not None for system in systems for gain in system.gains)
    letters = any(result.better_than for system in systems for result in system.results)
    if gains:
        below = f"its {percent(any_of.confidence)} interval, not corrected, then the queries better · same · worse"
        limits = floor_note(pair.p(comparison.test) for pair in comparison.pairs)
        named = " and ".join(baselines)
        found.append(f"Over {named}: the gain by {measures[0]} with its p ({tests}); below it {below}{limits}.")
    if letters:
        found.append(f">: significantly better than the systems of these letters ({tests}, alpha {comparison.alpha:g}).")
    pairs, tested = len(comparison.pairs) // len(measures), only_against(comparison)
    marked = " and ".join([*(["Letters"] if letters else []), *(["p"] if gains else [])])
    if marked and pairs > 1:
        apart = ", measure by measure" if len(measures) > 1 else ""
        found.append(f"{marked}: Holm-corrected for the {pairs} pairs tested{apart}.")
    if tested:
        unsaid = ": no letter says anything of other pairs" if letters else ""
        found.append(f"Only pairs with {' or '.join(tested)} were tested{unsaid}.")
    return (*found, _rules_note(any_of))


def only_against(comparison: Comparison) -> tuple[str, ...]:
    """The systems that all others were tested against, where other pairs were left out; none where all pairs were tested."""
    systems = comparison.systems
    partners: dict[str, set[str]] = {name: set() for name in systems}
    for pair in comparison.pairs:
        partners[pair.first].add(pair.second)
        partners[pair.second].add(pair.first)
    everywhere = tuple(name for name in systems if len(partners[name]) == len(systems) - 1)
    return () if len(everywhere) == len(systems) else everywhere
