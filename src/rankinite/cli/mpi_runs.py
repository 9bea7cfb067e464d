"""Runs that ``mpiexec`` started: the first process speaks and writes, a problem of one ends all."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from rankinite.cli.error_text import shell_text
from rankinite.cli.messages import shortened
from rankinite.errors import ArgumentError, RankiniteError

if TYPE_CHECKING:
    from rankinite.workers.mpi_group import MpiGroup

JOINT = ("train",)
"""The verbs that several processes run together."""


@contextmanager
def among_members(verb: str) -> Generator[MpiGroup | None]:
    """The group of processes that run the verb together; None where ``mpiexec`` has not started several."""
    from rankinite.workers.started_by_mpi import started_by_mpi

    if not started_by_mpi():
        yield None
        return
    from rankinite.workers.mpi_group import mpi_group

    with mpi_group(report=_report, orderly=(typer.Exit,)) as group:
        if verb not in JOINT:
            raise ArgumentError(
                "is not run by several processes",
                place=verb,
                value=group.members.count,
                rule=f"mpiexec is for `rankinite {JOINT[0]}` on folders of bins",
                remedy="Run it without mpiexec; other verbs have `workers` and `cluster`",
            )
        yield group


def _report(problem: BaseException) -> int:
    """Print a problem as the command line does; the exit code."""
    if isinstance(problem, KeyboardInterrupt):
        return 130
    if isinstance(problem, RankiniteError):
        text, code = shell_text(problem), 2
    else:
        text, code = f"a fault of the program ({type(problem).__name__}: {problem})", 1
    print(f"rankinite: {shortened(text)}", file=sys.stderr)
    return code


def is_first(group: Any) -> bool:
    """Whether this process speaks and writes."""
    return group is None or group.is_first
