"""What the processes of `test_audit_pool` do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from infrastructure.audit.pool import Pool


def double(number: int) -> tuple[int, int]:
    """Double a number, the even ones slowly; also say in which process."""
    if number % 2 == 0:
        time.sleep(0.01)
    return 2 * number, os.getpid()


def slow_first(number: int) -> int:
    """Take longer for the first than for all that may be begun meanwhile."""
    if number == 0:
        time.sleep(0.3)
    return number


def fail(number: int) -> int:
    """Fail on the third."""
    if number == 3:
        raise ValueError("the third\nis wrong")
    return number


def die(number: int) -> int:
    """Be killed on the third."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def never(number: int) -> int:
    """Say which process this is, and work on."""
    os.write(1, b"%d\n" % os.getpid())
    while True:
        number += 1


def coordinate(_: None, tell: Callable[[int], None]) -> None:
    """Have two processes work for ever, beside whoever asks for it."""
    tell(os.getpid())
    with Pool(never, 2, niceness=0) as pool:
        list(pool.map([1, 2]))


def count(number: int, tell: Callable[[int], None]) -> int:
    """Count up to a number, and tell each."""
    for reached in range(1, number + 1):
        tell(reached)
    return number


def outlive(path: str, tell: Callable[[int], None]) -> None:
    """Go on for as long as somebody is told, and leave a mark on the way out."""
    try:
        while True:
            tell(os.getpid())
            time.sleep(0.01)
    finally:
        with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - a text that is sent here
            file.write("out")
