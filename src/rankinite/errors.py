"""The errors users meet. Each knows its place, setting, value, rule and remedy, and is written from them.

    RankiniteError(Exception)
    ├── DataError       a file, table or array that cannot be read as judged data
    ├── MeasureError    a measure that does not exist, or does not fit the grades
    └── ArgumentError   a setting outside its range, or settings that exclude each other

>>> str(ArgumentError("must be a whole number from 1 on", owner="LambdaMART", setting="min_rows", value=0))
'LambdaMART: min_rows=0 must be a whole number from 1 on.'
>>> str(DataError("the grade 'x' is not a number", place="train.txt:3", value="x", remedy="Give whole numbers from 0 on"))
"train.txt:3: the grade 'x' is not a number. Give whole numbers from 0 on."

Texts name settings, and calls that have a counterpart at the command line, between backticks: ``pass `infinite='clip'` ``.
Python shows them without the backticks; the command line spells them as options (``cli.error_text``), prints the error
without a traceback and exits with code 2.
"""

from __future__ import annotations

import inspect
import re
import reprlib
import warnings
from collections.abc import Callable, Collection
from typing import Any, Final, Self


class RankiniteError(Exception):
    """Base of every error that is the input's fault rather than the program's."""

    def __init__(
        self,
        problem: str,
        *,
        place: object = "",
        owner: str = "",
        setting: str = "",
        value: Any = None,
        rule: str = "",
        remedy: str = "",
        shell_remedy: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem: Final = problem
        """What is wrong: a sentence, or where a setting is at fault what follows it. Its full stop may be left out."""
        self.place = str(place)
        """Where: a file with its line, a dataset with its row, a ranker."""
        self.owner = owner
        """Whose setting it is in Python, such as ``LambdaMART``; the command line leaves it out."""
        self.setting = setting
        """The setting at fault by its Python name. The message begins with it and its value."""
        self.value = value
        """What was found."""
        self.rule = rule
        """What has to hold, as a sentence."""
        self.remedy = remedy
        """What to do, as a sentence."""
        self.shell_remedy = shell_remedy
        """What to do at the command line where that differs in more than the spelling of a setting."""

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The message for users of Python."""
        subject = f"{self.setting}={quoted(self.value)} " if self.setting else ""
        return self.written([self.owner, self.place], subject, self.remedy, lambda code: code)

    def written(self, places: Collection[str], subject: str, remedy: str, spelled: Callable[[str], str]) -> str:
        """The message with its settings spelled by a function, which is given what is between backticks."""
        where = "".join(f"{place}: " for place in places if place)
        texts = (subject + self.problem, self.rule, remedy)
        sentences = " ".join(_sentence(respelled(text, spelled)) for text in texts if text)
        return where + sentences.replace(" \n", "\n")

    def at(self, place: object) -> Self:
        """The same error with what it happened in, such as a file or a ranker, before its place."""
        moved = self._copied()
        moved.place = f"{place}: {self.place}" if self.place else str(place)
        return moved

    def replaced(self, text: str, other: str) -> Self:
        """The same error with another text wherever its fields hold this one, such as the name of a file."""
        changed = self._copied()
        vars(changed).update({name: v.replace(text, other) for name, v in vars(self).items() if isinstance(v, str)})
        return changed

    def _copied(self) -> Self:
        same = type(self).__new__(type(self), *self.args)  # not copy(): libraries such as Dask change how errors are copied
        vars(same).update(vars(self))
        return same


_CODE = re.compile(r"`([^`]*)`")


def respelled(text: str, spelled: Callable[[str], str]) -> str:
    """A text with what it has between backticks spelled by a function."""
    return _CODE.sub(lambda found: spelled(found[1]), text)


def warn(text: str) -> None:
    """Warn of the line that called this package: Python shows a warning once per line, and ours would hide all later ones."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rankinite":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class DataError(RankiniteError):
    """A file, table or array cannot be read as judged data."""


class MeasureError(RankiniteError):
    """A measure is unknown, badly written, or does not fit the grades it is given."""


class ArgumentError(RankiniteError, ValueError):
    """A setting is outside its range, or two settings exclude each other."""


def listed(names: Collection[object], most: int = 20) -> str:
    """Names for a message, cut short when there are many."""
    shown = ", ".join(quoted(str(name)) for name in list(names)[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def quoted(value: object, most: int = 60) -> str:
    """A value as messages show it: like ``repr``, but cut to a readable length, however long or deep the value is."""
    if isinstance(value, str):
        shown = repr(value[:most])
        return shown if len(value) <= most else f"{shown[:-1]}…{shown[-1]}"
    return cut(_Short().repr(value), most)


def cut(text: object, most: int = 200) -> str:
    """The beginning of a text, such as another error's message, that may quote a whole file."""
    shown = str(text)
    return shown if len(shown) <= most else f"{shown[:most]}…"


class _Short(reprlib.Repr):
    """Shows the beginning of long and the outside of deep values."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 10
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        """A whole number; Python refuses to write out the longest."""
        if x.bit_length() > 400:
            return f"a whole number of about {int(x.bit_length() * 0.30103):,} digits"
        return super().repr_int(x, level)
