"""The life of a round as its events tell it: the table of transitions and each seat's steps."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as ev
from domain.round import FINISHED, STEPS, TRANSITIONS, IllegalTransition, Round, evolve
from tests.unit.domain.playing import Box, Ledger, cards, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
OPENED = ev.RoundOpened(
    "t",
    ev.RulesetRef("h", 1, "00"),
    "USD",
    "real",
    "table",
    "2026-10-02",
    ev.TableParameters(1, 2, "UTC", 0, 1, 2),
    "build",
)
LEG = ev.BetLeg("ante", 100, 0, 0)
EVENTS: dict[type, ev.Event] = {
    ev.RoundOpened: OPENED,
    ev.AntePlaced: ev.AntePlaced(9, "p", 100, 0),
    ev.SideBetPlaced: ev.SideBetPlaced(1, "p1", "jackpot", 5, 0, "3.5", "pot"),
    ev.BettingClosed: ev.BettingClosed(2),
    ev.Dealt: ev.Dealt("seat", cards("2c 3c 4c 5c 7d"), 1),
    ev.CardExchanged: ev.CardExchanged(1, "p1", 100, "2c", "9c", (), "player", 0),
    ev.Folded: ev.Folded(1, "player"),
    ev.Raised: ev.Raised(1, "p1", 200, "player", 0),
    ev.DealerQualified: ev.DealerQualified(cards(ACE_KING), "pair", qualified=True),
    ev.JackpotHit: ev.JackpotHit(1, "p1", "pot", "flush", 1, "1", "0", "2", "1", 1, 1, 0),
    ev.Settled: ev.Settled(1, "p1", "folded", (LEG,), shown=False, balance_after=0),
    ev.RoundClosed: ev.RoundClosed(),
    ev.RoundVoided: ev.RoundVoided("malfunction"),
    ev.ContributionReversed: ev.ContributionReversed(1, "p1", "pot", "3.5", "3.5", "0", "4", "0.5", 1),
    ev.StakeRefunded: ev.StakeRefunded(1, "p1", 100, (), 0),
}
TO_PHASE: dict[str, list[ev.Event]] = {
    "betting": [],
    "dealt": [ev.BettingClosed(2)],
    "decided": [ev.BettingClosed(2), ev.Folded(1, "player"), ev.Raised(2, "p2", 200, "player", 0)],
}
TO_PHASE["revealed"] = [*TO_PHASE["decided"], EVENTS[ev.DealerQualified]]
SECOND = ev.Settled(2, "p2", "win", (LEG,), shown=True, balance_after=0)
TO_PHASE["settled"] = [*TO_PHASE["revealed"], EVENTS[ev.Settled], SECOND]
TO_PHASE["closed"] = [*TO_PHASE["settled"], EVENTS[ev.RoundClosed]]
TO_PHASE["voided"] = [EVENTS[ev.RoundVoided]]


def fold(events: list[ev.Event], seats: int = 2) -> Round:
    """Return a round with antes of so many seats and then those events."""
    state = evolve(None, "round-r", OPENED, "first")
    for seat in range(1, seats + 1):
        state = evolve(state, "round-r", ev.AntePlaced(seat, f"p{seat}", 100, 0), "second")
    for event in events:
        state = evolve(state, "round-r", event, "later")
    return state


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("phase", TO_PHASE)
def test_an_event_follows_in_the_phases_of_the_table_and_no_other(phase: str, kind: type) -> None:
    """Every event in every phase leads where the table says, or is refused and changes nothing."""
    state = fold(TO_PHASE[phase])
    assert state.phase == phase
    before = repr(state)
    targets = TRANSITIONS.get((state.phase, kind))
    if targets is None:
        with pytest.raises(IllegalTransition, match=kind.__name__):
            evolve(state, "round-r", EVENTS[kind], "x")
        assert repr(state) == before
    else:
        evolve(state, "round-r", EVENTS[kind], "x")
        assert state.phase == targets[0]


def test_a_round_begins_with_its_opening_and_nothing_else() -> None:
    """The first event opens the round; it takes its id from the stream."""
    state = evolve(None, "round-r-1", OPENED, "first")
    assert (state.id, state.version, state.phase, state.opened_command) == ("r-1", 1, "betting", "first")
    assert state.staked_command is None
    assert evolve(None, "round-r-1", OPENED).opened_command == ""
    with pytest.raises(IllegalTransition, match="begins with RoundOpened, not Folded"):
        evolve(None, "round-r-1", ev.Folded(1, "player"))


def test_the_first_ante_tells_the_command_of_the_first_stake() -> None:
    """Later commands do not change it; every event counts the version."""
    state = fold([ev.AntePlaced(3, "p3", 100, 0), ev.BettingClosed(3)])
    assert (state.staked_command, state.version) == ("second", 5)


@pytest.mark.parametrize("kind", [ev.Folded, ev.Raised, ev.CardExchanged])
@pytest.mark.parametrize("first", ["waiting", "exchanged", "raised", "folded"])
def test_a_seats_own_steps(first: str, kind: type) -> None:
    """A seat buys one card before it raises or folds, and decides once."""
    steps: dict[str, list[ev.Event]] = {
        "waiting": [],
        "exchanged": [EVENTS[ev.CardExchanged]],
        "raised": [EVENTS[ev.Raised]],
        "folded": [EVENTS[ev.Folded]],
    }
    state = fold([ev.BettingClosed(2), *steps[first]])
    now = state.seats[1].step
    assert now == ("deciding" if first == "waiting" else first)
    following = STEPS.get((now, kind))
    if following is None:
        with pytest.raises(IllegalTransition, match=f"{kind.__name__} does not follow where seat 1 is {now}"):
            evolve(state, "round-r", EVENTS[kind])
        assert state.seats[1].step == now
    else:
        evolve(state, "round-r", EVENTS[kind])
        assert state.seats[1].step == following


def test_the_last_decision_ends_the_dealt_phase() -> None:
    """One of two seats decided: dealt; both: decided."""
    state = fold([ev.BettingClosed(2), ev.Folded(2, "timeout")])
    assert (state.phase, state.undecided, state.folded, state.next_seat()) == ("dealt", 1, 1, 1)
    evolve(state, "round-r", ev.Folded(1, "player"))
    assert (state.phase, state.undecided, state.folded, state.next_seat()) == ("decided", 0, 2, None)
    assert (state.seats[2].decided_by, state.seats[1].decided_by) == ("timeout", "player")


def test_the_last_settlement_ends_the_round() -> None:
    """One of two seats settled: still revealed; both: settled, then closed, with the seed told."""
    state = fold([*TO_PHASE["revealed"], EVENTS[ev.Settled]])
    assert (state.phase, state.settled, state.finished) == ("revealed", 1, False)
    evolve(state, "round-r", SECOND)
    assert (state.phase, state.settled, state.finished) == ("settled", 2, False)
    evolve(state, "round-r", ev.RoundClosed("aa"))
    assert (state.phase, state.deck_seed, state.finished) == ("closed", "aa", True)


def test_a_seat_is_settled_once() -> None:
    """The same seat again is refused, and nothing is counted."""
    state = fold([*TO_PHASE["revealed"], EVENTS[ev.Settled]])
    with pytest.raises(IllegalTransition, match="seat 1 is settled already"):
        evolve(state, "round-r", EVENTS[ev.Settled])
    assert (state.settled, state.hands) == (1, {"p1": 0, "p2": 1})


def test_a_seat_is_refunded_once() -> None:
    """The same seat again is refused; a void round is finished when every seat has its stakes."""
    state = fold([ev.RoundVoided("malfunction", "bb"), EVENTS[ev.StakeRefunded]])
    assert (state.void_cause, state.deck_seed, state.finished, state.refunded) == (
        "malfunction",
        "bb",
        False,
        1,
    )
    with pytest.raises(IllegalTransition, match="seat 1 is refunded already"):
        evolve(state, "round-r", EVENTS[ev.StakeRefunded])
    evolve(state, "round-r", ev.StakeRefunded(2, "p2", 100, (), 0))
    assert state.finished
    assert state.phase in FINISHED


def test_a_round_with_a_settled_seat_cannot_be_void() -> None:
    """After the first settlement only a correction changes money (G12)."""
    state = fold([*TO_PHASE["revealed"], EVENTS[ev.Settled]])
    with pytest.raises(
        IllegalTransition, match=r"^a seat is settled already: only a correction changes money now$"
    ):
        evolve(state, "round-r", EVENTS[ev.RoundVoided])
    assert (state.phase, state.void_cause) == ("revealed", None)


def test_an_unstaked_void_round_is_finished_at_once() -> None:
    """No seat, nothing to give back."""
    assert fold([ev.RoundVoided("expired")], seats=0).finished


def test_what_a_seat_has_staked() -> None:
    """Ante, side bets, fee and raise add up; the contribution is kept exactly."""
    state = fold([EVENTS[ev.SideBetPlaced], ev.BettingClosed(2), EVENTS[ev.Dealt]])
    assert (state.seats[1].stakes(), state.seats[1].contribution, state.seats[2].contribution) == (
        105,
        35_000,
        0,
    )
    evolve(state, "round-r", EVENTS[ev.CardExchanged])
    evolve(state, "round-r", EVENTS[ev.Raised])
    assert (state.seats[1].stakes(), state.seats[2].stakes()) == (405, 100)
    assert state.seats[1].side_bets == {"jackpot": 5}


def test_a_side_bet_without_a_contribution() -> None:
    """Other side bets feed no meter."""
    assert fold([ev.SideBetPlaced(1, "p1", "bonus", 5, 0)]).seats[1].contribution == 0


def test_an_exchange_replaces_the_card_in_its_place() -> None:
    """The drawn card stands where the discarded one was, which is remembered."""
    state = fold([ev.BettingClosed(2), EVENTS[ev.Dealt]])
    evolve(state, "round-r", ev.CardExchanged(1, "p1", 100, "4c", "9c", ("bonus",), "player", 0))
    seat = state.seats[1]
    assert seat.cards == cards("2c 3c 9c 5c 7d")
    assert (seat.fee, seat.forfeited, state.discards) == (100, ("bonus",), ["4c"])


def test_where_dealt_cards_go() -> None:
    """A seat's own, the shared hand for all, the dealer's up-cards with their places."""
    state = fold([ev.BettingClosed(2)])
    hand = cards("2c 3c 4c 5c 7d")
    evolve(state, "round-r", ev.Dealt("shared", hand))
    assert state.hand(state.seats[1]) == state.hand(state.seats[2]) == hand
    evolve(state, "round-r", ev.Dealt("seat", cards(ACE_KING), 2))
    assert state.hand(state.seats[2]) == cards(ACE_KING)
    evolve(state, "round-r", ev.Dealt("dealer", cards("9s Ts"), None, None, (0, 3)))
    assert (state.up_cards, state.up_indices, state.dealer) == (("9s", "Ts"), (0, 3), ())
    evolve(state, "round-r", ev.Dealt("dealer", cards("9s")))
    assert state.up_indices == ()


def test_what_the_reveal_tells() -> None:
    """The dealer's five cards, their category, and whether they qualify."""
    state = fold(TO_PHASE["revealed"])
    assert (state.dealer, state.dealer_category, state.qualified) == (cards(ACE_KING), "pair", True)


def test_hits_stay_with_their_seats() -> None:
    """A seat keeps its hit, until when it was not settled."""
    hit = ev.JackpotHit(2, "p2", "pot", "royal_flush", 1, "1", "0", "2", "1", 1, 1, 0, "0")
    state = fold([*TO_PHASE["revealed"], hit])
    assert (state.seats[2].hit, state.seats[1].hit) == (hit, None)
    assert (state.phase, state.settled) == ("revealed", 0)


def test_seats_come_in_ascending_order() -> None:
    """Whatever the order of the antes, seats come in the order of their numbers."""
    state = evolve(None, "round-r", OPENED)
    for seat in (5, 1, 3):
        evolve(state, "round-r", ev.AntePlaced(seat, "p", 100, 0, "session", "mobile", "seed"))
    assert state.order == []
    assert (state.hands, state.seats[5].client_seed, state.seats[5].channel) == ({"p": 3}, "seed", "mobile")
    assert state.seats[5].session_id == "session"
    evolve(state, "round-r", ev.RoundVoided("malfunction"))
    assert state.order == [1, 3, 5]


def test_a_reversed_contribution_is_marked() -> None:
    """The seat knows that its contribution has left the meter."""
    state = fold([EVENTS[ev.RoundVoided], EVENTS[ev.ContributionReversed]])
    assert (state.seats[1].reversed, state.seats[2].reversed) == (True, False)
    with pytest.raises(IllegalTransition, match="seat 1 has had its contribution reversed already"):
        evolve(state, "round-r", EVENTS[ev.ContributionReversed])


def test_a_played_round_passes_every_phase_in_order() -> None:
    """The phases a reader sees after each command of a round, and the events in the order of the contract."""
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table(plain_house(side_bets=[jackpot_bet({"royal_flush": {"percent": 100}})]))
    round_id = ledger.open()
    phases = [ledger.round(round_id).phase]
    box = Box("As Ks Qs Js Ts", side_bets={"jackpot": 100})
    stake = ledger.stake(1, jackpot=100)
    ledger.fund([stake])
    ledger.ask(c.PlaceAntes(round_id, (stake,)))
    phases.append(ledger.round(round_id).phase)
    ledger.deal(round_id, ACE_KING, {1: box.hand})
    phases.append(ledger.round(round_id).phase)
    ledger.decide(round_id, 1, "raise")
    phases.append(ledger.round(round_id).phase)
    ledger.reveal(round_id, ACE_KING)
    phases.append(ledger.round(round_id).phase)
    assert phases == ["betting", "betting", "dealt", "decided", "closed"]
    assert ledger.kinds(round_id) == [
        "RoundOpened",
        "AntePlaced",
        "SideBetPlaced",
        "BettingClosed",
        "Dealt",
        "Dealt",
        "Raised",
        "DealerQualified",
        "JackpotHit",
        "Settled",
        "RoundClosed",
    ]
