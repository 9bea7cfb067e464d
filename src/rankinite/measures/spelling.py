"""Reading measures: ``ndcg@10``, ``dcg@5:gains=0/1/3/7/10``, ``ap@20:relevant=2``, and what users give where measures go.

The text is what ``registry.spell`` writes. Law: ``parse_measure(str(m)) == m``. What trec_eval and ir-measures write is read
too: trec_eval joins a name and a cutoff by ``_`` or ``.``; ir-measures puts settings between parentheses, before ``@``. Where
a tool means something else by a name, its settings are added: trec_eval's ``ndcg_cut`` has linear gains. Names that are our
own keep our meaning, whatever their case: ``nDCG@10`` is ``ndcg@10``, which has exponential gains; a warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from typing import Any, Final, TypeGuard

from rankinite.errors import ArgumentError, MeasureError, quoted, warn
from rankinite.measures.base import Measure
from rankinite.measures.conventions import CONVENTIONS, Convention
from rankinite.measures.registry import CUT_NAMES, LARGEST_CUTOFF, OTHER_NAMES, find_measure, known_measures

_DIGITS = len(str(LARGEST_CUTOFF))
_LONGEST_NAME = 40  # of a measure that a misspelt one may have meant
_EXAMPLE: Final = {"remedy": "Give for example NDCG(10) or 'ndcg@10'", "shell_remedy": "Give for example ndcg@10"}

_OURS = re.compile(r"(?P<name>[A-Za-z][\w-]*?)(@(?P<cutoff>[^:]*))?(?P<settings>(:[^:]*)*)")
_TREC_EVAL = re.compile(r"(\w+)[_.]([0-9]+)")
_IR_MEASURES = re.compile(r"\s*([A-Za-z][\w-]*)\s*\(([^()]*)\)\s*(@[^:]*)?")
_SETTINGS = {"rel": "relevant", "dcg": "gains"}
_VALUES = {("dcg", "log2"): "linear", ("dcg", "exp-log2"): "exponential"}


# ---- measures as users give them --------------------------------------------------------------------------------------


def as_measures(
    measures: Sequence[Measure | str] | Measure | str, convention: Convention = CONVENTIONS["rankinite"]
) -> tuple[Measure, ...]:
    """The measures meant, without repetitions, in the order given; they are evaluated by the ``convention``."""
    listed: list[Any] = list(measures) if _is_list(measures) else [measures]
    parsed: list[Measure] = []
    for entry in listed:
        measure: Any = read_measure(entry) if isinstance(entry, str) else entry
        if isinstance(entry, str) and "gains" not in convention.settings.get("ndcg", {}):
            _warn_of_gains(entry, measure)
        if isinstance(measure, type) or not isinstance(measure, Measure):
            raise ArgumentError(f"{quoted(measure)} is not a measure", value=measure, **_EXAMPLE)
        if measure not in parsed:
            parsed.append(measure)
    if not parsed:
        raise ArgumentError("no measure was given", value=listed, **_EXAMPLE)
    names = [str(measure) for measure in parsed]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ArgumentError(f"two measures are called {twice!r}", value=twice, remedy="Give them different names")
    return tuple(parsed)


def one_measure(name: str, field: str, chosen: Measure | str) -> Measure:
    """The measure of a setting; refuses what is none, or several."""
    error = ArgumentError("must be one measure", owner=name, setting=field, value=chosen, **_EXAMPLE)
    try:
        measures = as_measures(chosen)
    except ArgumentError as problem:
        raise error from problem
    if len(measures) != 1:
        raise error
    return measures[0]


def _is_list(measures: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(measures, Iterable) and not isinstance(measures, str | Measure)


# ---- one text ---------------------------------------------------------------------------------------------------------


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
    _warn_of_gains(text, measure)
    return measure


def _warn_of_gains(text: str, measure: Any) -> None:
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
        match = None if spelling is None else _OURS.fullmatch(spelling.strip())
        kind: Any = find_measure(match["name"]) if match else None
        if match is None or kind is None:
            continue
        if isinstance(kind, type):
            return kind(**_settings(text, match, {field.name: field.default for field in fields(kind)}))
        _settings(text, match, {})  # a single measure that was registered: it has none
        return kind
    meant = _nearest(text)
    raise MeasureError(
        f"{quoted(text)} names no measure",
        value=text,
        rule=f"Known are {', '.join(known_measures())}",
        remedy=f"Did you mean {meant}?" if meant else "Write them as ndcg@10, err, dcg@5:gains=0/1/3/7/10 or ap:relevant=2",
    )


def respelled(text: str) -> str | None:
    """A measure as trec_eval or ir-measures writes it, in our own spelling; None where it is written otherwise.

    >>> respelled("ndcg_cut_10"), respelled("AP(rel=2)@20")
    ('ndcg@10:gains=linear', 'AP@20:relevant=2')
    """
    cut = _TREC_EVAL.fullmatch(text.strip())
    if cut and cut[1].lower() in CUT_NAMES:
        return CUT_NAMES[cut[1].lower()].format(cut[2])
    if call := _IR_MEASURES.fullmatch(text):
        name, arguments, cutoff = call.groups("")
        settings = ""
        for argument in filter(None, map(str.strip, arguments.split(","))):
            key, equals, value = (part.strip(" '\"") for part in argument.partition("="))
            if key == "cutoff" or not equals:  # NDCG(10), as one would write it in Python
                cutoff += f"@{value or key}"
            else:
                settings += f":{_SETTINGS.get(key, key)}={_VALUES.get((key, value), value)}"
        return f"{name}{cutoff}{settings}"
    return None


def _settings(text: str, match: re.Match[str], defaults: dict[str, Any]) -> dict[str, Any]:
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


def _nearest(text: str) -> str:
    """The text with the nearest known name in place of its own; nothing where none is near."""
    name = re.split(r"[@:(\s]", text.strip(), maxsplit=1)[0]
    if len(text) > 2 * _LONGEST_NAME or len(name) > _LONGEST_NAME:
        return ""
    joined = re.fullmatch(r"(\D+?)[_.]?([0-9]+)", name)  # ndcg10, ndcg_10
    stem, cutoff = (joined[1], f"@{joined[2]}") if joined else (name, "")
    matches = get_close_matches(stem.lower(), [*known_measures(), *OTHER_NAMES], 1)
    meant = matches[0] + cutoff + text.strip()[len(name) :] if matches else ""
    return meant if _OURS.fullmatch(meant) or respelled(meant) else ""
