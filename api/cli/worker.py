"""One worker of the service: the application on a socket that the supervisor listens on."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

import uvicorn

from api.cli.connections import BoundedConnection

if TYPE_CHECKING:
    from types import FrameType

    from api.composition import Service

GRACE_S = 10  # what a worker has to finish its answers in when it is told to end
KEEP_ALIVE_S = 30


class Server(uvicorn.Server):
    """A server that tells the service to end before it waits for the requests that are under way.

    A stream without an end would otherwise be waited for as long as the grace lasts.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End in order; at once where nothing has begun.

        A worker that starts may be waiting for a database that went away with its supervisor, and holds the
        port that the next supervisor needs.
        """
        if not self.started:
            os._exit(1)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests, wait for those under way, end the application."""
        service: Service | None = getattr(self.config.loaded_app.state, "service", None)
        if service is not None:
            service.started = False
        await super().shutdown(sockets)


def main() -> None:
    """Serve on the inherited socket whose descriptor is the only argument, until a signal says stop."""
    config = uvicorn.Config(
        "api.short_way:create",
        factory=True,
        loop="uvloop",
        http=BoundedConnection,
        ws="none",
        lifespan="on",
        access_log=False,  # paths and queries are the operator's business: the ledger records who did what
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # nobody is believed about whom they forward for
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = Server(config)
    server.run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
    sys.exit(0 if server.started else 1)


if __name__ == "__main__":
    main()
