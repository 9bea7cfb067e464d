"""Names of features and models that a program can hold."""

from __future__ import annotations

import re

from rankinite.errors import ArgumentError, listed

RENAME = "Rename the features: load the model in Python, call renamed([…]), and save it"


def check_characters(names: tuple[str, ...], program: str, bad: str) -> None:
    """Refuse names of features that are empty or contain one of these characters."""
    wrong = [name for name in names if not name or set(name) & set(bad)]
    if wrong:
        shown = " ".join(character for character in bad if character.isprintable() and character != " ")
        rule = f"Names must not be empty, nor contain blanks or any of {shown}"
        raise _refused(wrong, program, rule)


def check_pattern(names: tuple[str, ...], program: str, pattern: str, rule: str) -> None:
    """Refuse names of features that are not as a whole of this pattern."""
    wrong = [name for name in names if not re.fullmatch(pattern, name)]
    if wrong:
        raise _refused(wrong, program, rule)


def check_model_name(name: str, pattern: str, rule: str) -> None:
    """Refuse a name of the model that is not as a whole of this pattern."""
    if not re.fullmatch(pattern, name):
        raise ArgumentError(
            "cannot be the name of a model there", setting="name", value=name, rule=rule, remedy="Give another with `name`"
        )


def _refused(wrong: list[str], program: str, rule: str) -> ArgumentError:
    return ArgumentError(f"{program} cannot hold the feature {listed(wrong, 5)}", value=wrong[0], rule=rule, remedy=RENAME)
