"""A way to a PostgreSQL server that is cut at the worst moment: around a commit."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import Literal, Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

Cut = Literal["before", "after"]

COMMIT_SENT = b"\x00commit\x00"
"""The extended protocol's Bind of the statement that the writer's store prepared as ``commit``."""
COMMIT_DONE = b"COMMIT\x00"
"""The server's CommandComplete of a commit (PostgreSQL documentation, message formats)."""


class CuttingProxy:
    """Passes bytes between a Unix socket of its own and the server's.

    `cuts` says what becomes of the next commits: ``before`` ends the connection where the commit would have
    been sent on, ``after`` lets it happen and ends the connection in place of its answer. `made` counts the
    cuts.
    """

    def __init__(self, dsn: str) -> None:
        settings = conninfo_to_dict(dsn)
        name = f".s.PGSQL.{settings.get('port') or 5432}"
        self._server = str(Path(str(settings["host"])) / name)
        self._folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
        self.dsn = make_conninfo(dsn, host=str(self._folder))
        self.cuts: list[Cut | None] = []
        self.made = 0
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / name))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in self._open:
            _end(each)
        for thread in self._threads:
            thread.join()
        for each in self._open:
            each.close()
        shutil.rmtree(self._folder)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                waiting: list[Cut] = []
                for pump in (self._to_server, self._to_client):
                    thread = threading.Thread(target=pump, args=(client, server, waiting))
                    self._threads.append(thread)
                    thread.start()

    def _to_server(self, client: socket.socket, server: socket.socket, waiting: list[Cut]) -> None:
        seen = b""
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                if COMMIT_SENT in seen[-len(COMMIT_SENT) :] + data and self.cuts:
                    cut = self.cuts.pop(0)
                    if cut == "before":
                        self.made += 1
                        break
                    if cut == "after":
                        waiting.append(cut)
                seen = data
                server.sendall(data)
        _end(client)
        _end(server)

    def _to_client(self, client: socket.socket, server: socket.socket, waiting: list[Cut]) -> None:
        held = b""
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                held += data
                if waiting and COMMIT_DONE in held:
                    self.made += 1
                    break
                if not waiting:
                    client.sendall(held)
                    held = b""
        _end(client)
        _end(server)


def _end(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
