"""Messages on standard error besides errors: notes on what was done; none with --quiet, more with --verbose."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from rankinite.safe_text import for_terminal


@dataclass(frozen=True)
class Manner:
    """How much is printed."""

    quiet: bool = False
    """Nothing but results and errors."""
    verbose: bool = False
    """Also what is read and written, with sizes, versions and times."""


_now = Manner()  # all threads share it, as they share standard error


@contextmanager
def speaking(manner: Manner) -> Generator[None]:
    """Print this much inside the block."""
    global _now  # noqa: PLW0603 - restored below
    before, _now = _now, manner
    try:
        yield
    finally:
        _now = before


LONGEST_WORD, LONGEST_MESSAGE = 160, 4000
"""The most letters of one word of a message, and of a whole message: names may be as long as a whole file."""


def shortened(message: str) -> str:
    """A message for a terminal: very long words are cut in the middle, and so is the message if it is still too long."""
    words = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda found: _cut(found[0], LONGEST_WORD), message)
    return for_terminal(_cut(words, LONGEST_MESSAGE))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"


def say(what: str) -> None:
    """Print a note on what was done, beside the output proper."""
    if not _now.quiet:
        print(shortened(what), file=sys.stderr)


def say_all(notes: Iterable[str]) -> None:
    """Print several notes, one per line."""
    for note in notes:
        say(note)


def detail(what: str) -> None:
    """Print a note with --verbose only."""
    if _now.verbose:
        print(shortened(what), file=sys.stderr)


@contextmanager
def busy(what: str) -> Generator[None]:
    """Show on a terminal what is going on, and with --verbose how long it took; print nothing when piped."""
    start = monotonic()
    with _spinner(what):
        yield
    detail(f"{what}: {monotonic() - start:.2f} s")


@contextmanager
def _spinner(what: str) -> Generator[None]:
    if _now.quiet or not sys.stderr.isatty():  # asked before Rich is loaded, which takes a while
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"[dim]{escape(for_terminal(what))} …[/dim]", spinner="dots"):
        yield
