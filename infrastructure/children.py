"""Child processes that do not outlive us.

A service that is killed with SIGKILL cannot stop its children. On Linux the kernel does it: each child asks
to be sent a signal when its parent dies. Elsewhere the next start finds what was left over and stops it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def dies_with_parent(signum: signal.Signals) -> Callable[[], None]:
    """Return what a child runs before its program (`preexec_fn`) to be sent `signum` when we die.

    The kernel watches the *thread* that starts the child, so start long-lived children from the main thread.
    """
    parent = os.getpid()

    def ask_kernel() -> None:
        if _libc is None:
            return
        _libc.prctl(PR_SET_PDEATHSIG, int(signum))
        if os.getppid() != parent:  # we died between the fork and the request: no signal would ever come
            os._exit(1)

    return ask_kernel
