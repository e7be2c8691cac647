"""What tests of whole services share: two of them on one ledger, for as long as such tests run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Service, two_services


@pytest.fixture(scope="session")
def services() -> Iterator[tuple[Service, Service]]:
    """Yield two services on one ledger; tests use names of their own there."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    with two_services(folder) as both:
        yield both
    shutil.rmtree(folder)
