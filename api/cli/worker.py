"""One worker of the service: the application on a socket that the supervisor listens on."""

from __future__ import annotations

import socket
import sys

import uvicorn

GRACE_S = 10  # what a worker has to finish its answers in when it is told to end
KEEP_ALIVE_S = 30


def main() -> None:
    """Serve on the inherited socket whose descriptor is the only argument, until a signal says stop."""
    config = uvicorn.Config(
        "api.app:create_app",
        factory=True,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        access_log=False,  # paths and queries are the operator's business: the ledger records who did what
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # nobody is believed about whom they forward for
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
    sys.exit(0 if server.started else 1)


if __name__ == "__main__":
    main()
