"""Trainers as the command line names them: ``'lambdamart leaves=63 rate=0.05 bags=10'``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rankinite.errors import ArgumentError, DataError, RankiniteError, listed, quoted
from rankinite.foreign_settings.answers import as_written, foreign_names
from rankinite.learners import LEARNERS

if TYPE_CHECKING:
    from rankinite.learners.base import Trainer

HELP = (
    "a learner with its settings, in quotes, as in 'lambdamart leaves=63 rate=0.05'; also bags=10 (ten fits, each with its own "
    "tenth of the queries to stop by, averaged), stop=10 (one of these fits), seeds=5 (fits with other random numbers, "
    "averaged), augment=50 or 70 (samples of 50 or 70 % of each query's documents as further training data) and "
    "scale=probability, peak, query or rank (scores on another scale; probability,peak: one after the other)"
)
AROUND = ("augment", "bags", "stop", "seeds", "summaries", "scale")
"""Settings that put something around a learner, from the inside out."""
SOURCES = "sources"
"""The table of a recipe whose trainers give features to members: a member has summaries=NAME."""


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


def _trainer(text: str, sources: Mapping[str, Trainer] | None = None) -> tuple[str, Trainer]:
    """The name and the trainer that a text stands for; ``sources``: those that ``summaries=`` may name."""
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
            if (foreign := foreign_names({setting: value}, {*SETTINGS[learner]}, spell=as_written)) is not None:
                raise foreign.at(quoted(text))
            raise ArgumentError(
                f"{quoted(text)} has {quoted(word)}, which is not a setting of {kind}",
                value=text,
                rule=f"Settings are {', '.join([*SETTINGS[learner], *AROUND])}",
            )
        settings[setting] = value
    plain = {setting: value_of(learner, setting, value) for setting, value in settings.items() if setting not in AROUND}
    return name, _around(CLASSES[learner](**plain), settings, sources or {})


def _around(trainer: Trainer, settings: dict[str, str], sources: Mapping[str, Trainer]) -> Trainer:
    from rankinite.data.sampling import AUG50, AUG70
    from rankinite.ensembles import Rescaled, Summarised
    from rankinite.ensembles.trainers import Augmented, Bag, Seeds

    shares = {"50": AUG50, "70": AUG70}
    if "augment" in settings:
        share = settings["augment"]
        if share not in shares:
            raise ArgumentError("is unknown", setting="augment", value=share, rule="Known are 50 and 70")
        trainer = Augmented(trainer, *shares[share])
    if "bags" in settings:
        trainer = Bag(trainer, _count("bags", settings["bags"]))
    if "stop" in settings:
        trainer = Bag(trainer, _count("stop", settings["stop"]), members=1)
    if "seeds" in settings:
        trainer = Seeds(trainer, _count("seeds", settings["seeds"]))
    if "summaries" in settings:
        trainer = Summarised(trainer, _sources(settings["summaries"], sources))
    for scale in settings["scale"].split(",") if "scale" in settings else ():
        trainer = Rescaled(trainer, cast("Any", scale))
    return trainer


def _sources(text: str, sources: Mapping[str, Trainer]) -> tuple[Trainer, ...]:
    for name in text.split(","):
        if name not in sources:
            known = f"Known are {listed(sources)}" if sources else f"A recipe names them in a table [{SOURCES}]"
            raise ArgumentError("is no source", setting="summaries", value=name, rule=known)
    return tuple(sources[name] for name in text.split(","))


def _count(setting: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as problem:
        raise ArgumentError("must be a whole number", setting=setting, value=text, remedy="Give for example 5") from problem


def one_trainer(option: str, text: str) -> Trainer:
    """The trainer of an option."""
    try:
        return _trainer(text)[1]
    except RankiniteError as problem:
        raise problem.at(f"--{option}") from problem


def learner(option: str, text: str, kind: str) -> Any:
    """The learner of an option, which must be of a given kind and have settings of its own alone."""
    found = one_trainer(option, text)
    if LEARNERS[kind] != type(found).__name__:
        raise ArgumentError(
            f"must be {kind} with settings of its own",
            setting=option,
            value=text,
            remedy=f"Give for example '{kind} patience=20'",
        )
    return found


def recipe(path: Path) -> dict[str, Trainer]:
    """The members of a recipe file: a table of names and trainers, perhaps with a table of sources for their summaries."""
    import tomllib

    remedy = "Write a table [members] with lines such as trees = 'lambdamart bags=10'"
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise DataError(f"this recipe cannot be read ({problem})", place=path, value=str(path), remedy=remedy) from problem
    unknown = [name for name in content if name not in {"members", SOURCES}]
    if unknown:
        known = f"A recipe has a table [members], and may have a table [{SOURCES}]"
        raise DataError(f"there is {quoted(unknown[0])}", place=path, value=unknown[0], rule=known, remedy=remedy)
    if len(_table(content.get("members"))) < 2:
        problem = "there is no table of two members or more"
        raise DataError(problem, place=path, value=list(content), remedy=remedy)
    sources = _named_trainers(path, "source", _table(content.get(SOURCES)), {})
    return _named_trainers(path, "member", _table(content["members"]), sources)


def _table(content: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def _named_trainers(path: Path, what: str, texts: dict[str, Any], sources: Mapping[str, Trainer]) -> dict[str, Trainer]:
    """The trainers of a recipe's table; errors name the file and the line."""
    found: dict[str, Trainer] = {}
    for name, text in texts.items():
        place = f"{path}: {what} {quoted(name)}"
        if not isinstance(text, str):
            raise DataError(f"{quoted(text)} is no learner", place=place, value=text, remedy=f"Give {HELP}")
        try:
            found[name] = _trainer(text, sources)[1]
        except RankiniteError as problem:
            raise problem.at(place) from problem
    return found
