"""Proves rounds of a ledger twice: by the service's replay and by the offline verifier."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from api.play.evidence import evidence
from api.play.finished import _replay
from infrastructure.evidence.folder import LogFolder
from infrastructure.reading import Reading

VERIFY = Path(__file__).parents[2] / "scripts" / "verify.py"


def prove(dsn: str, schema: str, log_folder: Path, round_ids: Sequence[str]) -> list[str]:
    """Say what is wrong with these rounds, whose events are in a log; it can run in a process of its own."""
    spec = importlib.util.spec_from_file_location("verify_simulated_rounds", VERIFY)
    assert spec is not None
    assert spec.loader is not None
    verify: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = verify
    spec.loader.exec_module(verify)
    # All these rounds are proved by one checkpoint: its signature is verified once, like any other's.
    verify.signed = functools.cache(verify.signed)

    log = LogFolder(log_folder).current
    note = None if log is None else log.note()
    assert log is not None
    assert note is not None

    async def read() -> list[str]:
        reading = Reading(dsn, schema, connections_max=1)
        await reading.open()
        problems = []
        for round_id in round_ids:
            found = await reading.round(round_id)
            assert found is not None
            stored = await reading.events(round_id)
            if _replay(found, stored)["verdict"] != "pass":
                problems.append(f"{round_id}: the replay fails")
            case = verify.examine(evidence(found, stored, None, log, note))
            if case.verdict() != "verified":
                problems.append(f"{round_id}: {case.verdict()} {case.unusable}")
        await reading.close()
        return problems

    return asyncio.run(read())
