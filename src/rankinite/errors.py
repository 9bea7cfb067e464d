"""The errors users meet. Each message gives place, value, rule and remedy.

    RankiniteError(Exception)
    ├── DataError       a file, table or array that cannot be read as judged data
    ├── MeasureError    a measure that does not exist, or does not fit the grades
    └── ArgumentError   a setting outside its range, or settings that exclude each other

The command line prints any of them without a traceback and exits with code 2.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection


class RankiniteError(Exception):
    """Base of every error that is the input's fault rather than the program's."""


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
