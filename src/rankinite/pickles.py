"""Pickles that outlive moves inside rankinite.

A pickle names the module of every class in it, so that one of a class in a private module ends with a `ModuleNotFoundError`
when the module moves. Those of data sets, rankers and measures name this module, the class and its fields instead. Users have
such pickles: this module, :func:`restore` and :func:`restore_scorer` must stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any

from rankinite.errors import DataError, quoted

PRIVATE = {"QuerySummaries": "rankinite.models.query_summaries", "Trees": "rankinite.trees.structure"}
"""The modules of classes that are in pickles, but not among the names of the package."""


class StablePickle:
    """A dataclass that is pickled and copied by its name and its fields; the constructor checks them again."""

    __slots__ = ()

    def pickled_fields(self) -> dict[str, Any]:
        """What the constructor is called with."""
        ours: Any = self
        return {one.name: getattr(self, one.name) for one in fields(ours)}

    def __reduce_ex__(self, protocol: Any) -> Any:
        kind = type(self)
        if _class_named(kind.__name__) is kind:
            return restore, (kind.__name__, self.pickled_fields())
        return super().__reduce_ex__(protocol)  # a class that users have derived from one of ours


def restore(kind: str, values: dict[str, Any]) -> Any:
    """What a pickle holds: an object of one of our classes, with these fields."""
    made = _class_named(kind)
    try:
        return made(**values)
    except TypeError as problem:
        raise DataError(
            f"this pickle holds a {quoted(kind)} that this version of rankinite does not know ({problem})",
            value=kind,
            rule="Pickles are for the version that wrote them and later ones",
            remedy="With that version save the ranker (`ranker.save`) or write the data (`rankinite.write`), and load the file",
        ) from problem


def restore_scorer(ranker: Any, names: Sequence[str]) -> Any:
    """The scorer that a pickle holds: it lays its trees out itself, as they are laid out for this version and process."""
    return ranker.scorer(names or None)


def _class_named(name: str) -> Any:
    """The class of a pickle; None where there is none of this name."""
    return getattr(import_module(PRIVATE.get(name, "rankinite")), name, None)
