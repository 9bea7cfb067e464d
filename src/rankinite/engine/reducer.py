"""Reducer: sums and maxima over the members of a group of processes, asked for from inside kernels.

A kernel cannot call Python, but any C function whose address it knows. So the members of a group give the kernels the address
of a callback, which replaces numbers by their sums over all members; the address 0 stands for one machine alone, which asks
nobody. Whole numbers are summed, so it does not matter who has which rows.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rankinite.engine.kernel import Indices, kernel

ALONE: Final = 0
"""The address that stands for no reducer."""
SUM: Final = 0
MAX: Final = 1
"""What is done with the numbers of all members; maxima are of numbers from 0 on."""
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_any: Any = types
_compiled: Final = not vars(numba)["config"].DISABLE_JIT


class Members(Protocol):
    """A group of processes that train one model together; each calls the same methods in the same order."""

    @property
    def number(self) -> int:
        """Which of them this is, from 0; the first tells callbacks."""
        ...

    def combine(self, operation: int, values: Indices) -> None:
        """Replace the numbers by their sums (``SUM``) or maxima (``MAX``) over all members, in place."""
        ...

    def gather(self, content: bytes) -> list[bytes]:
        """What every member gave, in the order of the members."""
        ...


class Reducer:
    """What kernels call to combine numbers over members; none for one machine alone."""

    def __init__(self, members: Members | None) -> None:
        self.members = members
        self.problem: BaseException | None = None
        """What went wrong inside a kernel, to be raised behind it."""
        self._callback: Any = None if members is None else _CALLBACK(self.call)
        self.address: int = ALONE if members is None else ctypes.cast(self._callback, ctypes.c_void_p).value or ALONE
        if not _compiled and members is not None:
            _PLAIN[self.address] = self

    def raise_problem(self) -> None:
        """Raise what went wrong, if anything did."""
        if self.problem is not None:
            raise self.problem

    def call(self, operation: int, place: int, count: int) -> int:
        """The callback: 0, or 1 where it failed."""
        if self.members is None:
            return 1
        try:
            values = np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(place))
            self.members.combine(operation, values)
        except BaseException as problem:  # noqa: BLE001 - an exception cannot pass through a kernel; raised behind it
            self.problem = problem
            return 1
        return 0


_PLAIN: WeakValueDictionary[int, Reducer] = WeakValueDictionary()


def _plain_call(address: int, operation: int, values: Indices) -> int:
    return _PLAIN[address].call(operation, values.ctypes.data, len(values))


def _call_at(_typing: Any, _address: Any, _operation: Any, values: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.IntType(64)
        array = context.make_array(values)(context, builder, arguments[2])
        place = builder.ptrtoint(array.data, number)
        function = builder.inttoptr(arguments[0], ir.FunctionType(number, [number] * 3).as_pointer())
        return builder.call(function, [arguments[1], place, array.nitems])

    return _any.int64(_any.int64, _any.int64, values), code


_call: Any = intrinsic(_call_at) if _compiled else _plain_call


@kernel
def combine(reducer: int, operation: int, values: Indices) -> bool:
    """Replace numbers by their sums or maxima over all members; False where that failed. ``values`` are contiguous."""
    return _call(reducer, operation, values) == 0
