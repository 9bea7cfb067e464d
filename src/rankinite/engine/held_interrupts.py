"""HeldInterrupts: Ctrl-C and SIGTERM that wait until a piece of work is done on all threads of a team."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


class HeldInterrupts:
    """Ctrl-C, let through only when a piece of work is done: without the thread that it ends, the others would wait for ever.

    A second Ctrl-C between two pieces, say because a callback waits for something, is let through at once. The same holds
    for SIGTERM, where a program handles it, as the command line does.
    """

    def __init__(self) -> None:
        self._before: dict[int, Handler] = {}
        self._working = False
        self._waiting: tuple[int, FrameType | None] | None = None

    @contextmanager
    def watched(self) -> Generator[None]:
        """Take over from the handlers in force; back to them if the block fails. An interrupt meanwhile waits for :meth:`held`.

        Only the main thread is ever interrupted, and only it may set a handler.
        """
        self._working = True
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._receive)
        try:
            yield
        except BaseException:
            self.forget()
            raise
        self._working = False

    @contextmanager
    def held(self) -> Generator[None]:
        """Let an interrupt through after the block, whether it came before or during it."""
        self._working = True
        try:
            yield
        finally:
            self._working = False
            self._let_through()

    def forget(self) -> None:
        """Restore the handlers from before, unless others have taken over since, and pass on an interrupt that still waits."""
        for number, handler in self._before.items():
            if signal.getsignal(number) == self._receive:
                signal.signal(number, handler)
        self._let_through()

    def _let_through(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._before[waiting[0]](*waiting)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        again = self._waiting is not None
        self._waiting = (number, frame)
        if again and not self._working:
            self._let_through()
