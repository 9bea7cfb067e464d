"""MPI: the processes that ``mpiexec`` started, as members of one group."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rankinite.errors import RankiniteError
from rankinite.workers.collectives import MpiMembers

FIRST_SPEAKS = 0.5
"""Seconds that the others wait before they report a problem: where all have the same, the first has ended them by then."""


class MpiGroup:
    """The processes of a run, and whether the user has asked it to end."""

    def __init__(self, members: MpiMembers) -> None:
        self.members = members
        self.is_interrupted = False

    @property
    def is_first(self) -> bool:
        """Whether this is the process that speaks to the user and writes files."""
        return self.members.number == 0

    def end_if_interrupted(self, _progress: object) -> None:
        """A callback by which Ctrl-C ends training behind a round, at all members alike."""
        if self.is_interrupted:
            raise KeyboardInterrupt

    def note(self, _number: int, _frame: Any) -> None:
        """What Ctrl-C does: the first time training ends behind its round, the second time at once."""
        if self.is_interrupted:
            self.members.abort(130)
        self.is_interrupted = True


_in_force: ContextVar[MpiGroup | None] = ContextVar("rankinite_mpi", default=None)


def mpi_in_force() -> MpiGroup | None:
    """The group of the ``with`` block this is in."""
    return _in_force.get()


@contextmanager
def mpi_group(*, report: Any = None, orderly: tuple[type[BaseException], ...] = ()) -> Generator[MpiGroup]:
    """All processes of an MPI run; a problem of one ends all of them, as the others would wait for it for ever.

    ``report``: prints a problem and gives the exit code; without it, the traceback is printed and the code is 1. ``orderly``:
    exceptions by which a process ends after its work is done.
    """
    group = MpiGroup(MpiMembers(_library()))
    token, before = _in_force.set(group), _taken_over(group)
    try:
        yield group
    except BaseException as problem:
        if group.members.count == 1 or isinstance(problem, orderly):
            raise
        if not group.is_first:
            time.sleep(FIRST_SPEAKS)
        code = _reported(problem) if report is None else report(problem)
        sys.stdout.flush()
        sys.stderr.flush()
        group.members.abort(code)
    finally:
        _in_force.reset(token)
        for number, handler in before.items():
            signal.signal(number, handler)


def _taken_over(group: MpiGroup) -> dict[int, Any]:
    """Let Ctrl-C and SIGTERM, which all processes are sent, be noted by the first alone; the handlers from before.

    A process that ended a round by itself would leave the others waiting for it.
    """
    if threading.current_thread() is not threading.main_thread() or group.members.count == 1:
        return {}
    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, group.note if group.is_first else signal.SIG_IGN) or signal.SIG_DFL
    return before


def _reported(problem: BaseException) -> int:
    traceback.print_exception(problem)
    return 130 if isinstance(problem, KeyboardInterrupt) else 1


def _library() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:  # the latter where there is no MPI library for it
        raise RankiniteError(
            f"training over MPI needs mpi4py and an MPI library ({problem})",
            value="mpi4py",
            remedy="Install them with: pip install 'rankinite[mpi]' and the MPI of your cluster, or pip install mpich",
        ) from problem
    return MPI
