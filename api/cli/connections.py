"""What one connection may cost before anybody has said who they are.

Uvicorn bounds neither the bytes of a request's head nor the time a request takes to arrive or an answer to be
taken, so that a client without a token could fill the memory with a header that never ends, or hold all
descriptors with requests that are never finished. A request that arrives whole, as nearly all do, sets no
timer here.
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

DESCRIPTORS_KEPT: Final = 128
"""Of a process's descriptors, how many are not for clients: the database, files, what is being accepted."""
CONNECTIONS_MAX: Final = 10_000


def connections_max() -> int:
    """Return how many clients this process can hold and still reach its database."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS_MAX if soft < 0 else max(1, min(CONNECTIONS_MAX, soft - DESCRIPTORS_KEPT))


class BoundedConnection(HttpToolsProtocol):
    """One client's connection.

    `head_bytes_max` and `message_bytes_max` bound a request's head and the whole of it as it is sent,
    `arrival_seconds_max` the time from a connection's or a request's beginning to the request's end,
    `taking_seconds_max` the time a client takes none of its answer. Whoever goes beyond is cut off.
    """

    head_bytes_max: ClassVar[int] = 64 * 1024
    # The largest body that is taken (api/json_body.py), sent in chunks of a byte each, is six times as long.
    message_bytes_max: ClassVar[int] = 2 * 1024 * 1024
    arrival_seconds_max: ClassVar[float] = 30.0
    taking_seconds_max: ClassVar[float] = 60.0
    connections_max: ClassVar[int] = connections_max()

    _begun = 0
    _arriving = False
    _in_head = False
    _idle = True
    _bytes = 0
    _arrival: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            transport.abort()
        else:
            self._watch_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._cancel_arrival()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has arrived, unless it is more than a request may be."""
        begun = self._begun
        super().data_received(data)
        if self._begun != begun:
            self._cancel_arrival()
            self._bytes = 0  # it began somewhere in these bytes; the next ones are all its own
        elif self._arriving:
            self._bytes += len(data)
            if self._bytes > (self.head_bytes_max if self._in_head else self.message_bytes_max):
                self.transport.abort()
        if self._arriving or self._idle:
            self._watch_arrival()
        else:
            self._cancel_arrival()

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._begun += 1
        self._arriving = self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that its head is there."""
        self._in_head = self._idle = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that all of it is there."""
        self._arriving = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Note that the next request may come, unless it is here already."""
        self._idle = not self.pipeline
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give the client some time to take its answer."""
        super().pause_writing()
        if self._taking is None:
            self._taking = self.loop.call_later(self.taking_seconds_max, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that it takes it."""
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
            super().resume_writing()

    def _watch_arrival(self) -> None:
        if self._arrival is None and not self.transport.is_closing():
            self._arrival = self.loop.call_later(self.arrival_seconds_max, self.transport.abort)

    def _cancel_arrival(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None
