"""Making a database ready for the ledger, and checking that one is.

`prepare` needs an administrator: it makes the roles, the schema and whatever migration is missing, and may be
run any number of times, by any number of processes at once. `check` needs only the application's own login
and changes nothing.

Three roles with the schema's name in theirs: the owner, whom nobody can log in as; the application, which may
add events but never change one; the auditor, who reads. A migration is a numbered SQL file; they only go
forward, and one that was applied may not be edited.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from domain import rulesets
from domain.rulesets.schema import load
from infrastructure import guards, migrations, read_side
from infrastructure.guards import NotReadyError, UnguardedError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DEFAULT_SCHEMA", "AppDsn", "NotReadyError", "UnguardedError", "check", "is_empty", "prepare",
    "shipped_documents",
]  # fmt: skip

DEFAULT_SCHEMA: Final = "ledger"
SERVER_VERSION_MIN: Final = 150_000
"""PostgreSQL 15: the first with MERGE."""

_SCHEMA_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_MIGRATION_NAME: Final = re.compile(r"([0-9]{4})_[a-z0-9_]+\.sql")
_LOCK: Final = 0x5374_7564_4C65_6467  # "StudLedg": an advisory lock has a number, not a name
_WAIT_MS_MAX: Final = 60_000
_AUDITOR_CONNECTIONS_MAX: Final = 8
"""So that whoever audits cannot keep the application from its own ledger by connecting all the time."""


@dataclass(frozen=True, slots=True)
class AppDsn:
    """How the application's and the auditor's roles connect. The strings hold passwords: print neither."""

    schema: str
    app: str = field(repr=False)
    auditor: str = field(repr=False)


class _Migration(NamedTuple):
    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def prepare(admin_dsn: str, schema: str = DEFAULT_SCHEMA, *, passwords: Mapping[str, str]) -> AppDsn:
    """Make roles, schema and tables, where they are missing; return how to connect.

    `passwords` has the roles ``app`` and ``auditor``; theirs are set to these each time. Raises
    NotReadyError.
    """
    names = _names(schema)
    try:
        with psycopg.connect(admin_dsn, autocommit=True) as connection:
            _require_server(connection)
            connection.execute("SELECT set_config('lock_timeout', %s, false)", [str(_WAIT_MS_MAX)])
            # Held to the end of the session, and let go by the server even if we die.
            connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            with connection.transaction():
                _make_roles(connection, schema, names, passwords)
                _make_schema(connection, schema, names)
                _migrate(connection, schema, names)
                _make_partitions(connection, schema, names)
                read_side.make(connection, schema, names)
    except psycopg.Error as error:
        raise NotReadyError(f"the database cannot be prepared: {_one_line(error)}") from error
    logins = {
        role: make_conninfo(admin_dsn, user=f"{schema}_{role}", password=passwords[role])
        for role in passwords
    }
    return AppDsn(schema, logins["app"], logins["auditor"])


def check(app_dsn: str, schema: str = DEFAULT_SCHEMA, *, throwaway: bool = False) -> None:
    """Raise NotReadyError unless the database is what this software expects and guards what it must.

    `throwaway` accepts a server that may lose what it has committed.
    """
    _names(schema)
    try:
        with psycopg.connect(app_dsn, autocommit=True, connect_timeout=10) as connection:
            _require_server(connection)
            if not throwaway:
                _require_durability(connection)
            _require_migrations(connection, schema)
            guards.require(connection, schema)
            if wrong := read_side.what_is_wrong(connection, schema):
                raise NotReadyError(wrong)
    except psycopg.Error as error:
        raise NotReadyError(f"the database cannot be used: {_one_line(error)}") from error


def is_empty(dsn: str, schema: str = DEFAULT_SCHEMA) -> bool:
    """Say whether the ledger has no events yet; one that is not prepared has none. Raises NotReadyError."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
            head = sql.SQL("SELECT position FROM {}.head").format(sql.Identifier(schema))
            try:
                row = connection.execute(head).fetchone()
            except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
                return True
            return row is None or row[0] == 0
    except psycopg.Error as error:
        raise NotReadyError(f"the database cannot be used: {_one_line(error)}") from error


def shipped_documents() -> list[dict[str, Any]]:
    """Return the documents of the rule sets that come with the project, in the order of their sources.

    They are published by commands like anybody's. Raises RulesetError where a file is not valid.
    """
    folder = resources.files(rulesets)
    return [
        load((folder / f"{name}.toml").read_text(encoding="utf-8")).document() for name in rulesets.SHIPPED
    ]


# ── Preparing ───────────────────────────────────────────────────────────────────────────────────────────────
def _names(schema: str) -> dict[str, sql.Identifier]:
    """Return what stands for the schema and its roles in a migration. Raises NotReadyError."""
    if not _SCHEMA_NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise NotReadyError(f"not a schema name: {schema[:80]!r} (a-z, 0-9 and _, at most 40 characters)")
    roles = {role: sql.Identifier(f"{schema}_{role}") for role in ("owner", "app", "auditor")}
    return {"schema": sql.Identifier(schema), **roles}


def _make_roles(
    connection: psycopg.Connection,
    schema: str,
    names: Mapping[str, sql.Identifier],
    passwords: Mapping[str, str],
) -> None:
    known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles").fetchall()}
    for role in ("owner", "app", "auditor"):
        if f"{schema}_{role}" not in known:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN NOINHERIT").format(names[role]))
    for role, password in passwords.items():
        # The server is given the verifier, not the password: a log of statements learns nothing.
        verifier = connection.pgconn.encrypt_password(
            password.encode(), f"{schema}_{role}".encode(), b"scram-sha-256"
        )
        literal = sql.Literal(verifier.decode())
        connection.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(names[role], literal))
    connection.execute(
        sql.SQL("ALTER ROLE {} CONNECTION LIMIT {}").format(names["auditor"], _AUDITOR_CONNECTIONS_MAX)
    )


def _make_schema(connection: psycopg.Connection, schema: str, names: Mapping[str, sql.Identifier]) -> None:
    (user, superuser) = _row(
        connection.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
    )
    if not superuser:  # who is not a superuser has to be in the owner's role to act as the owner
        connection.execute(sql.SQL("GRANT {} TO {}").format(names["owner"], sql.Identifier(user)))
    if not _row(connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", [schema]))[0]:
        connection.execute(sql.SQL("CREATE SCHEMA {schema} AUTHORIZATION {owner}").format(**names))


def _migrate(connection: psycopg.Connection, schema: str, names: Mapping[str, sql.Identifier]) -> None:
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(names["owner"]))
    connection.execute("SELECT set_config('search_path', %s, true)", [schema])
    connection.execute(
        sql.SQL(
            "CREATE TABLE IF NOT EXISTS ledger_migrations (number integer PRIMARY KEY, name text NOT NULL,"
            " sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
    )
    connection.execute(sql.SQL("GRANT SELECT ON ledger_migrations TO {app}, {auditor}").format(**names))
    applied = _applied(connection, schema)
    for migration in _known(applied):
        if migration.number not in applied:
            connection.execute(sql.SQL(migration.text).format(**names))
            connection.execute(
                "INSERT INTO ledger_migrations (number, name, sha256) VALUES (%s, %s, %s)",
                [migration.number, migration.name, migration.sha256],
            )


def _make_partitions(
    connection: psycopg.Connection, schema: str, names: Mapping[str, sql.Identifier]
) -> None:
    """Give the next events their tables, in a schema that has partitions."""
    function = f'"{schema}".make_partitions()'
    if _row(connection.execute("SELECT to_regprocedure(%s) IS NOT NULL", [function]))[0]:
        connection.execute(sql.SQL("SELECT {schema}.make_partitions()").format(**names))


def _known(applied: Mapping[int, str]) -> list[_Migration]:
    """Return our migrations in order. Raises NotReadyError where what was applied is not ours."""
    found = _migrations()
    ours = {migration.number: migration.sha256 for migration in found}
    if newer := sorted(applied.keys() - ours.keys()):
        raise NotReadyError(
            f"the database has migration {newer[-1]}, which is newer than this software: update it"
        )
    if edited := sorted(number for number, sha256 in applied.items() if ours[number] != sha256):
        raise NotReadyError(
            f"migration {edited[0]} was edited after it was applied: put the original file back"
        )
    return found


def _migrations() -> list[_Migration]:
    files = {file.name: file for file in resources.files(migrations).iterdir()}
    matches = [match for name in files if (match := _MIGRATION_NAME.fullmatch(name))]
    return sorted(_Migration(int(m[1]), m[0], files[m[0]].read_text(encoding="utf-8")) for m in matches)


# ── Checking ────────────────────────────────────────────────────────────────────────────────────────────────
def _require_server(connection: psycopg.Connection) -> None:
    version = connection.info.server_version
    if version < SERVER_VERSION_MIN:
        raise NotReadyError(f"PostgreSQL {version // 10_000} is too old: the ledger needs 15 or newer")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise NotReadyError(f"the database's encoding is {encoding}: the ledger needs one in UTF8")


def _require_durability(connection: psycopg.Connection) -> None:
    settings = _row(
        connection.execute("SELECT current_setting('fsync'), current_setting('full_page_writes')")
    )
    if settings != ("on", "on"):
        raise NotReadyError("the server may lose what it has committed: set fsync and full_page_writes on")


def _require_migrations(connection: psycopg.Connection, schema: str) -> None:
    try:
        applied = _applied(connection, schema)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        raise NotReadyError(f"there is no ledger in schema {schema}: run serve --init-db") from None
    if missing := [migration.name for migration in _known(applied) if migration.number not in applied]:
        raise NotReadyError(f"the database is older than this software ({missing[0]}): run serve --init-db")


def _applied(connection: psycopg.Connection, schema: str) -> dict[int, str]:
    query = sql.SQL("SELECT number, sha256 FROM {}.ledger_migrations").format(sql.Identifier(schema))
    return dict(connection.execute(query).fetchall())


def _row(cursor: psycopg.Cursor[Any]) -> tuple[Any, ...]:
    row = cursor.fetchone()
    if row is None:
        raise NotReadyError("the database did not answer as expected: run serve --init-db")
    return tuple(row)


def _one_line(error: psycopg.Error) -> str:
    """Return what the database says; not what the client library says of a connection string.

    That quotes what it cannot read, the password with it.
    """
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return "that is not a connection string (postgresql://user@host/database)"
    return str(error).strip().partition("\n")[0]
