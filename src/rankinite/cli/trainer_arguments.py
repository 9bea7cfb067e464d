"""Trainers as the command line names them: ``'lambdamart leaves=63 rate=0.05 bags=10'``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rankinite import LEARNERS
from rankinite.errors import ArgumentError, DataError, quoted

if TYPE_CHECKING:
    from rankinite.learners.base import Trainer

HELP = (
    "a learner with its settings, in quotes, as in 'lambdamart leaves=63 rate=0.05'; also bags=10 (ten fits, each with its own "
    "tenth of the queries to stop by, averaged), seeds=5 (fits with other random numbers, averaged) and augment=50 or 70 "
    "(samples of 50 or 70 % of each query's documents as further training data)"
)
LEARNER_CLASSES = {module.rpartition(".")[2]: name for module, name in LEARNERS.items()}
AROUND = ("augment", "bags", "seeds")
"""Settings that put something around a learner, from the inside out."""


def trainers(texts: list[str]) -> dict[str, Trainer]:
    """The trainers by name: what is before the first ``=`` of ``name=learner …``, else the text itself."""
    named: dict[str, Trainer] = {}
    for text in texts:
        name, trainer = _trainer(text)
        if name in named:
            raise ArgumentError(
                f"two systems are called {quoted(name)}", value=name, remedy="Name them apart, as in 'big=lambdamart leaves=63'"
            )
        named[name] = trainer
    return named


def _trainer(text: str) -> tuple[str, Trainer]:
    from rankinite.cli.learner_options import CLASSES, SETTINGS, LearnerName, value_of

    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise ArgumentError(f"{quoted(text)} is not understood ({problem})", value=text, remedy=f"Give {HELP}") from problem
    first, _, rest = words[0].partition("=") if words else ("", "", "")
    name, kind = (first, rest) if rest else (text, first)
    known = [learner.value for learner in LearnerName]
    if kind not in known:
        raise ArgumentError(f"{quoted(text)} names no learner", value=text, rule=f"Known are {', '.join(known)}")
    learner = LearnerName(kind)
    settings: dict[str, str] = {}
    for word in words[1:]:
        setting, equals, value = word.partition("=")
        setting = setting.replace("-", "_")
        if not equals or setting not in {*SETTINGS[learner], *AROUND}:
            raise ArgumentError(
                f"{quoted(text)} has {quoted(word)}, which is not a setting of {kind}",
                value=text,
                rule=f"Settings are {', '.join([*SETTINGS[learner], *AROUND])}",
            )
        settings[setting] = value
    plain = {setting: value_of(learner, setting, value) for setting, value in settings.items() if setting not in AROUND}
    return name, _around(CLASSES[learner](**plain), settings)


def _around(trainer: Trainer, settings: dict[str, str]) -> Trainer:
    from rankinite.data.sampling import AUG50, AUG70
    from rankinite.ensembles.augmented import Augmented
    from rankinite.ensembles.bag import Bag
    from rankinite.ensembles.seeds import Seeds

    shares = {"50": AUG50, "70": AUG70}
    if "augment" in settings:
        share = settings["augment"]
        if share not in shares:
            raise ArgumentError("is unknown", setting="augment", value=share, rule="Known are 50 and 70")
        trainer = Augmented(trainer, *shares[share])
    if "bags" in settings:
        trainer = Bag(trainer, _count("bags", settings["bags"]))
    return Seeds(trainer, _count("seeds", settings["seeds"])) if "seeds" in settings else trainer


def _count(setting: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as problem:
        raise ArgumentError("must be a whole number", setting=setting, value=text, remedy="Give for example 5") from problem


def learner(option: str, text: str, kind: str) -> Any:
    """The learner of an option, which must be of a given kind and have settings of its own alone."""
    _, found = _trainer(text)
    if LEARNER_CLASSES[kind] != type(found).__name__:
        raise ArgumentError(
            f"must be {kind} with settings of its own",
            setting=option,
            value=text,
            remedy=f"Give for example '{kind} patience=20'",
        )
    return found


def recipe(path: Path) -> dict[str, Trainer]:
    """The members of a recipe file: a table of names and trainers."""
    import tomllib

    remedy = "Write a table [members] with lines such as trees = 'lambdamart bags=10'"
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise DataError(f"this recipe cannot be read ({problem})", place=path, value=str(path), remedy=remedy) from problem
    members: Any = content.get("members")
    if not isinstance(members, dict) or not all(isinstance(text, str) for text in cast("dict[str, Any]", members).values()):
        raise DataError("there is no table of members", place=path, value=list(content), remedy=remedy)
    texts = cast("dict[str, str]", members)
    try:
        return {name: _trainer(f"{name}={text}")[1] for name, text in texts.items()}
    except ArgumentError as problem:
        raise problem.at(path) from problem
