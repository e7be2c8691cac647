"""`scripts/witness`: cosign the checkpoints of evidence logs, on a machine their operators have no say over.

The witness keeps a key of its own and the last tree of each log that it signed, and signs only what continues
that. A log sends its checkpoints to POST /add-checkpoint (C2SP tlog-witness); with --once the witness fetches
one itself, for where the log cannot reach it.

  GET /key                   the witness's public key: the operator serves with --witness "KEY URL",
                             whoever verifies says scripts/verify.py FILE --witness KEY
  GET /checkpoint/<origin>   the last checkpoint of a log that it signed

Exit status of --once: 0 signed (the checkpoint is printed), 1 refused, 2 the log cannot be read.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
import time
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from api.cli.connections import BoundedConnection
from infrastructure.evidence.notes import NoteError
from infrastructure.witness.pulling import PullError, pull
from infrastructure.witness.state import State, StateError
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import REQUEST_BYTES_MAX, TEXT_TYPE, RefusedError, Witness

PORT_DEFAULT: Final = 8700
BACKLOG: Final = 128
GRACE_SECONDS: Final = 5
REFUSED: Final = 1
UNUSABLE: Final = 2


class _Connection(BoundedConnection):
    """One client's connection: requests here are short."""

    message_bytes_max = 4 * REQUEST_BYTES_MAX
    arrival_seconds_max = 15.0
    taking_seconds_max = 15.0


def main(arguments: list[str] | None = None) -> int:
    """Witness until a signal says stop, or once."""
    options = parse(arguments)
    try:
        logs = KnownLogs(options.log, options.log_folder)
        with State.open(options.state, options.name) as state:
            witness = Witness(state, logs, time.time, say if options.once is None else note)
            if options.once is not None:
                print(pull(witness, options.once), end="")
            else:
                serve(witness, options)
    except RefusedError as refused:
        return complain(f"refused: {refused}", REFUSED)
    except (StateError, PullError, NoteError) as problem:
        return complain(str(problem), UNUSABLE)
    except OSError as problem:
        return complain(f"cannot listen on {options.host}:{options.port} ({problem.strerror})", UNUSABLE)
    except KeyboardInterrupt:
        return 0
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options, or print what is wrong with them and exit with 2."""
    parser = argparse.ArgumentParser(
        prog="scripts/witness", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--state", type=Path, required=True, help="the witness's own folder: key, and what it has signed")
    add(
        "--log",
        action="append",
        default=[],
        metavar="VKEY",
        help="key of a log to sign for, or several (repeatable)",
    )
    add("--log-folder", type=Path, metavar="DIR", help="sign for the logs kept in DIR on this machine too")
    add("--name", help="what a new witness is called (made up)")
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    add("--port", type=int, default=PORT_DEFAULT, help="port to listen on, 0: any (%(default)s)")
    add("--once", metavar="URL", help="fetch, check and sign the checkpoint of the log at URL, and end")
    add("--descriptor", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if not "".join(chosen.log).strip() and chosen.log_folder is None:
        parser.error("name a log with --log VKEY: a ledger tells its keys at /log/key")
    if not 0 <= chosen.port <= 65535:  # noqa: PLR2004  # what a port is
        parser.error("--port must be between 0 and 65535")
    return chosen


def serve(witness: Witness, options: argparse.Namespace) -> None:
    """Answer on a port, or on a listening socket that we have inherited, until a signal says stop."""
    with listening(options) as listener:
        if options.descriptor is None:  # else those who gave us the socket know where it listens
            host, port = listener.getsockname()[:2]
            say(f"{witness.vkey} http://{f'[{host}]' if ':' in host else host}:{port}")
        config = uvicorn.Config(
            application(witness),
            http=_Connection,
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[listener])


def listening(options: argparse.Namespace) -> socket.socket:
    """Return the socket to answer on. Raises OSError where the port is taken."""
    if options.descriptor is not None:
        return socket.socket(fileno=options.descriptor)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    return socket.create_server((options.host, options.port), family=family, backlog=BACKLOG)


def application(witness: Witness) -> Starlette:
    """Return what answers requests."""

    async def add_checkpoint(request: Request) -> Response:
        try:
            body = await bounded(request)
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return PlainTextResponse(
                f"a request has at most {REQUEST_BYTES_MAX} bytes\n", 413, headers={"Connection": "close"}
            )
        answer = await asyncio.to_thread(witness.add_checkpoint, body)
        return Response(answer.body, answer.status, headers={"Content-Type": answer.content_type})

    async def key(_: Request) -> Response:
        return PlainTextResponse(f"{witness.vkey}\n")

    async def checkpoint(request: Request) -> Response:
        last = witness.last(request.path_params["origin"])
        if last is None:
            return PlainTextResponse("nothing of that log has been signed\n", 404)
        headers = {"Content-Type": TEXT_TYPE, "Cache-Control": "no-cache"}
        return Response(last.note, headers=headers)

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/key", key),
            Route("/checkpoint/{origin:path}", checkpoint),
        ]
    )


async def bounded(request: Request) -> bytes | None:
    """Return a request's body, None where it is longer than a request may be; not all of it is read then."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > REQUEST_BYTES_MAX:
            return None
    return body


def say(line: str) -> None:
    """Print one line at once."""
    print(f"witness: {line}", flush=True)


def note(line: str) -> None:
    """Print one line beside what is asked for."""
    print(f"stud-ledger: {line}", file=sys.stderr)


def complain(line: str, status: int) -> int:
    """Print one line; return the status of a failure."""
    print(f"stud-ledger: {line}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
