"""The command line: one file a verb. Each verb parses, calls and prints; whatever it does, Python can do."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; bad input ends with a message on standard error and exit code 2."""
    from rankinite.cli.app import app
    from rankinite.errors import RankiniteError

    try:
        app()
    except RankiniteError as error:
        print(f"rankinite: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (as `| head` does): nothing is wrong, and nothing is left to say.
        sys.stderr.close()
        sys.exit(0)
