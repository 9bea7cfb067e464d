"""Drawings of rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.categories import Vocabulary
from rankinite.drawing import BLUE, GREY, INK, ORANGE, axes_of, figure_of, literal, plain, short
from rankinite.errors import ArgumentError
from rankinite.models.history import History
from rankinite.plurals import counted
from rankinite.trees.structure import LEAF, Trees

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankinite.models.local_optimum import Curves


def plot_importance(importance: Mapping[str, float], kind: str, top: int, axes: Axes | None) -> Axes:
    """Bars, the longest on top; features that are never asked are left out."""
    if top < 1:
        raise ArgumentError("must be a whole number from 1 on", owner="plot_importance", setting="top", value=top)
    shown = [(name, value) for name, value in importance.items() if value > 0][:top]
    canvas = axes_of(axes, 7.0, 1.2 + 0.28 * max(len(shown), 1))
    canvas.barh([literal(name) for name, _ in shown], [value for _, value in shown], color=BLUE, height=0.7)
    canvas.invert_yaxis()
    canvas.set_xlabel("total gain of its splits" if kind == "gain" else "number of splits")
    hidden = sum(value > 0 for value in importance.values()) - len(shown)
    canvas.set_title(f"Importance of features by {kind}" + (f" ({hidden} more not shown)" if hidden else ""))
    return plain(canvas)


def plot_history(history: History, axes: Axes | None, unit: str) -> Axes:
    """The measure on training, validation and held-out data against the rounds or epochs, and the one that was kept."""
    canvas = axes_of(axes, 7.0, 4.2)
    for values, name, colour, style in (
        (history.train, "train", GREY, "-"),
        (history.valid, "valid", BLUE, "-"),
        (history.held_out, f"held out (mean of {counted(history.held_out_parts, 'smaller training')})", BLUE, ":"),
    ):
        if len(values):
            canvas.plot(np.arange(len(values)), values, label=name, color=colour, linestyle=style, linewidth=1.6)
    canvas.axvline(history.best, color=ORANGE, linestyle="--", linewidth=1.2, label=f"kept: {unit} {history.best}")
    canvas.set_xlabel(f"{unit}s")
    canvas.set_ylabel(history.measure)
    canvas.set_title(f"Training: {history.measure} ({history.stopped})")
    canvas.legend(frameon=False)
    return plain(canvas)


def plot_curves(curves: Curves, measure: str, value: float) -> Figure:
    """The measure against each weight, in small pictures with one scale; the dashed lines cross at the weights themselves."""
    columns = min(4, len(curves.names))
    rows = -(-len(curves.names) // columns)
    figure = figure_of(2.6 * columns, 0.6 + 1.9 * rows)
    grid: Any = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, canvas in enumerate(grid.flat):
        if number >= len(curves.names):
            canvas.set_axis_off()
            continue
        canvas.axhline(value, color=ORANGE, linestyle="--", linewidth=0.8)
        canvas.axvline(0.0, color=ORANGE, linestyle="--", linewidth=0.8)
        canvas.plot(curves.moved, curves.values[number], color=BLUE, linewidth=1.4)
        canvas.set_title(literal(short(curves.names[number])), fontsize=8, color=INK)
        canvas.tick_params(labelsize=7)
        plain(canvas)
    figure.suptitle(f"{measure} as one weight is moved, the largest weights first", fontsize=10, color=INK)
    figure.supxlabel("moved by, as a share of the length of all weights", fontsize=8)
    return figure


def plot_tree(
    tree: Trees, names: Sequence[str], title: str, axes: Axes | None, categories: Mapping[str, Vocabulary] | None = None
) -> Axes:
    """One tree from left to right: lines of text are wide and low, so leaves are drawn below each other."""
    places = _layout(tree)
    levels = int(max(depth for depth, _ in places)) + 1
    leaves = int((tree.feature == LEAF).sum())
    canvas = axes_of(axes, max(1.0 + 2.3 * levels, 6.0), 1.3 + 0.42 * leaves)
    canvas.set_xlim(-0.1, levels - 0.1)
    canvas.set_ylim(leaves - 0.4, -0.6)
    canvas.axis("off")
    canvas.set_title(
        f"{title}\nupper branch: yes, lower branch: no, thick line: where missing values go", fontsize=9, color=INK
    )
    largest = float(np.abs(tree.value[tree.feature == LEAF]).max()) or 1.0
    for node in range(len(tree.feature)):
        x, y = places[node]
        if tree.feature[node] != LEAF:
            for child, is_left in ((tree.left[node], True), (tree.right[node], False)):
                thick = bool(tree.missing_left[node]) == is_left
                _draw_line(canvas, (x, y), places[int(child)], 2.4 if thick else 0.9)
        canvas.text(
            x,
            y,
            _label(tree, node, names, categories or {}),
            fontsize=8,
            color=INK,
            va="center",
            bbox=_box(tree, node, largest),
        )
    return canvas


def _layout(tree: Trees) -> list[tuple[float, float]]:
    """Depth and height of every node: leaves one below the other, every other node halfway between its children."""
    count = len(tree.feature)
    depth, height = np.zeros(count), np.zeros(count)
    waiting, leaves = [0], 0
    while waiting:
        node = waiting.pop()
        if tree.feature[node] == LEAF:
            height[node] = leaves
            leaves += 1
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        depth[left] = depth[right] = depth[node] + 1
        waiting += [right, left]
    for node in reversed(range(count)):  # children come after their parents
        if tree.feature[node] != LEAF:
            height[node] = (height[tree.left[node]] + height[tree.right[node]]) / 2
    return list(zip(depth.tolist(), height.tolist(), strict=True))


def _label(tree: Trees, node: int, names: Sequence[str], categories: Mapping[str, Vocabulary]) -> str:
    rows = counted(tree.rows[node], "row")
    if tree.feature[node] == LEAF:
        return f"{tree.value[node]:+.4g}   {rows}"
    name, codes = short(names[int(tree.feature[node])]), tree.set_of(node)
    if codes:
        vocabulary = categories[names[int(tree.feature[node])]].names
        shown = ", ".join(short(vocabulary[code]) for code in codes[:2])
        more = f", … ({len(codes)} in all)" if len(codes) > 2 else ""
        return literal(f"{name}: {shown}{more}\n{rows}")
    return literal(f"{name} ≤ {tree.threshold[node]:.4g}\n{rows}")


def _box(tree: Trees, node: int, largest: float) -> dict[str, Any]:
    """The frame around a node; leaves are the bluer the further they push up, the more orange the further down."""
    if tree.feature[node] != LEAF:
        return {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": GREY}
    value = tree.value[node]
    return {
        "boxstyle": "round,pad=0.3",
        "facecolor": _tint(BLUE if value > 0 else ORANGE, 0.1 + 0.4 * abs(value) / largest),
        "edgecolor": "none",
    }


def _tint(colour: str, share: float) -> tuple[float, float, float]:
    """A share of a colour on white."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 1 - share * (1 - red), 1 - share * (1 - green), 1 - share * (1 - blue)


def _draw_line(canvas: Any, parent: tuple[float, float], child: tuple[float, float], width: float) -> None:
    (x, y), (child_x, child_y) = parent, child
    canvas.plot([x + 0.05, x + 0.05, child_x], [y, child_y, child_y], color=GREY, linewidth=width, zorder=0)
