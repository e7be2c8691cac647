"""How a function over tables is compiled.

A kernel calls kernels of its own file only: what was compiled is kept on disk and looked up by the state of
the file that a function is in, so that a change in another file would go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}


def kernel(function: _Function) -> _Function:
    """Have a function compiled when it is first called, and keep what was compiled where that can be.

    That is beside the source, or in the user's cache folder where the source's cannot be written to, or in
    the folder that ``NUMBA_CACHE_DIR`` names. An account that can write to none of them compiles anew in
    every process.
    """
    try:
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder for a cache; nothing else is looked at before the first call
        compiled = numba.njit(**_OPTIONS)(function)
    return cast("_Function", compiled)
