"""Settings in TOML files: ``--config`` reads them, and verbs that train write those of the run beside what they make.

A file has a table for each verb, ``[train]`` say, whose keys are the options without their dashes and the names of the
arguments. Relative paths in it are taken from the file's own folder. The command line wins over the file.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from rankinite.cli.foreign_options import foreign_key
from rankinite.cli.messages import detail, say, shortened
from rankinite.cli.ranker_arguments import path_of
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.installed import version_line

RANKER = "a ranker's name"
"""Marks parameters, in their annotation, whose texts name a model file or else a feature."""
UNWRITTEN = ("cluster", "config", "help", "json", "overwrite", "quiet", "share", "threads", "verbose", "workers")
"""Parameters that change nothing about what a run makes."""
VERBS = ("train", "adapt")
"""The verbs whose settings a file may have."""
OURS = "# Written by rankinite"
"""The first words of files that may be overwritten."""
_FILE = "rankinite.config"
"""Where a context keeps the file that settings came from."""


# ---- reading ----------------------------------------------------------------------------------------------------------


def paths_among(parameters: Sequence[inspect.Parameter]) -> frozenset[str]:
    """The names of the parameters that hold paths, or rankers, which may be paths."""
    return frozenset(parameter.name for parameter in parameters if _names_paths(parameter.annotation))


def option(paths: frozenset[str]) -> Any:
    """The --config option: the settings of the file become defaults. ``paths``: the parameters that hold paths."""

    def load(context: typer.Context, file: Path | None) -> Path | None:
        if file is not None and not context.resilient_parsing:  # not while a shell completes
            context.default_map = {**(context.default_map or {}), **_defaults(context, file, paths)}
            context.meta[_FILE] = file
        return file

    return Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            is_eager=True,  # before the options whose defaults it changes
            callback=load,
            help="Take settings from this TOML file, as a run leaves one beside its model; options given here count first.",
        ),
    ]


def _names_paths(annotation: Any) -> bool:
    """Whether an annotation is of paths, or marked as one of rankers."""
    if get_origin(annotation) is Annotated:
        return RANKER in annotation.__metadata__ or _names_paths(get_args(annotation)[0])
    return annotation is Path or any(_names_paths(part) for part in get_args(annotation))


def _defaults(context: typer.Context, file: Path, paths: frozenset[str]) -> dict[str, Any]:
    """The settings of the file by parameter, as the texts that a command line would have."""
    table, verb = _table(file, str(context.info_name)), context.info_name
    known = _keys(context)
    found: dict[str, Any] = {}
    for written, value in table.items():
        key = written.replace("_", "-")
        if key not in known:
            if (foreign := foreign_key(written, value, known, f"{file}: [{verb}]")) is not None:
                raise foreign
            close = get_close_matches(key, known, 1)
            raise ArgumentError(
                f"there is no setting {quoted(written)}",
                place=f"{file}: [{verb}]",
                value=written,
                rule=f"Settings are {', '.join(sorted(known))}",
                remedy=f"Did you mean {close[0]}?" if close else "",
            )
        parameter = known[key]
        text = _checked(parameter, value, f"{file}: [{verb}] {written}")
        found[parameter.name] = _located(text, file.parent) if parameter.name in paths else text
    return found


def _table(file: Path, verb: str) -> dict[str, Any]:
    """The table of a verb."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError as problem:
        remedy = f"Give `config` a TOML file with a table [{verb}]"
        raise DataError("there is no such file", place=file, value=str(file), remedy=remedy) from problem
    except (OSError, ValueError, RecursionError) as problem:  # no text, no TOML, or tables nested without end
        remedy = "Correct it, or give another file"
        raise DataError(f"this cannot be read as TOML ({problem})", place=file, value=str(file), remedy=remedy) from problem
    for name, table in content.items():
        if name not in VERBS or not isinstance(table, dict):
            known = " or ".join(f"[{one}]" for one in VERBS)
            problem = f"{quoted(name)} is outside of a table {known}"
            raise ArgumentError(problem, place=file, value=name, remedy=f"Put settings below a line [{verb}]")
    if verb not in content:
        remedy = f"Put settings below a line [{verb}]"
        raise ArgumentError(f"there is no table [{verb}]", place=file, value=verb, remedy=remedy)
    return content[verb]


def _keys(context: typer.Context) -> dict[str, Any]:
    """The parameters of a verb by their names in a file."""
    found: dict[str, Any] = {}
    for parameter in context.command.params:
        name = next((text for text in parameter.opts if text.startswith("--")), parameter.name)
        found[str(name).removeprefix("--").replace("_", "-")] = parameter
    return {name: parameter for name, parameter in found.items() if name not in ("config", "help")}


def _checked(parameter: Any, value: Any, place: str) -> Any:
    """A value as the command line would have it: a text, or several, or whether a flag is set."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise ArgumentError(
                f"{quoted(value)} is neither true nor false",
                place=place,
                value=value,
                remedy="Give one of them, without quotes",
            )
        return value
    values: list[Any] = value if isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise ArgumentError(
                f"{quoted(value)} is no value of an option",
                place=place,
                value=value,
                remedy="Give a text or a number, or a list of them",
            )
    texts = [str(one) for one in values]
    several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
    return texts if several else ",".join(texts)


def _located(value: Any, folder: Path) -> Any:
    """Paths of a file in this folder, as they are from here."""
    if isinstance(value, list):
        return [_located(one, folder) for one in value]
    name, path = path_of(value, folder)
    if path is None or path.is_absolute():
        return value
    found, here = _anchored(folder / path), Path.cwd()
    return f"{name}{found.relative_to(here) if found.is_relative_to(here) else found}"


def _anchored(path: Path) -> Path:
    """An absolute path that leads through no links, but keeps the file's own name, whose ending tells its format."""
    return path.parent.resolve() / path.name if path.name != ".." else path.resolve()


@contextmanager
def named_in_errors() -> Generator[None]:
    """Let an error about a value that came from a file name the file, and cut values that are too long to be read."""
    try:
        with shortened_values():
            yield
    except typer.BadParameter as problem:
        context, parameter = problem.ctx, problem.param
        file = None if context is None else context.meta.get(_FILE)
        if context is not None and parameter is not None and file is not None and parameter.name in (context.default_map or {}):
            source = context.get_parameter_source(str(parameter.name))
            if source is not None and source.name == "DEFAULT_MAP":
                problem.message = f"{problem.message.rstrip('.')} (in {file})."
        raise


@contextmanager
def shortened_values() -> Generator[None]:
    """Cut the values in Typer's own errors."""
    try:
        yield
    except Exception as problem:
        message: Any = getattr(problem, "message", None)  # Typer's errors, which share no public class, have one
        if isinstance(message, str):
            vars(problem)["message"] = shortened(message)
        raise


# ---- writing ----------------------------------------------------------------------------------------------------------


class Record:
    """The settings of a run: those given, and the defaults of the others."""

    def __init__(self, context: typer.Context, arguments: Mapping[str, Any], paths: frozenset[str]) -> None:
        self._verb = str(context.info_name)
        self._arguments = dict(arguments)
        self._keys = {parameter.name: key for key, parameter in _keys(context).items()}
        self._paths = paths

    def write_beside(self, model: Path, others: Mapping[str, Any] | None = None) -> None:
        """Write to web.toml for web.rankinite, or to web.rankinite.toml where the first is a user's own file.

        Nothing is written where the model is no file, but a pipe say.
        """
        if model.is_file():
            short = model.with_suffix(".toml") if model.suffix == ".rankinite" else Path(f"{model}.toml")
            self.write(short if _may_be_written(short) else Path(f"{model}.toml"), others)

    def write(self, file: Path, others: Mapping[str, Any] | None = None) -> None:
        """Write the settings; ``others``: the values of options that were not given. A file of the user's own is kept."""
        if not _may_be_written(file):
            say(f"{file}: kept as it is, as rankinite has not written it; the settings of this run are not on file")
            return
        written = self._written(others)
        placed = {name: placed_at(value, file.parent) if name in self._paths else value for name, value in written.items()}
        write_settings(file, self._verb, {self._keys[name]: value for name, value in placed.items()})

    def identity(self, digest: Callable[[str], str | None]) -> str:
        """A hash of all that identifies a run: its settings and the contents of its files, not where they are.

        ``digest``: the hash of the file that a text names, or None if there is no such file.
        """
        found: dict[str, Any] = {}
        for name, value in self._written().items():
            texts = [str(one) for one in (value if isinstance(value, list) else [value])]
            found[name] = [digest(text) or text for text in texts] if name in self._paths else texts
        for name in ("out", "summary"):
            found.pop(name, None)
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()

    def _written(self, others: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings to write, by parameter."""
        settings = {**self._arguments, **(others or {})}
        known = {name: settings.get(name) for name in self._keys if name not in UNWRITTEN}
        return {name: value for name, value in known.items() if value is not None and value != []}


def write_settings(file: Path, verb: str, settings: Mapping[str, Any]) -> None:
    """Write a file that --config of a verb takes."""
    from rankinite.data.io.output_files import write_atomically

    lines = [
        f"{OURS}: {version_line()}.",
        f"# Again: rankinite {verb} --config {file.name}",
        "# Options on the command line count first. Relative paths are taken from the folder of this file.",
        "",
        f"[{verb}]",
        *(f"{key} = {_toml(value)}" for key, value in settings.items()),
        "",
    ]
    with write_atomically(file) as handle:
        handle.write("\n".join(lines).encode("utf-8", "backslashreplace"))
    detail(f"{file}: the settings of this run")


def _may_be_written(file: Path) -> bool:
    """Whether there is no such file, or one that a run has written."""
    if not file.is_file():
        return not file.exists()
    with file.open("rb") as handle:
        return handle.read(len(OURS)) == OURS.encode()


def placed_at(value: Any, folder: Path) -> Any:
    """Relative paths as they are from a folder; the rest as it is."""
    if isinstance(value, list):
        return [placed_at(one, folder) for one in value]
    name, path = ("", value) if isinstance(value, Path) else path_of(str(value), Path.cwd())
    if path is None or path.is_absolute():
        return str(value)
    return f"{name}{os.path.relpath(_anchored(path), folder.resolve())}"


def _toml(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, list):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML's strings are JSON's but for that
