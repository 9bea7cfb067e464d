"""Signals that end a run: Ctrl-C, and SIGTERM, which counts as Ctrl-C with another exit code."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from rankinite.cli.messages import say

INTERRUPTED = 130
"""The exit code of a run that Ctrl-C has ended, as in shells."""
TERMINATED = 143
"""The exit code of a run that SIGTERM has ended: 128 and the number of the signal."""
PATIENCE = 1.0
"""Seconds that work on other threads has to end by itself."""
CLOSING = 20.0
"""Seconds that workers have to be told and ended."""


_terminated = False  # whether SIGTERM was received


@contextmanager
def terminable() -> Generator[None]:
    """Let SIGTERM, by which schedulers and containers end a process, raise KeyboardInterrupt: what is trained is kept."""
    global _terminated  # noqa: PLW0603 - of this block
    _terminated = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def receive(number: int, _frame: Any) -> None:
        note(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)  # None: of no Python function


def note(number: int) -> None:
    """Remember which signal ends the run."""
    global _terminated  # noqa: PLW0603 - for the exit code
    _terminated = _terminated or number == signal.SIGTERM


def exit_code() -> int:
    """The exit code of a run that was interrupted."""
    return TERMINATED if _terminated else INTERRUPTED


@contextmanager
def leaving_promptly(hint: Callable[[], str], patience: float = PATIENCE) -> Generator[None]:
    """On Ctrl-C or SIGTERM print the hint and raise KeyboardInterrupt.

    At a second one, or if threads at work hold that up for longer than ``patience``, leave at once: a fit on another thread may
    take minutes, and its result is thrown away. Unfinished files are removed on the way.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    leave = threading.Timer(patience, _leave)
    leave.daemon = True

    def receive(number: int, _frame: Any) -> None:
        note(number)
        if leave.is_alive():
            _leave()
        say(hint())
        leave.start()
        raise KeyboardInterrupt

    others = set(threading.enumerate())
    handled = [number for number in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(number))]
    before = {number: signal.signal(number, receive) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if set(threading.enumerate()) <= {*others, leave}:  # else Python would wait for them at its end: the clock runs on
            leave.cancel()


def _leave() -> None:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:  # where a live bar hides the cursor, and ends without a new line
        console.show_cursor()
        console.line()
    os._exit(exit_code())
