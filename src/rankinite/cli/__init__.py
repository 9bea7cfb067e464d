"""The command line: whatever it can do, Python can do too.

``app`` lists the verbs by task, ``commands`` loads the one that is run from ``verbs``. What verbs share: ``options``,
``learner_options``, ``ranker_arguments``, ``settings_file``, ``files`` (inputs and outputs), ``messages``, ``progress``,
``error_text``, ``output``, ``pictures``, ``report_option``, ``inner_rankers``, ``completion``, ``interrupts``.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn

CUT_OFF = 141
"""The exit code where the reader of the output has gone, as ``head`` goes: 128 and the number of SIGPIPE, as elsewhere."""


def main() -> None:
    """Run the command line; bad input ends with a message on standard error and exit code 2, a fault of ours with 1."""
    from rankinite.cli import interrupts

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a letter that the terminal does not know becomes a question mark
    warnings.showwarning = _note
    code: Any = 0
    try:
        with interrupts.terminable():
            _run()
    except KeyboardInterrupt:
        code = interrupts.exit_code()
    except BrokenPipeError:
        code = CUT_OFF
    except SystemExit as stop:
        code = stop.code or 0
        if code == interrupts.INTERRUPTED:
            code = interrupts.exit_code()
        elif _is_cut_off(stop):
            code = CUT_OFF
    sys.exit(_flushed(code))


def _run() -> None:
    from rankinite.cli.app import app
    from rankinite.cli.error_text import shell_text
    from rankinite.errors import RankiniteError

    try:
        app(prog_name="rankinite")
    except BrokenPipeError:
        raise
    except RankiniteError as error:
        _refuse(shell_text(error))
    except MemoryError as error:
        _refuse(f"there is not enough memory ({error}). Use fewer rows or features.")
    except OSError as error:  # above all a full disk behind the standard output
        _refuse(f"{error}.")
    except Exception as error:  # noqa: BLE001 - what is left are our own faults
        fault = f"{type(error).__name__}: {error}"
        _refuse(f"a fault of the program ({fault}). Please report it, with what the same command prints with --verbose.", 1)


def _note(message: Warning | str, *_where: object) -> None:
    """A warning, without the line of code that gave it."""
    from rankinite.cli.messages import say

    say(f"rankinite: note: {message}")


def _is_cut_off(stop: SystemExit) -> bool:
    """Whether a library ended the program because the reader of the output has gone; both Click and Rich do so with code 1."""
    cause = stop.__context__
    while cause is not None and not isinstance(cause, BrokenPipeError):
        cause = cause.__context__
    return cause is not None


def _flushed(code: Any) -> Any:
    """The exit code once all is written out; small output reaches a pipe or a disk only now."""
    streams: list[Any] = [sys.stdout, sys.stderr]
    for stream in filter(None, streams):  # there is none where it was closed
        try:
            stream.flush()
        except OSError as problem:
            with suppress(OSError, ValueError):  # else Python would try again at its end, and complain
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            gone = isinstance(problem, BrokenPipeError)
            if not gone and stream is sys.stdout:
                print(f"rankinite: standard output cannot be written ({problem}). Make room.", file=sys.stderr)
            code = code or (CUT_OFF if gone else 2)
    return code


def _refuse(message: str, code: int = 2) -> NoReturn:
    from rankinite.cli.messages import shortened

    print(f"rankinite: {shortened(message)}", file=sys.stderr)
    sys.exit(code)
