"""Measures as text: ``ndcg@10``, ``err``, ``dcg@5:gains=0/1/3/7/10``, ``ap@20:relevant=2``.

A name, ``@`` and the cutoff where there is one, then every setting that is not the default. Law:
``parse_measure(str(m)) == m``. What trec_eval and ir-measures write is read too (``other_spellings``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass, replace
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, TypeVar

from rankinite.errors import MeasureError, RankiniteError, quoted, warn
from rankinite.measures.other_spellings import ALIASES, respelled

C = TypeVar("C")

LARGEST_CUTOFF = 10**15 - 1
"""More ranks than there are documents anywhere."""
_DIGITS = len(str(LARGEST_CUTOFF))

USUAL_CUTOFFS = (1, 3, 5, 10)

_LONGEST_NAME = 40  # of a measure that a misspelt one may have meant
_known: dict[str, Any] = {}
_PATTERN = re.compile(r"(?P<name>[A-Za-z][\w-]*?)(@(?P<cutoff>[^:]*))?(?P<settings>(:[^:]*)*)")


def register_measure(measure: C) -> C:
    """Make a measure class readable by its ``name``; use it as a class decorator. A single measure, such as a
    :class:`FunctionMeasure`, is registered too: its text is its name alone.

    A package can also announce its measures by an entry point in the group ``rankinite.measures``: then the command
    line knows them as soon as the package is installed.
    """
    kind: Any = measure
    if not is_dataclass(kind):
        raise MeasureError(
            f"{getattr(kind, '__name__', kind)} is not a dataclass",
            value=getattr(kind, "__name__", kind),
            rule="The fields of a frozen dataclass with a name are what the text of a measure sets",
            remedy="Decorate it with dataclass(frozen=True) first",
        )
    name: str = str(kind) if not isinstance(kind, type) else getattr(kind, "name", kind.__name__.lower())
    _known[name.lower()] = measure
    return measure


def known_measures() -> list[str]:
    """The names :func:`parse_measure` understands."""
    return sorted({*_known, *(point.name for point in entry_points(group="rankinite.measures"))})


def usual_measures() -> list[str]:
    """Texts that a shell offers: every name that is known, with usual cutoffs where the measure takes one, and other names."""
    found: list[str] = []
    for name in known_measures():
        kind = _known.get(name)
        has_cutoff = isinstance(kind, type) and any(field.name == "cutoff" for field in fields(kind))
        found += [name, *(f"{name}@{cutoff}" for cutoff in USUAL_CUTOFFS if has_cutoff)]
    return [*found, *ALIASES]


def registered() -> Iterator[tuple[str, Any]]:
    """Name and default value of every measure that has been registered and can be built without settings."""
    for name, measure in _known.items():
        try:
            yield name, measure() if isinstance(measure, type) else measure
        except (TypeError, RankiniteError):  # it needs settings, so its name alone is no measure
            continue


def spell(measure: Any) -> str:
    """The text of a measure that is a dataclass with a ``name``."""
    text = str(measure.name)
    for field in fields(measure):
        value = getattr(measure, field.name)
        if field.name == "cutoff":
            text += "" if value is None else f"@{value}"
        elif value != field.default:
            text += f":{field.name}={_spell_value(value)}"
    return text


def parse_measure(text: str) -> Any:
    """The measure that a text such as ``ndcg@10`` names.

    Names of trec_eval and ir-measures are read too: ``P_10``, ``recip_rank``, ``AP(rel=2)``, ``RBP(p=0.5)``. ``ndcg_cut_10``
    has linear gains as in trec_eval; ``nDCG@10`` is ``ndcg@10``, with exponential ones, and warns that ir-measures has linear
    ones.

    >>> parse_measure("ndcg@10")
    NDCG(cutoff=10, gains='exponential', discount='log2', short='counted')
    >>> print(parse_measure("ndcg_cut_10"))
    ndcg@10:gains=linear
    """
    measure = read_measure(text)
    warn_of_gains(text, measure)
    return measure


def warn_of_gains(text: str, measure: Any) -> None:
    """Warn of ir-measures' spelling of NDCG without a choice of gains, which are linear there and exponential here."""
    if not re.match(r"\s*nDCG(?![\w-])", text) or ":gains=" in (respelled(text) or text):
        return
    warn(
        f"{text} is read with exponential gains, but ir-measures gives it linear ones. Write {measure} for exponential gains, "
        f"{replace(measure, gains='linear')} for linear ones"
    )


def read_measure(text: str) -> Any:
    """:func:`parse_measure` without its warning."""
    for spelling in (text, respelled(text)):
        match = None if spelling is None else _PATTERN.fullmatch(spelling.strip())
        measure = _find(match["name"]) if match else None
        if match is not None and measure is not None:
            return _built(text, match, measure)
    meant = _nearest(text)
    raise MeasureError(
        f"{quoted(text)} names no measure",
        value=text,
        rule=f"Known are {', '.join(known_measures())}",
        remedy=f"Did you mean {meant}?" if meant else "Write them as ndcg@10, err, dcg@5:gains=0/1/3/7/10 or ap:relevant=2",
    )


def _built(text: str, match: re.Match[str], measure: Any) -> Any:
    """The measure with the settings that its text gives; one that was registered as a value has none."""
    if not isinstance(measure, type):
        _parse_settings(text, match, {})
        return measure
    kind: Any = measure
    return kind(**_parse_settings(text, match, {field.name: field.default for field in fields(kind)}))


def _nearest(text: str) -> str:
    """The text with the nearest name that is known in place of its own; nothing where none is near."""
    name = re.split(r"[@:(\s]", text.strip(), maxsplit=1)[0]
    if len(text) > 2 * _LONGEST_NAME or len(name) > _LONGEST_NAME:
        return ""
    joined = re.fullmatch(r"(\D+?)[_.]?([0-9]+)", name)  # ndcg10, ndcg_10
    stem, cutoff = (joined[1], f"@{joined[2]}") if joined else (name, "")
    found = get_close_matches(stem.lower(), [*known_measures(), *ALIASES], 1)
    meant = found[0] + cutoff + text.strip()[len(name) :] if found else ""
    return meant if _PATTERN.fullmatch(meant) or respelled(meant) else ""


def _parse_settings(text: str, match: re.Match[str], defaults: dict[str, Any]) -> dict[str, Any]:
    """The settings that a text gives a measure whose fields have these defaults."""
    settings: dict[str, Any] = {}
    cutoff = match["cutoff"]
    if cutoff is not None and "cutoff" not in defaults:
        raise MeasureError(f"{match['name']} has no cutoff", place=quoted(text), value=cutoff, remedy=f"Write {match['name']}")
    if cutoff is not None:
        if not re.fullmatch(rf"[0-9]{{1,{_DIGITS}}}", cutoff):
            raise MeasureError(
                f"{quoted(cutoff)} is not a cutoff of {match['name']}",
                place=quoted(text),
                value=cutoff,
                remedy=f"Write a whole number of {_DIGITS} digits at most after @, as in ndcg@10",
            )
        settings["cutoff"] = int(cutoff)
    for setting in filter(None, match["settings"].split(":")):
        key, equals, value = setting.partition("=")
        if key not in defaults or not equals:
            names = ", ".join(name for name in defaults if name != "cutoff") or "none"
            raise MeasureError(
                f"{quoted(setting)} is not a setting of {match['name']}",
                place=quoted(text),
                value=setting,
                rule=f"Its settings are: {names}",
            )
        settings[key] = _parse_value(text, value, defaults[key])
    return settings


def _find(name: str) -> Any:
    low = name.lower()
    low = ALIASES.get(low, low)
    if low not in _known:
        for point in entry_points(group="rankinite.measures"):
            if point.name.lower() == low:
                _known[low] = point.load()
    return _known.get(low)


def _spell_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(_spell_value(entry) for entry in value) + ("/" if len(value) == 1 else "")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _parse_value(text: str, value: str, default: Any) -> Any:
    try:
        if "/" in value:
            return tuple(float(entry) for entry in value.removesuffix("/").split("/"))
        if default is MISSING or isinstance(default, str):
            return value
        return int(value) if isinstance(default, int) else float(value)
    except ValueError:
        raise MeasureError(
            f"{quoted(value)} is not a number", place=quoted(text), value=value, remedy="Write it as in ap:relevant=2"
        ) from None
