"""Errors for users of the command line: settings as options, ``min_rows=5`` as ``--min-rows 5``."""

from __future__ import annotations

import ast
import re
import shlex
from typing import TYPE_CHECKING, Any, cast

from rankinite.errors import respelled

if TYPE_CHECKING:
    from rankinite.errors import RankiniteError

OTHER_NAMES = {
    ("", "categories"): "category",
    ("", "folder"): "out",
    ("", "format"): "input-format",
    ("", "measures"): "measure",
    ("", "positions"): "position",
    ("Checkpoint", "path"): "checkpoint",
    ("choose_members", "share"): "choose",
    ("Forest", "number"): "tree",
    ("k_folds", "k"): "folds",
    ("warm_up", "jobs"): "job",
    ("World", "categories"): "categories",
    ("threads", "count"): "threads",
    ("trada", "rate"): "background-rate",
    ("trada", "loss"): "background-loss",
}
"""The owner and the setting → the name of its option, where that is not the name of the setting with dashes."""
WITH_COMMAS = ("hidden", "steps")
"""The settings whose options take all values at once, with commas between them; others are repeated."""


def shell_text(error: RankiniteError) -> str:
    """The message of an error with its settings and remedies as they are written at the command line."""
    subject = f"{option(error.setting, error.value, error.owner)} " if error.setting else ""
    return error.written([error.place], subject, error.shell_remedy or error.remedy, spelled)


def in_shell(text: str) -> str:
    """A text with what it has between backticks as it is written at the command line."""
    return respelled(text, spelled)


def option(name: str, value: Any, owner: str = "") -> str:
    """A setting and its value: ``--min-rows 5``, ``--normalise``, ``--no-normalise``, ``--max-depth none``."""
    from rankinite.errors import cut

    if isinstance(value, list | tuple) and name in WITH_COMMAS:
        value = ",".join(map(str, value)) or "none"
    dashed = OTHER_NAMES.get((owner, name)) or OTHER_NAMES.get(("", name)) or name.replace("_", "-")
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        value = ",".join(f"{old}={new}" for old, new in pairs.items())
    if isinstance(value, bool):
        return f"--{dashed}" if value else f"--no-{dashed}"
    if isinstance(value, list | tuple):
        return " ".join(f"--{dashed} {shlex.quote(cut(one))}" for one in value) or f"--{dashed}"
    return f"--{dashed} {'none' if value is None else shlex.quote(cut(value))}"


def spelled(code: str) -> str:
    """What a message has between backticks: a setting as an option, one of our rankers as verbs take it.

    >>> spelled("infinite='clip'"), spelled("doc_id=…"), spelled("row_share"), spelled("Feature(3)"), spelled("Feature('x')")
    ('--infinite clip', '--doc-id', '--row-share', 'column:3', 'feature:x')
    """
    if feature := re.fullmatch(r"Feature\((.*)\)", code):
        named = _literal(feature[1])
        return f"feature:{named}" if isinstance(named, str) else f"column:{named}"
    setting = re.fullmatch(r"(\w+)(?:=(.*))?", code, re.DOTALL)
    if setting is None:
        return code
    name, value = setting.groups()
    if not value or "…" in value:
        return option(name, "").removesuffix(" ''")
    return option(name, _literal(value))


def _literal(text: str) -> Any:
    """The value that a text is in Python; a word that stands for a value, such as N, as it is."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
