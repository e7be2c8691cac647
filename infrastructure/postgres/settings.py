"""The server's configuration, written anew at every start.

A file `tuning.conf` beside it, when there is one, is read last: that is the place for a machine's own
settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PORT = 5432  # names the socket only: nothing listens on the network
SUPERUSER = "postgres"
TUNING = "tuning.conf"
CONNECTIONS_A_WORKER = 14  # its writer, its jobs, and what its reading takes at most: 8 and 4
CONNECTIONS_BESIDE = 32  # 8 for auditors, 3 that PostgreSQL keeps for its superuser, and people's tools
FIRST_WITH_IO_METHOD = 18

ARCHIVE = "archive.conf"
"""Written by `infrastructure.postgres.archive`: where the log of changes (WAL) is copied to, if anywhere."""

HBA = f"""\
# Written by the launcher at every start. A password from everyone, and no way in but the Unix socket.
local all all scram-sha-256
local replication {SUPERUSER} scram-sha-256
"""
RECOVERY_HBA = f"""\
# While a backup is restored nobody has a password yet: only the user who restores it may log in.
local all {SUPERUSER} peer map=restoring
"""

FIXED = {
    # Reached through the Unix socket alone
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    # An answered command is on the disk
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Copied nowhere until archive.conf says so; that it may be has to be known at the start
    "archive_mode": "on",
    "archive_command": "true",
    # The workload: small transactions one after the other, wide inserts, a few hot rows
    "shared_buffers": "128MB",
    "wal_buffers": "16MB",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "jit": "off",
    "work_mem": "8MB",
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_logical_replication_workers": "0",
    # Balances, meters and the head row are updated all the time: clean them up often, a little at a time
    "autovacuum_naptime": "20s",
    "autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_vacuum_cost_delay": "1ms",
    "autovacuum_max_workers": "2",
    # Nothing a statement carries reaches the log: no text, no parameters, no row of a failed constraint. A
    # statement's error stays out because it can quote a value; whoever sent the statement is told.
    "log_min_messages": "log",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_min_duration_statement": "-1",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_autovacuum_min_duration": "-1",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %u ",
    "log_timezone": "UTC",
    "timezone": "UTC",
    "logging_collector": "off",
}


def connections_max(workers: int) -> int:
    """Return how many connections a server allows, so that none of its service's workers is refused one.

    One more worker is counted: where one was killed, its connections outlive it for a moment.
    """
    return (workers + 1) * CONNECTIONS_A_WORKER + CONNECTIONS_BESIDE


def server_configuration(home: Path, socket: Path, cluster_name: str, major: int, workers: int) -> str:
    """Return the text of `postgresql.conf` for a cluster whose files are in `home`, and a service on it."""
    settings = FIXED | {
        "max_connections": str(connections_max(workers)),
        "cluster_name": cluster_name,
        "hba_file": str(home / "pg_hba.conf"),
        "ident_file": str(home / "pg_ident.conf"),
        "unix_socket_directories": f'"{socket}"',
    }
    if major >= FIRST_WITH_IO_METHOD:
        settings["io_method"] = "sync"  # the tables fit in memory: no extra processes for reading ahead
    lines = ["# Written by the launcher at every start; put your own settings into tuning.conf."]
    lines += [f"{name} = {quote(value)}" for name, value in settings.items()]
    lines.append(f"include {quote(str(home / ARCHIVE))}")
    if (home / TUNING).exists():
        lines.append(f"include {quote(str(home / TUNING))}")
    return "\n".join([*lines, ""])


def quote(value: str) -> str:
    """Return a value as a configuration file has it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
