"""`scripts/log`: tell how the evidence log and the ledger stand, or make the next key that signs it.

    status    the log's name and keys, what it has signed last, and whether the ledger agrees (exit status 0)
              or is halted, or would be at its next start (1)
    new-key   make one more key beside the others and print it as others verify it, as the last word: that is
              what POST /v1/log/keys proposes, or POST /v1/log/generations where the ledger is halted

The key that was made signs nothing before two people have approved it. With DATABASE_URL the ledger is the
one there. A command that could not be carried out ends with 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import psycopg

from api.cli import data_directory
from api.cli.data_directory import DataDirectory
from api.cli.ledger_place import ledger
from api.cli.serve import complain, stop_on_signals
from api.log.starting import disagreement
from domain.evidence_log import log_view, next_origin
from domain.registers import LogState
from infrastructure import log_keys
from infrastructure.bootstrap import DEFAULT_SCHEMA, NotReadyError
from infrastructure.evidence.folder import read_head
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.keys import KeysError
from infrastructure.postgres import LauncherError
from infrastructure.register_reading import read_log

AGREED, HALTED, NOT_DONE = 0, 1, 2
COMMANDS: Final = ("status", "new-key")


@dataclass(frozen=True, slots=True)
class Standing:
    """How ledger and log stand. `wrong` is what the next start would halt the ledger for, if anything."""

    state: LogState
    position: int
    signed: dict[str, Any] | None
    wrong: str | None
    has_key: bool

    @property
    def agrees(self) -> bool:
        """Whether nothing is wrong."""
        return self.state.halted is None and self.wrong is None and self.has_key


def main(arguments: list[str] | None = None) -> int:
    """Do what was asked for; return 0, 1 or 2."""
    stop_on_signals()
    parser = argparse.ArgumentParser(
        prog="scripts/log", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS, help="what to do")
    parser.add_argument("--data-dir", type=Path, help="where the ledger is kept (.data in the project)")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    parser.add_argument("--log", type=Path, help="where the evidence log is kept (log in the data directory)")
    parser.add_argument("--pg-bin", type=Path, help="directory of other PostgreSQL programs")
    parser.add_argument("--json", action="store_true", help="print the status as JSON")
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir, chosen.keys, chosen.log)
    try:
        with ledger(directory, chosen.pg_bin, os.environ.get("DATABASE_URL") or None, "auditor") as dsn:
            standing = look(directory, dsn)
        if chosen.command == "new-key":
            return make_key(directory, standing.state)
    except KeyboardInterrupt:
        complain("stopped before the end")
        return NOT_DONE
    except (LauncherError, NotReadyError, KeysError, LogUnavailable, OSError, psycopg.Error) as problem:
        complain(str(problem).strip().partition("\n")[0])
        return NOT_DONE
    (show_json if chosen.json else show)(standing)
    return AGREED if standing.agrees else HALTED


def look(directory: DataDirectory, dsn: str) -> Standing:
    """Read what the ledger and the log's folder say.

    Raises NotReadyError, LogUnavailable, KeysError, psycopg.Error.
    """
    head = read_head(directory.log)
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        position, state = read_log(connection, DEFAULT_SCHEMA)
    if not state.generation:
        raise NotReadyError("the ledger has no evidence log yet: start the service once")
    halt = disagreement(directory.log, state, position) if state.halted is None else None
    try:
        log_keys.load_for(directory.keys, state.vkey)
        has_key = True
    except KeysError:
        has_key = False
    signed = None
    if head is not None:
        checkpoint = head.checkpoint
        signed = {"origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root_text}
    return Standing(state, position, signed, None if halt is None else halt.reason, has_key)


def make_key(directory: DataDirectory, state: LogState) -> int:
    """Make the next key, for the log as it is or, where it is halted, for the next one. Raises KeysError."""
    halted = state.halted is not None
    signer = log_keys.create_next(directory.keys, next_origin(state) if halted else state.origin)
    route = "/v1/log/generations" if halted else "/v1/log/keys"
    print(f"A new key is in {directory.keys}. Propose it with POST {route}; another person approves it.")
    print(f"vkey: {signer.verifier.vkey}")
    return AGREED


def show(standing: Standing) -> None:
    """Print the status for a person."""
    state = standing.state
    print(f"log       {state.origin} (generation {state.generation})")
    for number, vkey in enumerate(state.keys):
        print(f"{'key' if number == 0 else 'old key':<9} {vkey}")
    print(f"ledger    position {standing.position}")
    if standing.signed is None:
        print("signed    nothing yet")
    else:
        print(f"signed    {standing.signed['size']} events as {standing.signed['origin']}")
    if not standing.has_key:
        print(
            "MISSING   the key's secret half is not here: put its log-<n>.key back from a backup of the keys"
        )
    if state.halted is not None:
        print(f"HALTED    {state.halted}: ledger and log agree up to position {state.position}.")
        print("          Make a key (scripts/log new-key) and start a new log (POST /v1/log/generations).")
    elif standing.wrong is not None:
        print(
            f"WRONG     {standing.wrong}: the service's next start will halt the ledger. If the log's folder"
        )
        print("          is not the newest there is, put the newest in its place before.")


def show_json(standing: Standing) -> None:
    """Print the status for a program."""
    value = {
        **log_view(standing.state),
        "position": standing.position,
        "signed_last": standing.signed,
        "wrong": standing.wrong,
        "has_key": standing.has_key,
    }
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    sys.exit(main())
