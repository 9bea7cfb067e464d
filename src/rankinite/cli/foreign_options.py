"""Foreign options: options of other programs, answered with what they are called here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from rankinite.errors import ArgumentError
from rankinite.foreign_settings.answers import foreign_names, plain_name, repeatable


@contextmanager
def answered(arguments: Sequence[str], parameters: Sequence[Any]) -> Generator[None]:
    """Answer options that are not known, but that another program has."""
    words = list(arguments)  # parsing uses the arguments up
    try:
        yield
    except Exception as problem:
        unknown: Any = getattr(problem, "option_name", None)  # Typer's errors share no public class
        refused = None if unknown is None else _refusal(str(unknown), words, options_among(parameters))
        if refused is None:
            raise
        raise refused from None


def options_among(parameters: Sequence[Any]) -> set[str]:
    """The options of a verb as settings: ``min_rows`` for --min-rows."""
    return {plain_name(text) for parameter in parameters for text in parameter.opts if text.startswith("--")}


def _refusal(unknown: str, arguments: list[str], known: Collection[str]) -> ArgumentError | None:
    if not unknown.startswith("--"):
        return None
    written = {name: value for name, value in _values(arguments).items() if name.startswith("--")}
    strange = {name: value for name, value in written.items() if name.removeprefix("--").replace("-", "_") not in known}
    strange |= {name: value for name, value in written.items() if "_" in name}
    return foreign_names({unknown: written.get(unknown, ""), **strange}, known)


def _values(arguments: list[str]) -> dict[str, str]:
    """Every option with the word that follows it or its equals sign; "" where that is an option too."""
    found: dict[str, str] = {}
    for word, after in itertools.pairwise([*arguments, ""]):
        if word == "--":
            break
        if re.match(r"--?[A-Za-z]", word):
            name, equals, value = word.partition("=")
            found.setdefault(name, value if equals else "" if after.startswith("-") and not after[1:2].isdigit() else after)
    return found


def foreign_key(written: str, value: Any, known: Collection[str], place: str) -> ArgumentError | None:
    """The answer for a key of a settings file, with settings as lines of the file; None if we know of none."""
    refused = foreign_names({written: repeatable(value)}, {plain_name(name) for name in known}, spell=_line)
    return None if refused is None else refused.at(place)


def _line(code: str) -> str:
    """A setting as a line of a settings file: ``row-share = 0.5`` for ``row_share=0.5``."""
    name, equals, value = code.partition("=")
    words = {"True": "true", "False": "false"}
    return name.replace("_", "-") + (f" = {words.get(value, value)}" if equals else "")
