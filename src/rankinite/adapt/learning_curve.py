"""LearningCurve: how the advantage of adapting grows with the number of target queries."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from rankinite.adapt.decision import BASELINES, Verdict
from rankinite.adapt.held_out import holdouts_of, measurable_queries
from rankinite.adapt.methods.catalogue import AVERAGE
from rankinite.adapt.shared_fits import SharedFits
from rankinite.adapt.trials import MethodTrial, fit_method, mean_scores, spread, trials_to_average
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Holdout
from rankinite.data.io.output_files import write_atomically
from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import difference_bounds, exact_mean, t_interval, within_bounds
from rankinite.evaluation.values import query_values
from rankinite.frames import ArrowTable, Tabular, arrow_of, finite
from rankinite.grid import Grid, GridResult, number
from rankinite.measures.base import Measure
from rankinite.seeds import generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.adapt.shared_fits import Task

SHARES = (0.125, 0.25, 0.5)
"""Shares of the target's queries at which the curve is taken, besides all of them."""
LEAST = 4
"""The fewest queries that are trained on."""


@dataclass(frozen=True, eq=False)
class LearningCurve(GridResult, Tabular):
    """The measure on unseen target queries, by the number of target queries trained on."""

    measure: Measure
    sizes: tuple[int, ...]
    """Queries trained on."""
    values: Mapping[str, Floats]
    """For each method, one value per size and judged query, shape (sizes, queries)."""

    def gains(self, method: str) -> list[tuple[int, float, tuple[float, float]]]:
        """For each size: the mean gain over the background, and its interval."""
        bounds = difference_bounds(self.measure, self.values[method], self.values["background"])
        differences = self.values[method] - self.values["background"]
        means = [exact_mean(values) for values in differences]
        intervals = [within_bounds(t_interval(values), mean, bounds) for values, mean in zip(differences, means, strict=True)]
        return list(zip(self.sizes, means, intervals, strict=True))

    def grid(self) -> Grid:
        """Sizes × methods: mean, and gain over the background with its interval."""
        methods = [name for name in self.values if name != "background"]
        rows: list[tuple[str, ...]] = []
        for place, size in enumerate(self.sizes):
            cells = [number(exact_mean(self.values["background"][place]))]
            for name in methods:
                _, gain, (low, high) = self.gains(name)[place]
                mean = number(exact_mean(self.values[name][place]))
                cells.append(f"{mean} ({number(gain, signed=True)}, {number(low, signed=True)} to {number(high, signed=True)})")
            rows.append((str(size), *cells))
        note = "In brackets: gain over the background and its 95% interval over queries."
        title = f"{self.measure} on unseen target queries, by the number of target queries trained on"
        return Grid(("queries", "background", *methods), tuple(rows), title=title, notes=(note,))

    def to_arrow(self) -> ArrowTable:
        """One row per number of queries and method: the mean, and the gain over the background with its interval."""
        return arrow_of(
            [
                {
                    "queries": size,
                    "method": name,
                    "measure": str(self.measure),
                    "mean": exact_mean(self.values[name][place]),
                    "gain": gain,
                    "low": low,
                    "high": high,
                }
                for name in self.values
                for place, (size, gain, (low, high)) in enumerate(self.gains(name))
            ]
        )

    def save(self, path: Path) -> None:
        """Keep the values."""
        content = io.BytesIO()
        names, values = np.asarray(list(self.values)), np.asarray(list(self.values.values()))
        np.savez(content, sizes=np.asarray(self.sizes), names=names, values=values)
        with write_atomically(path) as handle:
            handle.write(content.getvalue())

    @classmethod
    def load(cls, path: Path, measure: Measure) -> LearningCurve | None:
        """The curve that was kept; None where there is none, or it is damaged."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                values = dict(zip(stored["names"].tolist(), stored["values"], strict=True))
                return cls(measure, tuple(stored["sizes"].tolist()), values)
        except (OSError, ValueError, EOFError, KeyError, BadZipFile):
            return None

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the measure by the number of target queries trained on.

        Bands are intervals of the gain over the background, as the same queries judge both: where a band leaves the
        background's line, the gain is more than chance.
        """
        from rankinite.drawing import BLUE, GREY, ORANGE, axes_of, literal, plain

        canvas = axes_of(axes, 7.0, 4.2)
        sizes = np.asarray(self.sizes)
        level = np.asarray([exact_mean(values) for values in self.values["background"]])
        canvas.plot(sizes, level, color=GREY, linewidth=1.6, label="background")
        methods = sorted((name for name in self.values if name != "background"), key=lambda name: name in BASELINES)
        for name, colour in zip(methods, (ORANGE, BLUE, "#5b8c5a", "#8d5a97"), strict=False):
            gains = self.gains(name)
            ends = np.asarray([interval for _, _, interval in gains])
            canvas.plot(sizes, level + [gain for _, gain, _ in gains], "o-", color=colour, linewidth=1.6, label=literal(name))
            if np.isfinite(ends).all():
                canvas.fill_between(sizes, level + ends[:, 0], level + ends[:, 1], color=colour, alpha=0.15, linewidth=0)
        canvas.set_xscale("log", base=2)
        canvas.set_xticks(sizes, [f"{size:,}" for size in self.sizes])
        canvas.minorticks_off()
        canvas.set_xlabel("target queries trained on")
        canvas.set_ylabel(f"mean {self.measure}")
        canvas.set_title("On unseen target queries; bands: 95% interval of the gain over the background", fontsize=10)
        canvas.legend(frameon=False)
        return plain(canvas)

    def to_dict(self) -> dict[str, Any]:
        """Means and gains as JSON has them."""
        return {
            "measure": str(self.measure),
            "queries": list(self.sizes),
            "means": {name: [exact_mean(one) for one in values] for name, values in self.values.items()},
            "gains": {
                name: [{"gain": gain, "low": finite(low), "high": finite(high)} for _, gain, (low, high) in self.gains(name)]
                for name in self.values
                if name != "background"
            },
        }


def curve_methods(known: Mapping[str, MethodTrial], verdict: Verdict) -> list[str]:
    """The methods of a curve: the baselines and the one chosen."""
    return [name for name in known if name in {*BASELINES, verdict.name}]


def learning_curve(
    shared: SharedFits, known: Mapping[str, MethodTrial], verdict: Verdict, report: Callable[[float], None] = lambda _part: None
) -> LearningCurve:
    """The baselines and the method chosen on unseen queries; ``report`` is called with the share done, after every size."""
    names, task = curve_methods(known, verdict), shared.task
    parts = holdouts_of(task.target, task.measure, task.folds, task.seed)
    sizes = _sizes(parts, task.measure)
    values = {name: np.empty((len(sizes), len(measurable_queries(task.target, task.measure)))) for name in names}
    for place, size in enumerate(sizes):
        smaller = [shared.on(_some(part.rest, size, task)) for part in parts]
        for name in names:
            full = size == sizes[-1]
            scores = known[name].unseen if full else _unseen(known, name, smaller, parts, task.target.rows)
            per_query = query_values(scores, task.target, task.measure)
            values[name][place] = per_query[~np.isnan(per_query)]
        if place < len(sizes) - 1:
            report((place + 1) / len(sizes))
    return LearningCurve(task.measure, tuple(sizes), values)


def _sizes(parts: Sequence[Holdout], measure: Measure) -> list[int]:
    """How many queries to train on; the last size is all that are left when a part is held out."""
    most = min(len(measurable_queries(part.rest, measure)) for part in parts)
    return [*sorted({size for share in SHARES if LEAST <= (size := round(share * most)) < most}), most]


def _some(rest: Dataset, size: int, task: Task) -> Dataset:
    """The first judged queries in a random order; smaller samples are part of larger ones."""
    judged = measurable_queries(rest, task.measure)
    by_name = judged[np.argsort(rest.qids[judged], kind="stable")]
    return rest.select_queries(np.sort(generator(task.seed).permutation(by_name)[:size]))


def _unseen(
    known: Mapping[str, MethodTrial], name: str, tasks: Sequence[SharedFits], parts: Sequence[Holdout], rows: int
) -> Floats:
    """The scores of every judged query by rankers that were fitted to fewer queries and not to it."""
    if name != AVERAGE.name:
        return _scores_and_spreads(known[name], tasks, parts, rows)[0]
    members = [_scores_and_spreads(trial, tasks, parts, rows) for trial in trials_to_average(known.values())]
    return mean_scores([scores for scores, _ in members], np.asarray([spreads for _, spreads in members]), parts)


def _scores_and_spreads(
    trial: MethodTrial, tasks: Sequence[SharedFits], parts: Sequence[Holdout], rows: int
) -> tuple[Floats, Floats]:
    """One method's unseen scores, and how far those of each fit vary; rows of no part are not scored."""
    scores, spreads = np.zeros(rows), np.zeros(len(parts) + 1)
    fits = fit_method(trial.method, tasks, [part.held for part in parts], lambda: None)
    for place, (part, fitted) in enumerate(zip(parts, fits, strict=True)):
        assert fitted.held is not None
        scores[part.rows], spreads[place] = fitted.held, spread(fitted.seen)
    return scores, spreads
