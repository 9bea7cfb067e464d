"""Kernels that several threads run together: counters they share, and a barrier where they wait for each other.

Handing each small phase of a tree to a pool would cost more than the phase. So the threads enter one kernel together (see
:class:`rankinite.engine.parallel.Team`) and meet at barriers inside it. Without the compiler there is one thread only.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankinite.engine.kernel import Indices, lean_kernel

# Positions in the shared array, a cache line apart.
ARRIVED: Final = 0
TURN: Final = 8
CLAIMED: Final = 16
SHARED: Final = 24
"""Length of the shared array."""

_config: Any = vars(numba)["config"]
TOGETHER: Final = not _config.DISABLE_JIT
"""Whether several threads can run a kernel together: not as plain Python."""

_SPINS: Final = 2000  # looks before the core is offered to others: a barrier is usually short
_any: Any = types


def shared() -> Indices:
    """The array that threads coordinate by."""
    return np.zeros(SHARED, np.int64)


def _plain_fetch_add(array: Indices, place: int, amount: int) -> int:
    old = int(array[place])
    array[place] += amount
    return old


def _plain_load(array: Indices, place: int) -> int:
    return int(array[place])


def _plain_prefetch(array: Any, place: int) -> None: ...


def _plain_yield() -> None: ...


def _pointer(context: Any, builder: Any, array: Any, arguments: Any) -> Any:
    """The address of item arguments[1] of the array arguments[0]."""
    return builder.gep(context.make_array(array)(context, builder, arguments[0]).data, [arguments[1]])


def _atomic_fetch_add(_typing: Any, array: Any, place: Any, amount: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(context, builder, array, arguments), arguments[2], "seq_cst")

    return _any.int64(array, _any.int64, _any.int64), code


def _atomic_load(_typing: Any, array: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, array, arguments), "acquire", 8)

    return _any.int64(array, _any.int64), code


def _processor_prefetch(_typing: Any, array: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.bitcast(_pointer(context, builder, array, arguments), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, number(0), number(3), number(1)])  # for reading, into the nearest cache
        return context.get_dummy_value()

    return _any.void(array, _any.int64), code


_YIELD = "SwitchToThread" if os.name == "nt" else "sched_yield"
_fetch_add: Any = intrinsic(_atomic_fetch_add) if TOGETHER else _plain_fetch_add
_load: Any = intrinsic(_atomic_load) if TOGETHER else _plain_load
_prefetch: Any = intrinsic(_processor_prefetch) if TOGETHER else _plain_prefetch
_yield_core: Any = _any.ExternalFunction(_YIELD, _any.int32()) if TOGETHER else _plain_yield


@lean_kernel
def wait(sync: Indices, workers: int) -> None:
    """Go on when all workers are here; what each wrote before is then seen by all."""
    if workers == 1:
        return
    turn = _load(sync, TURN)
    if _fetch_add(sync, ARRIVED, 1) == workers - 1:
        sync[ARRIVED] = 0
        _fetch_add(sync, TURN, 1)
        return
    spins = 0
    while _load(sync, TURN) == turn:
        spins += 1
        if spins > _SPINS:
            _yield_core()


@lean_kernel
def claim(sync: Indices) -> int:
    """The next piece of work: 0, 1, 2, … over all workers. One worker sets ``sync[CLAIMED] = 0`` before a barrier."""
    return _fetch_add(sync, CLAIMED, 1)


@lean_kernel
def prefetch(array: Any, place: int) -> None:
    """Ask for the memory at a place of a flat array soon to be read; changes nothing else."""
    _prefetch(array, place)
