"""The surface as plain data: ``python -m pinned.surface`` writes what is pinned; do so only with an entry in the changelog."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

import rankinite as rk
import rankinite.adapt
import rankinite.combine
import rankinite.measures
import rankinite.report
import rankinite.sklearn
from determinism.everything import results
from rankinite.cli.app import app
from rankinite.cli.commands import loaded

PINNED = Path(__file__).parent
HOMES: dict[str, ModuleType] = {
    "rankinite": rk,
    "rankinite.adapt": rankinite.adapt,
    "rankinite.combine": rankinite.combine,
    "rankinite.measures": rankinite.measures,
    "rankinite.report": rankinite.report,
    "rankinite.sklearn": rankinite.sklearn,
}


def public_names() -> dict[str, list[str]]:
    """Every public name with what it takes, and the public attributes of classes."""
    return {
        f"{home}.{name}": described(getattr(module, name)) for home, module in HOMES.items() for name in sorted(module.__all__)
    }


def described(thing: Any) -> list[str]:
    """Its parameters by name, kind and whether they have a default; of a class also its public attributes."""
    lines = parameters(thing) if callable(thing) else [type(thing).__name__]
    if inspect.isclass(thing):
        lines += sorted(f".{name}" for name in dir(thing) if not name.startswith("_") and not hasattr(Exception, name))
    return lines


def parameters(thing: Any) -> list[str]:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    return [
        f"{'*' * (one.kind - 1 if one.kind in (2, 4) else 0)}{one.name}{'' if one.default is one.empty else '='}"
        for one in signature.parameters.values()
    ]


def verbs() -> dict[str, dict[str, str]]:
    """Every verb's options and arguments whether they may be repeated, and whether they must be given."""
    group: Any = typer.main.get_command(app)
    return {
        name: {
            "/".join([*one.opts, *one.secondary_opts]): " ".join(
                [one.param_type_name, *["repeated"] * (one.multiple or one.nargs != 1), *["required"] * one.required]
            )
            for one in loaded(name).params
        }
        for name in sorted(group.commands)
    }


def surface() -> dict[str, Any]:
    return {"names": public_names(), "verbs": verbs(), "bytes": dict(results())}


if __name__ == "__main__":
    for name, content in surface().items():
        (PINNED / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
