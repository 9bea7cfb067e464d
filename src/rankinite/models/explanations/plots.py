"""Drawings of explanations."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from rankinite.checks import check_count
from rankinite.drawing import BLUE, GREY, INK, ORANGE, axes_of, literal, plain, short
from rankinite.grid import number
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.models.explanations.pair import PairExplanation
    from rankinite.models.explanations.permutation import PermutationImportance
    from rankinite.models.explanations.query import QueryExplanation
    from rankinite.models.explanations.summary import WithinQueries


def plot_pair(found: PairExplanation, top: int, axes: Axes | None) -> Axes:
    """A bridge from the score below to the score above: one step per feature, the largest first."""
    check_count("plot", "top", top)
    shown = [(one.feature, one.difference) for one in found.features[:top] if one.difference != 0.0]
    rest = [one.difference for one in found.features if one.difference != 0.0][len(shown) :]
    steps = [*shown, *([(f"{len(rest)} other features", sum(rest))] if rest else [])]
    canvas = axes_of(axes, 8.0, 1.6 + 0.32 * (len(steps) + 1))
    at, reached = found.below.score, [found.below.score, found.above.score]
    for place, (_, change) in enumerate(steps):
        canvas.barh(place, change, left=at, color=BLUE if change > 0 else ORANGE, height=0.66)
        canvas.plot([at, at], [place - 0.66, place], color=GREY, linewidth=0.8, zorder=0)
        side = 4 if change > 0 else -4
        canvas.annotate(
            number(change, 3, signed=True),
            (at + change, place),
            (side, 0),
            textcoords="offset points",
            va="center",
            ha="left" if change > 0 else "right",
            fontsize=8,
        )
        at += change
        reached.append(at)
    for score, colour, name in ((found.below.score, GREY, found.below.name), (found.above.score, INK, found.above.name)):
        canvas.axvline(score, color=colour, linestyle="--", linewidth=1.0, label=literal(f"{short(name)}: {number(score, 3)}"))
    canvas.set_yticks(range(len(steps)), [literal(short(name)) for name, _ in steps])
    canvas.set_ylim(len(steps) - 0.4, -0.7)
    room = 0.12 * (max(reached) - min(reached)) or 1.0  # for the numbers beside the bars
    canvas.set_xlim(min(reached) - room, max(reached) + room)
    canvas.set_xlabel("score")
    canvas.set_title(literal(f"query {short(found.qid)}: {short(found.above.name)} against {short(found.below.name)}"))
    return _with_legend(canvas)


def plot_query(found: QueryExplanation, top: int, axes: Axes | None) -> Axes:
    """Bars of what a measure loses: without a feature's contributions, and with its values shuffled."""
    check_count("plot", "top", top)
    shown = found.features[:top]
    canvas = axes_of(axes, 7.0, 1.4 + 0.42 * max(len(shown), 1))
    places = range(len(shown))
    canvas.barh([p - 0.2 for p in places], [one.taken_out for one in shown], color=BLUE, height=0.36, label="taken out")
    errors = [0.0 if isnan(one.error) else one.error for one in shown]
    canvas.barh(
        [p + 0.2 for p in places],
        [one.shuffled for one in shown],
        xerr=errors,
        ecolor=GREY,
        color=ORANGE,
        height=0.36,
        label="shuffled",
    )
    canvas.axvline(0.0, color=GREY, linewidth=0.8)
    _name_rows(canvas, [one.feature for one in shown])
    canvas.set_xlabel(f"{found.measure} lost")
    canvas.set_title(literal(f"query {short(found.qid)}: {found.measure} {number(found.value)}"))
    return _with_legend(canvas)


def plot_summary(found: WithinQueries, top: int, axes: Axes | None) -> Axes:
    """Bars of the sizes within queries, and marks where contributions are larger by what documents of a query share."""
    check_count("plot", "top", top)
    shown = found.features[:top]
    canvas = axes_of(axes, 7.0, 1.4 + 0.3 * max(len(shown), 1))
    canvas.barh(range(len(shown)), [one.within for one in shown], color=BLUE, height=0.66, label="within queries")
    overall = [one.overall for one in shown]
    canvas.plot(overall, range(len(shown)), "|", color=INK, markersize=9, label="of scores", linestyle="none")
    _name_rows(canvas, [one.feature for one in shown])
    canvas.set_xlabel("mean size of contributions")
    canvas.set_title(literal(f"{short_source(found.source)}: {counted(found.queries, 'query')}"))
    return _with_legend(canvas)


def plot_permutation(found: PermutationImportance, top: int, axes: Axes | None) -> Axes:
    """Bars of what the measure loses when a feature is shuffled, with intervals."""
    check_count("plot", "top", top)
    shown = found.features[:top]
    canvas = axes_of(axes, 7.0, 1.4 + 0.3 * max(len(shown), 1))
    halves = [half if isfinite(half := (one.interval[1] - one.interval[0]) / 2) else 0.0 for one in shown]
    means = [one.mean for one in shown]
    canvas.barh(range(len(shown)), means, xerr=halves, ecolor=GREY, color=ORANGE, height=0.66)
    canvas.axvline(0.0, color=GREY, linewidth=0.8)
    _name_rows(canvas, [one.feature for one in shown])
    canvas.set_xlabel(f"{found.measure} lost when shuffled within queries")
    canvas.set_title(literal(f"{short(found.source)}: {found.measure} {number(found.value)}"))
    return plain(canvas)


def _with_legend(canvas: Any) -> Axes:
    """The axes with the legend below them, where it hides no bar."""
    canvas.figure.legend(*canvas.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return plain(canvas)


def _name_rows(canvas: Any, names: Sequence[str]) -> None:
    canvas.set_yticks(range(len(names)), [literal(short(name)) for name in names])
    canvas.set_ylim(len(names) - 0.4, -0.6)
