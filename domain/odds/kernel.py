"""How a function over tables is compiled.

Nothing is compiled, and the compiler itself is not loaded, before a kernel is called: who imports a module of
kernels but needs none of them starts as fast as without.

A kernel calls kernels of its own file only, and of other files uses constants that mathematics fixes. What
was compiled is kept on disk and looked up by the state of the file that a function is in, so that a change in
another file would go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import Any, Final, ParamSpec, TypeVar, cast

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_WAITING: Final[dict[str, list[FunctionType]]] = {}


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Have a function compiled, with the others of its module, when one of them is first called.

    What was compiled is kept beside the source, or in the user's cache folder where the source's cannot be
    written to, or in the folder that ``NUMBA_CACHE_DIR`` names. An account that can write to none of them
    compiles anew in every process.
    """
    written = cast("FunctionType", function)  # what a decorator stands over is one
    waiting = _WAITING.setdefault(written.__module__, [])
    waiting.append(written)
    names = written.__globals__

    @wraps(function)
    def compiled(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        if waiting:
            # Two threads at once both do all of it: none goes on while a name is not yet bound.
            names.update({one.__name__: _compiled(one) for one in tuple(waiting)})
            waiting.clear()
        result: _Result = names[written.__name__](*arguments, **named)
        return result

    return compiled


def _compiled(function: FunctionType) -> Any:
    """Hand a function to the compiler, which works when it is called."""
    compiler = import_module("numba")
    try:
        return compiler.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # there is no folder for a cache
        return compiler.njit(**_OPTIONS)(function)
