"""KernelDispatcher: compiles a kernel whole only where Python calls it.

Numba makes of every function that a kernel calls a library of its own: optimised, turned into machine code, with wrappers to
call it from Python and from C, and written to disk. For a function that only other kernels call all this is thrown away, as its
code is linked into theirs and optimised there once more. Such a *part* is compiled here to code that can be linked, and no
further. A kernel that Python calls is compiled whole, whether or not it has been a part before.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from numba.core import compiler, dispatcher, event, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.typing import templates

from rankinite.engine.compile_notices import tell_listeners

_compiler: Any = compiler
_dispatcher: Any = dispatcher
_Dispatcher: Any = CPUDispatcher
_Library: Any = JITCodeLibrary
_event: Any = event
_templates: Any = templates
_signatures: Any = sigutils
_compiler_lock: Any = global_compiler_lock


class PartLibrary(_Library):
    """Code of a part: linked into the kernels that call it, never run by itself."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel that the code ends up in."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(_dispatcher._FunctionCompiler):  # noqa: SLF001
    """Compiles to a :class:`PartLibrary`."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = _compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        context = self.targetdescr.target_context
        library = PartLibrary(context.codegen(), self.py_func.__qualname__)
        result = _compiler.compile_extra(
            self.targetdescr.typing_context, context, self.py_func, args=args, return_type=return_type,
            flags=flags, locals=self.locals, pipeline_class=self.pipeline_class, library=library,
        )  # fmt: skip
        key = object()  # what Numba finds the code by
        context.insert_user_function(key, result.fndesc, [library])
        return result._replace(entry_point=key)


@contextmanager
def _without_collection() -> Generator[None]:
    """Compiling makes millions of objects that live until its end; looking for garbage among them would take an eighth more."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class KernelDispatcher(_Dispatcher):
    """What a kernel's name stands for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        whole = self._compiler
        self._part_compiler = PartCompiler(
            whole.py_func, whole.targetdescr, whole.targetoptions, whole.locals, whole.pipeline_class
        )
        self._parts: set[Any] = set()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Asked when another kernel, which calls this one, is compiled: a part will do."""
        signature, types = self._compiler.fold_argument_types(args, kws)
        key = tuple(types)
        if self._can_compile and key not in self.overloads:
            self._add_part(key)
        name = self.py_func.__name__
        template = _templates.make_concrete_template(f"CallTemplate({name})", key=name, signatures=self.nopython_signatures)
        return template, signature, types, {}

    def _add_part(self, key: Any) -> None:
        with _compiler_lock, self._compiling_counter:
            if key in self.overloads:  # another thread was first
                return
            if self._cache.has(key, self.targetctx):
                super().compile(key)
                return
            about = {"dispatcher": self, "args": key, "return_type": None}
            with _event.trigger_event("numba:compile", data=about):  # as Numba does for kernels that are compiled whole
                self.overloads[key] = self._part_compiler.compile(key, None)
            self._parts.add(key)

    def compile(self, sig: Any) -> Any:
        """Asked when Python calls the kernel, or wants its address: compile it whole."""
        key = tuple(_signatures.normalize_signature(sig)[0])
        if self._cache.has(sig, self.targetctx) or (key in self.overloads and key not in self._parts):
            return self._compile_whole(sig, key)
        tell_listeners()
        with self._cache.one_at_a_time(sig, self.targetctx):  # not inside the lock of all compiling
            return self._compile_whole(sig, key)

    def _compile_whole(self, sig: Any, key: Any) -> Any:
        with _compiler_lock, _without_collection():
            if key in self._parts:
                self._parts.remove(key)
                del self.overloads[key]
            if key in self.overloads:
                return super().compile(sig)
            found, result = super().compile(sig), self.overloads[key]
            for environment in result._find_referenced_environments():  # noqa: SLF001 - what Numba does when it loads a kernel
                result.library.codegen.set_env(environment.env_name, environment)
            return found
