"""What may be said of an error whose values may be secret: its place, beside the name of its type."""

from __future__ import annotations


def place(error: BaseException) -> str:
    """The innermost line of an error's traceback, as file:line; empty where it was never raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        "" if trace is None else f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
    )
