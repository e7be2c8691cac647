"""What a service sees to at every start: ledger and log have begun, the shipped rule sets are published."""

from __future__ import annotations

import asyncio

import orjson
import structlog

from api.composition import Service
from api.log import starting
from domain.commands import PublishRuleset, StartLedger
from domain.rulesets.schema import ruleset_sha256
from infrastructure import bootstrap
from infrastructure.ledger.submission import own_submission

log = structlog.get_logger(__name__)


async def begin(service: Service) -> None:
    """Begin the ledger and publish what has changed. Several processes may do this at once: it happens once.

    Raises Overloaded or CommandFailed where the database does not take it, KeysError and OSError of the log.
    """
    await service.submit(own_submission(StartLedger(service.settings.demo), "start"))
    await starting.start(service)
    newest = {published.ref.id: published.ref for published in await service.reading.rulesets()}
    for document in bootstrap.shipped_documents():
        known = newest.get(document["id"])
        sha256 = ruleset_sha256(document)
        if known is None or known.sha256 != sha256:
            # The version in the key: content that comes back after another is a new version again.
            version = 1 if known is None else known.version + 1
            key = f"publish:{document['id']}:{version}:{sha256}"
            await service.submit(own_submission(PublishRuleset(document), key))
    await look_at_software(service)


async def look_at_software(service: Service) -> None:
    """Record what this process runs, before it takes its first request: nothing is played on what is not."""
    trusting = await service.reading.is_demo()
    submission = await asyncio.to_thread(service.software.at_start, trusting=trusting)
    result = await service.submit(submission)
    found = orjson.loads(result.body)
    if found["halted"]:
        log.error("software_mismatch", build=found["build"], changed=found["changed"])
    if not service.settings.demo:  # a demonstration runs at somebody's terminal, who is welcomed there
        log.info("service_started", build=found["build"], position=result.position)
