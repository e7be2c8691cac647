"""Houses and their jackpots: rule sets are published, progressive jackpots opened."""

from __future__ import annotations

from typing import Any

from domain import events as ev
from domain.commands import OpenJackpot, PublishRuleset
from domain.jackpot_parameters import checked_parameters, parameters_answer
from domain.jackpots import Jackpot
from domain.money import exact_text, floor_minor, parse_share
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
    """Open a jackpot at its reset.

    Rejects with jackpot_exists and whatever `checked_parameters` rejects with.
    """
    if command.jackpot_id in work.jackpots:
        raise Rejection("jackpot_exists", f"Jackpot {command.jackpot_id} exists already.")
    require_currency(command.currency)
    own = checked_parameters(
        command.jackpot_id,
        command.currency,
        1,
        command.contribution,
        command.reset,
        command.ceiling,
        command.diversion,
    )
    jackpot = Jackpot(
        command.jackpot_id,
        command.currency,
        command.account_class,
        own.contribution,
        parse_share(own.contribution),
        own.reset,
        1,
        own.sha256,
        0,
        ceiling=own.ceiling,
        diversion=own.diversion,
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
        jackpot.sha256,
        jackpot.ceiling,
        jackpot.diversion,
    )
    work.emit(f"jackpot-{jackpot.jackpot_id}", 1, opened)
    return jackpot_answer(jackpot)


def jackpot_answer(jackpot: Jackpot) -> dict[str, Any]:
    """A jackpot as the HTTP contract shows it: the meter floored and exact, in minor units."""
    answer: dict[str, Any] = {
        "jackpot_id": jackpot.jackpot_id,
        "currency": jackpot.currency,
        "account_class": jackpot.account_class,
        "meter": floor_minor(jackpot.meter),
        "meter_exact": exact_text(jackpot.meter),
        "contribution": jackpot.contribution,
        "reset": jackpot.reset,
        "enabled": jackpot.enabled,
        "retired": jackpot.retired,
        "overflow_exact": exact_text(jackpot.overflow),
        "diversion_exact": exact_text(jackpot.diverted),
        "parameters_version": jackpot.parameters_version,
    }
    if jackpot.ceiling is not None:
        answer["ceiling"] = jackpot.ceiling
    if jackpot.diversion is not None:
        answer["diversion"] = jackpot.diversion
    if jackpot.scheduled is not None:
        answer["scheduled"] = parameters_answer(jackpot.scheduled)
    return answer
