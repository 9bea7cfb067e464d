"""Rankers from model files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankinite.data.text_files import AnyPath
from rankinite.errors import DataError, RankiniteError, listed
from rankinite.storage import DAMAGED, Stored, read_model

if TYPE_CHECKING:
    from rankinite.rankers.base import Ranker

HOMES = {
    "blend": ("rankinite.rankers.blend", "Blend"),
    "feature": ("rankinite.rankers.feature", "Feature"),
    "forest": ("rankinite.rankers.forest", "Forest"),
    "linear": ("rankinite.rankers.net", "Linear"),
    "net": ("rankinite.rankers.net", "Net"),
    "normalised": ("rankinite.rankers.normalised", "Normalised"),
    "stack": ("rankinite.rankers.stack", "Stack"),
}
"""The kind of a ranker in a model file → its module and class, which has ``from_stored(stored)``; imported when needed."""


def load(path: AnyPath) -> Ranker:
    """The ranker that ``save`` wrote to a file. Safe on files from anywhere: no code of theirs is run.

    >>> ranker = load("web.rankinite")                                        # doctest: +SKIP
    """
    stored = read_model(path)
    try:
        return build(stored)
    except RankiniteError as problem:
        raise DataError(f"{path}: {problem}") from problem
    except RecursionError as problem:
        raise DataError(f"{path}: rankers stand inside each other too deeply. {DAMAGED}") from problem


def build(stored: Stored) -> Ranker:
    """The ranker that is stored."""
    if stored.kind not in HOMES:
        raise DataError(
            f"a ranker of kind {stored.kind!r} is unknown; the kinds are {listed(sorted(HOMES))}. "
            "It may need a newer rankinite, or the file is damaged."
        )
    module, name = HOMES[stored.kind]
    return getattr(import_module(module), name).from_stored(stored)
