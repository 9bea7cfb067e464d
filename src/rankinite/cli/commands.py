"""Verbs that are loaded when they are run, and the options that all of them share.

``rankinite --help`` lists verbs by their summaries in app.py; the module of a verb, which may take long to load, is
imported only when the verb is parsed.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from importlib import import_module
from time import monotonic
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from rankinite.cli import files
from rankinite.cli import settings_file as config
from rankinite.cli.compiling import compiling_beside
from rankinite.cli.foreign_options import answered
from rankinite.cli.messages import Manner, detail, speaking
from rankinite.cli.mpi_runs import among_members, is_first
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.installed import version_line
from rankinite.plurals import counted

_EVERY = "All verbs"
THREADS = "Threads to use, at most 1,024; all cores if left out."
COMMAND_WIDTH = 74
"""Columns of the commands in the help: 80 less margins, an indent and a backslash."""


@dataclass(frozen=True)
class Common:
    """The options of every verb; given before the verb they mean the same."""

    threads: Annotated[int | None, typer.Option("--threads", min=1, help=THREADS, rich_help_panel=_EVERY)] = None
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors, nothing else.", rich_help_panel=_EVERY)
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Also print what is read and written, sizes, versions and times, and where an unexpected error arose.",
            rich_help_panel=_EVERY,
        ),
    ] = False

    def joined(self, other: Common) -> Common:
        """Both: an option given here counts before the same option of the other."""
        return Common(self.threads or other.threads, self.quiet or other.quiet, self.verbose or other.verbose)


COMMON = tuple(field.name for field in fields(Common))


def listed(name: str) -> type[TyperCommand]:
    """A command that the help can list, and that becomes the verb in the module of this name when it is run."""

    class Verb(TyperCommand):
        """A placeholder for the verb."""

        def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
            """The parsed command line of the verb itself."""
            with config.named_in_errors(), answered(args, loaded(name).params):
                return loaded(name).make_context(info_name, args, parent=parent, **extra)

    return Verb


@functools.cache
def loaded(name: str) -> Any:
    """The command of a verb, with all its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    called = name.replace("-", "_")
    verb = getattr(import_module(f"rankinite.cli.verbs.{called}"), called)
    alone.command(name, help=flowing(inspect.getdoc(verb) or ""))(ready(verb))
    return typer.main.get_command(alone)


def flowing(text: str) -> str:
    """A text each of whose paragraphs is one line, to be broken where the terminal ends, but for indented commands.

    These are broken for terminals of 80 columns, as a shell takes them: with a backslash at the end of a line.
    """
    return "\n\n".join(_command(part) if part.startswith(" ") else " ".join(part.split()) for part in text.split("\n\n"))


def _command(line: str) -> str:
    whole = re.sub(r"'[^']*'", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), line.strip())  # what is in quotes
    tied = re.sub(r"(?<= )(--?\w[\w-]*) (?=[^-])", "\\1\N{NO-BREAK SPACE}", whole)  # an option and its value
    lines = textwrap.wrap(tied, COMMAND_WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent="    ")
    return " \\\n".join(f"  {part}" for part in lines).replace("\N{NO-BREAK SPACE}", " ")


def ready(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with the options that all share; those that ask for a ``record`` also have --config."""
    declared = list(inspect.signature(verb, eval_str=True).parameters.values())
    takes = {parameter.name for parameter in declared}
    hints = get_type_hints(Common, include_extras=True)
    shared = {name: hints[name] for name in COMMON}
    paths, outputs = config.paths_among(declared), files.outputs_among(declared)
    inputs = [*(name for name in paths if name not in outputs), "config"]
    if "record" in takes:
        shared["config"] = config.option(paths)

    @functools.wraps(verb)
    def call(context: typer.Context, **arguments: Any) -> None:
        common = Common(**{name: arguments.pop(name) for name in COMMON}).joined(_before_the_verb(context))
        every, file = dict(arguments), arguments.pop("config", None)
        if "record" in takes:
            arguments["record"] = config.Record(context, arguments, paths)
        with among_members(verb.__name__) as group:
            run(group, common, every, file, arguments, functools.partial(_label, context))

    def run(group: Any, common: Common, every: dict[str, Any], file: Any, arguments: dict[str, Any], label: Any) -> None:
        first = is_first(group)
        manner = common if first else replace(common, quiet=True, verbose=False)
        if "quiet" in takes:
            arguments["quiet"] = manner.quiet
        with (
            _running(manner),
            compiling_beside(verb.__name__, common.threads if group is None else 1),
            files.guarded(every, inputs, outputs if first else {}, label),
        ):
            if file is not None:
                detail(f"settings from {file}")
            verb(**arguments)

    parameters = _parameters([one for one in declared if one.name not in (*COMMON, "record")], shared)
    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameters(declared: list[inspect.Parameter], shared: dict[str, Any]) -> list[inspect.Parameter]:
    """What Typer is shown: the context, the verb's own parameters, and the shared ones with their annotations."""
    by_keyword = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("context", by_keyword, annotation=typer.Context)
    added = [
        inspect.Parameter(name, by_keyword, default=getattr(Common, name, None), annotation=annotation)
        for name, annotation in shared.items()
    ]
    return [context, *(parameter.replace(kind=by_keyword) for parameter in declared), *added]


def _label(context: typer.Context, name: str) -> str:
    """How a parameter is written: ``--out``, or DATA for an argument."""
    parameter = next(one for one in context.command.params if one.name == name)
    return next((text for text in parameter.opts if text.startswith("--")), name.upper())


def _before_the_verb(context: typer.Context) -> Common:
    """The options given before the verb."""
    before = {} if context.parent is None else context.parent.params
    return Common(**{name: before[name] for name in COMMON if name in before})


@contextmanager
def _running(common: Common) -> Generator[None]:
    """Apply the common options; with --verbose print versions first and the time at the end."""
    if common.quiet and common.verbose:
        raise ArgumentError("and `verbose` exclude each other", setting="quiet", value=True, remedy="Give one of them")
    with speaking(Manner(quiet=common.quiet, verbose=common.verbose)), _threads(common.threads):
        start = monotonic()
        if common.verbose:
            from rankinite.engine.parallel import thread_count

            detail(f"{version_line()}, {counted(thread_count(), 'thread')}")
        with _traced(verbose=common.verbose):
            yield
        detail(f"done in {monotonic() - start:.2f} s")


@contextmanager
def _traced(*, verbose: bool) -> Generator[None]:
    """With --verbose, show where an unexpected error arose."""
    try:
        yield
    except (RankiniteError, typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except Exception:
        if verbose:
            traceback.print_exc()
        raise


@contextmanager
def _threads(count: int | None) -> Generator[None]:
    if count is None:
        yield
        return
    from rankinite.engine.parallel import threads

    with threads(count):
        yield
