"""Answers: the error for settings that are called otherwise here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from rankinite.errors import ArgumentError, respelled
from rankinite.foreign_settings import remedies
from rankinite.foreign_settings.table import BY_NAME, ForeignSetting

LONGEST = 40
"""Letters of a value that is repeated in a remedy."""
_NAMED = re.compile(r"`(\w+)")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Answer:
    """What is said of one foreign setting."""

    problem: str
    note: str
    remedy: str


def plain_name(written: str) -> str:
    """A name as the table has it: ``--Learning-Rate`` is ``learning_rate``."""
    return written.lstrip("-").replace("-", "_").lower()


def foreign_names(
    written: Mapping[str, str], known: Collection[str], owner: str = "", spell: Callable[[str], str] | None = None
) -> ArgumentError | None:
    """The error for settings of which some are called otherwise here; None if we know of none.

    ``written``: the settings that are not known, each with its value as it would be written in Python, or "" where that is not
    to be repeated. ``known``: the settings there are, with underscores. ``owner``: the learner, in Python. ``spell``: how our
    settings are written where neither Python nor the command line asks for them.
    """
    answers = [found for name, value in written.items() if (found := _answer(name, value, known, owner))]
    if not answers:
        return None
    texts = (
        ", ".join(answer.problem for answer in answers),
        " ".join(dict.fromkeys(answer.note for answer in answers if answer.note)),
        ". ".join(_joined([answer.remedy for answer in answers if answer.remedy])),
    )
    if spell is not None:
        texts = tuple(respelled(text, spell) for text in texts)
    problem, rule, remedy = texts
    first = next(name for name in written if _answer(name, "", known, owner))
    return ArgumentError(problem, owner=owner, value=first, rule=rule, remedy=remedy)


def repeatable(value: object) -> str:
    """A value as it is written in Python; "" where it is nested too deeply or has too many digits for that."""
    try:
        return repr(value)
    except (RecursionError, ValueError):
        return ""


def as_written(code: str) -> str:
    """A setting as it is in Python, to the command line too: in texts such as ``'lambdamart leaves=63'``."""
    return code


def _answer(written: str, value: str, known: Collection[str], owner: str) -> Answer | None:
    name = plain_name(written)
    if name in known:  # but for dashes and capitals
        return Answer(f"{written} is `{name}` here", "", _remedy(remedies.same, name, value))
    found = BY_NAME.get(name)
    if found is None:
        return None
    ours = next((one for one in found.ours if one in known), None)
    if ours is not None:
        note = found.note if set(_NAMED.findall(found.note)) <= {*known} else ""  # it speaks of settings that are there
        return Answer(f"{written} is `{ours}` here", note, _remedy(found.remedy, ours, value))
    if owner and found.python:
        return Answer(f"{written} is no setting of a learner here", "", _in_python(found, value))
    if not found.ours and "rate" in known:  # where something is trained
        return Answer(f"{written} is no setting here", found.note, "")
    return None


def _remedy(remedy: Callable[[str, str], str], ours: str, value: str) -> str:
    return remedy(ours, value) if value and len(value) <= LONGEST and "`" not in value else f"Give `{ours}`"


def _in_python(found: ForeignSetting, value: str) -> str:
    return found.python(value) if callable(found.python) else found.python


def _joined(texts: list[str]) -> list[str]:
    """The remedies, those that only give a setting as one."""
    simple = [text for text in dict.fromkeys(texts) if text.startswith("Give `") and text.count("`") == 2]
    settings = ", ".join(text.removeprefix("Give ") for text in simple)
    return ([f"Give {settings}"] if settings else []) + [text for text in texts if text not in simple]


def answers_foreign_names(kind: type[Kind]) -> type[Kind]:
    """A dataclass of settings that refuses settings of other libraries with their names here.

    Its signature, ``replace`` and pickling stay as they are; other unknown settings are Python's own TypeError.
    """
    made: Any = kind.__init__
    dataclass_of_settings: Any = kind
    known = frozenset(field.name for field in fields(dataclass_of_settings) if field.init)

    @functools.wraps(made)
    def answering(self: Any, *positional: Any, **settings: Any) -> None:
        unknown = {name: repeatable(settings[name]) for name in settings if name not in known}
        refused = foreign_names(unknown, known, kind.__name__) if unknown else None
        if refused is not None:
            raise refused
        made(self, *positional, **settings)

    kind.__init__ = answering
    return kind
