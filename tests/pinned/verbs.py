"""Every verb's arguments and options: their spellings, types, choices, bounds, how often they may come, and defaults."""

from __future__ import annotations

from enum import Enum
from typing import Any, get_args, get_origin

from pinned import private


def pins() -> dict[str, dict[str, str]]:
    return {
        name: {"/".join([*one.opts, *one.secondary_opts]): _described(one) for one in verb.params}
        for name, verb in private.verbs().items()
    }


def _described(one: Any) -> str:
    words = [one.param_type_name, _type(one.type_descriptor.annotation)]
    bounds = [getattr(one, "min", None), getattr(one, "max", None)]
    if bounds != [None, None]:
        words.append("..".join("" if bound is None else f"{bound:g}" for bound in bounds))
    if one.multiple or one.nargs != 1:
        words.append("repeated")
    if one.required:
        words.append("required")
    if getattr(one, "hidden", False):
        words.append("hidden")
    if one.metavar:
        words.append(one.metavar)
    if one.default is not None:
        words.append(f"= {one.default.value if isinstance(one.default, Enum) else one.default}")
    return " ".join(words)


def _type(annotation: Any) -> str:
    """The choices where there are any, else the name of the type, of lists that of their entries."""
    if get_origin(annotation) is list:
        return _type(get_args(annotation)[0])
    if isinstance(annotation, type):
        return "|".join(str(one.value) for one in annotation) if issubclass(annotation, Enum) else annotation.__name__
    return "|".join(map(str, get_args(annotation)))
