"""Ctrl-C, for work that runs on other threads."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from rankinite.cli.manner import say

INTERRUPTED = 130
"""The exit code of what Ctrl-C has ended, as shells have it."""
PATIENCE = 1.0
"""Seconds that work on other threads has to end of itself."""


@contextmanager
def leaving_promptly(hint: Callable[[], str]) -> Generator[None]:
    """On Ctrl-C say the hint and raise KeyboardInterrupt; leave at once if threads at work hold that up, or at a second one.

    A fit on another thread may take minutes, and what it gives is thrown away. Files in the making are removed on the way.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    leave = threading.Timer(PATIENCE, _leave)
    leave.daemon = True

    def receive(_number: int, _frame: Any) -> None:
        if leave.is_alive():
            _leave()
        say(hint())
        leave.start()
        raise KeyboardInterrupt

    others, before = set(threading.enumerate()), signal.signal(signal.SIGINT, receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if set(threading.enumerate()) <= {*others, leave}:  # else Python would wait for them at its end: the clock runs on
            leave.cancel()


def _leave() -> None:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:  # where a live bar hides the cursor, and ends without a new line
        console.show_cursor()
        console.line()
    os._exit(INTERRUPTED)
