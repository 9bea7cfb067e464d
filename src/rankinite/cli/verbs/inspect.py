"""``rankinite inspect``: what is in a model."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rankinite.cli import files
from rankinite.cli.inner_rankers import correction, described, feature_ranked_by, kind_of, part_of, parts_of, trained
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.adapt.forest_changes import Moved
    from rankinite.data.sketch import QuerySketch
    from rankinite.grid import Grid
    from rankinite.models.forest import Forest
    from rankinite.models.history import History
    from rankinite.models.net import Linear, Net

TELLING = ("measure", "loss", "trees", "rate", "leaves", "hidden", "optimiser", "epochs", "rounds", "seed")
"""Settings that are shown even if they are what they are if left out."""
FOREST, NETS = ("Forest",), ("Net", "Linear")
"""The rankers that are trained, by the names of their classes."""
SCALES = {
    "all": "to (score − centre) / spread",
    "query": "to mean 0 and variance 1 within every query",
    "rank": "by order within every query, from 1 (first) to 0 (last)",
}
"""What normalising does to scores."""


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
    plot_tree: Annotated[Path | None, files.FILE, typer.Option(help="Draw a tree: the one --tree says.")] = None,
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

    whole, way = part_of(load(str(model)), part or [], model)
    ranker = trained(whole)
    asked = {
        "--trees": (bool(trees), FOREST, "trees"),
        "--moved": (moved is not None, FOREST, "trees"),
        "--plot-tree": (plot_tree is not None, FOREST, "trees"),
        "--plot-importance": (plot_importance is not None, FOREST, "splits to judge features by"),
        "--weights": (weights, NETS, "weights"),
        "--plot-history": (plot_history is not None, FOREST + NETS, "history"),
    }
    for option, (wanted, kinds, what) in asked.items():
        if wanted and type(ranker).__name__ not in kinds:
            raise _without(what, option, whole, way)
    for picture in filter(None, (plot_importance, plot_history, plot_tree)):
        check_picture(picture)
    change = None if moved is None else _change(moved, ranker)
    if json:
        import json as writer

        told = facts(whole) if change is None else facts(whole) | {"moved": change.to_dict()}
        echo(writer.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        shown = tables(whole, way, importance or None)
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
    from rankinite.adapt.forest_changes import moved
    from rankinite.cli.ranker_arguments import ranker as load

    return moved(trained(load(str(background))), adapted)


def tables(ranker: Any, title: str, most: int | None) -> list[Grid]:
    """What there is to show of a ranker; ``most`` of its features."""
    kind, shown = type(ranker).__name__, [overview(ranker, title)]
    if kind == "Normalised":
        return shown + tables(ranker.ranker, "the ranker whose scores they are", most)
    if kind in ("Blend", "Stack"):
        shown.append(_parts(ranker))
    if kind == "Stack":
        return shown + tables(ranker.top, "on top of the parts' scores", most)
    if correction(ranker) is not None:
        return shown + tables(correction(ranker), "part 1, the correction", most)
    if kind in FOREST + NETS and ranker.settings:
        shown.append(settings_grid(ranker))
    if kind in FOREST:
        shown.append(importance_grid(ranker, most))
    if kind == "Linear":
        shown.append(weights_grid(ranker, most))
    if kind == "Linear" and ranker.before is not None:
        shown.append(changes_grid(ranker, most))
    return shown


def overview(ranker: Any, title: str) -> Grid:
    """Kind, size and history."""
    from rankinite.grid import Grid

    kind = type(ranker).__name__
    rows = [("kind", str(ranker) if kind == "Feature" else kind_of(ranker))]
    if kind == "Feature":
        rows.append(("ranks by", feature_ranked_by(ranker)))
    if kind in FOREST:
        rows += _forest_rows(ranker)
    if kind in NETS:
        rows += _net_rows(ranker)
    if kind in FOREST + NETS and ranker.sketch is not None:
        rows.append(("trained on", _queries(ranker.sketch)))
    if kind == "Normalised":
        rows.append(("scores", SCALES[ranker.scale]))
        rows += [("centre", f"{ranker.centre:g}"), ("spread", f"{ranker.spread:g}")] if ranker.scale == "all" else []
    return Grid(("", ""), tuple(rows), align="ll", title=title)


def _queries(sketch: QuerySketch) -> str:
    """How many queries it was trained on."""
    about, more = "about " if sketch.level else "", "" if sketch.complete else ", and others that are not known"
    return f"{about}{sketch.queries:,} queries{more}"


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
        rows += _history_rows(forest.history, "{rounds:,} rounds, {best:,} kept")
    return rows


def _net_rows(ranker: Net | Linear) -> list[tuple[str, str]]:
    import numpy as np

    from rankinite.models.net import Net

    used = int(np.count_nonzero(ranker.scale if isinstance(ranker, Net) else ranker.weights))
    rows = [("features", f"{len(ranker.feature_names):,} ({used:,} used)")]
    rows += [("hidden units", _shown(ranker.hidden))] if isinstance(ranker, Net) else []
    rows += [
        ("weights", f"{len(ranker.weights):,}" if isinstance(ranker, Net) else f"{len(ranker.weights):,} and a bias"),
        ("missing values", "refused" if ranker.nan == "refuse" else "taken for the feature's mean"),
    ]
    if ranker.history is not None:
        rows += _history_rows(ranker.history, f"{{rounds:,}} {ranker.unit}s, {ranker.unit} {{best:,}} kept")
    return rows


def _history_rows(history: History, went: str) -> list[tuple[str, str]]:
    from rankinite.cli.verbs.train import rounds_of

    rows = [("training", f"{history.stopped} after {went.format(rounds=rounds_of(history), best=history.best)}")]
    for name, values in (("train", history.train), ("valid", history.valid)):
        if history.best < len(values):
            told = f"{values[0]:.4f} before, {values[history.best]:.4f} kept, {values[-1]:.4f} last"
            rows.append((f"{history.measure} on {name}", told))
    return rows


def settings_grid(ranker: Any) -> Grid:
    """How a ranker was trained: the settings that matter most, and those that are not what they are if left out."""
    from rankinite.cli.learner_options import HOMES, SETTINGS
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


def weights_grid(ranker: Linear, most: int | None) -> Grid:
    """The features with the largest weights, whatever their sign; ``most`` of them."""
    from rankinite.grid import Grid

    weights = ranker.by_feature()
    used = sorted((name for name in weights if weights[name]), key=lambda name: -abs(weights[name]))
    rows = tuple((name, f"{weights[name]:+.6g}") for name in used[:most])
    hidden = len(used) - len(rows)
    notes = ("A weight is in its feature's own unit: what it does to the score depends on how much the feature varies.",)
    notes += (f"… and {hidden} more (--importance 0 lists all)",) if hidden else ()
    return Grid(("feature", "weight"), rows, notes=notes)


def changes_grid(ranker: Linear, most: int | None) -> Grid:
    """The features whose weights training has changed most; ``most`` of them."""
    from rankinite.grid import Grid

    assert ranker.before is not None
    changes, weights = ranker.changes(), ranker.by_feature()
    before = dict(zip(ranker.feature_names, ranker.before.tolist(), strict=True))
    rows = tuple((name, f"{before[name]:+.6g}", f"{weights[name]:+.6g}", f"{changes[name]:+.6g}") for name in changes)[:most]
    hidden = len(changes) - len(rows)
    notes = (f"… and {hidden} more (--importance 0 lists all)",) if hidden else ()
    title = f"{len(changes):,} of {len(weights):,} weights changed"
    return Grid(("feature", "before", "weight", "change"), rows, title=title, notes=notes)


def _parts(ranker: Any) -> Grid:
    """The rankers inside a blend, each with its weight, or inside a stack."""
    from rankinite.grid import Grid

    told = [described(part) for part in parts_of(ranker)]
    notes = ("Look into one with --part.",)
    if type(ranker).__name__ == "Stack":
        return Grid(("part", "ranker"), tuple((str(number), text) for number, text in enumerate(told)), "rl", notes=notes)
    weights = [f"{weight:g}" for weight, _ in ranker.parts]
    rows = tuple((str(number), *row) for number, row in enumerate(zip(weights, told, strict=True)))
    return Grid(("part", "weight", "ranker"), rows, align="rrl", notes=notes)


def facts(ranker: Any) -> dict[str, Any]:
    """Everything as JSON has it."""
    kind = type(ranker).__name__
    found: dict[str, Any] = {"kind": kind.lower(), "features": list(ranker.feature_names)}
    if kind == "Blend":
        return found | {"parts": [{"weight": weight, **facts(part)} for weight, part in ranker.parts]}
    if kind == "Stack":
        return found | {"top": facts(ranker.top), "parts": [facts(part) for part in ranker.parts]}
    if kind == "Normalised":
        numbers = {"centre": ranker.centre, "spread": ranker.spread} if ranker.scale == "all" else {}
        return found | {"scale": ranker.scale, **numbers, "ranker": facts(ranker.ranker)}
    if kind not in FOREST + NETS:
        return found | {"ranker": str(ranker)}
    found |= {"settings": dict(ranker.settings), "history": None if ranker.history is None else ranker.history.to_dict()}
    found["training_queries"] = None if ranker.sketch is None else ranker.sketch.queries
    if kind in NETS:
        return found | _net_facts(ranker)
    return found | {
        "trees": len(ranker),
        "rounds": ranker.rounds,
        "leaves": int((ranker.trees.feature < 0).sum()),
        "importance": {"gain": ranker.importance("gain"), "count": ranker.importance("count")},
    }


def _net_facts(ranker: Net | Linear) -> dict[str, Any]:
    """All it takes to compute the scores elsewhere."""
    from rankinite.models.net import Net

    if isinstance(ranker, Net):
        layers = [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in ranker.layers()]
        standard = {"centre": ranker.centre.tolist(), "scale": ranker.scale.tolist()}
        return {"nan": ranker.nan, "hidden": list(ranker.hidden), **standard, "layers": layers}
    centre = dict(zip(ranker.feature_names, ranker.centre_of_features.tolist(), strict=True))
    facts = {"nan": ranker.nan, "bias": ranker.bias, "weights": ranker.by_feature(), "centre": centre}
    return facts if ranker.before is None else facts | {"changes": ranker.changes()}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        told = cast("dict[str, Any]", value)
        if "learner" in told:  # the settings of a base
            return str(told["learner"])
        return ", ".join(f"{name}: {own}" for name, own in told.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("list[Any]", value))) or "–"
    return "–" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def _without(what: str, option: str, ranker: object, way: str) -> ArgumentError:
    if parts_of(ranker):
        return ArgumentError(f"{option}: {way} is a {kind_of(ranker)}. Choose one of its parts with --part.")
    return ArgumentError(f"{option}: {way} is a {kind_of(ranker)}, which has no {what}. Leave it out.")
