"""Functions that users write, called from compiled code: by Numba where it compiles them, else by Python.

Code of ours that is compiled around such a function is not kept on disk: it would be found again by nobody.
"""

from __future__ import annotations

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
