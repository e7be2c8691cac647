"""What an earlier owner of the cluster left behind: its server, or only the server's children, or only files.

A killed service's server may still be shutting down; a killed server's children may still be finishing; and
the pid file then names a process that is dead, a zombie, or by now somebody else's. PostgreSQL goes by the
pid file and would refuse to start. We hold the directory's lock, so nobody else's server can be there: look
at the processes themselves, stop what is the cluster's, and only then remove the files.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

import psutil

from infrastructure.postgres.errors import LauncherError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Fast shutdown, then immediate shutdown (the next start recovers), then by force.
STEPS = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
PAUSE_S = 0.02


def clear(cluster: Path, socket: Path, cluster_name: str) -> None:
    """Stop what still runs on the cluster and remove the files that would keep a server from starting.

    The caller holds the directory's lock. Raises LauncherError where something cannot be stopped.
    """
    pid_file = cluster / "postmaster.pid"
    if not pid_file.exists():  # the last server ended in order, its children before it
        return
    for signum, patience_s in STEPS:
        if _stop(cluster, cluster_name, signum, patience_s):
            break
    else:
        pids = [process.pid for process in _running(cluster, cluster_name)]
        raise LauncherError(f"an earlier PostgreSQL on {cluster} does not stop: see processes {pids}")
    for path in (pid_file, *socket.glob(".s.PGSQL.*")):
        path.unlink(missing_ok=True)


def _stop(cluster: Path, cluster_name: str, signum: signal.Signals, patience_s: float) -> bool:
    """Signal what runs on the cluster; tell whether it was gone before the patience ended."""
    for process in _heads(list(_running(cluster, cluster_name))):
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            process.send_signal(signum)
    deadline = time.monotonic() + patience_s
    while any(_running(cluster, cluster_name)):
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True


def _heads(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return those whose parent is not among them: a server stops its children itself, and in order."""
    pids = {process.pid for process in processes}
    heads = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.ppid() not in pids:
                heads.append(process)
    return heads


def _running(cluster: Path, cluster_name: str) -> Iterator[psutil.Process]:
    """Yield the live PostgreSQL processes of the cluster.

    A server names its directory on its command line and its children carry the cluster's name in their
    titles: both can be read without the right to look into another user's process. A zombie has no command
    line.
    """
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid == os.getpid() or not process.name().startswith("postgres"):
                continue
            line = process.cmdline()
            if str(cluster) in line or any(f"{cluster_name}:" in part for part in line):
                yield process
