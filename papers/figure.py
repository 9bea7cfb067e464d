"""PaperFigure: curves or bars as plain data, drawn in the paper's form, and as a table for those who cannot see it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from papers.experiment import Points
from rankinite.drawing import figure_of, literal, plain
from rankinite.grid import Grid, number

COLOURS = ("#2a6f97", "#d1701c", "#4c956c", "#9a6fb0", "#b23a48", "#6b705c", "#22577a", "#c9a227")
DASHES = ("-", "--", ":", "-.")
MOST_ROWS = 12
"""Rows of the table of a curve; of longer ones some points are shown."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    across: str
    """What runs from left to right."""
    up: str
    """What runs from the bottom to the top."""
    lines: Mapping[str, Points]
    """The name of each line, or of each set of bars, and its points."""
    kind: Literal["lines", "bars", "steps"] = "lines"
    labels: Sequence[str] = ()
    """What bars stand for, where that is no number."""


@dataclass(frozen=True)
class PaperFigure:
    """Panels side by side."""

    name: str
    """The name of its file, without ending."""
    title: str
    panels: Sequence[Panel]

    def png(self) -> bytes:
        """The picture, the same bytes for the same numbers."""
        from matplotlib import pyplot as plt  # slow to import

        picture = figure_of(5.2 * len(self.panels), 4.2)
        for axes, panel in zip(picture.subplots(1, len(self.panels), squeeze=False)[0], self.panels, strict=True):
            _draw(axes, panel)
        content = io.BytesIO()
        picture.savefig(content, format="png", dpi=90, metadata={"Software": None})
        plt.close(picture)
        return content.getvalue()

    def described(self) -> str:
        """What a screen reader says instead of the picture."""
        return f"{self.title}. " + " ".join(
            f"{panel.title}: {panel.up} over {panel.across} for {', '.join(panel.lines)}." for panel in self.panels
        )

    def grids(self) -> list[Grid]:
        """The numbers of every panel."""
        return [_grid(panel) for panel in self.panels if panel.lines]


def _grid(panel: Panel) -> Grid:
    places = sorted({float(x) for xs, _ in panel.lines.values() for x in xs})
    if len(places) > MOST_ROWS and not panel.labels:
        # Rounds are counted from 1, and what happens in the first matters most: steps that grow.
        spaced = np.linspace if places[0] < 0.0 else np.geomspace
        wanted = np.unique(spaced(1, len(places), MOST_ROWS).round().astype(int)) - 1
        places = [places[place] for place in wanted.tolist()]
    known = {name: dict(zip(map(float, xs), ys, strict=True)) for name, (xs, ys) in panel.lines.items()}
    rows: list[tuple[str, ...]] = []
    for x in places:
        label = panel.labels[int(x)] if panel.labels else f"{x:,.6g}"
        rows.append((label, *(number(points[x]) if x in points else "" for points in known.values())))
    return Grid((panel.across, *known), tuple(rows), title=f"{panel.title}: {panel.up}")


def _draw(axes: Any, panel: Panel) -> None:
    if panel.kind == "bars":
        _draw_bars(axes, panel)
    else:
        for place, (name, (xs, ys)) in enumerate(panel.lines.items()):
            marks: dict[str, Any] = {"marker": "o", "markersize": 4} if len(xs) <= MOST_ROWS else {}
            style = {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place // len(COLOURS) % len(DASHES)]}
            drawn = axes.step if panel.kind == "steps" else axes.plot
            drawn(xs, ys, label=literal(name), linewidth=1.4, **style, **marks)
    axes.set(title=literal(panel.title), xlabel=literal(panel.across), ylabel=literal(panel.up))
    if len(panel.lines) > 1:
        axes.legend(fontsize=8, frameon=False)
    plain(axes)


def _draw_bars(axes: Any, panel: Panel) -> None:
    width = 0.8 / max(1, len(panel.lines))
    lowest = min((y for _, ys in panel.lines.values() for y in ys), default=0.0)
    highest = max((y for _, ys in panel.lines.values() for y in ys), default=1.0)
    for place, (name, (xs, ys)) in enumerate(panel.lines.items()):
        where = np.asarray(xs, float) + (place - (len(panel.lines) - 1) / 2) * width
        axes.bar(where, ys, width, label=literal(name), color=COLOURS[place % len(COLOURS)])
    room = 0.1 * (highest - lowest) or 0.01
    axes.set_ylim(lowest - 2 * room, highest + room)
    if panel.labels:
        axes.set_xticks(range(len(panel.labels)), [literal(label) for label in panel.labels])
