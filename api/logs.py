"""Logs: one JSON object a line on standard error. Never a body, a token or a card."""

from __future__ import annotations

import sys

import orjson
import structlog


def configure() -> None:
    """Send what the service logs to standard error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=False,
    )
