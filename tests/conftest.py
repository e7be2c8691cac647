"""What every test may ask for: a PostgreSQL of this session's own, and fresh databases in it."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import settings
from psycopg.conninfo import make_conninfo

from api.cli.serve import NO_ODDS
from domain.odds.basis import Basis, build_basis
from infrastructure.postgres import EmbeddedPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator

# How long one example takes says how busy the machine is, not whether the code is right.
settings.register_profile("stud-ledger", deadline=None, print_blob=True)
settings.load_profile("stud-ledger")

# Every service that a test starts would compute the same odds; those that are about them say so.
os.environ[NO_ODDS] = "1"

_numbers = itertools.count(1)


@pytest.fixture
def server_home() -> Iterator[Path]:
    """Yield where a test may put a server of its own: a short path, which the server's user can reach.

    pytest's own temporary folders are below one that is root's alone.
    """
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    yield folder / "postgres"
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Yield the superuser's connection string of the session's own server."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    with EmbeddedPostgres(folder / "postgres") as server:
        yield server.dsn
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def database(postgres: str) -> Iterator[str]:
    """Yield the superuser's connection string of a fresh database, the module's own."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_conninfo(postgres, dbname=name)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def basis() -> Basis:
    """Return what exact odds with one up-card are made of; a dealer qualifies with an ace and a king."""
    return build_basis("ace_king")
