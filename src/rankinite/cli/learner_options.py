"""The settings of the learners as options, read from the source of their dataclasses.

The classes themselves are imported only when one of them is to train: they bring Numba along, and ``--help`` must be quick. So
fields, types, defaults and the docstrings below the fields come from the syntax tree; a test holds them against the classes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from enum import Enum, StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankinite.cli import completion as completing
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.learners import base as training


class Learner(StrEnum):
    """What can train."""

    lambdamart = "lambdamart"
    mart = "mart"
    mcrank = "mcrank"
    ranknet_trees = "ranknet-trees"
    lambdarank = "lambdarank"
    ranknet = "ranknet"
    lambdaboost = "lambdaboost"


class Preset(StrEnum):
    """What the settings of trees are that are not given."""

    plain = "plain"
    paper = "paper"


HOMES = {
    Learner.lambdamart: ("rankinite.learners.lambdamart", "LambdaMART"),
    Learner.mart: ("rankinite.learners.mart", "MART"),
    Learner.mcrank: ("rankinite.learners.mcrank", "McRank"),
    Learner.ranknet_trees: ("rankinite.learners.ranknet_trees", "RankNetTrees"),
    Learner.lambdarank: ("rankinite.learners.lambdarank", "LambdaRank"),
    Learner.ranknet: ("rankinite.learners.ranknet", "RankNet"),
    Learner.lambdaboost: ("rankinite.learners.lambdaboost", "LambdaBoost"),
}
"""The module and class of each."""
NETS = (Learner.lambdarank, Learner.ranknet)
"""Those that train a net, or a linear ranker in the same way."""
TREES = tuple(learner for learner in Learner if learner not in (*NETS, Learner.lambdaboost))
"""Those that boost trees."""
FAMILIES: dict[str, set[Learner]] = {"trees": set(TREES), "nets": set(NETS)}
PREFERRING = (Learner.ranknet_trees, Learner.ranknet)
"""Those that learn from judged pairs."""

NONE = "none"
"""How an option says None where that is not what leaving it out means, or that there are no hidden units."""
PANELS = {
    "TreeSettings": "Trees",
    "Boosting": "Training",
    "StepSettings": "Exact steps",
    "Descent": "Nets",
    "Learner": "Watching",
}
"""The class that has a setting → the heading under which the help lists it; those of single learners are about the loss."""
SHARED = "Training"
"""The heading of a setting that trees and nets share, or that says how long to train."""
LOSS = "Loss"
ORDER = (LOSS, SHARED, "Exact steps", "Trees", "Nets", "Watching", "Randomness")
SHORT = {"measure": "-m", "seed": "-s"}
MEASURES = ("measure", "watch")
"""The settings that are measures."""


@dataclass(frozen=True)
class Setting:
    """A field of a learner."""

    name: str
    kind: Any
    """The type of one value on the command line; ``tuple`` for whole numbers with commas between them."""
    repeated: bool
    optional: bool
    """Whether it may be None."""
    default: Any
    """A plain value; a measure as it is spelled here."""
    doc: str
    panel: str

    @property
    def option(self) -> str:
        """How it is written: ``--min-rows``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """The default as the help shows it; empty when the help text says what leaving it out means."""
        if isinstance(self.default, bool):
            return self.option.removeprefix("--") if self.default else f"no-{self.option.removeprefix('--')}"
        if self.kind is tuple:
            return ",".join(map(str, self.default)) or NONE
        return "" if self.default is None or self.default == () else str(self.default)


def settings_of(module: str, name: str) -> dict[str, Setting]:
    """The fields of a dataclass and of those it inherits from, in the order the dataclass has them."""
    tree = _parsed(module)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found: dict[str, Setting] = {}
    for base in reversed(classes[name].bases):  # as dataclasses collect fields: the last base first
        home = _home(module, ast.unparse(base))
        if home.startswith("rankinite."):  # Python's own bases have no settings
            found |= settings_of(home, ast.unparse(base))
    return found | {setting.name: setting for setting in _own_settings(classes[name], module)}


@cache
def _parsed(module: str) -> ast.Module:
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:]).with_suffix(".py")
    return ast.parse(path.read_text("utf-8"))


def _home(module: str, name: str) -> str:
    """The module from which this one has a name: its own where it imports it from none."""
    imports = [node for node in _parsed(module).body if isinstance(node, ast.ImportFrom)]
    return next((str(node.module) for node in imports if name in {alias.name for alias in node.names}), module)


def _choices(module: str, name: str) -> tuple[str, ...]:
    """The values of a Literal that has a name."""
    for node in _parsed(_home(module, name)).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Subscript):
            return ast.literal_eval(node.value.slice)
    raise LookupError(f"{module}: {name} is no type that an option can have.")


def _own_settings(node: ast.ClassDef, module: str) -> Iterator[Setting]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name) or statement.value is None:
            continue
        name, parts = statement.target.id, set(ast.unparse(statement.annotation).split(" | "))
        doc = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        random = name.endswith("_share") or name in {"thresholds", "seed"}
        yield Setting(
            name=name,
            kind=_kind(parts - {"None"}, module),
            repeated="tuple[str, ...]" in parts,
            optional="None" in parts,
            default=_default(statement.value),
            doc=" ".join(inspect.cleandoc(str(doc)).split()),
            panel="Randomness" if random else SHARED if name == "rounds" else PANELS.get(node.name, LOSS),
        )


def _kind(parts: set[str], module: str) -> Any:
    if "Measure" in parts:
        return str
    (one,) = parts
    plain = {"int": int, "float": float, "bool": bool, "str": str, "tuple[str, ...]": str, "tuple[int, ...]": tuple}
    return plain[one] if one in plain else StrEnum(one, [(value, value) for value in _choices(module, one)])


def _default(value: ast.expr) -> Any:
    """A literal; or a measure such as ``NDCG(10)``, spelled ``ndcg@10``."""
    if isinstance(value, ast.Call):
        return "@".join([ast.unparse(value.func).lower(), *(ast.unparse(argument) for argument in value.args)])
    return ast.literal_eval(value)


# ---- options ----------------------------------------------------------------------------------------------------------

SETTINGS = {learner: settings_of(*home) for learner, home in HOMES.items()}
"""What each learner can be set to."""


def variants(name: str) -> dict[Learner, Setting]:
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


def _who(learners: Sequence[Learner]) -> str:
    """The learners by name, or in a word where they are all that train trees, or nets."""
    return next((family for family, members in FAMILIES.items() if members == set(learners)), ", ".join(learners))


def _merged(texts: dict[Learner, str], pattern: str, between: str) -> str:
    """One text where all learners say the same, else each with its learners."""
    said = {text: _who([learner for learner, own in texts.items() if own == text]) for text in texts.values()}
    if len(said) <= 1:
        return next(iter(said), "")
    return between.join(pattern.format(who=who, text=text) for text, who in said.items())


def _help(name: str) -> str:
    """What a setting means, for whom, and its default: Typer's own would be None, which stands for "not given"."""
    having = variants(name)
    text = _merged({learner: setting.doc for learner, setting in having.items()}, "{who}: {text}", " ")
    told = len(having) == len(SETTINGS) or set(having) <= FAMILIES.get(_panel(name).lower(), set())  # by the heading
    alike = len({setting.doc for setting in having.values()}) == 1
    only = "" if told or not alike else f" ({_who(list(having))} only)"
    defaults = {learner: setting.shown_default for learner, setting in having.items() if setting.shown_default}
    default = _merged(defaults, "{text} ({who})", ", ")
    shown = f" [dim]\\[default: {default}][/dim]" if default else ""
    return f"{text}{only}".replace("[", r"\[") + shown  # Rich would take other brackets for markup


def _annotation(name: str) -> Any:
    """The option of a setting, for Typer. None stands for an option that is not given."""
    having = variants(name)
    setting = next(iter(having.values()))
    flags = [f"{setting.option}/--no-{setting.option.removeprefix('--')}"] if setting.kind is bool else [setting.option]
    says_none = any(own.optional and own.default is not None for own in having.values())
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


def _shared_kind(having: dict[Learner, Setting]) -> Any:
    """The type of an option; of choices that differ between learners, all. The learner refuses those that are not its own."""
    kinds: list[Any] = [setting.kind for setting in having.values()]
    if not issubclass(kinds[0], Enum):
        return kinds[0]
    choices = dict.fromkeys(choice.value for kind in kinds for choice in kind)
    return StrEnum(kinds[0].__name__, [(value, value) for value in choices])


Settings: Any = make_dataclass("Settings", [(name, _annotation(name), field(default=None)) for name in _names()], frozen=True)
"""Every setting of every learner, None where it is not given: what ``with_options`` turns into options."""


def make(learner: Learner, given: Any, preset: Preset | None = None) -> training.Learner:
    """The learner with the settings that were given, the others those of a preset."""
    if preset is not None and learner not in TREES:
        raise ArgumentError(
            f"--preset {preset} is for learners of trees ({', '.join(TREES)}), not for {learner}. Leave it out."
        )
    own = SETTINGS[learner]
    chosen: dict[str, Any] = {f.name: getattr(given, f.name) for f in fields(given) if getattr(given, f.name) not in (None, [])}
    for name in chosen:
        if name not in own:
            raise _foreign(learner, name)
    module, class_name = HOMES[learner]
    kind, settings = (
        getattr(import_module(module), class_name),
        {name: _value(own[name], value) for name, value in chosen.items()},
    )
    return kind(**settings) if preset is None else kind.preset(preset.value, **settings)


def spelled(learner: Learner, made: training.Learner) -> dict[str, Any]:
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


def _foreign(learner: Learner, name: str) -> ArgumentError:
    having = variants(name)
    option = next(iter(having.values())).option
    return ArgumentError(
        f"{option} is no setting of {learner}, but of {_listed(list(having))}. Leave it out, or choose another --learner."
    )


def value_of(learner: Learner, name: str, text: str) -> Any:
    """The value that a text on the command line stands for."""
    return _value(SETTINGS[learner][name], text)


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
        rule = "whole numbers, as in 20,10, or none for a linear ranker" if setting.kind is tuple else "a whole number, or none"
        raise ArgumentError(f"{setting.option} {value}: give {rule}.") from error


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
