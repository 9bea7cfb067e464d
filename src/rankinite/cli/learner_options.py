"""The settings of all learners as the options of ``train``: one option for each name, with the learners it is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from enum import Enum, StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.cli.learner_settings import LOSS, NONE, SHARED, Setting, settings_of
from rankinite.errors import ArgumentError
from rankinite.learners import LEARNERS
from rankinite.learners.boosting import Boosting, Preset
from rankinite.learners.descent import Descent

if TYPE_CHECKING:
    from rankinite.learners import base as training

_CLASSES: dict[str, type[training.Learner]] = {
    module.replace("_", "-"): getattr(import_module(f"rankinite.learners.{module}"), name) for module, name in LEARNERS.items()
}
if TYPE_CHECKING:

    class LearnerName(StrEnum):
        """What can train."""

else:
    LearnerName = StrEnum("LearnerName", [(name.replace("-", "_"), name) for name in _CLASSES])
DEFAULT = LearnerName("lambdamart")
CLASSES = {learner: _CLASSES[learner.value] for learner in LearnerName}
"""The class of each learner."""


def _having(base: type[Any]) -> tuple[LearnerName, ...]:
    return tuple(learner for learner, kind in CLASSES.items() if issubclass(kind, base))


NETS = _having(Descent)
"""Those that train a net, or a linear ranker in the same way."""
TREES = _having(Boosting)
"""Those that boost trees."""
FAMILIES: dict[str, set[LearnerName]] = {"trees": set(TREES), "nets": set(NETS)}
PREFERRING = tuple(learner for learner, kind in CLASSES.items() if kind.takes_preferences)
"""Those that learn from judged pairs."""
ORDER = (LOSS, SHARED, "Exact steps", "Trees", "Nets", "Watching", "Randomness")
SHORT = {"measure": "-m", "seed": "-s"}
FLAGS = {"true": True, "false": False, "yes": True, "no": False}
MEASURES = ("measure", "watch")
"""The settings that are measures."""
SETTINGS = {learner: settings_of(kind) for learner, kind in CLASSES.items()}
"""What each learner can be set to."""


def variants(name: str) -> dict[LearnerName, Setting]:
    """The learners that have a setting of this name, and how each means it."""
    return {learner: settings[name] for learner, settings in SETTINGS.items() if name in settings}


def _panel(name: str) -> str:
    """The heading under which the help lists a setting."""
    panels = {setting.panel for setting in variants(name).values()}
    panels = panels - {LOSS} or panels  # where a class of many learners has the setting too, it is about more than a loss
    return panels.pop() if len(panels) == 1 else SHARED


def _names() -> list[str]:
    """The settings of all learners, those of a panel together, what belongs to it before what has come there by sharing."""
    first = {name: next(iter(variants(name).values())) for settings in SETTINGS.values() for name in settings}
    return sorted(first, key=lambda name: (ORDER.index(_panel(name)), first[name].panel != _panel(name)))


def _who(learners: Sequence[LearnerName]) -> str:
    """The learners by name, or in a word where they are all that train trees, or nets."""
    return next((family for family, members in FAMILIES.items() if members == set(learners)), ", ".join(learners))


def _merged(texts: dict[LearnerName, str], pattern: str, between: str) -> str:
    """One text where all learners say the same, else each with its learners."""
    learners = {text: _who([learner for learner, other in texts.items() if other == text]) for text in texts.values()}
    if len(learners) <= 1:
        return next(iter(learners), "")
    return between.join(pattern.format(who=who, text=text) for text, who in learners.items())


def _help(name: str) -> str:
    """What a setting means, for whom, and its default: Typer's own would be None, which stands for "not given"."""
    having = variants(name)
    text = _merged({learner: setting.doc for learner, setting in having.items()}, "{who}: {text}", " ")
    is_obvious = len(having) == len(SETTINGS) or set(having) <= FAMILIES.get(_panel(name).lower(), set())  # by the heading
    alike = len({setting.doc for setting in having.values()}) == 1
    only = "" if is_obvious or not alike else f" ({_who(list(having))} only)"
    defaults = {learner: setting.shown_default for learner, setting in having.items()}
    if any(defaults.values()):
        defaults = {learner: text or NONE for learner, text in defaults.items()}
    default = _merged(defaults, "{text} ({who})", ", ")
    shown = f" [dim]\\[default: {default}][/dim]" if default else ""
    return f"{text}{only}".replace("[", r"\[") + shown  # Rich would take other brackets for markup


def _annotation(name: str) -> Any:
    """The option of a setting, for Typer. None stands for an option that is not given."""
    having = variants(name)
    setting = next(iter(having.values()))
    flags = [f"{setting.option}/--no-{setting.option.removeprefix('--')}"] if setting.kind is bool else [setting.option]
    says_none = any(one.optional and one.default is not None for one in having.values())
    option = typer.Option(
        *flags,
        *([SHORT[name]] if name in SHORT else []),
        help=_help(name),
        rich_help_panel=_panel(name),
        show_default=False,
        autocompletion=completing.measures if name in MEASURES else None,
        metavar=f"<int,…|{NONE}>" if setting.kind is tuple else f"<int|{NONE}>" if says_none else None,
    )
    kind: Any = str if says_none or setting.kind is tuple else list[str] if setting.repeated else _shared_kind(having)
    return Annotated[kind | None, option]


def _shared_kind(having: dict[LearnerName, Setting]) -> Any:
    """The type of an option; of choices that differ between learners, all. The learner refuses those that are not its own."""
    kinds: list[Any] = [setting.kind for setting in having.values()]
    if not issubclass(kinds[0], Enum):
        return kinds[0]
    choices = dict.fromkeys(choice.value for kind in kinds for choice in kind)
    return StrEnum(kinds[0].__name__, [(value, value) for value in choices])


Settings: Any = make_dataclass("Settings", [(name, _annotation(name), field(default=None)) for name in _names()], frozen=True)
"""Every setting of every learner, None where it is not given: what ``with_options`` turns into options."""


def make(learner: LearnerName, given: Any, preset: Preset | None = None) -> training.Learner:
    """The learner with the settings that were given, the others those of a preset."""
    if preset is not None and learner not in TREES:
        raise ArgumentError(
            f"is for learners of trees ({', '.join(TREES)}), not for {learner}",
            setting="preset",
            value=preset,
            remedy="Leave it out",
        )
    known = SETTINGS[learner]
    chosen: dict[str, Any] = {f.name: getattr(given, f.name) for f in fields(given) if getattr(given, f.name) not in (None, [])}
    for name in chosen:
        if name not in known:
            raise _foreign(learner, name)
    kind, settings = CLASSES[learner], {name: _value(known[name], value) for name, value in chosen.items()}
    return kind(**settings) if preset is None or not issubclass(kind, Boosting) else kind.preset(preset, **settings)


def spelled(learner: LearnerName, made: training.Learner) -> dict[str, Any]:
    """All settings of a learner as the options that would make it; None for those to leave out."""
    return {name: _spelled(setting, getattr(made, name)) for name, setting in SETTINGS[learner].items()}


def _spelled(setting: Setting, value: Any) -> Any:
    if value is None:
        return None if setting.default is None else NONE
    if setting.kind is tuple:
        return ",".join(map(str, value)) or NONE
    if setting.repeated:
        return list(value)
    return value if isinstance(value, int | float) else str(value)


def _foreign(learner: LearnerName, name: str) -> ArgumentError:
    having = variants(name)
    return ArgumentError(
        f"`{name}` is not a setting of {learner}, but of {_listed(list(having))}",
        value=name,
        remedy="Leave it out, or choose another `learner`",
    )


def value_of(learner: LearnerName, name: str, text: str) -> Any:
    """The value that a text on the command line stands for."""
    setting = SETTINGS[learner][name]
    if setting.repeated:
        return tuple(text.split(","))
    if setting.kind is bool and text in FLAGS:
        return FLAGS[text]
    if setting.kind is float:
        try:
            return float(text)
        except ValueError as error:
            raise ArgumentError("is not a number", setting=name, value=text, remedy="Give for example 0.1") from error
    return _value(setting, text)


def _value(setting: Setting, value: Any) -> Any:
    """What the learner is given for an option's value."""
    if isinstance(value, Enum):
        return value.value
    if setting.repeated:
        return tuple(value)
    if setting.kind not in (int, tuple) or isinstance(value, int):
        return value
    if value == NONE:
        return () if setting.kind is tuple else None
    try:
        return tuple(int(part) for part in value.split(",")) if setting.kind is tuple else int(value)
    except ValueError as error:
        known = (
            "whole numbers, as in 20,10, or none for a linear ranker" if setting.kind is tuple else "a whole number, or none"
        )
        raise ArgumentError("is not understood", setting=setting.name, value=value, remedy=f"Give {known}") from error


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
