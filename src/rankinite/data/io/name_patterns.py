"""Names and patterns: which columns or features a list such as ``bm25_*`` or ``price,stock`` means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from rankinite.errors import DataError, listed

_SPECIAL = frozenset("*?[")


def meant_by(entries: Iterable[str], known: Sequence[str], place: str) -> list[str]:
    """The names that the entries mean, each once, in their order. What means nothing is refused, all of it at once.

    An entry is a name; else a pattern with ``*``, ``?`` or ``[…]``, for all names that it fits; else several names and patterns
    with commas between them.
    """
    found, absent = resolved(entries, known)
    if absent:
        raise absent_names(absent, known, place)
    return found


def resolved(entries: Iterable[str], known: Sequence[str], among: Sequence[str] | None = None) -> tuple[list[str], list[str]]:
    """The names that the entries mean, and the entries that mean nothing; patterns mean those ``among`` the known alone."""
    names, found = frozenset(known), dict[str, None]()
    absent: list[str] = []
    for part in parted(entries, known):
        if part in names:
            found[part] = None
            continue
        fitting = [name for name in (known if among is None else among) if is_pattern(part) and fnmatchcase(name, part)]
        found |= dict.fromkeys(fitting)
        absent += [] if fitting else [part]
    return list(found), absent


def parted(entries: Iterable[str], known: Sequence[str]) -> list[str]:
    """Single names and patterns; an entry that is no name by itself is cut at its commas."""
    names, found = frozenset(known), list[str]()
    for entry in entries:
        whole = entry in names or "," not in entry
        found += [entry] if whole else [part for text in entry.split(",") if (part := text.strip())]
    return found


def is_pattern(name: str) -> bool:
    """Whether a name that is not there may be a pattern."""
    return not _SPECIAL.isdisjoint(name)


def absent_names(absent: Sequence[str], known: Sequence[str], place: str) -> DataError:
    """The error for names that are not there and patterns that fit none."""
    plain = [name for name in absent if not is_pattern(name)]
    patterns = [name for name in absent if is_pattern(name)]
    problems = [f"there is no column {listed(plain)}"] if plain else []
    problems += [f"no name fits {listed(patterns)}"] if patterns else []
    rule = f"The {'columns' if plain else 'names'} are {listed(known)}"
    return DataError(", and ".join(problems), place=place, value=list(absent), rule=rule)
