"""Tables of a comparison: its systems and its pairs as grids, CSV and plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.evaluation.bounds import half_note
from rankinite.evaluation.evaluate import Evaluation, finite, percent
from rankinite.evaluation.pairs import TESTS, floor_note
from rankinite.grid import Grid, number
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from rankinite.evaluation.compare import Comparison
    from rankinite.measures.base import Measure


def systems_grid(comparison: Comparison) -> Grid:
    """Systems × measures: mean, half the interval, and the letters of the systems it is significantly better than."""
    rows = tuple(
        (letter, name, *(_cell(comparison, name, measure) for measure in comparison.measures))
        for name, letter in comparison.letters.items()
    )
    best = {
        (row, 2 + column)
        for column, measure in enumerate(comparison.measures)
        for row, name in enumerate(comparison.systems)
        if name in comparison.best(measure)
    }
    header = ("", "system", *map(str, comparison.measures))
    return Grid(header, rows, "l" * len(header), short_source(_shared(comparison).source), _notes(comparison), frozenset(best))


def pairs_grid(comparison: Comparison) -> Grid:
    """Every pair: difference, wins / ties / losses, and the p-values of the three tests, raw and Holm-corrected."""
    shared = _shared(comparison)
    header = ("measure", "first", "second", "difference", f"{percent(shared.confidence)} interval", "wins/ties/losses")
    rows = tuple(
        (
            str(pair.measure),
            pair.first,
            pair.second,
            number(pair.difference, signed=True),
            " to ".join(number(end, signed=True) for end in pair.interval),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            *(text for test in TESTS for text in (pair.p(test).raw_text, pair.p(test).holm_text)),
        )
        for pair in comparison.pairs
    )
    names = tuple(name for test in TESTS for name in (test, "Holm"))
    below = floor_note(pair.p(test) for pair in comparison.pairs for test in TESTS)
    drawn = f"{comparison.resamples} resamples, seed {comparison.seed}"
    note = f"p-values of the paired tests, each raw and Holm-corrected; {drawn}{below}."
    return Grid((*header, *names), rows, "lll" + "r" * 9, f"{short_source(shared.source)}: pairs", (note,))


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """Every system by every measure as a flat record."""
    return [
        {"system": name, **record, "better_than": "; ".join(comparison.better_than(name, record["measure"]))}
        for name, evaluation in comparison.evaluations.items()
        for record in evaluation.records()
    ]


def query_records(comparison: Comparison) -> list[dict[str, Any]]:
    """The value of every query for every system by every measure as a flat record."""
    return [
        {"system": name, **record}
        for name, evaluation in comparison.evaluations.items()
        for record in evaluation.query_records()
    ]


def systems_csv(comparison: Comparison) -> str:
    """One line per system and measure, with all digits."""
    rows = tuple(
        (
            name,
            str(r.measure),
            *map(repr, (r.mean, *r.interval)),
            str(r.queries),
            str(r.skipped),
            "; ".join(comparison.better_than(name, r.measure)),
        )
        for name, evaluation in comparison.evaluations.items()
        for r in evaluation.results
    )
    return Grid(("system", "measure", "mean", "low", "high", "queries", "skipped", "better than"), rows).csv()


def pairs_csv(comparison: Comparison) -> str:
    """One line per pair and measure, with all digits."""
    rows = [pair.record() for pair in comparison.pairs]
    return Grid(tuple(rows[0]), tuple(tuple(map(str, row.values())) for row in rows)).csv()


def content(comparison: Comparison) -> dict[str, Any]:
    """Everything there is, as JSON has it; what is undefined or infinite is None."""
    return {
        "test": comparison.test,
        "correction": "holm",
        "alpha": comparison.alpha,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "warnings": list(comparison.warnings),
        "systems": {
            name: {
                **evaluation.to_dict(),
                "better_than": {str(m): list(comparison.better_than(name, m)) for m in comparison.measures},
            }
            for name, evaluation in comparison.evaluations.items()
        },
        "pairs": [
            {key: finite(value) if isinstance(value, float) else value for key, value in pair.record().items()}
            for pair in comparison.pairs
        ],
    }


def letter(place: int) -> str:
    """a, b, … z, aa, ab, …"""
    before, last = divmod(place, 26)
    return (letter(before - 1) if before else "") + "abcdefghijklmnopqrstuvwxyz"[last]


def _shared(comparison: Comparison) -> Evaluation:
    """One of the evaluations: what they share can be read from any."""
    return next(iter(comparison.evaluations.values()))


def _cell(comparison: Comparison, name: str, measure: Measure) -> str:
    result = comparison.evaluations[name][measure]
    letters = [comparison.letters[other] for other in comparison.better_than(name, result.measure)]
    beaten = ("" if len(comparison.systems) <= 26 else ",").join(letters)
    return f"{number(result.mean)} {result.spread}" + (f" >{beaten}" if beaten else "")


def _notes(comparison: Comparison) -> tuple[str, ...]:
    shared, test = _shared(comparison), comparison.test
    counts: dict[tuple[int, int], list[str]] = {}
    for result in shared.results:
        counts.setdefault((result.queries, result.skipped), []).append(str(result.measure))
    pairs = len(comparison.pairs) // len(comparison.measures)
    corrected = f"Holm-corrected over {pairs} pair{'s' * (pairs > 1)}; alpha {comparison.alpha:g}"
    spreads = (result.spread for evaluation in comparison.evaluations.values() for result in evaluation.results)
    half = half_note(f"{percent(shared.confidence)} confidence interval of the mean", spreads)
    letters = f">: significantly better than the systems of these letters ({test} test, paired by query; {corrected})."
    drawn = f"; {comparison.resamples} resamples, seed {comparison.seed}" if pairs else ""
    return (
        *comparison.warnings,
        f"{half}. * or bold: best mean." if pairs else f"{half}.",
        *((letters,) if pairs else ()),
        *(
            f"{', '.join(names)}: {counted(queries, 'query')}, {skipped} skipped."
            for (queries, skipped), names in counts.items()
        ),
        f"Convention {shared.convention}, ties {shared.ties}{drawn}.",
    )
