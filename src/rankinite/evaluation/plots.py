"""Drawings of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankinite.drawing import BLUE, GREY, INK, ORANGE, axes_of, draw_intervals, literal, plain, short
from rankinite.evaluation.evaluate import percent
from rankinite.evaluation.significance import exact_mean
from rankinite.measures.base import sign_of
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.evaluation.compare import Comparison
    from rankinite.measures.base import Measure


def plot_means(comparison: Comparison, measure: Measure | str, axes: Axes | None) -> Axes:
    """Every system's mean and its interval; the best mean stands out."""
    results = [evaluation[measure] for evaluation in comparison.evaluations.values()]
    best = comparison.best(measure)
    canvas = draw_intervals(
        axes,
        comparison.systems,
        [result.mean for result in results],
        [result.interval for result in results],
        [ORANGE if name in best else BLUE for name in comparison.systems],
    )
    shared = next(iter(comparison.evaluations.values()))
    canvas.set_xlabel(f"mean {results[0].measure} and its {percent(shared.confidence)} interval; orange: best mean")
    canvas.set_title(literal(f"{short_source(shared.source)}: {counted(results[0].queries, 'query')}"))
    return canvas


def plot_gains(comparison: Comparison, first: str, second: str, measure: Measure | str, axes: Axes | None) -> Axes:
    """What the first system gains over the second on every query, the largest gain on the left."""
    pair = comparison.pair(first, second, measure)
    sign = sign_of(pair.measure)
    change = sign * (comparison[first][measure].per_query - comparison[second][measure].per_query)
    gains = np.sort(change[~np.isnan(change)])[::-1]
    canvas = axes_of(axes, 7.0, 4.2)
    edges = np.arange(len(gains) + 1)
    for side, colour in ((np.maximum(gains, 0.0), BLUE), (np.minimum(gains, 0.0), ORANGE)):
        canvas.stairs(side, edges, fill=True, color=colour)
    mean = exact_mean(gains)
    canvas.axhline(0.0, color=GREY, linewidth=0.8)
    canvas.axhline(mean, color=INK, linestyle="--", linewidth=1.0, label=f"mean {mean:+.4f}")
    canvas.set_xlim(0, len(gains))
    canvas.set_xlabel(f"queries, sorted: {pair.wins:,} gain, {pair.ties:,} stay, {pair.losses:,} lose")
    canvas.set_ylabel(f"gain in {pair.measure}")
    canvas.set_title(literal(f"{short(first)} over {short(second)}"))
    canvas.legend(frameon=False)
    return plain(canvas)
