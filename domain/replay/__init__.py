"""The service's own second opinion: a finished round derived again from its events alone (G8).

Nothing of the writer's game code is used here, not even to rank a hand: from the rest of the domain come
the names of the cards and nothing else. What is trusted are the events, the rule set and the jackpot
parameters, each of the latter two by its hash in the round's first event.

A report is always complete: after a failure the other checks run as far as they can, and malformed events
are a finding, never an exception. Reports name cards; they are about finished rounds and go to those who
may see all of a round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from domain.replay import conservation, dealing, jackpot, payouts, pinned, play, refunds, stakes, stream
from domain.replay.faultless import Faultless, retell
from domain.replay.game import follow
from domain.replay.house import House, canonical, house, sha256
from domain.replay.kinds import RoundOpened
from domain.replay.ordinary import Paid
from domain.replay.records import Record, Stored, read_closely, read_fast
from domain.replay.report import Check, Failures, Findings, Report
from domain.replay.showdown import showdown
from domain.replay.state import Game

__all__ = [
    "Check",
    "Faultless",
    "Paid",
    "Record",
    "Report",
    "Stored",
    "read_closely",
    "read_fast",
    "replay",
    "retell",
]

_NEED_AN_OPENING: Final = ("ruleset_hash", "jackpot_parameters_hash", "deck_commitment")
_NEED_A_HOUSE: Final = ("house", "stakes", "dealt", "settled", "jackpot", "refund_order")


def replay(
    events: Sequence[Stored],
    ruleset_document: Mapping[str, Any] | bytes,
    jackpot_document: Mapping[str, Any] | None = None,
    *,
    only_failures: bool = False,
) -> Report:
    """Derive a finished round again and compare it with what was recorded.

    `events` are those of one round's stream in stream order: their stored bytes, or the objects they say, or
    what `read_fast` made of them. `ruleset_document` is the published content the round names, or its
    canonical bytes; `jackpot_document` the parameters of its jackpot, without which they are put together
    from the round's first event. `only_failures` leaves what passed out of the report.

    Raises nothing for malformed data: a check of the report fails instead.
    """
    findings = Failures() if only_failures else Findings()
    records = stream.read(events, findings)
    stream.check(records, findings)
    game = follow(records)
    play.check_phases(game, records, findings)
    conservation.check(records, findings)
    if game.opened is None:
        findings.skip(*_NEED_AN_OPENING, *_NEED_A_HOUSE)
        return findings.report()
    opened = game.opened.data
    rules = _rules(opened, ruleset_document, findings)
    _check_jackpot_parameters(opened, jackpot_document, findings)
    source = dealing.check_deck(game, game.opened, stream.round_id(records), findings)
    if rules is None:
        findings.skip(*_NEED_A_HOUSE)
        return findings.report()
    play.check_house(game, opened, rules, findings)
    stakes.check(game, opened, rules, findings)
    dealing.check_cards(game, rules, source, findings)
    _check_money_back(game, opened, rules, records, findings)
    return findings.report()


def _check_money_back(
    game: Game, opened: RoundOpened, rules: House, records: Sequence[stream.Record], findings: Findings
) -> None:
    """Check what the seats got in the end: payouts and awards, or refunds of a void round."""
    shown = showdown(game, rules, findings)
    if game.voided is not None:
        findings.skip("settlement_order", "settled", "jackpot")
        refunds.check(game, opened, rules, findings)
        jackpot.check_meter(records, (), opened, findings)
        return
    findings.skip("refund_order")
    dues = jackpot.due(game, rules, shown)
    jackpot.check_order(game, dues, findings)
    awards = jackpot.check_awards(dues, opened, findings)
    jackpot.check_meter(records, dues, opened, findings)
    payouts.check(game, opened, rules, shown, awards, findings)


def _rules(opened: RoundOpened, document: Mapping[str, Any] | bytes, findings: Findings) -> House | None:
    """The house, if the document can be read; checks that it is the one the round names (G7)."""
    encoded = document if isinstance(document, bytes) else canonical(document)
    rules = None if encoded is None else house(encoded, opened.currency)
    findings.holds("ruleset_well_formed", rules is not None)
    findings.same("ruleset_hash", opened.ruleset.sha256, None if encoded is None else pinned.hash_of(encoded))
    if rules is None:
        findings.skip("ruleset_id")
    else:
        findings.same("ruleset_id", rules.id, opened.ruleset.id)
    return rules


def _check_jackpot_parameters(
    opened: RoundOpened, document: Mapping[str, Any] | None, findings: Findings
) -> None:
    """Check that the jackpot's parameters in the round's first event are those its hash pins (G7)."""
    jackpot_ref = opened.jackpot
    if jackpot_ref is None:
        findings.skip("jackpot_parameters_hash", "jackpot_parameters")
        return
    if document is None:
        due = pinned.parameters_hash(jackpot_ref, opened.currency)
        findings.same("jackpot_parameters_hash", jackpot_ref.sha256, due)
        findings.skip("jackpot_parameters")
        return
    encoded = canonical(document)
    due = None if encoded is None else sha256(encoded)
    findings.same("jackpot_parameters_hash", jackpot_ref.sha256, due)
    parameters = pinned.parameters(jackpot_ref, opened.currency)
    findings.holds("jackpot_parameters", encoded == canonical(parameters), parameters)
