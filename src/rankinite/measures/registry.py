"""Registry: measures by name, in rankinite and in other tools, and a measure written as text.

The text is the name, ``@`` and the cutoff where there is one, then every setting that is not the default: ``ndcg@10``, ``err``,
``dcg@5:gains=0/1/3/7/10``. ``spelling`` reads it back. The shell's completion, error messages and tests ask this registry, so
that a measure that is registered is known everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib.metadata import entry_points
from typing import Any, TypeVar

from rankinite.errors import MeasureError, RankiniteError

C = TypeVar("C")

LARGEST_CUTOFF = 10**15 - 1
"""More ranks than there are documents anywhere."""
USUAL_CUTOFFS = (1, 3, 5, 10)

_known: dict[str, Any] = {}
OTHER_NAMES: dict[str, str] = {}
"""Names that other tools give to measures, in lower case → ours."""
CUT_NAMES: dict[str, str] = {}
"""Names to which trec_eval joins a cutoff, as in ``ndcg_cut_10`` → our text, with {} for the cutoff."""


def measure(name: str, *other_names: str, cut_name: str = "", cut_settings: str = "") -> Callable[[type[C]], type[C]]:
    """Name a class of measures and register it.

    ``other_names`` are those that other tools give it. ``cut_name`` is the one to which trec_eval joins a cutoff, and
    ``cut_settings`` are the settings that it then implies.
    """

    def named(kind: type[C]) -> type[C]:
        as_any: Any = kind
        as_any.name = name
        OTHER_NAMES.update(dict.fromkeys(other_names, name))
        if cut_name:
            CUT_NAMES[cut_name] = f"{name}@{{}}{cut_settings}"
        return register_measure(kind)

    return named


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


def find_measure(name: str) -> Any:
    """The class or the measure of that name, in any case and in any tool's words; None where there is none."""
    low = name.lower()
    low = OTHER_NAMES.get(low, low)
    if low not in _known:
        for point in entry_points(group="rankinite.measures"):
            if point.name.lower() == low:
                _known[low] = point.load()
    return _known.get(low)


def known_measures() -> list[str]:
    """The names :func:`parse_measure` understands."""
    return sorted({*_known, *(point.name for point in entry_points(group="rankinite.measures"))})


def default_measures() -> Iterator[tuple[str, Any]]:
    """Every registered name with the measure that it is without settings; those that need settings are left out."""
    for name, measure in _known.items():
        try:
            yield name, measure() if isinstance(measure, type) else measure
        except (TypeError, RankiniteError):
            continue


def usual_measures() -> list[str]:
    """Texts that a shell offers: every known name, with usual cutoffs where the measure takes one, and other tools' names."""
    texts: list[str] = []
    for name in known_measures():
        kind = _known.get(name)
        has_cutoff = isinstance(kind, type) and any(field.name == "cutoff" for field in fields(kind))
        texts += [name, *(f"{name}@{cutoff}" for cutoff in USUAL_CUTOFFS if has_cutoff)]
    return [*texts, *OTHER_NAMES]


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


def _spell_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(_spell_value(entry) for entry in value) + ("/" if len(value) == 1 else "")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
