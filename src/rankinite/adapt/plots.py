"""Drawings of adaptation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankinite.adapt.decision import BASELINES
from rankinite.drawing import BLUE, GREY, INK, ORANGE, axes_of, draw_intervals, literal, plain
from rankinite.evaluation.significance import exact_mean
from rankinite.grid import percent
from rankinite.measures.base import sign_of
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.adapt.learning_curve import LearningCurve
    from rankinite.adapt.result import Choice
    from rankinite.evaluation.compare import Comparison

COLOURS = (ORANGE, BLUE, "#5b8c5a", "#8d5a97")


def plot_methods(choice: Choice, seen: Comparison, axes: Axes | None) -> Axes:
    """Every method's gain over the background with its interval, query by query; the one chosen stands out."""
    base = BASELINES[0]
    names = [name for name in seen.systems if name != base]
    pairs = [seen.pair(name, base, choice.measure) for name in names]
    colours = [ORANGE if name == choice.name else GREY if name in BASELINES else BLUE for name in names]
    better = sign_of(choice.measure)
    canvas = draw_intervals(
        axes,
        names,
        [better * pair.difference for pair in pairs],
        [(min(ends), max(ends)) for pair in pairs for ends in [[better * end for end in pair.interval]]],
        colours,
    )
    canvas.axvline(0.0, color=INK, linewidth=0.8, zorder=0)
    shared = seen[base]
    queries = shared[choice.measure].queries
    canvas.set_xlabel(f"gain in {choice.measure} over the background, and its {percent(shared.confidence)} interval")
    canvas.set_title(literal(f"{short_source(shared.source)}: {counted(queries, 'query')}; chosen: {choice.name}"))
    return canvas


def plot_curve(curve: LearningCurve, axes: Axes | None) -> Axes:
    """The measure by the number of target queries trained on.

    Bands are intervals of the gain over the background, as the same queries judge both: where a band leaves the background's
    line, the gain is more than chance.
    """
    canvas = axes_of(axes, 7.0, 4.2)
    sizes = np.asarray(curve.sizes)
    level = np.asarray([exact_mean(values) for values in curve.values["background"]])
    canvas.plot(sizes, level, color=GREY, linewidth=1.6, label="background")
    methods = sorted((name for name in curve.values if name != "background"), key=lambda name: name in BASELINES)
    for name, colour in zip(methods, COLOURS, strict=False):
        gains = curve.gains(name)
        ends = np.asarray([interval for _, _, interval in gains])
        canvas.plot(sizes, level + [gain for _, gain, _ in gains], "o-", color=colour, linewidth=1.6, label=literal(name))
        if np.isfinite(ends).all():
            canvas.fill_between(sizes, level + ends[:, 0], level + ends[:, 1], color=colour, alpha=0.15, linewidth=0)
    canvas.set_xscale("log", base=2)
    canvas.set_xticks(sizes, [f"{size:,}" for size in curve.sizes])
    canvas.minorticks_off()
    canvas.set_xlabel("target queries trained on")
    canvas.set_ylabel(f"mean {curve.measure}")
    canvas.set_title("On unseen target queries; bands: 95% interval of the gain over the background", fontsize=10)
    canvas.legend(frameon=False)
    return plain(canvas)
