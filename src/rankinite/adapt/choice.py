"""Choice: the ranker to deploy after every method was tried, and the evidence."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.adapt.decision import BASELINES, Verdict
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.adapt.queries_needed import QueriesNeeded, queries_needed
from rankinite.adapt.serving_costs import ServingCost
from rankinite.adapt.trials import MethodTrial
from rankinite.errors import RankiniteError
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.pair_tests import floor_note
from rankinite.evaluation.sentences import MEANING
from rankinite.evaluation.significance import exact_mean, exact_sum, paired_differences
from rankinite.frames import ArrowTable, TabularByQuery, arrow_of
from rankinite.grid import Grid, GridResult, half_note, number, percent
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_OF_GAIN = 0.5
"""A few queries carry a gain if the mean gain falls by more than this share without them."""
FEW_CARRIERS = 2
"""The most queries that are left out."""
SCHEMA = 2
"""The version of what ``to_dict`` and evidence.json hold: 2 has three verdicts and the interval of the gain."""


@dataclass(frozen=True, eq=False)
class Choice(GridResult, TabularByQuery):
    """The ranker to deploy, and how every method did."""

    verdict: Verdict
    ranker: Fitted
    """What to deploy: the method chosen, fitted to all target data, or the background if the method is not recommended."""
    measure: Measure
    trials: tuple[MethodTrial, ...]
    refused: Mapping[str, str]
    """Methods that could not be tried, and why."""
    unseen: Comparison
    """All methods on the target's queries, each judged by rankers that had not seen it. This decides."""
    test: Comparison | None = None
    """All methods, fitted to all target data, on the test data."""
    shifted: Comparison | None = None
    """The same on data of another time or kind."""
    curve: LearningCurve | None = None
    backgrounds: Mapping[str, Fitted] = field(default_factory=dict[str, Fitted])
    """All backgrounds, by name."""
    forest: Forest | None = None
    """The background whose trees are tuned or extended: the best forest of them."""
    costs: Mapping[str, ServingCost] = field(default_factory=dict[str, ServingCost])
    """Where the ranker of each method can be served, and how long that takes."""
    notes: tuple[str, ...] = ()
    """What did not go as expected, such as kept work that had to be made again."""
    deployable: str | None = None
    """Where the ranker is to be served, if that was asked for."""

    @property
    def name(self) -> str:
        """The method chosen."""
        return self.verdict.name

    @property
    def models(self) -> dict[str, Fitted]:
        """Every method's ranker."""
        return {trial.method.name: trial.ranker for trial in self.trials}

    @property
    def refusals(self) -> Mapping[str, RankiniteError]:
        """The errors behind ``refused``."""
        return self.refused.errors if isinstance(self.refused, Refusals) else {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind: the notes, and which methods were judged on queries that they were, or may be, trained on."""
        return (*self.notes, *(text for comparison in self._comparisons().values() for text in comparison.warnings))

    def background_name(self, ranker: Fitted | None) -> str | None:
        """The name of a background; None for any other ranker."""
        return next((name for name, background in self.backgrounds.items() if background is ranker), None)

    # ---- tables ------------------------------------------------------------------------------------------------

    def grid(self, comparison: Comparison | None = None, title: str = "") -> Grid:
        """All methods: means with intervals, and gains over the baselines; on the target's queries without ``comparison``."""
        seen = self.unseen if comparison is None else comparison
        known = {trial.method.name: trial for trial in self.trials}
        rows = [
            (name, *(_cell(seen, name, measure) for measure in seen.measures), *(_gain(seen, name, base) for base in BASELINES),
             size_of(known[name].ranker), f"{known[name].seconds:.1f}")
            for name in seen.systems
        ]  # fmt: skip
        header = ("method", *map(str, seen.measures), *(f"over {base} (p)" for base in BASELINES), "size", "seconds")
        strong = frozenset({(list(seen.systems).index(self.name), 0)})
        notes = self._notes(seen, decides=comparison is None)
        return Grid(header, tuple(rows), title=title or self._title(seen), notes=notes, strong=strong)

    def to_arrow(self, *, per_query: bool = False) -> ArrowTable:
        """One row per data, method and measure; with ``per_query`` the value of every query, missing where it was skipped.

        ``data`` is "target" (its queries, unseen), "test" or "shifted".
        """
        known = {trial.method.name: trial for trial in self.trials}
        return arrow_of(
            [
                {"data": where, "method": name, "chosen": name == self.name, **fields, **_fitting(known[name], per_query)}
                for where, seen in self._comparisons().items()
                for name, evaluation in seen.evaluations.items()
                for fields in (evaluation.query_records() if per_query else evaluation.records())
            ]
        )

    def _comparisons(self) -> dict[str, Comparison]:
        every = {"target": self.unseen, "test": self.test, "shifted": self.shifted}
        return {name: seen for name, seen in every.items() if seen is not None}

    def _notes(self, seen: Comparison, *, decides: bool) -> tuple[str, ...]:
        """What the columns mean; below the table that decides, for the tables that follow it too."""
        from rankinite.adapt.recommendation import DECISION_NOTE

        pairs = len(seen.pairs) // len(seen.measures)
        tested = f"{seen.test} test, two-sided, paired by query, Holm-corrected over {counted(pairs, 'pair')}"
        every = [one for one in (seen, self.test, self.shifted) if one is not None] if decides else [seen]
        spreads = [result.spread for one in every for name in one.systems for result in one[name].results]
        skipped = seen[seen.systems[0]][self.measure].skipped
        uncounted = f"Not counted: {counted(skipped, 'more query')} with documents of one grade only, or none relevant."
        return (
            *seen.warnings,
            *([uncounted] if skipped else []),
            f"{half_note(f'{percent(0.95)} interval over queries', spreads)}. * or bold: chosen.",
            f"p: {tested}{floor_note(pair.p(one.test) for one in every for pair in one.pairs)}.",
            *([DECISION_NOTE] if decides else []),
            "Seconds: fits of all folds; work that several methods share is counted where it is first needed.",
            *(f"{name}: not tried. {why}" for name, why in self.refused.items() if decides),
        )

    def _title(self, seen: Comparison) -> str:
        result = seen[seen.systems[0]][self.measure]
        source = short_source(seen[seen.systems[0]].source)
        return f"{source}: {counted(result.queries, 'query')}, each judged by rankers that had not seen it"

    def gains(self, comparison: Comparison | None = None) -> list[tuple[str, float, float]]:
        """(qid, background's value, chosen method's value) of every query counted, the largest gain first.

        On the test data if there are any, else on the target's queries; with ``comparison`` on the data of that.
        """
        seen = comparison or self.test or self.unseen
        before, after = (seen[name][self.measure].per_query for name in ("background", self.name))
        known = [
            (str(qid), float(old), float(new))
            for qid, old, new in zip(seen[self.name].qids.tolist(), before, after, strict=True)
            if not np.isnan(old)
        ]
        sign = sign_of(self.measure)
        return sorted(known, key=lambda row: (sign * (row[1] - row[2]), row[0]))

    @property
    def concentration(self) -> Concentration | None:
        """The one or two queries that carry most of the gain on the target's queries; None if no one does. Decides nothing."""
        qids, before, after = zip(*self.gains(self.unseen), strict=True)
        sides = (after, before) if self.measure.higher_is_better else (before, after)
        return concentration(dict(zip(qids, paired_differences(*sides).tolist(), strict=True)))

    @property
    def queries_needed(self) -> QueriesNeeded | None:
        """How many more queries to judge where a gain is expected but too uncertain; None elsewhere. Decides nothing."""
        _, before, after = zip(*self.gains(self.unseen), strict=True)
        sign = sign_of(self.measure)
        return queries_needed(self.verdict, sign * np.asarray(after), sign * np.asarray(before), self.curve)

    def plot_methods(self, comparison: Comparison | None = None, axes: Axes | None = None) -> Axes:
        """Draw every method's gain over the background with its interval; on the target's queries if no comparison is given."""
        from rankinite.drawing import BLUE, GREY, INK, ORANGE, draw_intervals, literal

        seen = self.unseen if comparison is None else comparison
        base = BASELINES[0]
        names = [name for name in seen.systems if name != base]
        pairs = [seen.pair(name, base, self.measure) for name in names]
        better = sign_of(self.measure)
        canvas = draw_intervals(
            axes,
            names,
            [better * pair.difference for pair in pairs],
            [(min(ends), max(ends)) for pair in pairs for ends in [[better * end for end in pair.interval]]],
            [ORANGE if name == self.name else GREY if name in BASELINES else BLUE for name in names],
        )
        canvas.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
        shared = seen[base]
        queries = shared[self.measure].queries
        canvas.set_xlabel(f"gain in {self.measure} over the background, and its {percent(shared.confidence)} interval")
        canvas.set_title(literal(f"{short_source(shared.source)}: {counted(queries, 'query')}; chosen: {self.name}"))
        return canvas

    def _grids(self) -> list[Grid]:
        """All tables."""
        grids = [self.grid()]
        for name, comparison in (("test", self.test), ("shifted", self.shifted)):
            if comparison is not None:
                grids.append(self.grid(comparison, f"{name}: {short_source(comparison[self.name].source)}"))
        return grids if self.curve is None else [*grids, self.curve.grid()]

    def __str__(self) -> str:
        lead, *others = self.recommendation()
        return "\n\n".join([lead, *([" ".join(others)] if others else []), *(grid.text() for grid in self._grids())])

    def _repr_html_(self) -> str:
        lead, *others = map(html.escape, self.recommendation())
        advice = f"<p><strong>{lead}</strong> {' '.join(others)}</p>"
        meaning = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.explanation())
        folded = f"<details><summary>{MEANING}</summary><ul>{meaning}</ul></details>"
        return "\n".join([advice, folded, *(grid.html() for grid in self._grids())])

    # ---- text --------------------------------------------------------------------------------------------------

    def recommendation(self) -> tuple[str, ...]:
        """What to do, in plain sentences; the first is the decision, with the gain to expect and the chance of a loss."""
        from rankinite.adapt.recommendation import advice

        return advice(self)

    def explanation(self) -> tuple[str, ...]:
        """What decides, what interval and p-value mean, and why they may seem to contradict it, in plain sentences."""
        from rankinite.adapt.recommendation import explanation

        return explanation(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rankers as JSON has it."""
        return {
            "schema": SCHEMA,
            "chosen": self.name,
            "best": self.verdict.best,
            "verdict": self.verdict.decision,
            "recommended": self.verdict.recommended,
            "expected_gain": self.verdict.expected,
            "expected_interval": list(self.verdict.gain.interval()),
            "gain_chance": 1.0 - self.verdict.gain.chance_below(0.0),
            "loss_chance": self.verdict.loss_chance,
            "risk": self.verdict.risk,
            "tolerate": self.verdict.tolerate,
            "clear_on_target": self.verdict.clear,
            "noise_chance": self.verdict.noise_chance,
            "better_than_random_orders": self.verdict.ranks,
            "shift": self.verdict.signs.shift,
            "concentration": None if self.concentration is None else self.concentration.to_dict(),
            "queries_needed": None if (needed := self.queries_needed) is None else needed.to_dict(),
            "measure": str(self.measure),
            "recommendation": list(self.recommendation()),
            "explanation": list(self.explanation()),
            "methods": {
                trial.method.name: {
                    "what": trial.method.what,
                    "kind": trial.method.kind,
                    "seconds": trial.seconds,
                    "size": size_of(trial.ranker),
                    **(self.costs[trial.method.name].to_dict() if trial.method.name in self.costs else {}),
                }
                for trial in self.trials
            },
            "not_tried": dict(self.refused),
            "unseen": json.loads(self.unseen.to_json()),
            "test": None if self.test is None else json.loads(self.test.to_json()),
            "shifted": None if self.shifted is None else json.loads(self.shifted.to_json()),
            "curve": None if self.curve is None else self.curve.to_dict(),
        }


def _cell(seen: Comparison, name: str, measure: Measure) -> str:
    result = seen[name][measure]
    return f"{number(result.mean)} {result.spread}"


def _gain(seen: Comparison, name: str, base: str) -> str:
    if name == base or base not in seen.systems:
        return ""
    pair = seen.pair(name, base, seen.measures[0])
    return f"{number(pair.difference, signed=True)} ({pair.p(seen.test).holm_text})"


def _fitting(trial: MethodTrial, per_query: bool) -> dict[str, Any]:
    """What a method made, and how long that took, for tables of means."""
    return {} if per_query else {"size": size_of(trial.ranker), "seconds": trial.seconds}


def size_of(ranker: object) -> str:
    """How large a ranker is: ``430 trees + 2 linear``, parts of blends counted together."""
    counts = ranker.sizes() if isinstance(ranker, Fitted) else {type(ranker).__name__.lower(): 1}
    return " + ".join(f"{number} {kind}" for kind, number in sorted(counts.items(), reverse=True))


@dataclass(frozen=True)
class Concentration:
    """The queries without which less than half of a mean gain is left."""

    queries: tuple[str, ...]
    """Those that gain most, the most first."""
    share: float
    """Their share of the summed gain; above 1 where all others together lose."""
    gain: float
    """The mean gain of all queries."""
    rest: float
    """The mean gain of all others."""

    def sentences(self, decimals: int = 4) -> tuple[str, ...]:
        """The same in a sentence, with so many decimals; none where the gain is too small to be shown at all."""
        if number(self.gain) == number(0.0):
            return ()
        named = " and ".join(f"'{qid}'" for qid in self.queries)
        who = f"Query {named} alone carries" if len(self.queries) == 1 else f"Queries {named} carry"
        much = f"{math.floor(100.0 * self.share)}%" if self.share < 1.0 else "all"
        gain, rest = number(self.gain, decimals), number(self.rest, decimals)
        left = f"of {gain} becomes a loss of {rest[1:]}" if rest.startswith("-") else f"falls from {gain} to {rest}"
        without = "it" if len(self.queries) == 1 else "them"
        return (f"{who} {much} of the gain: without {without} the mean gain {left}.",)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {"queries": list(self.queries), "share": self.share, "gain": self.gain, "rest": self.rest}


def concentration(gains: Mapping[str, float]) -> Concentration | None:
    """The fewest queries that carry the gain, given the gain of each; None if no one or two do, or nothing is gained."""
    ranked = sorted(gains.items(), key=lambda entry: (-entry[1], entry[0]))
    values = np.asarray([gain for _, gain in ranked], np.float64)
    mean = exact_mean(values)
    if mean <= 0.0:
        return None
    for count in range(1, min(FEW_CARRIERS, len(ranked) - 1) + 1):
        rest = exact_mean(values[count:])
        if rest < (1.0 - MOST_OF_GAIN) * mean:
            share = exact_sum(values[:count]) / exact_sum(values)
            return Concentration(tuple(qid for qid, _ in ranked[:count]), share, mean, rest)
    return None


class Refusals(Mapping[str, str]):
    """Why methods could not be tried, as text by name; ``errors`` holds what the texts are written from."""

    def __init__(self, errors: Mapping[str, RankiniteError], written: Callable[[RankiniteError], str] = str) -> None:
        self.errors = dict(errors)
        self._written = written

    def __getitem__(self, name: str) -> str:
        return self._written(self.errors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.errors)

    def __len__(self) -> int:
        return len(self.errors)

    def __repr__(self) -> str:
        return repr(dict(self))


def reasons(errors: Mapping[str, RankiniteError], *, at_shell: bool = False) -> str:
    """All refusals in one text for another error, which spells their settings."""
    texts: list[str] = []
    for name, error in errors.items():
        remedy = (at_shell and error.shell_remedy) or error.remedy
        texts.append(error.written([name, error.place], "", remedy, lambda code: f"`{code}`"))
    return " ".join(texts)
