"""Functions that users write: whether they are compiled, what they are called, and how their code is told apart.

Code of ours that is compiled around such a function is not kept on disk: it would be found again by nobody.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.registry import CPUDispatcher

F = TypeVar("F", bound=Callable[..., Any])

_numba: Any = numba
_Dispatcher: Any = CPUDispatcher
objmode: Any = _numba.objmode
"""Inside compiled code: a block that Python runs, with Python's lock."""


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether Numba compiles a function, so that compiled code may call it."""
    return isinstance(function, _Dispatcher)


def compiled_around(function: F) -> F:
    """Compile a function of ours that calls one of a user's. Its errors are those that kernels have: no number is refused."""
    return _numba.njit(function, error_model="numpy")


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
    except (OSError, TypeError):
        code = getattr(plain, "__code__", None)
        text = name_of(plain) if code is None else repr((code.co_code, code.co_names, _plain_constants(code)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain_constants(code: Any) -> list[str]:
    """The constants of compiled code, without those that are printed with an address."""
    return [repr(value) for value in code.co_consts if not hasattr(value, "co_code")]
