"""Orders: what a worker is sent, and what it does with it."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.installed import code_key, versions
from rankinite.workers.messages import unpacked
from rankinite.workers.shared_data import SharedData, worker_name

LOOK_EVERY = 1.0
"""Seconds between two looks at whether the work is still wanted."""


@dataclass(frozen=True)
class Order:
    """A piece of work."""

    folder: str
    """What all workers share."""
    threads: int
    """Threads that the work may use."""
    stop: str
    """A file that appears when the work is no longer wanted."""
    installed: dict[str, str]
    """The code and the libraries that sent it."""
    content: bytes
    """The function and its argument."""


class Unwanted(Exception):  # noqa: N818 - nothing is wrong
    """The work was given up, as nobody waits for it."""


def installed() -> dict[str, str]:
    """What must be the same everywhere for the same bytes: the versions of libraries, and our own code."""
    return {**versions(), "rankinite's code": code_key()}


def carry_out(order: Order) -> bytes:
    """On a worker: do the work. What it gives, or the error that is the input's fault, comes back as bytes."""
    try:
        _check_installed(order.installed)
        work, piece = unpacked(order.content, SharedData(Path(order.folder)))
        _current.order, _current.looked = order, time.monotonic()
        with threads(order.threads):
            result: Any = (True, work(piece))
    except RankiniteError as problem:
        result = (False, problem)
    finally:
        _current.order = None
    try:
        return pickle.dumps(result)
    except Exception:
        if result[0]:
            raise
        return pickle.dumps((False, type(result[1])(str(result[1]))))


def answer_of(answer: bytes) -> Any:
    """What a worker's work gave; raises the error if it was refused."""
    done, result = pickle.loads(answer)  # noqa: S301 - a worker is trusted with our code, and we with its results
    if not done:
        raise result
    return result


_current = threading.local()


def is_unwanted() -> bool:
    """On a worker: whether the work has been given up; looks at the folder at most once in a second."""
    order: Order | None = getattr(_current, "order", None)
    if order is None or time.monotonic() - _current.looked < LOOK_EVERY:
        return False
    _current.looked = time.monotonic()
    return Path(order.stop).exists()


def unless_unwanted(work: Callable[[Callable[[Any], bool]], Any]) -> Any:
    """Do work that takes a callback which ends it; refuses the result if it was ended so."""
    ended = [False]

    def look(_progress: Any) -> bool:
        ended[0] = ended[0] or is_unwanted()
        return ended[0]

    result = work(look)
    if ended[0]:
        raise Unwanted
    return result


def _check_installed(wanted: dict[str, str]) -> None:
    own = installed()
    for name, version in wanted.items():
        if own.get(name) != version:
            raise ArgumentError(
                f"the worker {worker_name()} has {name} {own.get(name)}, but {version} is installed where the work comes from",
                place="cluster",
                value=own.get(name),
                rule="Results are the same bytes only for the same code and libraries",
                remedy="Install the same versions everywhere, and restart the workers",
            )
