"""Setting: a field of a learner as the command line sees it, with its type, default and docstring."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Any, get_args

NONE = "none"
"""How an option says None where that is not what leaving it out means, or that there are no hidden units."""
PANELS = {
    "TreeSettings": "Trees",
    "Boosting": "Training",
    "StepSettings": "Exact steps",
    "Descent": "Nets",
    "Learner": "Watching",
}
"""The class that has a setting → the heading under which the help lists it; those of single learners are about the loss."""
SHARED = "Training"
"""The heading of a setting that trees and nets share, or that says how long to train."""
LOSS = "Loss"
PLAIN = {"int": int, "float": float, "bool": bool, "str": str, "tuple[str, ...]": str, "tuple[int, ...]": tuple}
"""Types of settings as they are annotated → the type of one value on the command line."""


@dataclass(frozen=True)
class Setting:
    """A field of a learner."""

    name: str
    kind: Any
    """The type of one value on the command line; ``tuple`` for whole numbers with commas between them."""
    repeated: bool
    optional: bool
    """Whether it may be None."""
    default: Any
    doc: str
    panel: str

    @property
    def option(self) -> str:
        """How it is written: ``--min-rows``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """The default as the help shows it; empty when the help text says what leaving it out means."""
        if isinstance(self.default, bool):
            return self.option.removeprefix("--") if self.default else f"no-{self.option.removeprefix('--')}"
        if self.kind is tuple:
            return ",".join(map(str, self.default)) or NONE
        return "" if self.default is None or self.default == () else str(self.default)


def settings_of(learner: type[Any]) -> dict[str, Setting]:
    """The fields of a learner, in the order the dataclass has them."""
    return {field.name: _setting(learner, field) for field in fields(learner)}


def _setting(learner: type[Any], field: Field[Any]) -> Setting:
    homes = [base for base in learner.__mro__ if field.name in vars(base).get("__annotations__", {})]
    home = next((base for base in homes if field.name in _docs(base)), homes[0])  # others only change the default
    types = set(str(field.type).split(" | "))
    random = field.name.endswith("_share") or field.name in {"thresholds", "seed"}
    return Setting(
        name=field.name,
        kind=_kind(types - {"None"}, home),
        repeated="tuple[str, ...]" in types,
        optional="None" in types,
        default=field.default,
        doc=_docs(home)[field.name],
        panel="Randomness" if random else SHARED if field.name == "rounds" else PANELS.get(home.__name__, LOSS),
    )


def _kind(types: set[str], home: type[Any]) -> Any:
    """The type of one value: a measure is a text, and a Literal of the class's module a choice."""
    if "Measure" in types:
        return str
    (one,) = types
    if one in PLAIN:
        return PLAIN[one]
    return StrEnum(one, [(value, value) for value in get_args(vars(sys.modules[home.__module__])[one])])


@cache
def _docs(home: type[Any]) -> dict[str, str]:
    """The docstring below each field of a class. Python does not keep them, so they are read from the source."""
    (node,) = ast.parse(inspect.getsource(home)).body
    assert isinstance(node, ast.ClassDef)
    return dict(_documented(node))


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield statement.target.id, " ".join(str(below.value.value).split())
