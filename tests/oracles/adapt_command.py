"""``rankinite adapt`` run in-process, for fixtures that outlive a test."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import pytest

from rankinite import cli

QUICK = ("--methods", "additive,trada", "--no-curve")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def call(*arguments) -> Outcome:
    """Run the command as the shell does."""
    out, err, code = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        patched.setattr("sys.argv", ["rankinite", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


def quick(home, *arguments, background=None, train=None):
    """A command that tries few methods."""
    files = (background or home / "web.rankinite", "--train", train or home / "train.txt")
    return ("adapt", *files, *QUICK, *arguments)
