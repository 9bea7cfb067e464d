"""Safe text: names from data and files, made harmless for terminals and spreadsheets, which obey some of what they show."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, which terminals obey; marks that turn the direction of what follows; halves of surrogate pairs."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of cells that spreadsheets take for a formula, or skip before one."""


def for_terminal(text: str, keep: str = "\n\t") -> str:
    r"""The text with invisible characters written out as ``\u001b``, which means the same in JSON; ``keep`` stays."""
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


def for_spreadsheet(cell: str) -> str:
    """A cell of a CSV file that spreadsheets show as it is: formulas get an apostrophe in front.

    Numbers stay numbers, even with a sign.
    """
    return f"'{cell}" if cell.startswith(_FORMULA) and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell == cell.strip()
