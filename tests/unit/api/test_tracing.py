"""Traces: the id of the span that is under way stands in the events, and spans say nothing of players."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from api import tracing
from api.app import create_app
from api.settings import ServiceSettings
from api.short_way import ShortWay
from api.tokens import Tokens, mint
from infrastructure.ledger.submission import ACCEPTED, Result, Submission

KEY = b"k" * 32
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
TOKEN = mint(KEY, "cashier", client_id="tests", actor="tester", ttl_seconds=24 * 3600)
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def deposit(made: Any, **headers: str) -> str | None:
    """Send a deposit to a service with traces, or without; return the trace its command came with."""
    seen: list[Submission] = []

    async def submitted(submission: Submission) -> Result:
        seen.append(submission)
        return Result(ACCEPTED, b"{}", 1)

    async def sent() -> None:
        app = create_app(ServiceSettings("", Path()))
        app.state.service = SimpleNamespace(tokens=Tokens(KEY), submit=submitted)
        transport = httpx.ASGITransport(tracing.traced(ShortWay(app), made))
        async with httpx.AsyncClient(transport=transport, base_url="http://ledger") as client:
            answer = await client.post(
                "/v1/players/anna/deposits",
                json={"amount": 5, "reference": "one"},
                headers={"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": "one", **headers},
            )
            assert answer.status_code == 201, answer.text

    asyncio.run(sent())
    return seen[0].trace


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """Return where finished spans are kept."""
    return InMemorySpanExporter()


@pytest.fixture
def made(spans: InMemorySpanExporter) -> TracerProvider:
    """Return a provider of spans."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return provider


def test_without_a_tracer_the_callers_trace_is_taken() -> None:
    """The id of a traceparent header goes with the command; without one there is none."""
    assert deposit(None, traceparent=PARENT) == TRACE
    assert deposit(None, traceparent="not a trace") is None
    assert deposit(None) is None


def test_a_requests_span_continues_the_callers_trace(
    made: TracerProvider, spans: InMemorySpanExporter
) -> None:
    """One trace from the caller to the event; the span is named by the route and names no player."""
    assert deposit(made, traceparent=PARENT) == TRACE
    (span,) = spans.get_finished_spans()
    assert f"{span.context.trace_id:032x}" == TRACE
    assert span.parent is not None
    assert span.name == "POST /v1/players/{player_id}/deposits"
    assert dict(span.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/players/{player_id}/deposits",
        "http.response.status_code": 201,
    }
    assert "anna" not in span.to_json()


def test_a_span_of_its_own_begins_a_trace(made: TracerProvider, spans: InMemorySpanExporter) -> None:
    """Where the caller has no trace, the event has that of the request's span."""
    trace = deposit(made)
    (span,) = spans.get_finished_spans()
    assert trace == f"{span.context.trace_id:032x}"


def test_nothing_is_sent_unless_the_operator_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an endpoint there is no provider; with one and without the extra there is a warning."""
    for name in tracing.ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    assert tracing.provider() is None
    monkeypatch.setenv(tracing.ENDPOINTS[0], "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, EXPORTER, None)
    with capture_logs() as logged:
        assert tracing.provider() is None
    assert [each["event"] for each in logged] == ["tracing_unavailable"]


def test_spans_are_sent_where_the_operator_says(
    monkeypatch: pytest.MonkeyPatch, spans: InMemorySpanExporter
) -> None:
    """With the extra installed and an endpoint named, finished spans go to the exporter."""
    module = ModuleType(EXPORTER)
    module.OTLPSpanExporter = lambda: spans  # type: ignore[attr-defined] # stands for the extra's
    monkeypatch.setitem(sys.modules, EXPORTER, module)
    monkeypatch.setenv(tracing.ENDPOINTS[0], "http://127.0.0.1:9")
    provider = tracing.provider()
    trace = deposit(provider)
    provider.force_flush()
    (span,) = spans.get_finished_spans()
    assert trace == f"{span.context.trace_id:032x}"
    assert span.resource.attributes["service.name"] == tracing.SERVICE
    provider.shutdown()


def test_a_worker_without_the_interface_still_takes_the_callers_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interface is another package's to bring: its absence changes nothing but the spans."""
    monkeypatch.setattr(tracing, "trace", None)
    assert deposit(None, traceparent=PARENT) == TRACE
