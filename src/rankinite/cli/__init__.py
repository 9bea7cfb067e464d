"""The command line: whatever it does, Python can do.

``app`` lists the verbs by task, ``commands`` loads the one that is run from ``verbs``. What verbs share: ``options``,
``learner_options``, ``ranker_arguments``, ``settings_file``, ``files`` (inputs and outputs), ``messages``, ``progress``,
``output``, ``pictures``, ``report_option``, ``inner_rankers``, ``completion``, ``interrupts``.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn


def _shell_word(quoted: str) -> str:
    """A name that Python has put in quotes, as a shell takes it."""
    name = quoted[1:-1]
    return name if name == "…" else shlex.quote(name)


_SPELLINGS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"zero_based=True", "--zero-based"),
    (r"\b(missing|infinite|unjudged|convention|ties)='([^']*)'", r"--\1 \2"),
    (r"\b(qid|grades|doc_id)=('[^']*'|\"[^\"]*\")", lambda found: f"--{found[1].replace('_', '-')} {_shell_word(found[2])}"),
    (r"\b(qid|grades)=…", r"--\1"),
    (r"\bdoc_id=…", "--doc-id"),
    (r"\bFeature\((\d+)\)", r"column:\1"),
    (r"\bFeature\('(\d+)'\)", r"feature:\1"),
    (r"\bERR\(max_grade=(\d+)\)", r"err:max_grade=\1"),
    (
        r"\bignore=\[((?:(?:'[^']*'|\"[^\"]*\")(?:, )?)+)\]",
        lambda found: " ".join(f"--ignore {_shell_word(name)}" for name in re.findall(r"'[^']*'|\"[^\"]*\"", found[1])),
    ),
    (r"\bignore=\[…\]", "--ignore"),
    (r", or choose (?:the features|others) with features=\[…\]", ""),
    (r"\bgroup=…?", "--group"),
    (r"\bformat=…?", "--input-format"),
    (r"\bevery=(\d+)", r"--every \1"),
    (r"\bcombine: (?=\w+=)", ""),
    (r"\b(smooth|folds)=([\w.+-]*\w)", r"--\1 \2"),
    (
        r"put one on the other's with Dataset\.map_grades, as in map_grades\(\{0: 0, 1: 0, 2: 1\}\)",
        "put the background's on the target's with --map-grades, as in --map-grades 0=0,1=0,2=1",
    ),
    (
        r"put the target on the forest's with Dataset\.map_grades, as in map_grades\(\{0: 0, 1: 4\}\)",
        "write the target's files with the forest's grades",
    ),
    (r"\bsame_scale=True", "--same-scale"),
    (r"\ballow_overlap=True", "--allow-overlap"),
    (r"\bGive rate=, ", "Give --background-rate, "),
    (r"\bGive loss=, ", "Give --background-loss, "),
    (r"\bthreads: count=", "--threads "),
    (r"\bthreads\((\d+)\)", r"--threads \1"),
    (r"\bchoose: (?=--)", ""),
    (r"\bchoose: (confidence)=", r"--\1 "),
    (r"Checkpoint: ", ""),
    (r"Give a file that a ranker's save\(\) has written\.", "Give one that rankinite train has written."),
    (
        r"Rename them with rename_features\(…\), or read the file with like= .*",
        "Give data with the features it was trained on.",
    ),
    (r"; read the second with like=first, or choose .*", ". Give data with the same features."),
    (r"; use select_features or rename_features\.", "."),
    (r", or read it without like=\.", "."),
)
"""How Python's keyword arguments and functions, which remedies name, are written here."""


CUT_OFF = 141
"""The exit code where the reader of the output has gone, as ``head`` goes: 128 and the number of SIGPIPE, as elsewhere."""


def main() -> None:
    """Run the command line; bad input ends with a message on standard error and exit code 2, a fault of ours with 1."""
    from rankinite.cli import interrupts

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows a question mark
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
        _refuse(as_options(shell_text(error)))
    except MemoryError as error:
        _refuse(f"there is not enough memory ({error}). Use fewer rows or features.")
    except OSError as error:  # above all a full disk behind the standard output
        _refuse(f"{error}.")
    except Exception as error:  # noqa: BLE001 - what is left are our own faults
        fault = f"{type(error).__name__}: {error}"
        _refuse(f"a fault of the program ({fault}). Please report it, with what the same command says with --verbose.", 1)


def _note(message: Warning | str, *_where: object) -> None:
    """A warning, without the line of code that gave it."""
    from rankinite.cli.messages import shortened

    print(f"rankinite: note: {shortened(str(message))}", file=sys.stderr)


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


def as_options(message: str) -> str:
    """A message whose remedies are written as options: ``pass infinite='clip'`` → ``pass --infinite clip``."""
    for pattern, option in _SPELLINGS:
        message = re.sub(pattern, option, message)
    return _with_settings(message)


def _with_settings(message: str) -> str:
    """The same for the settings of learners: ``min_rows=20`` → ``--min-rows 20``, ``normalise=False`` → ``--no-normalise``."""
    from rankinite.cli.learner_options import CLASSES, SETTINGS

    names = "|".join(sorted({name for settings in SETTINGS.values() for name in settings}, key=len, reverse=True))

    def spelled(found: re.Match[str]) -> str:
        name, value = found["name"].replace("_", "-"), (found["quoted"] or found["plain"] or "")
        return {"True": f"--{name}", "False": f"--no-{name}", "None": f"--{name} none"}.get(value, f"--{name} {value}")

    # What stands in quotes is a value of the user's; what follows a colon is part of a measure's name (err:max_grade=4).
    message = re.sub(rf"(?<![\w:'/])(?P<name>{names})=(?:'(?P<quoted>[^']*)'|(?P<plain>[\w.+-]*\w))", spelled, message)
    learners = "|".join(kind.__name__ for kind in CLASSES.values())
    message = re.sub(rf"\b(?:{learners}): (?=--)", "", message)
    with_underscore = "|".join(name for name in names.split("|") if "_" in name)
    return re.sub(rf"(?<![\w:'/-])({with_underscore})(?![\w=])", lambda found: f"--{found[1].replace('_', '-')}", message)
