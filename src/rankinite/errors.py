"""The errors users meet. Each message gives place, value, rule and remedy.

    RankiniteError(Exception)
    ├── DataError       a file, table or array that cannot be read as judged data
    ├── MeasureError    a measure that does not exist, or does not fit the grades
    └── ArgumentError   a setting outside its range, or settings that exclude each other

The command line prints any of them without a traceback and exits with code 2.
"""

from __future__ import annotations

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
    shown = ", ".join(repr(str(name)) for name in list(names)[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
