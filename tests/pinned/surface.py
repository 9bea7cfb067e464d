"""What is pinned, as plain data: ``python -m pinned.surface NAME …``, run in ``tests``, writes it anew.

Do so only with an entry in the changelog, or where entries are added and none changes.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import rankinite as rk
import rankinite.adapt
import rankinite.combine
import rankinite.measures
import rankinite.report
import rankinite.sklearn
from determinism.everything import results
from pinned import (
    adaptation,
    combinations,
    evaluations,
    explanations,
    exports,
    handling,
    learners,
    private,
    readers,
    search,
    verbs,
)

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


SUBJECTS: dict[str, Callable[[], dict[str, Any]]] = {
    "names": public_names,
    "verbs": verbs.pins,
    "bytes": lambda: dict(results()),
    "learners": learners.digests,
    "readers": readers.digests,
    "handling": handling.digests,
    "evaluations": evaluations.digests,
    "explanations": explanations.digests,
    "combinations": combinations.digests,
    "search": search.digests,
    "adaptation": adaptation.digests,
    "exports": exports.digests,
}
"""What is pinned, each in the file of its name."""


def made(name: str) -> dict[str, Any]:
    """What is to be pinned in the file of this name."""
    with private.same_release():
        return SUBJECTS[name]()


def main(names: list[str]) -> None:
    """Write the files of these names, or of all."""
    for name in names or SUBJECTS:
        (PINNED / f"{name}.json").write_text(json.dumps(made(name), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
