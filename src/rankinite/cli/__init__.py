"""The command line: one file a verb. Each verb parses, calls and prints; whatever it does, Python can do."""

from __future__ import annotations

import io
import re
import sys
from typing import NoReturn

_SPELLINGS = (
    (r"zero_based=True", "--zero-based"),
    (r"\b(missing|infinite|unjudged|qid|grades|convention|ties)='([^']*)'", r"--\1 \2"),
    (r"\bdoc_id=('[^']*'|…)", "--doc-id"),
    (r"\bERR\(max_grade=(\d+)\)", r"err:max_grade=\1"),
    (r"\bignore=\['([^']*)'\]", r"--ignore \1"),
    (r"\bgroup=…?", "--group"),
    (r"\bformat=…?", "--input-format"),
)
"""How Python's keyword arguments, which remedies name, are written here."""


def main() -> None:
    """Run the command line; bad input ends with a message on standard error and exit code 2."""
    from rankinite.cli.app import app
    from rankinite.errors import RankiniteError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows a question mark
    try:
        app()
    except RankiniteError as error:
        _refuse(as_options(str(error)))
    except MemoryError as error:
        _refuse(f"there is not enough memory ({error}). Use fewer rows or features.")
    except OSError as error:  # above all a full disk behind the standard output
        _refuse(f"{error}.")


def _refuse(message: str) -> NoReturn:
    print(f"rankinite: {message}", file=sys.stderr)
    sys.exit(2)


def as_options(message: str) -> str:
    """A message whose remedies are written as options: ``pass infinite='clip'`` → ``pass --infinite clip``."""
    for pattern, option in _SPELLINGS:
        message = re.sub(pattern, option, message)
    return message
