"""Houses and their jackpots: rule sets are published, progressive jackpots opened."""

from __future__ import annotations

from typing import Any

from domain import events as ev
from domain.commands import OpenJackpot, PublishRuleset
from domain.jackpots import Jackpot, parameters_document, parameters_sha256
from domain.money import AMOUNT_MAX, exact_text, floor_minor, parse_share
from domain.rejections import Rejection
from domain.rulesets.schema import RuleSet, RulesetError, ruleset_sha256
from domain.wallets import require_currency
from domain.work import PublishedRuleset, Work


def publish_ruleset(command: PublishRuleset, work: Work) -> dict[str, Any]:
    """Publish a rule set as its next version.

    Unchanged content changes nothing. Publishing activates nothing (G7). Rejects with validation_failed.
    """
    try:
        ruleset = RuleSet.from_document(command.document)
    except RulesetError as error:
        raise Rejection("validation_failed", f"The rule set is refused: {error}.") from None
    document = ruleset.document()
    sha256 = ruleset_sha256(document)
    versions = work.rulesets.setdefault(ruleset.id, {})
    newest = versions.get(max(versions)) if versions else None
    if newest is None or newest.ref.sha256 != sha256:
        number = len(versions) + 1
        published = PublishedRuleset(ev.RulesetRef(ruleset.id, number, sha256), ruleset, document)
        versions[number] = published
        work.new_rulesets.append(published)
        work.emit(f"ruleset-{ruleset.id}", number, ev.RulesetPublished(ruleset.id, number, sha256, document))
        newest = published
    return {"id": newest.ref.id, "version": newest.ref.version, "sha256": newest.ref.sha256}


def open_jackpot(command: OpenJackpot, work: Work) -> dict[str, Any]:
    """Open a jackpot at its reset. Rejects with jackpot_exists, validation_failed, amount_out_of_range."""
    if command.jackpot_id in work.jackpots:
        raise Rejection("jackpot_exists", f"Jackpot {command.jackpot_id} exists already.")
    require_currency(command.currency)
    if not 0 <= command.reset <= AMOUNT_MAX:
        raise Rejection("amount_out_of_range", f"A reset is 0 to {AMOUNT_MAX} minor units.")
    try:
        share = parse_share(command.contribution)
    except ValueError as error:
        raise Rejection("validation_failed", f"The contribution is refused: {error}.") from None
    document = parameters_document(
        command.jackpot_id, command.currency, command.contribution, command.reset, 1
    )
    sha256 = parameters_sha256(document)
    jackpot = Jackpot(
        command.jackpot_id,
        command.currency,
        command.account_class,
        command.contribution,
        share,
        command.reset,
        1,
        sha256,
        0,
    )
    work.jackpots[jackpot.jackpot_id] = jackpot
    work.touched_jackpots.add(jackpot.jackpot_id)
    opened = ev.JackpotOpened(
        jackpot.jackpot_id,
        jackpot.currency,
        command.account_class,
        jackpot.contribution,
        jackpot.reset,
        1,
        sha256,
    )
    work.emit(f"jackpot-{jackpot.jackpot_id}", 1, opened)
    return jackpot_answer(jackpot)


def jackpot_answer(jackpot: Jackpot) -> dict[str, Any]:
    """A jackpot as the HTTP contract shows it: the meter floored and exact, in minor units."""
    return {
        "jackpot_id": jackpot.jackpot_id,
        "currency": jackpot.currency,
        "account_class": jackpot.account_class,
        "meter": floor_minor(jackpot.meter),
        "meter_exact": exact_text(jackpot.meter),
        "contribution": jackpot.contribution,
        "reset": jackpot.reset,
        "enabled": jackpot.enabled,
    }
