"""Opening rounds and taking stakes: what is refused, what is pinned, and what one command does at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain import commands as c
from domain import events as ev
from domain.shuffle import ALGORITHM, verify_commitment
from tests.unit.domain.playing import FUNDS, NOON, STANDARD, Box, Ledger, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
HAND = "9h 9d 7c 6h 5h"


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger with a table of the tests' house dealt by hand, and funded players 1 and 2."""
    made = Ledger()
    made.table(plain_house())
    made.fund([made.stake(1), made.stake(2)])
    return made


# ── Opening ─────────────────────────────────────────────────────────────────────────────────────
def test_a_round_pins_what_it_is_played_by() -> None:
    """Rule set, table and jackpot parameters, build, gaming day and the deck's commitment (G6, G7)."""
    ledger = Ledger()
    ledger.jackpot(1_000, contribution="0.70")
    ledger.table("us-casino", deal_source="rng", zone="Europe/Oslo", cutoff_hour=15)
    answer = ledger.ask(c.OpenRound("r", "t"))

    (opened,) = ledger.of("r", ev.RoundOpened)
    table, pot = ledger.work.tables["t"], ledger.work.jackpots["pot"]
    assert opened == ev.RoundOpened(
        "t",
        table.ruleset,
        "USD",
        "real",
        "rng",
        "2026-10-01",
        table.parameters,
        "test-build",
        answer["deck_commitment"],
        ALGORITHM,
        "hmac-drbg-sha256",
        ev.JackpotRef("pot", 1, pot.sha256, "0.70", 1_000),
    )
    assert answer["phase"] == "betting"
    assert answer["seats"] == []
    assert verify_commitment(
        answer["deck_commitment"], ledger.work.secrets["r"].seed, "r", table.ruleset.sha256
    )


def test_a_physical_table_commits_to_no_deck(ledger: Ledger) -> None:
    """Nothing of a deck is pinned, and no seed is kept."""
    answer = ledger.ask(c.OpenRound("r", "t"))
    (opened,) = ledger.of("r", ev.RoundOpened)
    assert (opened.deck_commitment, opened.deck_algorithm, opened.rng, opened.jackpot) == (None,) * 4
    assert (answer["deck_commitment"], answer["committed"]) == (None, "table")
    assert ledger.work.secrets == {}


def test_the_gaming_day_is_that_of_the_moment_recorded(ledger: Ledger) -> None:
    """An event that a burst pushes a microsecond past the cut-off belongs to the new day."""
    midnight = NOON + 12 * 3_600_000_000
    ledger.now_us = midnight - 2
    ledger.ask(c.CloseTable("t"))
    ledger.ask(c.ReopenTable("t"))
    ledger.ask(c.OpenRound("r", "t"))
    emitted = ledger.by_round["r"][0]
    assert emitted.recorded_at_us == midnight
    assert ledger.of("r", ev.RoundOpened)[0].gaming_day == "2026-10-03"


def test_open_stake_and_deal_in_one_command() -> None:
    """The answer shows the hand and the up-card, and says that commitment and stake came together."""
    ledger = Ledger()
    ledger.table("us-casino", deal_source="rng")
    ledger.fund([ledger.stake(3)])
    answer = ledger.ask(c.OpenRound("r", "t", (ledger.stake(3, ante=500),), deal=True))
    assert (answer["phase"], answer["committed"], len(answer["up_cards"])) == ("dealt", "same_command", 1)
    (seat,) = answer["seats"]
    assert (seat["seat"], seat["player_id"], seat["ante"], len(seat["cards"])) == (3, "player-3", 500, 5)
    assert ledger.kinds("r") == ["RoundOpened", "AntePlaced", "BettingClosed", "Dealt", "Dealt"]
    assert ledger.of("r", ev.BettingClosed) == [ev.BettingClosed(1)]


def test_session_channel_and_seed_are_kept(ledger: Ledger) -> None:
    """What the game server says of a seat is on its ante; its session is shown."""
    round_id = ledger.open()
    stake = replace(ledger.stake(1), session_id="s", channel="mobile", client_seed="entropy")
    answer = ledger.ask(c.PlaceAntes(round_id, (stake,)))
    (ante,) = ledger.of(round_id, ev.AntePlaced)
    assert (ante.session_id, ante.channel, ante.client_seed) == ("s", "mobile", "entropy")
    assert answer["seats"][0]["session_id"] == "s"


def test_a_client_seed_changes_the_deck() -> None:
    """Two rounds of equal seed material differ by what the client added after the commitment."""
    decks = []
    for seed in (None, "mine", "other"):
        ledger = Ledger()
        ledger.table("us-casino", deal_source="rng")
        round_id = ledger.open()
        ledger.fund([ledger.stake(1)])
        stake = replace(ledger.stake(1), client_seed=seed)
        decks.append(ledger.ask(c.PlaceAntes(round_id, (stake,), deal=True))["seats"][0]["cards"])
    assert len({tuple(deck) for deck in decks}) == 3


def test_a_client_seed_before_the_commitment_is_refused(ledger: Ledger) -> None:
    """A seed counts only where the commitment was answered before."""
    stake = replace(ledger.stake(1), client_seed="entropy")
    ledger.refused(c.OpenRound("r", "t", (stake,)), "validation_failed")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.OpenRound("r", "nowhere"), "table_not_found"),
        (c.PlaceAntes("nowhere", ()), "round_not_found"),
        (c.OpenRound("r", "t", (c.SeatStake(1, "nobody", 100),)), "player_not_found"),
        (c.OpenRound("r", "t", (c.SeatStake(0, "player-1", 100),)), "validation_failed"),
        (c.OpenRound("r", "t", (c.SeatStake(8, "player-1", 100),)), "validation_failed"),
        (c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 99),)), "ante_out_of_limits"),
        (c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 10_001),)), "ante_out_of_limits"),
        (c.OpenRound("r", "t", (c.SeatStake(1, "player-1", -100),)), "ante_out_of_limits"),
        (c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 100, {"luck": 1}),)), "unknown_side_bet"),
        (
            c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 100), c.SeatStake(1, "player-2", 100))),
            "seat_taken",
        ),
        (
            c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 100), c.SeatStake(2, "player-1", 100))),
            "seat_taken",
        ),
        (c.OpenRound("r", "t", (c.SeatStake(1, "player-1", 100),), deal=True), "validation_failed"),
        (c.OpenRound("r", "t", tuple(c.SeatStake(n, "player-1", 100) for n in range(1, 9))), "table_full"),
    ],
)
def test_what_cannot_be_opened(ledger: Ledger, command: c.Command, code: str) -> None:
    """Each kind of wrong stake is its own refusal, and nothing is half done."""
    ledger.refused(command, code)


@pytest.mark.parametrize("ante", [100, 10_000])
def test_antes_at_the_limits_are_taken(ledger: Ledger, ante: int) -> None:
    """The limits themselves are inside."""
    ledger.open(ledger.stake(1, ante))
    assert ledger.wallet("player-1") == (FUNDS - ante, ante)


def test_seats_at_the_ends_are_taken(ledger: Ledger) -> None:
    """The first and the last seat, and all of them."""
    round_id = ledger.open(*(ledger.stake(seat) for seat in range(1, 8)))
    assert sorted(ledger.round(round_id).seats) == [1, 2, 3, 4, 5, 6, 7]


def test_a_second_command_cannot_take_a_seat_or_player_that_plays(ledger: Ledger) -> None:
    """Seats and players of earlier commands count."""
    round_id = ledger.open(ledger.stake(1))
    ledger.refused(c.PlaceAntes(round_id, (ledger.stake(1, player="player-2"),)), "seat_taken")
    refusal = ledger.refused(c.PlaceAntes(round_id, (ledger.stake(2, player="player-1"),)), "seat_taken")
    assert refusal.extra == {"seat": 2}
    ledger.ask(c.PlaceAntes(round_id, (ledger.stake(2),)))
    eight = tuple(ledger.stake(seat, player="player-1") for seat in range(3, 9))
    ledger.refused(c.PlaceAntes(round_id, eight), "table_full")


def test_placing_nothing_changes_nothing(ledger: Ledger) -> None:
    """No stakes, no events."""
    round_id = ledger.open(ledger.stake(1))
    ledger.ask(c.PlaceAntes(round_id, ()))
    assert ledger.last == []


def test_dealing_with_the_last_ante() -> None:
    """`deal` closes betting after the stakes; with nobody at the table it is refused."""
    ledger = Ledger()
    ledger.table("us-casino", deal_source="rng")
    round_id = ledger.open()
    ledger.refused(c.PlaceAntes(round_id, (), deal=True), "validation_failed")
    ledger.fund([ledger.stake(1)])
    ledger.ask(c.PlaceAntes(round_id, (ledger.stake(1),)))
    answer = ledger.ask(c.PlaceAntes(round_id, (), deal=True))
    assert (answer["phase"], answer["committed"]) == ("dealt", "before_stake")
    ledger.refused(c.OpenRound("x", "t", (), deal=True), "validation_failed")


# ── Money ───────────────────────────────────────────────────────────────────────────────────────
def test_stakes_above_the_funds_are_refused() -> None:
    """Ante and side bets count together; exactly all of it is taken."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table(plain_house(side_bets=[jackpot_bet({"royal_flush": {"percent": 100}})]))
    ledger.player("p", funds=300)
    refusal = ledger.refused(
        c.OpenRound("r", "t", (ledger.stake(1, 201, "p", jackpot=100),)), "insufficient_funds"
    )
    assert refusal.extra == {"needed": 301, "balance": 300}
    ledger.ask(c.OpenRound("r", "t", (ledger.stake(1, 200, "p", jackpot=100),)))
    assert ledger.wallet("p") == (0, 300)


def test_a_wallet_that_could_not_hold_the_win_is_refused(ledger: Ledger) -> None:
    """The bound on balances is kept clear when the stake is taken, counting what is on game."""
    bound = 9 * 10**15 - 10**15
    wallet = ledger.work.wallet_of("player-1")
    wallet.balance, wallet.on_game = bound - 10, 11
    ledger.refused(c.OpenRound("r", "t", (ledger.stake(1),)), "amount_out_of_range")
    wallet.on_game = 10
    ledger.ask(c.OpenRound("r", "t", (ledger.stake(1),)))


def test_currency_and_class_must_be_the_tables(ledger: Ledger) -> None:
    """A wallet in euro and a test account cannot bet at a table for real dollars."""
    ledger.player("euro", currency="EUR")
    ledger.player("test", account_class="test")
    ledger.refused(c.OpenRound("r", "t", (ledger.stake(1, player="euro"),)), "currency_mismatch")
    ledger.refused(c.OpenRound("r", "t", (ledger.stake(1, player="test"),)), "account_class_mismatch")
    round_id = ledger.open(ledger.stake(2))
    ledger.refused(c.PlaceAntes(round_id, (ledger.stake(1, player="euro"),)), "currency_mismatch")


def test_test_accounts_have_their_own_house() -> None:
    """A test table moves the test house's money and no other."""
    ledger = Ledger()
    ledger.table(plain_house(), account_class="test")
    ledger.play(ACE_KING, {1: Box(HAND)})
    assert {account for account, _ in ledger.work.accounts} == {"cashier:test", "house:test"}
    assert ledger.work.accounts["house:test", "USD"] == -30_000 * 10_000


# ── One round at a time, or many ────────────────────────────────────────────────────────────────
def test_a_table_has_one_open_round(ledger: Ledger) -> None:
    """A second one is refused by the name of the first, until that is finished."""
    round_id = ledger.dealt(ACE_KING, {1: Box(HAND)})
    refusal = ledger.refused(c.OpenRound("x", "t"), "round_open")
    assert refusal.extra == {"round_id": round_id}
    ledger.decide(round_id, 1, "raise")
    ledger.refused(c.OpenRound("x", "t"), "round_open")
    ledger.reveal(round_id, ACE_KING)
    ledger.open(ledger.stake(1))


def test_parallel_rounds_are_one_for_each_player() -> None:
    """With `parallel_rounds` others play on; the player with an unfinished round does not."""
    ledger = Ledger()
    ledger.table("us-casino", deal_source="rng")
    first = ledger.open(ledger.stake(1), deal=True)
    second = ledger.open(ledger.stake(1, player="other"))
    assert ledger.work.tables["t"].open_round is None
    refusal = ledger.refused(c.OpenRound("x", "t", (ledger.stake(1),)), "round_unfinished")
    assert refusal.extra == {"round_id": first}
    ledger.refused(c.PlaceAntes(second, (ledger.stake(2, player="player-1"),)), "round_unfinished")

    ledger.decide(first, 1, "fold")
    third = ledger.open(ledger.stake(1))
    assert ledger.work.wallet_of("player-1").unfinished == {"t": third}


def test_a_player_plays_at_two_tables_at_once(ledger: Ledger) -> None:
    """Unfinished rounds are counted by table, and their money stays apart."""
    ledger.table(plain_house(), "u")
    first = ledger.open(ledger.stake(1, 200))
    second = ledger.open(ledger.stake(1, 300), table_id="u")
    assert ledger.work.wallet_of("player-1").unfinished == {"t": first, "u": second}
    ledger.ask(c.VoidRound(first, "malfunction"))
    assert ledger.work.wallet_of("player-1").unfinished == {"u": second}
    assert ledger.wallet("player-1") == (FUNDS - 300, 300)


def test_a_closed_table_takes_no_new_round(ledger: Ledger) -> None:
    """An open round goes on at a closed table; a new one is refused."""
    round_id = ledger.open(ledger.stake(1))
    ledger.ask(c.CloseTable("t"))
    ledger.ask(c.PlaceAntes(round_id, (ledger.stake(2),)))
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    ledger.refused(c.OpenRound("x", "t"), "table_closed")


def test_a_seat_that_somebody_joined_is_theirs(ledger: Ledger) -> None:
    """Another player cannot bet there; who joined without a seat holds none back."""
    ledger.ask(c.JoinTable("t", "player-1", 3))
    ledger.ask(c.JoinTable("t", "player-2"))
    ledger.refused(c.OpenRound("r", "t", (ledger.stake(3, player="player-2"),)), "seat_taken")
    ledger.ask(
        c.OpenRound("r", "t", (ledger.stake(3, player="player-1"), ledger.stake(1, player="player-2")))
    )


def test_a_round_keeps_its_rules_when_the_table_changes_them(ledger: Ledger) -> None:
    """A version published and activated while a round is open is for the next one (G7)."""
    round_id = ledger.dealt(ACE_KING, {1: Box(HAND)})
    ledger.house(plain_house(raise_pays=dict.fromkeys(STANDARD, 9)))
    ledger.ask(c.ActivateRuleset("t", "test-house"))
    ledger.decide(round_id, 1, "raise")
    ledger.reveal(round_id, ACE_KING)
    assert ledger.paid(round_id)["raise"] == (20_000, 20_000)
    again = ledger.play(ACE_KING, {1: Box(HAND)})
    assert ledger.paid(again)["raise"] == (20_000, 180_000)


@pytest.mark.parametrize("currency", ["JPY", "KWD", "USD"])
def test_currencies_of_other_exponents(currency: str) -> None:
    """Whole units of the rules are 1, 100 or 1 000 minor units: stake, award and cap follow the currency."""
    units = {"JPY": 1, "USD": 100, "KWD": 1_000}[currency]
    bets = [
        jackpot_bet(
            {"straight_flush": {"fixed": "500", "funding": "house"}, "royal_flush": {"percent": 100}}, "2"
        )
    ]
    ledger = Ledger()
    ledger.jackpot(1_000_000, currency)
    document = plain_house(currencies=[currency], side_bets=bets, raise_cap={"amount": "70"}, max_ante="50")
    ledger.table(document, min_ante=1, max_ante=50 * units)
    stakes = (ledger.stake(1, 50 * units, jackpot=units),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "side_bet_stake")
    boxes = {1: Box("9h 8h 7h 6h 5h", ante=50 * units, side_bets={"jackpot": 2 * units})}
    round_id = ledger.play(ACE_KING, boxes)
    assert ledger.paid(round_id)["raise"] == (100 * units, 70 * units)
    assert ledger.paid(round_id)["jackpot"] == (0, 500 * units)
    assert ledger.meter() == 1_000_000 + 2 * units
