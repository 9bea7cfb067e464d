"""Notices of compiling: who wants to know that a kernel is about to be compiled, which takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

_LISTENERS: list[Callable[[], None]] = []


@contextmanager
def when_compiling(notice: Callable[[], None]) -> Generator[None]:
    """Call ``notice`` once if a kernel is compiled inside the block, here or by a process that this one waits for."""
    noticed = False

    def once() -> None:
        nonlocal noticed
        if not noticed:
            noticed = True
            notice()

    _LISTENERS.append(once)
    try:
        yield
    finally:
        _LISTENERS.remove(once)


def tell_listeners() -> None:
    """Say that a kernel is about to be compiled."""
    for listener in tuple(_LISTENERS):
        listener()
