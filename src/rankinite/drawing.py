"""What all drawings share. Matplotlib is imported only here, and only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, BLUE, ORANGE, GREY = "#222222", "#2a6f97", "#d1701c", "#9aa0a6"


def axes_of(axes: Axes | None, width: float, height: float) -> Any:
    """The axes given, or those of a new figure of this size in inches."""
    return figure_of(width, height).add_subplot() if axes is None else axes


def figure_of(width: float, height: float) -> Any:
    """A new figure of this size in inches."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ArgumentError("drawing needs Matplotlib, which is not installed: pip install rankinite[plots]") from error
    return plt.figure(figsize=(min(width, 300.0), min(height, 300.0)), layout="constrained")


def plain(canvas: Any) -> Axes:
    """The axes without the lines at the top and on the right."""
    canvas.spines[["top", "right"]].set_visible(False)
    return canvas
