"""The one way Numba functions are compiled here, and the dtypes they agree on.

Kernels run without the GIL, are kept on disk (see :mod:`rankinite.engine.kernel_cache`) and never use fast-math: results must
not depend on the machine's idea of associativity. Parallelism is not Numba's ``prange`` but chunks of work handed to
threads (see :mod:`rankinite.engine.parallel`), which compiles several times faster and is safe to nest and fork.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankinite.engine.kernel_cache import KernelCache
from rankinite.engine.kernel_dispatcher import KernelDispatcher

F = TypeVar("F", bound=Callable[..., Any])

FEATURE = np.float32
"""dtype of stored features."""
GRADE = np.float32
"""dtype of stored grades; float so that regression targets and graded probabilities fit too."""
SCORE = np.float64
"""dtype of scores and of every computed measure."""
INDEX = np.int64
"""dtype of row numbers and query offsets."""

Features: TypeAlias = npt.NDArray[np.float32]
Grades: TypeAlias = npt.NDArray[np.float32]
Floats: TypeAlias = npt.NDArray[np.float64]
Reals: TypeAlias = npt.NDArray[np.floating[Any]]
"""Where either precision will do."""
Indices: TypeAlias = npt.NDArray[np.int64]
RowNumbers: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]
"""One per row, kept through a training: in the fewer bytes where they fit, so only data beyond compile a second variant."""
Positions: TypeAlias = npt.NDArray[np.int32]
Flags: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Strings: TypeAlias = npt.NDArray[Any]
"""Variable-width text: NumPy's StringDType."""


def kernel(function: F) -> F:
    """Compile a function on plain arrays; to the type checker it stays the Python function it was."""
    return _compiling_when_called(function, counts=True)


def lean_kernel(function: F) -> F:
    """Compile a function that neither makes nor returns arrays, only works on those it is given.

    Nobody then needs to count who holds them. Numba does so at every call, array by array and atomically; for kernels that pass
    on records of fifty arrays, that takes longer than what they do at a small node, and longer to compile.
    """
    return _compiling_when_called(function, counts=False)


def _compiling_when_called(function: F, *, counts: bool) -> F:
    if vars(numba)["config"].DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "_nrt": counts}
    dispatcher: Any = KernelDispatcher(function, targetoptions=options)
    dispatcher._cache = KernelCache(function)  # noqa: SLF001 - where Numba keeps it; enable_caching() would make its own
    return dispatcher


A = TypeVar("A", bound=npt.NDArray[Any])


def frozen(array: A) -> A:
    """A read-only view of an array.

    Numba compiles a kernel anew for every mix of read-only and writeable arguments. The arrays of a :class:`Dataset` are
    read-only, so kernels that take them are given read-only inputs always, and are compiled once.
    """
    view = array.view()
    view.flags.writeable = False
    return view


# ---- functions passed to kernels ------------------------------------------------------------------------------------

_types: Any = types
INT, FLOAT, FLOAT32 = _types.int64, _types.float64, _types.float32
TRUTH, NOTHING, ADDRESS = _types.boolean, _types.void, _types.int64


def array_type(item: Any, *, inputs: bool = False, dimensions: int = 1) -> Any:
    """The type of a contiguous array in a signature; ``inputs``: a read-only one."""
    return _types.Array(item, dimensions, "C", readonly=inputs)


def compiled(function: F, *signatures: Any) -> F:
    """Compile a kernel for these signatures and no others: writeable arrays then pass for read-only ones."""
    dispatcher: Any = function
    if not hasattr(dispatcher, "overloads"):  # it is a plain function when the compiler is switched off
        return function
    if (dispatcher, signatures) not in _ready:
        with _compiling:  # several threads may come here at once
            for signature in signatures:
                if signature.args not in dispatcher.overloads:
                    dispatcher.disable_compile(False)
                    dispatcher.compile(signature)
            dispatcher.disable_compile()
            _ready.add((dispatcher, signatures))  # only now may others use it: before, Numba would still make variants
    return function


_compiling = threading.Lock()
_ready: set[tuple[Any, tuple[Any, ...]]] = set()
_addresses: dict[tuple[Any, Any], int] = {}


def address(function: Callable[..., Any], signature: Any) -> Any:
    """What to give a kernel in place of a function: where its code for this signature is. See :func:`function_at`.

    Left to itself, Numba would make a variant of the kernel for each function, which its disk cache never finds again in
    another process; and each time it is given a function of a known type, it takes longer to look it up than a small round
    of boosting.
    """
    key: Any = (function, signature)
    if not hasattr(function, "overloads"):
        return function
    if key not in _addresses:
        dispatcher: Any = compiled(function, signature)
        result = dispatcher.overloads[signature.args]
        _addresses[key] = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return _addresses[key]


def function_at(signature: Any) -> Any:
    """For kernels: a function that makes a callable of an :func:`address`."""
    kind: Any = _types.FunctionType(signature)

    def function(_typing: Any, _address: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            value: Any = cgutils.create_struct_proxy(kind)(context, builder)
            value.jit_addr = builder.inttoptr(arguments[0], value.jit_addr.type)
            return value._getvalue()  # noqa: SLF001 - Numba's own name for it

        return kind(ADDRESS), code

    def itself(given: Any) -> Any:
        return given

    return itself if vars(numba)["config"].DISABLE_JIT else intrinsic(function)
