"""A way to a PostgreSQL server over TCP that can be cut, closed, and made to say nothing."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

LOOK_SECONDS = 0.05
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closing resets the connection, as a router does that has lost its state."""


class TcpProxy:
    """Passes bytes between a TCP port of its own and the server's Unix socket; `dsn` leads through it."""

    def __init__(self, dsn: str, **login: str) -> None:
        settings = conninfo_to_dict(dsn)
        self._server = str(Path(str(settings["host"])) / f".s.PGSQL.{settings.get('port') or 5432}")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = self._listener.getsockname()[1]
        self.dsn = make_conninfo(dsn, host="127.0.0.1", port=self._port, **login)
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._ending = False
        self._closed_until = self._silent_until = 0.0
        self._threads = [threading.Thread(target=self._accept)]
        self.cuts = 0

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self.cut()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def cut(self) -> None:
        """Reset every connection there is."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            self.cuts += 1
            for end in pair:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    end.shutdown(socket.SHUT_RDWR)

    def close_for(self, seconds: float) -> None:
        """Reset every connection, and take none for a while."""
        self._closed_until = time.monotonic() + seconds
        self.cut()

    def silence_for(self, seconds: float) -> None:
        """Pass nothing on for a while, in either direction; what was held is passed on afterwards."""
        self._silent_until = time.monotonic() + seconds

    def _accept(self) -> None:
        while not self._ending:
            if not select.select([self._listener], [], [], LOOK_SECONDS)[0]:
                continue
            client, _ = self._listener.accept()
            if time.monotonic() < self._closed_until:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            with contextlib.suppress(OSError):
                server.connect(self._server)
                pair = client, server
                with self._lock:
                    self._pairs.add(pair)
                self._threads.append(threading.Thread(target=self._pump, args=pair))
                self._threads[-1].start()

    def _pump(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with contextlib.suppress(OSError), client, server:
            while not self._ending:
                for end in select.select([client, server], [], [], LOOK_SECONDS)[0]:
                    while time.monotonic() < self._silent_until:
                        time.sleep(LOOK_SECONDS)
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    other[end].sendall(data)
        with self._lock:
            self._pairs.discard((client, server))
