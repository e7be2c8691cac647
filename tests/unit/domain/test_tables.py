"""Rule sets published and activated, tables opened, closed, joined and left."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as ev
from domain.rulesets.schema import ruleset_sha256
from tests.unit.domain.playing import STANDARD, Ledger, plain_house, shipped

MAX = 10**12


def at_table(**fields: Any) -> Ledger:
    """Return a ledger with a table of the tests' house."""
    ledger = Ledger()
    ledger.table(plain_house(), **fields)
    return ledger


def opening(**fields: Any) -> c.OpenTable:
    """Return the opening of another table of the tests' house."""
    defaults = {"currency": "USD", "min_ante": 100, "max_ante": 200, "deal_source": "table", **fields}
    return c.OpenTable(**{"table_id": "new", "ruleset": "test-house", **defaults})


# ── Rule sets ───────────────────────────────────────────────────────────────────────────────────
def test_a_version_is_published_with_its_content_and_hash() -> None:
    """The event holds the whole document; a change is the next version, the same content none."""
    ledger = Ledger()
    document = shipped("nordic")
    first = ledger.ask(c.PublishRuleset(document))
    (emitted,) = ledger.last
    sha256 = ruleset_sha256(document)
    assert first == {"id": "nordic", "version": 1, "sha256": sha256}
    assert (emitted.stream, emitted.version) == ("ruleset-nordic", 1)
    assert emitted.event == ev.RulesetPublished("nordic", 1, sha256, document)
    assert ledger.ask(c.PublishRuleset(document)) == first
    assert ledger.last == []
    second = ledger.ask(c.PublishRuleset({**document, "title": "Other"}))
    assert (second["version"], ledger.last[0].version) == (2, 2)
    third = ledger.ask(c.PublishRuleset(document))
    assert (third["version"], third["sha256"]) == (3, sha256)
    assert [published.ref.version for published in ledger.work.new_rulesets] == [1, 2, 3]


@pytest.mark.parametrize("document", [{}, {"id": "x"}, {**shipped("nordic"), "extra": 1}])
def test_what_is_no_rule_set_is_refused(document: dict[str, Any]) -> None:
    """With the problems in one sentence."""
    refusal = Ledger().refused(c.PublishRuleset(document), "validation_failed")
    assert "not a valid rule set" in refusal.detail


def test_publishing_activates_nothing() -> None:
    """A table plays by its version until another is activated; that may be an older one (G7)."""
    ledger = at_table()
    ledger.house(plain_house(title="Other"))
    assert ledger.work.tables["t"].ruleset.version == 1
    answer = ledger.ask(c.ActivateRuleset("t", "test-house"))
    assert answer["ruleset"]["version"] == 2
    (emitted,) = ledger.last
    assert (emitted.stream, emitted.version) == ("table-t", 2)
    assert emitted.event == ev.RulesetActivated("t", ledger.work.tables["t"].ruleset)
    ledger.ask(c.ActivateRuleset("t", "test-house", 2))
    assert ledger.last == []
    assert ledger.ask(c.ActivateRuleset("t", "test-house", 1))["ruleset"]["version"] == 1


@pytest.mark.parametrize(
    ("table", "ruleset", "version", "code"),
    [
        ("nowhere", "test-house", None, "table_not_found"),
        ("t", "unknown", None, "ruleset_not_found"),
        ("t", "test-house", 2, "ruleset_not_found"),
        ("t", "adelaide", None, "currency_mismatch"),
        ("t", "czech", None, "currency_mismatch"),
        ("t", "bound", None, "validation_failed"),
    ],
)
def test_what_cannot_be_activated(table: str, ruleset: str, version: int | None, code: str) -> None:
    """An unknown table, rule set or version, and rules that do not fit the table."""
    ledger = at_table()
    for house in ("adelaide", "czech", plain_house(id="bound", raise_cap={})):
        ledger.house(house)
    refusal = ledger.refused(c.ActivateRuleset(table, ruleset, version), code)
    assert "table" in refusal.detail or ruleset in refusal.detail


# ── Tables ──────────────────────────────────────────────────────────────────────────────────────
def test_a_table_is_opened_with_its_parameters() -> None:
    """What is not given takes its default; the event and the answer say it all."""
    ledger = Ledger()
    ledger.house("czech")
    command = c.OpenTable(
        "t",
        "czech",
        "CZK",
        100,
        500,
        "table",
        raise_win_cap=7,
        bonus_stake=8,
        zone="Europe/Prague",
        cutoff_hour=6,
        decision_seconds=30,
    )
    answer = ledger.ask(command)
    (emitted,) = ledger.last
    parameters = ev.TableParameters(100, 500, "Europe/Prague", 6, 100, 500, 7, 8, 30)
    ref = ledger.work.rulesets["czech"][1].ref
    assert (emitted.stream, emitted.version) == ("table-t", 1)
    assert emitted.event == ev.TableOpened(
        "t", ref, "CZK", "real", "table", parallel_rounds=False, parameters=parameters
    )
    assert answer == {
        "table_id": "t",
        "ruleset": {"id": "czech", "version": 1, "sha256": ref.sha256},
        "currency": "CZK",
        "min_ante": 100,
        "max_ante": 500,
        "deal_source": "table",
        "parallel_rounds": False,
        "account_class": "real",
        "parameters": {
            "zone": "Europe/Prague",
            "cutoff_hour": 6,
            "min_side_bet": 100,
            "max_side_bet": 500,
            "raise_win_cap": 7,
            "bonus_stake": 8,
            "decision_seconds": 30,
        },
        "open": True,
        "players": 0,
    }


def test_a_table_shows_its_jackpot_and_its_open_round() -> None:
    """Where it has them."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table("us-casino")
    round_id = ledger.open()
    answer = ledger.ask(c.CloseTable("t"))
    assert (answer["jackpot_id"], answer["open_round"], answer["open"]) == ("pot", round_id, False)


@pytest.mark.parametrize(
    ("house", "source", "asked", "parallel"),
    [
        ("us-casino", "rng", None, True),
        ("us-casino", "table", None, False),
        ("us-casino", "rng", False, False),
        ("us-casino", "table", True, True),
        ("evolution-live", "rng", None, True),
        ("evolution-live", "rng", False, False),
        ("evolution-live", "table", None, False),
    ],
)
def test_parallel_rounds(house: str, source: str, *, asked: bool | None, parallel: bool) -> None:
    """The default for `rng`, at every house; and what is asked for."""
    ledger = Ledger()
    ledger.table(house, deal_source=source, parallel_rounds=asked)
    assert ledger.work.tables["t"].parallel_rounds is parallel


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"table_id": "t"}, "table_exists"),
        ({"ruleset": "unknown"}, "ruleset_not_found"),
        ({"jackpot_id": "unknown"}, "jackpot_not_found"),
        ({"currency": "GBP"}, "currency_mismatch"),
        ({"currency": "XXX"}, "currency_mismatch"),
        ({"min_ante": 201}, "validation_failed"),
        ({"min_ante": 0}, "amount_out_of_range"),
        ({"max_ante": MAX + 1}, "amount_out_of_range"),
        ({"min_side_bet": 0}, "amount_out_of_range"),
        ({"max_side_bet": -1}, "amount_out_of_range"),
        ({"raise_win_cap": 0}, "amount_out_of_range"),
        ({"bonus_stake": MAX + 1}, "amount_out_of_range"),
        ({"raise_win_cap": 1}, "validation_failed"),
        ({"bonus_stake": 1}, "validation_failed"),
        ({"min_side_bet": 201}, "validation_failed"),
        ({"max_ante": MAX // 2 + 1}, "validation_failed"),
        ({"zone": "Mars/Olympus"}, "validation_failed"),
        ({"zone": ""}, "validation_failed"),
        ({"zone": "../etc/passwd"}, "validation_failed"),
        ({"zone": "Europe"}, "validation_failed"),
        ({"zone": "UTC\0"}, "validation_failed"),
    ],
)
def test_a_table_that_cannot_be(fields: dict[str, Any], code: str) -> None:
    """Each thing that does not fit is its own refusal."""
    ledger = at_table()
    ledger.refused(opening(**fields), code)


@pytest.mark.parametrize(
    ("currency", "account_class", "code"),
    [("EUR", "real", "currency_mismatch"), ("USD", "test", "account_class_mismatch")],
)
def test_a_jackpot_of_another_currency_or_class(currency: str, account_class: Any, code: str) -> None:
    """A table's jackpot is in its currency and for its accounts."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.house("nordic")
    command = opening(ruleset="nordic", currency=currency, account_class=account_class, jackpot_id="pot")
    ledger.refused(command, code)


def test_limits_whose_win_no_wallet_could_hold() -> None:
    """The most a round can win is bounded: with the cap in place the same limits are taken."""
    odds = dict.fromkeys(STANDARD, 5_000)
    ledger = Ledger()
    ledger.house(plain_house(raise_pays=odds))
    # The ante and the raise together win 10 001 times the ante.
    most = 10**15 // 10_001
    ledger.refused(opening(max_ante=most + 1), "amount_out_of_range")
    ledger.ask(opening(max_ante=most))
    ledger.house(plain_house(raise_pays=odds, raise_cap={"amount": "5000"}))
    ledger.ask(opening(table_id="capped", max_ante=most + 1))


def test_limits_count_side_bets_and_hands() -> None:
    """A free side bet wins at its best odds, a bonus its largest award, and each hand of a player adds."""
    five = {
        "kind": "five_plus_one",
        "stake": "free",
        "basis": "to_1",
        "pays": {"straight_flush": 10_000, "royal_flush": 99_999},
    }
    bonus = {
        "kind": "bonus",
        "stake": "table",
        "basis": "for_1",
        "awards": {
            "straight_flush": {"fixed": "1", "funding": "house"},
            "royal_flush": {"fixed": "7", "funding": "house"},
        },
    }
    ledger = Ledger()
    ledger.house(plain_house(side_bets=[five, bonus], seating={"hands_per_player": 3}))
    # A hand wins at most 200 on the ante, 400 at 100 to 1 on the raise, and 700 of the bonus.
    most = (10**15 // 3 - 200 * 201 - 700) // 99_999
    ledger.refused(opening(max_side_bet=most + 1, bonus_stake=1), "amount_out_of_range")
    ledger.ask(opening(max_side_bet=most, bonus_stake=1))


def test_closing_and_reopening() -> None:
    """Each says so once; again changes nothing."""
    ledger = at_table()
    assert ledger.ask(c.CloseTable("t"))["open"] is False
    assert [type(emitted.event) for emitted in ledger.last] == [ev.TableClosed]
    assert ledger.ask(c.CloseTable("t"))["open"] is False
    assert ledger.last == []
    assert ledger.ask(c.ReopenTable("t"))["open"] is True
    assert [(type(e.event), e.version) for e in ledger.last] == [(ev.TableReopened, 3)]
    ledger.ask(c.ReopenTable("t"))
    assert ledger.last == []
    for command in (c.CloseTable("nowhere"), c.ReopenTable("nowhere")):
        ledger.refused(command, "table_not_found")


# ── Players ─────────────────────────────────────────────────────────────────────────────────────
def test_joining_and_leaving() -> None:
    """A player takes a place, changes it, and gives it up; who has none leaves without a word."""
    ledger = at_table()
    ledger.player("p")
    answer = ledger.ask(c.JoinTable("t", "p", 3, "session"))
    assert answer["players"] == 1
    assert [e.event for e in ledger.last] == [ev.PlayerJoined("t", "pseudonym-p", 3, "session")]
    ledger.ask(c.JoinTable("t", "p", 4))
    assert ledger.work.tables["t"].places == {"pseudonym-p": 4}
    assert ledger.ask(c.LeaveTable("t", "p"))["players"] == 0
    assert [e.event for e in ledger.last] == [ev.PlayerLeft("t", "pseudonym-p")]
    ledger.ask(c.LeaveTable("t", "p"))
    assert ledger.last == []


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.JoinTable("nowhere", "p"), "table_not_found"),
        (c.JoinTable("t", "nobody"), "player_not_found"),
        (c.JoinTable("t", "p", 0), "validation_failed"),
        (c.JoinTable("t", "p", 8), "validation_failed"),
        (c.JoinTable("t", "p", 3), "seat_taken"),
        (c.JoinTable("t", "euro"), "currency_mismatch"),
        (c.JoinTable("t", "test"), "account_class_mismatch"),
        (c.LeaveTable("nowhere", "p"), "table_not_found"),
        (c.LeaveTable("t", "nobody"), "player_not_found"),
    ],
)
def test_who_cannot_join_or_leave(command: c.Command, code: str) -> None:
    """Each reason is its own refusal."""
    ledger = at_table()
    ledger.player("p")
    ledger.player("q")
    ledger.player("euro", currency="EUR")
    ledger.player("test", account_class="test")
    ledger.ask(c.JoinTable("t", "q", 3))
    ledger.refused(command, code)


def test_a_closed_table_takes_no_players() -> None:
    """Who sits may leave, nobody joins."""
    ledger = at_table()
    ledger.player("p")
    ledger.player("q")
    ledger.ask(c.JoinTable("t", "p", 1))
    ledger.ask(c.CloseTable("t"))
    ledger.refused(c.JoinTable("t", "q", 7), "table_closed")
    ledger.ask(c.LeaveTable("t", "p"))


def test_a_full_table() -> None:
    """Seven places; who has one may still change it. With parallel rounds there is no such bound."""
    ledger = at_table()
    for number in range(1, 9):
        ledger.player(f"p{number}")
    for number in range(1, 8):
        ledger.ask(c.JoinTable("t", f"p{number}", 8 - number))
    ledger.refused(c.JoinTable("t", "p8"), "table_full")
    ledger.ask(c.JoinTable("t", "p7", None))
    ledger.table(plain_house(), "many", parallel_rounds=True)
    for number in range(1, 9):
        ledger.ask(c.JoinTable("many", f"p{number}"))


def test_a_table_remembers_a_bounded_number_of_players() -> None:
    """The 5 001st is refused, parallel rounds or not."""
    ledger = at_table(parallel_rounds=True)
    ledger.player("p")
    places = ledger.work.tables["t"].places
    places.update({f"other-{number}": None for number in range(5_000)})
    ledger.refused(c.JoinTable("t", "p"), "table_full")
    del places["other-0"]
    ledger.ask(c.JoinTable("t", "p"))
    ledger.ask(c.JoinTable("t", "p", 1))


def test_nobody_leaves_an_unfinished_round() -> None:
    """Until it is finished; a round at another table does not hold."""
    ledger = at_table()
    ledger.table(plain_house(), "u")
    round_id = ledger.open(ledger.stake(1, player="p"))
    refusal = ledger.refused(c.LeaveTable("t", "p"), "round_unfinished")
    assert refusal.extra == {"round_id": round_id}
    ledger.ask(c.LeaveTable("u", "p"))
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    ledger.ask(c.LeaveTable("t", "p"))
