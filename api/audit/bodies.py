"""Audits: what requests and answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Path
from pydantic import ConfigDict, Field

from api.paging import POSITION_MAX
from api.shapes import ID_PATTERN, Answer, Body

_MOMENT: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)

Bound = Annotated[
    Annotated[int, Field(ge=1, le=POSITION_MAX)] | Annotated[str, Field(pattern=_MOMENT)],
    Field(
        description="A position, or a moment (RFC 3339 with its offset).",
        examples=["2026-11-29T00:00:00Z", 4711],
    ),
]

RunPath = Annotated[str, Path(pattern=ID_PATTERN, description="The audit.", examples=["1K1ESNAG4YWAW3D9JF"])]


class RunBody(Body):
    """What is to be audited: everything, or the events from a position or moment on, up to another."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True)

    first: Bound | None = Field(default=None, alias="from")
    last: Bound | None = Field(default=None, alias="to")


class RunAnswer(Answer):
    """An audit: of what, by whom, and once it has finished with what result.

    `status` of one whose process has died, and that nobody began again, stays `running`. `progress` counts
    events. The finished one's `report_sha256` is of the report's bytes.
    """

    run_id: str
    source: Literal["database", "archive"]
    from_position: int
    to_position: int
    started_by: str
    started_at: str
    status: Literal["running", "finished"]
    progress: dict[str, int] | None = None
    finished_at: str | None = None
    verdict: Literal["pass", "fail", "error"] | None = None
    rounds: int | None = None
    events: int | None = None
    exceptions: int | None = None
    report_sha256: str | None = None
    report: dict[str, Any] | None = None


class RunsAnswer(Answer):
    """A page of audits, the newest first."""

    items: list[RunAnswer]
    next_cursor: str | None = None


STARTED: Final[dict[str, Any]] = {
    "run_id": "1K1ESNAG4YWAW3D9JF",
    "source": "database",
    "from_position": 1,
    "to_position": 219_800,
    "started_by": "inspector",
    "started_at": "2026-11-30T03:58:03.118204Z",
}
RUNNING: Final[dict[str, Any]] = {
    **STARTED,
    "status": "running",
    "progress": {"done": 98_304, "whole": 439_600},
}
FINISHED: Final[dict[str, Any]] = {
    **STARTED,
    "status": "finished",
    "finished_at": "2026-11-30T03:58:20.734911Z",
    "verdict": "pass",
    "rounds": 20_000,
    "events": 219_800,
    "exceptions": 0,
    "report_sha256": "9f1d3b2c4e5a68790b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506172",
}
