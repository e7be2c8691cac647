"""Logs: one JSON object a line on standard error. Never a body, a token or a card.

Every line has its time (UTC), level, event and the process it comes from; within a request that is traced,
the trace. What is logged is named where it happens, and values that may be secret are not among it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import MutableMapping
from typing import Any, BinaryIO

import orjson
import structlog

from api.tracing import trace_of


def configure() -> None:
    """Send what this process logs to standard error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_origin,
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        logger_factory=structlog.BytesLoggerFactory(_Lenient(sys.stderr.buffer)),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )


class _Lenient:
    """A stream to log to whose trouble is nobody's: with its disk full, the ledger goes on without logs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> None:
        """Write, if that can be."""
        with contextlib.suppress(OSError):
            self._stream.write(line)

    def flush(self) -> None:
        """Pass on what was written, if that can be."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _add_origin(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    line["pid"] = os.getpid()
    trace = trace_of(None)
    if trace is not None:
        line["trace"] = trace
    return line
