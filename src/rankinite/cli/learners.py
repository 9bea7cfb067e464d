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

from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.rankers.boosting import Boosting


class Learner(StrEnum):
    """What can train."""

    lambdamart = "lambdamart"
    mart = "mart"
    mcrank = "mcrank"
    ranknet_trees = "ranknet-trees"


HOMES = {
    Learner.lambdamart: ("rankinite.rankers.lambdamart", "LambdaMART"),
    Learner.mart: ("rankinite.rankers.mart", "MART"),
    Learner.mcrank: ("rankinite.rankers.mcrank", "McRank"),
    Learner.ranknet_trees: ("rankinite.rankers.ranknet_trees", "RankNetTrees"),
}
"""The module and class of each."""

NO_LIMIT = "none"
"""How an option says None where that is not what leaving it out means."""
PANELS = {"TreeSettings": "Trees", "Boosting": "Boosting", "Learner": "Boosting"}
"""The class that has a setting → the heading under which the help lists it; those of single learners are about the loss."""
SHORT = {"measure": "-m", "seed": "-s"}


@dataclass(frozen=True)
class Setting:
    """A field of a learner."""

    name: str
    kind: Any
    """The type of one value on the command line."""
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
        return "" if self.default is None or self.default == () else str(self.default)


def settings_of(module: str, name: str) -> dict[str, Setting]:
    """The fields of a dataclass and of those it inherits from, in the order the dataclass has them."""
    tree = _parsed(module)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    homes = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    found: dict[str, Setting] = {}
    for base in reversed(classes[name].bases):  # as dataclasses collect fields: the last base first
        home = module if isinstance(base, ast.Name) and base.id in classes else homes.get(getattr(base, "id", ""), "")
        if isinstance(base, ast.Name) and home.startswith("rankinite."):  # Python's own bases have no settings
            found |= settings_of(home, base.id)
    panel = PANELS.get(name, "Loss")
    return found | {setting.name: setting for setting in _own_settings(classes[name], _choices(tree), panel)}


@cache
def _parsed(module: str) -> ast.Module:
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:]).with_suffix(".py")
    return ast.parse(path.read_text("utf-8"))


def _choices(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The names a module gives to Literals, and their values."""
    return {
        node.targets[0].id: ast.literal_eval(node.value.slice)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Subscript)
        and ast.unparse(node.value.value) == "Literal"
    }


def _own_settings(node: ast.ClassDef, choices: dict[str, tuple[str, ...]], panel: str) -> Iterator[Setting]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name) or statement.value is None:
            continue
        name, parts = statement.target.id, set(ast.unparse(statement.annotation).split(" | "))
        doc = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        yield Setting(
            name=name,
            kind=_kind(parts - {"None"}, choices),
            repeated="tuple[str, ...]" in parts,
            optional="None" in parts,
            default=_default(statement.value),
            doc=" ".join(inspect.cleandoc(str(doc)).split()),
            panel="Randomness" if name.endswith("_share") or name in {"thresholds", "seed"} else panel,
        )


def _kind(parts: set[str], choices: dict[str, tuple[str, ...]]) -> Any:
    if "Measure" in parts or parts == {"tuple[str, ...]"}:
        return str
    (one,) = parts
    if one in choices:
        return StrEnum(one, [(value, value) for value in choices[one]])
    return {"int": int, "float": float, "bool": bool, "str": str}[one]


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


def _names() -> list[str]:
    """The settings of all learners, those of a panel together, what differs between learners first."""
    order = ["Loss", "Boosting", "Trees", "Randomness"]
    panels = {name: setting.panel for settings in SETTINGS.values() for name, setting in settings.items()}
    return sorted(panels, key=lambda name: order.index(panels[name]))


def _merged(texts: dict[Learner, str]) -> str:
    """One text where all learners say the same, else each with its learners in front."""
    different = list(dict.fromkeys(texts.values()))
    if len(different) == 1:
        return different[0]
    said = {text: ", ".join(learner for learner, own in texts.items() if own == text) for text in different}
    return " ".join(f"{learners}: {text}" for text, learners in said.items())


def _help(name: str) -> str:
    """What a setting means, for whom, and its default: Typer's own would be None, which stands for "not given"."""
    having = variants(name)
    text = _merged({learner: setting.doc for learner, setting in having.items()})
    everyone, alike = len(having) == len(SETTINGS), len({setting.doc for setting in having.values()}) == 1
    only = "" if everyone or not alike else f" ({', '.join(having)} only)"
    default = _merged({learner: setting.shown_default for learner, setting in having.items()})
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
        rich_help_panel=setting.panel,
        show_default=False,
        metavar=f"<int|{NO_LIMIT}>" if says_none else None,
    )
    kind: Any = str if says_none else list[str] if setting.repeated else setting.kind
    return Annotated[kind | None, option]


Settings: Any = make_dataclass("Settings", [(name, _annotation(name), field(default=None)) for name in _names()], frozen=True)
"""Every setting of every learner, None where it is not given: what ``with_options`` turns into options."""


def make(learner: Learner, given: Any) -> Boosting:
    """The learner with the settings that were given."""
    own = SETTINGS[learner]
    chosen: dict[str, Any] = {f.name: getattr(given, f.name) for f in fields(given) if getattr(given, f.name) not in (None, [])}
    for name in chosen:
        if name not in own:
            raise _foreign(learner, name)
    module, class_name = HOMES[learner]
    return getattr(import_module(module), class_name)(**{name: _value(own[name], value) for name, value in chosen.items()})


def _foreign(learner: Learner, name: str) -> ArgumentError:
    having = variants(name)
    option = next(iter(having.values())).option
    return ArgumentError(
        f"{option} is no setting of {learner}, but of {_listed(list(having))}. Leave it out, or choose another --learner."
    )


def _value(setting: Setting, value: Any) -> Any:
    """What the learner is given for an option's value."""
    if isinstance(value, Enum):
        return value.value
    if setting.repeated:
        return tuple(value)
    if setting.kind is not int or isinstance(value, int):
        return value
    if value == NO_LIMIT:
        return None
    try:
        return int(value)
    except ValueError as error:
        raise ArgumentError(f"{setting.option} {value}: give a whole number, or {NO_LIMIT} for no limit.") from error


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
