"""Verbs that are loaded when they are run, and what all of them share.

``rankinite --help`` lists verbs by what app.py says of them; the module of a verb, which may take long to load, is only
imported when the verb is parsed.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib import import_module
from time import monotonic
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from rankinite.cli import files
from rankinite.cli import settings_file as config
from rankinite.cli.messages import Manner, detail, speaking
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.installed import versions_told

_EVERY = "All verbs"
THREADS = "Threads to use, at most 1,024; all cores if left out."


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
            help="Also say what is read and written, sizes, versions and times, and where an unexpected error arose.",
            rich_help_panel=_EVERY,
        ),
    ] = False

    def joined(self, other: Common) -> Common:
        """Both: what is said here counts before what the other says."""
        return Common(self.threads or other.threads, self.quiet or other.quiet, self.verbose or other.verbose)


COMMON = tuple(field.name for field in fields(Common))


def listed(name: str) -> type[TyperCommand]:
    """A command that the help can list, and that becomes the verb in the module of this name when it is run."""

    class Verb(TyperCommand):
        """What stands in for the verb."""

        def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
            """The parsed command line of the verb itself."""
            with config.named_in_errors():
                return loaded(name).make_context(info_name, args, parent=parent, **extra)

    return Verb


@functools.cache
def loaded(name: str) -> Any:
    """The command of a verb, with all its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    verb = getattr(import_module(f"rankinite.cli.verbs.{name}"), name)
    alone.command(name, help=flowing(inspect.getdoc(verb) or ""))(ready(verb))
    return typer.main.get_command(alone)


def flowing(text: str) -> str:
    """A text each of whose paragraphs is one line, to be broken where the terminal ends; what is indented stays as it is."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.split("\n")) for part in paragraphs)


def ready(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with the options that all share; those that ask for a ``record`` also have --config."""
    own = list(inspect.signature(verb, eval_str=True).parameters.values())
    takes = {parameter.name for parameter in own}
    hints = get_type_hints(Common, include_extras=True)
    shared, paths, outputs = {name: hints[name] for name in COMMON}, config.paths_among(own), files.outputs_among(own)
    inputs = [*(name for name in paths if name not in outputs), "config"]
    if "record" in takes:
        shared["config"] = config.option(paths)

    @functools.wraps(verb)
    def call(context: typer.Context, **given: Any) -> None:
        common = Common(**{name: given.pop(name) for name in COMMON}).joined(_before_the_verb(context))
        if "quiet" in takes:
            given["quiet"] = common.quiet
        every, file = dict(given), given.pop("config", None)
        if "record" in takes:
            given["record"] = config.Record(context, given, paths)
        with _running(common), files.guarded(every, inputs, outputs, functools.partial(_label, context)):
            if file is not None:
                detail(f"settings from {file}")
            verb(**given)

    parameters = [
        parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in own if parameter.name not in (*COMMON, "record")
    ]
    for name, annotation in shared.items():
        default = getattr(Common, name, None)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    vars(call)["__signature__"] = inspect.Signature([context, *parameters])
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in [context, *parameters]}
    return call


def _label(context: typer.Context, name: str) -> str:
    """How a parameter is written: ``--out``, or DATA for an argument."""
    parameter = next(one for one in context.command.params if one.name == name)
    return next((text for text in parameter.opts if text.startswith("--")), name.upper())


def _before_the_verb(context: typer.Context) -> Common:
    """The options that stand before the verb."""
    given = {} if context.parent is None else context.parent.params
    return Common(**{name: given[name] for name in COMMON if name in given})


@contextmanager
def _running(common: Common) -> Generator[None]:
    """Everything as the options want it, and with --verbose a frame of versions and time."""
    if common.quiet and common.verbose:
        raise ArgumentError("--quiet and --verbose exclude each other. Give one of them.")
    with speaking(Manner(quiet=common.quiet, verbose=common.verbose)), _threads(common.threads):
        start = monotonic()
        if common.verbose:
            from rankinite.engine.parallel import thread_count

            detail(f"{versions_told()}, {thread_count()} threads")
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
