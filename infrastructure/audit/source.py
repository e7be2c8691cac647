"""Where an audit's events come from: what `infrastructure.audit.database` and `.archived` have in common."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

import orjson

from infrastructure.audit.results import Opening, StoredRow


class Part(Protocol):
    """Consecutive events, the positions behind `after` up to `up_to`. It can be sent to another process."""

    @property
    def after(self) -> int:
        """The position before its first."""

    @property
    def up_to(self) -> int:
        """Its last position."""

    def rows(self) -> Iterator[StoredRow]:
        """Yield the events in order; raises what reading them meets."""


class Source(Protocol):
    """All events that are there, from position `first` to `last`; of none, `last` is below `first`."""

    @property
    def kind(self) -> Literal["database", "archive"]:
        """What it is."""

    @property
    def first(self) -> int:
        """The first position that is there."""

    @property
    def last(self) -> int:
        """The last one."""

    def parts(self, after: int, up_to: int) -> Iterable[Part]:
        """The events behind `after` up to `up_to` in parts, in order."""

    def rulesets(self) -> dict[str, bytes]:
        """The canonical content of the rule sets that may be named, by its SHA-256 (hex)."""

    def opening(self, after: int) -> Opening | None:
        """What was held behind a position; None for the beginning, when nothing was."""

    def last_by(self, moment: str) -> int:
        """The last position that was recorded at or before a moment (UTC, six digits)."""


def published(events: Iterable[bytes]) -> dict[str, bytes]:
    """The canonical content of the rule sets that these events publish, by its SHA-256 (hex)."""
    found = {}
    for stored in events:
        with contextlib.suppress(ValueError, KeyError, TypeError):  # an edited event is found as such
            content = orjson.dumps(orjson.loads(stored)["data"]["content"], option=orjson.OPT_SORT_KEYS)
            found[hashlib.sha256(content).hexdigest()] = content
    return found
