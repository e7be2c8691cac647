"""What a service sees to at every start: the ledger has begun, and the shipped rule sets are published."""

from __future__ import annotations

from api.composition import Service
from domain.commands import PublishRuleset, StartLedger
from domain.rulesets.schema import ruleset_sha256
from infrastructure import bootstrap
from infrastructure.ledger.submission import own_submission


async def begin(service: Service) -> None:
    """Begin the ledger and publish what has changed. Several processes may do this at once: it happens once.

    Raises Overloaded or CommandFailed where the database does not take it.
    """
    await service.submit(own_submission(StartLedger(service.settings.demo), "start"))
    newest = {published.ref.id: published.ref for published in await service.reading.rulesets()}
    for document in bootstrap.shipped_documents():
        known = newest.get(document["id"])
        sha256 = ruleset_sha256(document)
        if known is None or known.sha256 != sha256:
            # The version in the key: content that comes back after another is a new version again.
            version = 1 if known is None else known.version + 1
            key = f"publish:{document['id']}:{version}:{sha256}"
            await service.submit(own_submission(PublishRuleset(document), key))
