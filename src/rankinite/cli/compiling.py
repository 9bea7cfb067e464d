"""Compiling beside a verb: a note on how long it takes, and helpers where the verb has never run here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from rankinite.cli.messages import say
from rankinite.engine.compile_notices import when_compiling
from rankinite.engine.cores import available_cores
from rankinite.engine.kernel_folder import is_ready, set_ready
from rankinite.warming.jobs import SECONDS, VERBS


@contextmanager
def compiling_beside(verb: str, threads: int | None) -> Generator[None]:
    """Say when kernels are compiled; on a machine where the verb has never run, other processes compile some of them."""
    first_time = verb in VERBS and not is_ready(verb)
    with ExitStack() as stack:
        stack.enter_context(when_compiling(lambda: say(_notice(verb))))
        if first_time and (others := _spare_threads(threads)):
            from rankinite.warming.helpers import helped

            stack.enter_context(helped(VERBS[verb], others))
        yield
    if first_time:
        set_ready(verb)


def _spare_threads(threads: int | None) -> int:
    """Threads beside the one that runs the verb."""
    return (threads or available_cores()) - 1


def _notice(verb: str) -> str:
    about = f": about {SECONDS[verb]} s" if verb in SECONDS else ""
    return f"compiling for this machine, the first time only{about} …"
