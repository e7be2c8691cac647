"""Moving a cluster to a newer major version of PostgreSQL: dump, load, compare, and change places.

The old cluster is only read, and kept. The new one grows beside it and takes its place when every table in it
has the same rows; what was interrupted before that is begun anew, and after that completed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

import psycopg
from psycopg import sql

from infrastructure.postgres import account as accounts
from infrastructure.postgres import binaries, files, settings
from infrastructure.postgres.binaries import Binaries
from infrastructure.postgres.cluster import EmbeddedPostgres, program_environment
from infrastructure.postgres.errors import LauncherError
from infrastructure.postgres.lock import DirectoryLock

OLD_BINARIES_VARIABLE: Final = "STUD_LEDGER_OLD_PG_BIN"
WHOLE: Final = "upgraded"
"""A file in the new home: from it on, all that is left to do is to change places."""
_SYSTEM_PLACES: Final = ("/usr/lib/postgresql/{}/bin", "/usr/pgsql-{}/bin", "/usr/local/pgsql-{}/bin")
_TABLES: Final = """SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind = 'r' AND nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')
    ORDER BY 1, 2"""
# The same for the same rows in any order: a row's text is hashed, and the hashes are added up.
_DIGEST: Final = """SELECT count(*), coalesce(sum(hash::bit(64)::bigint::numeric), 0)
    FROM {} AS t, LATERAL (SELECT 'x' || substr(md5(t::text), 1, 16)) AS hashed (hash)"""

Say = Callable[[str], None]


class Done(NamedTuple):
    """The major versions, where the old cluster is kept, and how many rows were found the same."""

    old_major: int
    new_major: int
    kept: Path
    rows: int


def upgrade(home: Path, pg_bin: Path | None, old_bin: Path | None, say: Say) -> Done:
    """Move the embedded server's home to the version of the programs. `say` is told each step.

    Raises LauncherError where there is nothing to do or no way to do it; OSError, psycopg.Error.
    """
    account = accounts.server_account()
    new = binaries.find(pg_bin, account)
    draft = files.unfinished(home, "upgrading")
    if (draft / WHOLE).exists():
        rows, major = map(int, (draft / WHOLE).read_text().split())
        return _change_places(home, draft, Done(major, new.major, _kept(home, major), rows))
    if not (home / "cluster" / "PG_VERSION").exists():
        raise LauncherError(f"there is no database in {home}")
    old_major = int((home / "cluster" / "PG_VERSION").read_text())
    if old_major == new.major:
        raise LauncherError(f"{home} is of PostgreSQL {new.major} already: there is nothing to upgrade")
    if old_major > new.major:
        raise LauncherError(f"{home} is of PostgreSQL {old_major}, which is newer than {new.major}")
    old = find_old(old_major, old_bin, account)
    _require_room(home)
    with DirectoryLock(home):  # a service is using it, or another upgrade
        shutil.rmtree(draft, ignore_errors=True)
        files.make_directory(draft, account)
    say(f"copying from PostgreSQL {old_major} to {new.major}")
    with EmbeddedPostgres(home, old.directory) as source, EmbeddedPostgres(draft, new.directory) as target:
        _copy(new, source.dsn, target.dsn)
        say("comparing every table")
        rows = _compare(source.dsn, target.dsn)
    if (home / settings.TUNING).exists():
        shutil.copy2(home / settings.TUNING, draft / settings.TUNING)
    files.write_private(draft / WHOLE, f"{rows} {old_major}\n")
    return _change_places(home, draft, Done(old_major, new.major, _kept(home, old_major), rows))


def find_old(major: int, chosen: Path | None, account: accounts.Account | None) -> Binaries:
    """Return the programs of an old major version: those named, or such as are found where they usually are.

    A copy that was made of an earlier wheel's programs counts. Raises LauncherError.
    """
    if named := chosen or os.environ.get(OLD_BINARIES_VARIABLE):
        found = binaries.find(Path(named), account)
        if found.major != major:
            raise LauncherError(f"{named} is of PostgreSQL {found.major}: the database was made by {major}")
        return found
    copies = binaries.COPIES.glob(f"*/{binaries.WHEEL}/pginstall/bin")
    places = [Path(place.format(major)) for place in _SYSTEM_PLACES]
    for place in (*places, *copies):
        try:
            found = binaries.find(place, account)
        except LauncherError:
            continue
        if found.major == major:
            return found
    raise LauncherError(
        f"the database was made by PostgreSQL {major}, and its programs are needed to read it: install them "
        f"and name their directory with --old-pg-bin or {OLD_BINARIES_VARIABLE}"
    )


def _kept(home: Path, major: int) -> Path:
    return home.with_name(f"{home.name}-{major}")


def _change_places(home: Path, draft: Path, done: Done) -> Done:
    """Put the new home in the old one's place; anything that was done of it before is left as it is."""
    if home.exists() and not done.kept.exists():
        home.rename(done.kept)
        files.sync_directory(home.parent)
    if home.exists():
        raise LauncherError(
            f"{done.kept} is in the way: an earlier upgrade's old database. Move it elsewhere"
        )
    draft.rename(home)
    (home / WHOLE).unlink()
    files.sync_directory(home.parent)
    return done


def _require_room(home: Path) -> None:
    """Raise LauncherError where a second database does not fit beside the first."""
    size = sum(path.lstat().st_size for path in (home / "cluster").rglob("*") if path.is_file())
    free = shutil.disk_usage(home.parent).free
    if free < size:
        raise LauncherError(f"the database has {size >> 20} MiB and {free >> 20} MiB are free beside it")


def _copy(new: Binaries, source: str, target: str) -> None:
    """Copy roles and database. The superuser of the new cluster stays who it is, with its own password."""
    roles = _output(
        [new.directory / "pg_dumpall", f"--dbname={source}", "--roles-only", "--no-role-passwords"]
    )
    wanted = b"\n".join(line for line in roles.splitlines() if not _is_about_superuser(line))
    _output([new.directory / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", f"--dbname={target}"], wanted)
    dump: list[Path | str] = [
        new.directory / "pg_dump",
        f"--dbname={source}",
        "--format=custom",
        "--compress=0",
    ]
    load: list[Path | str] = [
        new.directory / "pg_restore",
        f"--dbname={target}",
        "--exit-on-error",
        "--single-transaction",
    ]
    with _running(dump, subprocess.DEVNULL) as dumping:
        with _running(load, dumping.stdout or subprocess.DEVNULL) as loading:
            if dumping.stdout is not None:
                dumping.stdout.close()  # so that the dump ends where the load does
            said = loading.communicate()[1]
        if loading.returncode:
            raise LauncherError(f"pg_restore failed: {_last_line(said)}")
        said = dumping.stderr.read() if dumping.stderr else b""
        if dumping.wait():
            raise LauncherError(f"pg_dump failed: {_last_line(said)}")
    with psycopg.connect(target, autocommit=True) as connection:
        connection.execute("ANALYZE")


def _is_about_superuser(line: bytes) -> bool:
    words = line.split()
    return words[1:2] == [b"ROLE"] and words[2].rstrip(b";") == settings.SUPERUSER.encode()


def _compare(source: str, target: str) -> int:
    """Return how many rows there are. Raises LauncherError unless both databases have the same."""
    with psycopg.connect(source) as old, psycopg.connect(target) as new:
        tables = old.execute(_TABLES).fetchall()
        if tables != new.execute(_TABLES).fetchall():
            raise LauncherError("the new database does not have the same tables: the old one stays in use")
        rows = 0
        for schema, name in tables:
            query = sql.SQL(_DIGEST).format(sql.Identifier(schema, name))
            before, after = (each.execute(query).fetchone() for each in (old, new))
            if before is None or before != after:
                raise LauncherError(
                    f"table {schema}.{name} is not the same in the new database: the old one stays in use"
                )
            rows += before[0]
    return rows


def _running(command: Sequence[Path | str], stdin: int | IO[bytes]) -> subprocess.Popen[bytes]:
    _require(command)
    return subprocess.Popen(
        command,
        cwd="/",
        env=program_environment(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _output(command: Sequence[Path | str], given: bytes = b"") -> bytes:
    _require(command)
    done = subprocess.run(
        command, check=False, cwd="/", env=program_environment(), input=given, capture_output=True
    )
    if done.returncode:
        raise LauncherError(f"{Path(command[0]).name} failed: {_last_line(done.stderr)}")
    return done.stdout


def _require(command: Sequence[Path | str]) -> None:
    program = Path(command[0])
    if not program.is_file():
        raise LauncherError(f"no {program.name} in {program.parent}: name a whole installation with --pg-bin")


def _last_line(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
