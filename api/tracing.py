"""Traces, where the operator wants them: the extra `otel`, and OTEL_EXPORTER_OTLP_ENDPOINT says where to.

A request's span continues the caller's trace and is named by the route, never by the path, which would name
players. Whatever span a request runs in, here or around us, its trace id stands in the meta of the events it
leads to; without one, the id of the caller's `traceparent` (W3C Trace Context) does.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:  # the interface comes with another package, which may stop bringing it
    trace = None  # type: ignore[assignment] # everybody here asks first

SERVICE: Final = "stud-ledger"
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_CARRIED: Final = frozenset((b"traceparent", b"tracestate"))
_TRACE_PARENT: Final = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

log = structlog.get_logger(__name__)


def trace_of(trace_parent: bytes | None) -> str | None:
    """The id of the trace that is under way, 32 hexadecimal digits; else the caller's, if there is one."""
    if trace is not None:
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            return f"{context.trace_id:032x}"
    match = None if trace_parent is None else _TRACE_PARENT.fullmatch(trace_parent)
    return match[1].decode() if match else None


def provider() -> Any:
    """What makes spans and sends them to the collector of the environment; None where that names none."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - both are in an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        log.warning("tracing_unavailable", install="stud-ledger[otel]")
        return None
    made = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


def traced(app: ASGIApp, made: Any) -> ASGIApp:
    """An application with a span around each request; the application itself where there is no provider."""
    return app if made is None else _Traced(app, made)


class _Traced:
    def __init__(self, app: ASGIApp, made: Any) -> None:
        self._app = app
        self._tracer = made.get_tracer(SERVICE)
        self._propagator = TraceContextTextMapPropagator()
        self.state = getattr(app, "state", None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        carrier = {
            name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _CARRIED
        }
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        # An error's text may hold what it was about: it is not recorded.
        with self._tracer.start_as_current_span(
            scope["method"],
            context=self._propagator.extract(carrier),
            kind=trace.SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            await self._app(scope, receive, watched)
            route = str(getattr(scope.get("route"), "path", ""))
            span.update_name(f"{scope['method']} {route}".rstrip())
            span.set_attributes(
                {
                    "http.request.method": scope["method"],
                    "http.route": route,
                    "http.response.status_code": status,
                }
            )
