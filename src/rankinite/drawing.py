"""Axes, colours and labels that all drawings share. Matplotlib is imported only when something is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, BLUE, ORANGE, GREY = "#222222", "#2a6f97", "#d1701c", "#9aa0a6"
LONGEST = 24
"""Letters of a name that are shown."""


def axes_of(axes: Axes | None, width: float, height: float) -> Any:
    """The axes given, or those of a new figure of this size in inches."""
    return figure_of(width, height).add_subplot() if axes is None else axes


def figure_of(width: float, height: float) -> Any:
    """A new figure of this size in inches."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ArgumentError(
            "drawing needs Matplotlib, which is not installed", value="matplotlib", remedy="Run pip install rankinite[plots]"
        ) from error
    return plt.figure(figsize=(min(width, 300.0), min(height, 300.0)), layout="constrained")


def plain(canvas: Any) -> Axes:
    """The axes without the lines at the top and on the right."""
    canvas.spines[["top", "right"]].set_visible(False)
    return canvas


def short(name: str, most: int = LONGEST) -> str:
    """A name that fits into a picture: of a path the end, which tells more than its beginning."""
    if len(name) <= most:
        return name
    return f"…{name[1 - most :]}" if "/" in name or "\\" in name else f"{name[: most - 1]}…"


def literal(text: str) -> str:
    """Text in which Matplotlib sees no formulas."""
    return text.replace("$", r"\$")


def draw_intervals(
    axes: Axes | None,
    names: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    colours: Sequence[str],
) -> Any:
    """One line per name, the first on top: a dot at its value, and a bar over its interval where that is finite."""
    canvas = axes_of(axes, 7.0, 1.4 + 0.34 * len(names))
    for place, (value, (low, high), colour) in enumerate(zip(values, intervals, colours, strict=True)):
        if math.isfinite(low) and math.isfinite(high):
            canvas.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
        canvas.plot([value], [place], "o", color=colour, markersize=6)
    canvas.set_yticks(range(len(names)), [literal(short(name)) for name in names])
    canvas.set_ylim(len(names) - 0.4, -0.6)
    return plain(canvas)
