"""The embedded server's configuration, as far as it depends on the service that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli.serve import WORKERS_MAX
from infrastructure import bootstrap, reading
from infrastructure.postgres import settings

WRITER_AND_JOBS = 2
SUPERUSER_RESERVED = 3  # PostgreSQL's own setting of that name


def test_a_worker_is_counted_with_all_its_connections() -> None:
    """What a worker's parts may open together is what the server's bound is made of."""
    needed = reading.CONNECTIONS_MAX + reading.FOLDING_CONNECTIONS_MAX + WRITER_AND_JOBS
    assert needed == settings.CONNECTIONS_A_WORKER
    assert settings.CONNECTIONS_BESIDE > bootstrap._AUDITOR_CONNECTIONS_MAX + SUPERUSER_RESERVED


@pytest.mark.parametrize("workers", [1, 4, WORKERS_MAX])
def test_every_worker_finds_its_connections_free(workers: int) -> None:
    """However many workers serve, the server takes what they open, and auditors beside them."""
    text = settings.server_configuration(Path("/home"), Path("/socket"), "name", 18, workers)
    (allowed,) = [line for line in text.splitlines() if line.startswith("max_connections = ")]
    needed = workers * settings.CONNECTIONS_A_WORKER + bootstrap._AUDITOR_CONNECTIONS_MAX
    assert int(allowed.split("'")[1]) >= needed + SUPERUSER_RESERVED
