"""``rankinite inspect``: what is in a model."""

from __future__ import annotations

from dataclasses import fields
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rankinite.cli import files
from rankinite.cli.inner_rankers import part_of, parts_of
from rankinite.errors import ArgumentError
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.adapt.forest_diff import Moved
    from rankinite.grid import Grid
    from rankinite.models.base import Fitted, Trained
    from rankinite.models.forest import Forest

ALWAYS_SHOWN = ("measure", "loss", "trees", "rate", "leaves", "hidden", "optimiser", "epochs", "rounds", "seed")
"""Settings that are shown even if they have their default."""


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    part: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Look at this part of a blend or stack, counted from 0; again for a part of that part."),
    ] = None,
    importance: Annotated[int, typer.Option(min=0, help="How many features to list, by gain or weight; 0: all.")] = 10,
    trees: Annotated[int, typer.Option(min=0, help="How many trees to write out.")] = 0,
    weights: Annotated[
        bool, typer.Option("--weights", help="Write out all weights of a net, a linear ranker or a correction.")
    ] = False,
    moved: Annotated[
        Path | None, typer.Option(metavar="BACKGROUND", help="Show what adaptation has moved in the trees of this model.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything but trees as JSON.")] = False,
    plot_importance: Annotated[
        Path | None, files.FILE, typer.Option(help="Draw the features' importance (.png, .svg or .pdf).")
    ] = None,
    plot_history: Annotated[Path | None, files.FILE, typer.Option(help="Draw the measure of every round or epoch.")] = None,
    plot_tree: Annotated[Path | None, files.FILE, typer.Option(help="Draw a tree: the one that --tree names.")] = None,
    tree: Annotated[int, typer.Option(min=0, help="The tree that --plot-tree draws, counted from 0.")] = 0,
) -> None:
    """Show what a model is: how it was trained and how that went, its trees or weights, and which features it uses.

    Examples:

      rankinite inspect web.rankinite

      rankinite inspect web.rankinite --importance 0 --trees 2

      rankinite inspect web.rankinite --plot-history history.png --plot-tree first.svg

      rankinite inspect net.rankinite --weights

      rankinite inspect blend.rankinite --part 1 --importance 0

      rankinite inspect adapted.rankinite --moved web.rankinite
    """
    from rankinite.cli.output import echo
    from rankinite.cli.pictures import check_picture, save_picture
    from rankinite.cli.ranker_arguments import ranker as load

    whole, name = part_of(load(str(model)), part or [], model)
    ranker: Any = whole.core()
    needed: dict[str, tuple[Any, str]] = {
        "trees": (trees, "trees"),
        "moved": (moved, "trees"),
        "plot_tree": (plot_tree, "trees"),
        "plot_importance": (plot_importance, "splits"),
        "weights": (weights, "weights"),
        "plot_history": (plot_history, "history"),
    }
    for option, (value, what) in needed.items():
        if value and what not in ranker.shows:
            raise _without(what, option, value, whole, name)
    for picture in filter(None, (plot_importance, plot_history, plot_tree)):
        check_picture(picture)
    change = None if moved is None else _change(moved, ranker)
    if json:
        import json as writer

        facts = whole.facts() if change is None else whole.facts() | {"moved": change.to_dict()}
        echo(writer.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        shown = tables(whole, name, importance or None)
        shown += [] if change is None else [change.grid(), change.feature_grid(importance or None)]
        echo("\n\n".join(table.text() for table in shown))
        if trees or weights:
            echo(f"\n{ranker.text(trees) if trees else ranker.text()}")
    if plot_importance is not None:
        save_picture(plot_importance, ranker.plot_importance)
    if plot_history is not None:
        save_picture(plot_history, ranker.plot_history)
    if plot_tree is not None:
        save_picture(plot_tree, lambda: ranker.plot_tree(tree))


def _change(background: Path, adapted: Forest) -> Moved:
    """What adaptation has moved in the trees of the model in a file."""
    from rankinite.adapt.forest_diff import moved
    from rankinite.cli.ranker_arguments import ranker as load

    whole: Any = load(str(background))
    return moved(whole.core(), adapted)


def tables(ranker: Fitted, title: str, most: int | None) -> list[Grid]:
    """The tables of a ranker and of the one that it is about; ``most``: how many features to list."""
    trained = ranker.trained() if ranker.about() is ranker and not ranker.inside() else None
    shown = [overview(ranker, trained, title)]
    if trained is not None and trained.settings:
        shown.append(settings_grid(trained))
    if trained is not None and trained.history is not None and trained.history.examination is not None:
        shown.append(trained.history.examination.grid())
    shown += ranker.tables(most)
    inner: Any = ranker.about()
    return shown if inner is ranker else shown + tables(inner, ranker.about_title, most)


def overview(ranker: Fitted, trained: Trained | None, title: str) -> Grid:
    """Kind, size and training."""
    from rankinite.grid import Grid
    from rankinite.models.views import history_rows, queries_row

    rows = [("kind", ranker.kind), *ranker.summary()]
    if trained is not None:
        rows += [*history_rows(trained), *queries_row(trained)]
    return Grid(("", ""), tuple(rows), align="ll", title=title)


def settings_grid(trained: Trained) -> Grid:
    """How a ranker was trained: the settings that matter most, and those that differ from their defaults."""
    from rankinite.cli.learner_options import CLASSES
    from rankinite.grid import Grid
    from rankinite.learners.custom_trees import CustomTrees

    maker = trained.learner or "unknown"
    kinds: dict[str, Any] = {kind.__name__: kind for kind in (*CLASSES.values(), CustomTrees)}  # a loss has no option
    usual = {field.name: field.default for field in fields(kinds[maker])} if maker in kinds else {}
    shown = [
        (name.replace("_", " "), _shown(value))
        for name, value in trained.settings.items()
        if name != "learner" and (name in ALWAYS_SHOWN or name not in usual or _shown(value) != _shown(usual[name]))
    ]
    hidden = len(trained.settings) - 1 - len(shown)
    notes = (f"At the default: {counted(hidden, 'other setting')} (--json shows all).",) if hidden > 0 else ()
    return Grid(("setting", "value"), tuple(shown), align="ll", title=f"trained by {maker}", notes=notes)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        if "learner" in entries:  # the settings of a base
            return str(entries["learner"])
        return ", ".join(f"{name}: {entry}" for name, entry in entries.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("list[Any]", value))) or "–"
    return "–" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def _without(what: str, option: str, value: Any, ranker: Any, name: str) -> ArgumentError:
    """The error for an option that shows something which a ranker does not have."""
    missing = "splits to judge features by" if what == "splits" else what
    return ArgumentError(
        f"cannot be shown: {name} is a {ranker.kind}, which has no {missing}",
        setting=option,
        value=str(value) if isinstance(value, Path) else value,
        remedy="Choose one of its parts with `part`" if parts_of(ranker) else "Leave it out",
    )
