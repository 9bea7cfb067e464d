"""Functions that users write, by name: what they are called, and a hash that tells their code apart."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from tokenize import TokenError
from typing import Any


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called."""
    return str(getattr(function, "__name__", type(function).__name__))


def code_of(function: Callable[..., Any]) -> str:
    """A hash of a function's source, or of its compiled code where there is no source: another one for another function.

    What the function calls, and the values it uses from outside, are not part of it.
    """
    plain: Any = inspect.unwrap(getattr(function, "py_func", function))
    plain = getattr(plain, "func", plain)  # of functools.partial
    try:
        text = inspect.getsource(plain if hasattr(plain, "__code__") else type(plain))
    except (OSError, TypeError, SyntaxError, TokenError):  # there is none, or the file has changed meanwhile
        code = getattr(plain, "__code__", None)
        text = name_of(plain) if code is None else repr((code.co_code, code.co_names, _plain_constants(code)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain_constants(code: Any) -> list[str]:
    """The constants of compiled code, without those that are printed with an address."""
    return [repr(value) for value in code.co_consts if not hasattr(value, "co_code")]
