"""``rankinite inspect``: what is in a model."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.evaluation.evaluate import Scorer
    from rankinite.grid import Grid
    from rankinite.rankers.blend import Blend
    from rankinite.rankers.forest import Forest
    from rankinite.rankers.history import History

TELLING = ("measure", "loss", "trees", "rate", "leaves", "seed")
"""Settings that are shown even if they are what they are if left out."""
PICTURES = (".png", ".svg", ".pdf")


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    part: Annotated[int | None, typer.Option(min=0, help="Look at this part of a blend, counted from 0.")] = None,
    importance: Annotated[int, typer.Option(min=0, help="How many features to list, by what their splits gain; 0: all.")] = 10,
    trees: Annotated[int, typer.Option(min=0, help="How many trees to write out.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print everything but the trees as JSON.")] = False,
    plot_importance: Annotated[Path | None, typer.Option(help="Draw the features' importance (.png, .svg or .pdf).")] = None,
    plot_history: Annotated[Path | None, typer.Option(help="Draw the measure of every round.")] = None,
    plot_tree: Annotated[Path | None, typer.Option(help="Draw a tree: the one --tree says.")] = None,
    tree: Annotated[int, typer.Option(min=0, help="The tree that --plot-tree draws, counted from 0.")] = 0,
) -> None:
    """Show what a model is: how it was trained and how that went, its trees, and which features it uses.

    Examples:

      rankinite inspect web.rankinite

      rankinite inspect web.rankinite --importance 0 --trees 2

      rankinite inspect web.rankinite --plot-history history.png --plot-tree first.svg
    """
    from rankinite.cli.printing import echo
    from rankinite.rankers.blend import Blend
    from rankinite.rankers.loading import load

    ranker: Scorer = load(model)
    if part is not None:
        ranker = _part(ranker, part, model)
    if json:
        import json as writer

        echo(writer.dumps(facts(ranker), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        tables = [overview(ranker, str(model))]
        tables += [_parts(ranker)] if isinstance(ranker, Blend) else []
        tables += [settings_grid(ranker), importance_grid(ranker, importance or None)] if _is_forest(ranker) else []
        echo("\n\n".join(table.text() for table in tables))
    if trees and not json:
        echo(f"\n{_forest(ranker, model).text(trees)}")
    if plot_importance is not None:
        _save_picture(plot_importance, lambda: _forest(ranker, model).plot_importance())
    if plot_history is not None:
        _save_picture(plot_history, lambda: _forest(ranker, model).plot_history())
    if plot_tree is not None:
        _save_picture(plot_tree, lambda: _forest(ranker, model).plot_tree(tree))


def overview(ranker: Scorer, title: str) -> Grid:
    """Kind, size, settings and history."""
    from rankinite.grid import Grid

    rows = [("kind", str(ranker) if type(ranker).__name__ == "Feature" else type(ranker).__name__.lower())]
    if _is_forest(ranker):
        forest: Any = ranker
        rows += _forest_rows(forest)
    return Grid(("", ""), tuple(rows), align="ll", title=title)


def _forest_rows(forest: Forest) -> list[tuple[str, str]]:
    import numpy as np

    leaves = int((forest.trees.feature < 0).sum())
    used = len(np.unique(forest.trees.feature[forest.trees.feature >= 0]))
    rows = [
        ("trees", f"{len(forest):,}" + (f" ({forest.rounds:,} rounds of {forest.outputs})" if forest.outputs > 1 else "")),
        ("leaves", f"{leaves:,}" + (f" ({leaves / len(forest):.1f} a tree)" if len(forest) else "")),
        ("features", f"{len(forest.feature_names):,} ({used:,} used)"),
    ]
    if forest.history is not None:
        rows += _history_rows(forest.history)
    return rows


def _history_rows(history: History) -> list[tuple[str, str]]:
    rounds = max(len(history.train), len(history.valid), history.best + 1) - 1
    rows = [("training", f"{history.stopped} after {rounds:,} rounds, {history.best:,} kept")]
    for name, values in (("train", history.train), ("valid", history.valid)):
        if history.best < len(values):
            told = f"{values[0]:.4f} before, {values[history.best]:.4f} kept, {values[-1]:.4f} last"
            rows.append((f"{history.measure} on {name}", told))
    return rows


def settings_grid(ranker: Any) -> Grid:
    """How a forest was made: the settings that matter most, and those that are not what they are if left out."""
    from rankinite.cli.learners import HOMES, SETTINGS
    from rankinite.grid import Grid

    maker = ranker.settings.get("learner", "unknown")
    usual = next((SETTINGS[name] for name, (_, known) in HOMES.items() if known == maker), {})
    shown = [
        (name.replace("_", " "), _shown(value))
        for name, value in ranker.settings.items()
        if name != "learner" and (name in TELLING or name not in usual or _shown(value) != _shown(usual[name].default))
    ]
    hidden = len(ranker.settings) - 1 - len(shown)
    notes = (f"{hidden} other settings as they are if left out (--json has all).",) if hidden > 0 else ()
    return Grid(("setting", "value"), tuple(shown), align="ll", title=f"trained by {maker}", notes=notes)


def importance_grid(ranker: Any, most: int | None) -> Grid:
    """The features with the largest gains; ``most`` of them."""
    from rankinite.grid import Grid

    gains, counts = ranker.importance("gain"), ranker.importance("count")
    used = [name for name in gains if counts[name]]
    total = sum(gains.values()) or 1.0
    shown = used[:most]
    rows = tuple((name, f"{gains[name]:.6g}", f"{gains[name] / total:.1%}", f"{counts[name]:.0f}") for name in shown)
    hidden = len(used) - len(shown)
    notes = (f"… and {hidden} more (--importance 0 lists all)",) if hidden else ()
    return Grid(("feature", "gain", "share", "splits"), rows, notes=notes)


def _parts(blend: Blend) -> Grid:
    from rankinite.grid import Grid

    rows = tuple((str(number), f"{weight:g}", _described(part)) for number, (weight, part) in enumerate(blend.parts))
    return Grid(("part", "weight", "ranker"), rows, align="rrl", notes=("Look into one with --part.",))


def facts(ranker: Any) -> dict[str, Any]:
    """Everything as JSON has it."""
    from rankinite.rankers.blend import Blend

    found: dict[str, Any] = {"kind": type(ranker).__name__.lower(), "features": list(ranker.feature_names)}
    if isinstance(ranker, Blend):
        return found | {"parts": [{"weight": weight, **facts(part)} for weight, part in ranker.parts]}
    if not _is_forest(ranker):
        return found | {"ranker": str(ranker)}
    return found | {
        "trees": len(ranker),
        "rounds": ranker.rounds,
        "leaves": int((ranker.trees.feature < 0).sum()),
        "settings": dict(ranker.settings),
        "history": None if ranker.history is None else ranker.history.to_dict(),
        "importance": {"gain": ranker.importance("gain"), "count": ranker.importance("count")},
    }


def _described(part: object) -> str:
    return str(part) if type(part).__name__ == "Feature" else repr(part).strip("<>")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("learner", "…"))  # the settings of a base
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("list[Any]", value))) or "–"
    return "–" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def _is_forest(ranker: object) -> bool:
    from rankinite.rankers.forest import Forest

    return isinstance(ranker, Forest)


def _forest(ranker: Any, model: Path) -> Forest:
    if not _is_forest(ranker):
        raise ArgumentError(
            f"{model}: a {type(ranker).__name__.lower()} has no trees of its own. Choose a forest in a blend with --part."
        )
    return ranker


def _part(ranker: Any, number: int, model: Path) -> Scorer:
    from rankinite.rankers.blend import Blend

    if not isinstance(ranker, Blend):
        raise ArgumentError(f"--part {number}: {model} is a {type(ranker).__name__.lower()}, which has no parts. Leave it out.")
    if number >= len(ranker.parts):
        raise ArgumentError(f"--part {number}: {model} has {len(ranker.parts)} parts, counted from 0.")
    return ranker.parts[number][1]


def _save_picture(path: Path, draw: Callable[[], Any]) -> None:
    from rankinite.data.streams import write_atomically

    ending = path.suffix.lower()
    if ending not in PICTURES:
        raise ArgumentError(f"{path}: a picture's name must end in {', '.join(PICTURES)}, which says how to write it.")
    try:
        import matplotlib as mpl

        mpl.use("Agg")  # there may be no screen
    except ImportError:
        pass  # drawing says what to install
    figure = draw().figure
    with write_atomically(path) as handle:
        figure.savefig(handle, format=ending.removeprefix("."), dpi=150)
