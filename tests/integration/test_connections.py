"""What a client without a token can take of a worker: bytes, time and places, all bounded."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from api.cli.connections import BoundedConnection, connections_max
from api.json_body import BODY_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

ANSWER_BYTES = 50_000_000
WAIT_S = 20.0
HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


class Impatient(BoundedConnection):
    """The same bounds on bytes, a short patience, few places."""

    arrival_seconds_max = 0.3
    taking_seconds_max = 0.3
    connections_max = 4


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Count the body; answer with the count, or on /large with far more than a socket's buffers hold."""
    assert scope["type"] == "http"
    total, more = 0, True
    while more:
        message = await receive()
        total += len(message.get("body", b""))
        more = message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(3 * Impatient.arrival_seconds_max)
    body = b"x" * ANSWER_BYTES if scope["path"] == "/large" else b"%d" % total
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextlib.contextmanager
def served(connection: type[BoundedConnection]) -> Iterator[int]:
    """Serve the application on connections of a kind; yield the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    config: Any = uvicorn.Config(application, http=connection, ws="none", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Yield the port of a server whose connections are bounded, and which waits for nobody."""
    with served(Impatient) as number:
        yield number


@pytest.fixture(scope="module")
def patient_port() -> Iterator[int]:
    """Yield the port of a server with the service's own patience: a busy machine sends slowly."""
    with served(BoundedConnection) as number:
        yield number


def connect(port: int) -> socket.socket:
    """Connect; nothing is waited for longer than a test may take."""
    client = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def is_cut_off(client: socket.socket) -> bool:
    """Wait for the end of a connection; tell whether it came, and without an answer."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def answered(client: socket.socket) -> bytes:
    """Return the body of the next answer, which is a number."""
    received = b""
    while b"\r\n\r\n" not in received or received.endswith(b"\r\n\r\n"):
        part = client.recv(4096)
        assert part, "the connection was cut off"
        received += part
    assert received.startswith(b"HTTP/1.1 200")
    return received.rpartition(b"\r\n\r\n")[2]


def send_for_ever(client: socket.socket, first: bytes, part: bytes, bytes_max: int) -> bool:
    """Send a beginning and then the same part again and again; tell whether the server had enough."""
    try:
        client.sendall(first)
        for _ in range(bytes_max // len(part)):
            client.sendall(part)
    except ConnectionError:
        return True
    return is_cut_off(client)


@pytest.mark.parametrize(
    ("first", "part"),
    [
        (HEAD + b"X: ", b"a" * 50_000),
        (HEAD, b"X: a\r\n" * 8_000),
        (b"GET /", b"a" * 50_000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n" * 8_000),
    ],
    ids=["a header", "headers", "an address", "trailers"],
)
def test_a_head_that_does_not_end_is_cut_off(port: int, first: bytes, part: bytes) -> None:
    """No client fills the memory with what comes before, or after, a body."""
    started = time.monotonic()
    with connect(port) as client:
        assert send_for_ever(client, first, part, 100_000_000)
    assert time.monotonic() - started < WAIT_S


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b""),
        (b"", b"\r\n"),
        (HEAD, b""),
        (HEAD, b"X: a\r\n"),
        (HEAD + b"Content-Length: 9999\r\n\r\n", b"a"),
        (HEAD + b"\r\n", b"\r\n"),
    ],
    ids=["nothing", "empty lines", "half a head", "a slow head", "a slow body", "no second request"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(port: int, first: bytes, then: bytes) -> None:
    """A place is given back whether a client is silent or sends a little now and then."""
    with connect(port) as client:
        client.sendall(first)
        if first.endswith(b"x\r\n\r\n"):
            assert answered(client) == b"0"
        client.settimeout(Impatient.arrival_seconds_max / 5)
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            try:
                client.sendall(then)
                assert is_cut_off(client)
            except TimeoutError:
                continue
            except ConnectionError:
                pass
            return
    pytest.fail("the connection was held")


def test_an_answer_that_is_not_taken_is_not_held(port: int) -> None:
    """A client that asks for much and reads nothing is cut off before it has all of it."""
    with connect(port) as client:
        client.sendall(HEAD.replace(b"/ ", b"/large ", 1) + b"\r\n")
        time.sleep(3 * Impatient.taking_seconds_max)
        received = 0
        try:
            while part := client.recv(1_000_000):
                received += len(part)
        except ConnectionError:
            pass
        assert received < ANSWER_BYTES


def test_an_answer_that_takes_long_is_waited_for(port: int) -> None:
    """The bound is on the client's time, not on the service's."""
    with connect(port) as client:
        client.sendall(HEAD.replace(b"/ ", b"/slow ", 1) + b"\r\n")
        assert answered(client) == b"0"


def test_the_largest_body_arrives_in_the_smallest_chunks(patient_port: int) -> None:
    """What is taken is taken however it is sent, and the connection serves the next request."""
    with connect(patient_port) as client:
        body = b"1\r\na\r\n" * BODY_BYTES_MAX + b"0\r\n\r\n"
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body)
        assert answered(client) == b"%d" % BODY_BYTES_MAX
        client.sendall(HEAD + b"Content-Length: 3\r\n\r\nabc")
        assert answered(client) == b"3"


def test_places_are_bounded_and_given_back(port: int) -> None:
    """One client more than there are places for is cut off; when one has left there is room again."""
    taken = [connect(port) for _ in range(Impatient.connections_max)]
    for client in taken:
        client.sendall(HEAD + b"\r\n")
        assert answered(client) == b"0"
    with connect(port) as one_more:
        assert is_cut_off(one_more)
    for client in taken:
        client.close()
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        with connect(port) as client:
            try:
                client.sendall(HEAD + b"\r\n")
                assert answered(client) == b"0"
            except (ConnectionError, AssertionError):
                continue
            return
    pytest.fail("no place was given back")


def test_a_worker_keeps_descriptors_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few descriptors a process may have, clients do not get all of them."""
    found = []
    for soft in (1024, 64, 1_000_000, -1):
        monkeypatch.setattr("resource.getrlimit", lambda _, soft=soft: (soft, soft))
        found.append(connections_max())
    assert found == [896, 1, 10_000, 10_000]
