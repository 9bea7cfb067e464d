"""Compiling beside a verb: a note the first time that the verb compiles here, and helpers where it has never run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from rankinite.cli.messages import detail, say
from rankinite.engine.compile_notices import when_compiling
from rankinite.engine.cores import available_cores
from rankinite.engine.kernel_folder import is_ready, set_ready
from rankinite.warming.jobs import SECONDS, VERBS


@contextmanager
def compiling_beside(verb: str, threads: int | None) -> Generator[None]:
    """Say once per verb and machine that kernels are compiled; where the verb has never run, other processes compile some.

    Each verb needs kernels of its own, and so do some of its options. The latter take little and are noted with --verbose only.
    """
    ready, compiled = is_ready(verb), False

    def note() -> None:
        nonlocal compiled
        compiled = True
        if ready:
            detail(f"compiling what these options of {_written(verb)} need …")
        else:
            say(_notice(verb))

    with ExitStack() as stack:
        stack.enter_context(when_compiling(note))
        if verb in VERBS and not ready and (others := _spare_threads(threads)):
            from rankinite.warming.helpers import helped

            stack.enter_context(helped(VERBS[verb], others))
        yield
    if not ready and (compiled or verb in VERBS):
        set_ready(verb)


def _spare_threads(threads: int | None) -> int:
    """Threads beside the one that runs the verb."""
    return (threads or available_cores()) - 1


def _notice(verb: str) -> str:
    fresh = not any(map(is_ready, VERBS))  # otherwise much of it is there
    about = f", about {SECONDS[verb]} s" if fresh and verb in SECONDS else ""
    return f"compiling what {_written(verb)} needs on this machine, once for each verb{about} …"


def _written(verb: str) -> str:
    return verb.replace("_", "-")
