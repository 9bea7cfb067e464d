"""The command line: one file a verb. Each verb parses, calls and prints; whatever it does, Python can do."""

from __future__ import annotations

import re
import sys

_SPELLINGS = (
    (r"zero_based=True", "--zero-based"),
    (r"\b(missing|infinite|unjudged|qid|grades|convention|ties)='([^']*)'", r"--\1 \2"),
    (r"\bignore=\['([^']*)'\]", r"--ignore \1"),
    (r"\bgroup=…?", "--group"),
)
"""How Python's keyword arguments, which remedies name, are written here."""


def main() -> None:
    """Run the command line; bad input ends with a message on standard error and exit code 2."""
    from rankinite.cli.app import app
    from rankinite.errors import RankiniteError

    try:
        app()
    except RankiniteError as error:
        print(f"rankinite: {as_options(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (as `| head` does): nothing is wrong, and nothing is left to say.
        sys.stderr.close()
        sys.exit(0)


def as_options(message: str) -> str:
    """A message whose remedies are written as options: ``pass infinite='clip'`` → ``pass --infinite clip``."""
    for pattern, option in _SPELLINGS:
        message = re.sub(pattern, option, message)
    return message
