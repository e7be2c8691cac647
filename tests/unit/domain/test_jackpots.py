"""The progressive jackpot: order of awards, top-ups, restarts and reversals (readings 10, 11, 12, 15)."""

from __future__ import annotations

import hashlib

import pytest

from domain import commands as c
from domain import events as ev
from domain.jackpots import (
    METER_MAX,
    Payment,
    ceiling_exact,
    parameters_document,
    parameters_sha256,
    pay,
    reverse,
    room,
    share_out,
)
from domain.rules import CompiledAward
from tests.unit.domain.playing import FUNDS, Box, Ledger, jackpot_bet, plain_house

ACE_KING = "Ad Kd 3h 3c 2s"
ROYALS = ("As Ks Qs Js Ts", "Ah Kh Qh Jh Th")
STRAIGHT_FLUSHES = ("9c 8c 7c 6c 5c", "9d 8d 7d 6d 5d")
QUADS = "4s 4h 4d 4c 2c"
FULL = {"percent": 100}
TENTH = {"percent": 10}


def house(stake: str = "1", quads: str = "500", funding: str = "meter", **play: object) -> dict[str, object]:
    """Return a test house whose jackpot pays 100 %, 10 % and a fixed amount for quads."""
    awards = {
        "royal_flush": FULL,
        "straight_flush": TENTH,
        "four_of_a_kind": {"fixed": quads, "funding": funding},
    }
    return plain_house(side_bets=[jackpot_bet(awards, stake)], play=play)


def ledger_at(reset: int, contribution: str = "1", **fields: str) -> Ledger:
    """Return a ledger with a table of the test house and a jackpot that starts there."""
    ledger = Ledger()
    ledger.jackpot(reset, contribution=contribution)
    ledger.table(house(**fields))
    return ledger


def box(hand: str, does: str = "raise", stake: int = 100) -> Box:
    """Return a seat that bets on the jackpot."""
    return Box(hand, does, side_bets={"jackpot": stake})


# ── The order of awards ─────────────────────────────────────────────────────────────────────────
def test_the_worked_example_of_the_order() -> None:
    """From a meter of 1 000 000: 100 000; 50 000; 425 000; 425 000; and 1 000 from the restart at 10 000."""
    ledger = ledger_at(10_000, stake="1980")
    boxes = {
        1: box(STRAIGHT_FLUSHES[0], stake=198_000),
        2: box(QUADS, stake=198_000),
        3: box(ROYALS[0], stake=198_000),
        4: box(ROYALS[1], stake=198_000),
        5: box(STRAIGHT_FLUSHES[1], stake=198_000),
    }
    round_id = ledger.dealt(ACE_KING, boxes)
    assert ledger.meter() == 1_000_000
    for seat in boxes:
        ledger.decide(round_id, seat, "fold" if seat == 4 else "raise")
    answer = ledger.reveal(round_id, ACE_KING)

    hits = ledger.of(round_id, ev.JackpotHit)
    assert [(hit.seat, hit.award) for hit in hits] == [
        (1, 100_000),
        (2, 50_000),
        (3, 425_000),
        (4, 425_000),
        (5, 1_000),
    ]
    assert [hit.order for hit in hits] == [1, 2, 3, 4, 5]
    assert [hit.restart for hit in hits] == [None, None, None, "10000", None]
    assert [(hit.meter_before, hit.meter_after) for hit in hits] == [
        ("1000000", "900000"),
        ("900000", "850000"),
        ("850000", "425000"),
        ("425000", "10000"),
        ("10000", "9000"),
    ]
    assert ledger.meter() == 9_000
    assert [hit["award"] for hit in answer["jackpot_hits"]] == [hit.award for hit in hits]
    kinds = [name for name in ledger.kinds(round_id) if name in ("JackpotHit", "Settled")]
    hit, settled = "JackpotHit", "Settled"
    assert kinds == [hit, settled, hit, settled, hit, hit, settled, settled, hit, settled]


def test_every_movement_names_the_one_before_it() -> None:
    """`previous_position` leads from hit to hit and to the last contribution, over other rounds."""
    ledger = ledger_at(1_000_000)
    round_id = ledger.dealt(ACE_KING, {1: box(STRAIGHT_FLUSHES[0]), 2: box(QUADS)})
    ledger.table(house(), "other")
    ledger.open(ledger.stake(1, player="p", jackpot=100), table_id="other")
    between = ledger.events[-1].position
    ledger.decide(round_id, 1, "raise")
    ledger.decide(round_id, 2, "raise")
    ledger.reveal(round_id, ACE_KING)

    positions = [e.position for e in ledger.by_round[round_id] if isinstance(e.event, ev.JackpotHit)]
    links = [hit.previous_position for hit in ledger.of(round_id, ev.JackpotHit)]
    assert links == [between, positions[0]]


def test_shares_are_rounded_down_and_the_rest_is_carried_over() -> None:
    """Half a cent more and two winners: each gets the whole minor units, the rest joins the restart."""
    ledger = ledger_at(1_001, contribution="0.0025")
    round_id = ledger.play(ACE_KING, {1: box(ROYALS[0]), 2: box(ROYALS[1], "fold")})

    first, second = ledger.of(round_id, ev.JackpotHit)
    assert (first.award, second.award) == (500, 500)
    assert (first.meter_before, second.meter_after) == ("1001.5", "1002.5")
    assert ledger.work.jackpots["pot"].meter == 10_025_000


def test_a_percentage_is_rounded_down_and_the_rest_stays() -> None:
    """A tenth of 1 009.25 is 100; 909.25 stay."""
    ledger = ledger_at(1_000, contribution="0.0925")
    round_id = ledger.play(ACE_KING, {1: box(STRAIGHT_FLUSHES[0])})
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.award, hit.meter_before, hit.meter_after) == (100, "1009.25", "909.25")


def test_a_meter_restarts_at_zero_where_the_reset_is_zero() -> None:
    """The last share says so: a restart of 0, present all the same."""
    ledger = ledger_at(0)
    round_id = ledger.play(ACE_KING, {1: box(ROYALS[0])})
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.award, hit.restart, hit.meter_after) == (100, "0", "0")


def test_a_hand_is_paid_its_highest_category_only() -> None:
    """A royal flush is no straight flush, and quads no full house."""
    ledger = ledger_at(1_000_000)
    assert len(ledger.of(ledger.play(ACE_KING, {1: box(ROYALS[0])}), ev.JackpotHit)) == 1


def test_who_does_not_bet_on_it_gets_no_share() -> None:
    """Of two royals one plays the jackpot: it takes the whole meter."""
    ledger = ledger_at(1_000_000)
    round_id = ledger.play(ACE_KING, {1: Box(ROYALS[0]), 2: box(ROYALS[1])})
    assert [hit.seat for hit in ledger.of(round_id, ev.JackpotHit)] == [2]
    assert ledger.paid(round_id, 2)["jackpot"] == (0, 1_000_100)


# ── Who pays ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("reset", "house_pays"), [(49_899, 1), (49_900, 0), (49_901, 0), (0, 49_900)])
def test_the_house_tops_a_fixed_award_up(reset: int, house_pays: int) -> None:
    """Quads pay 50 000 exactly: from the meter what it holds, the rest from the house, and the meter is 0."""
    ledger = ledger_at(reset)
    round_id = ledger.play(ACE_KING, {1: box(QUADS)})

    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.award, hit.from_house) == (50_000, str(house_pays))
    assert int(hit.from_meter) == 50_000 - house_pays
    assert ledger.meter() == max(reset + 100 - 50_000, 0)


def test_a_top_up_of_a_fraction() -> None:
    """A meter that lacks half a minor unit is topped up by half a minor unit."""
    ledger = ledger_at(49_999, contribution="0.0050")
    round_id = ledger.play(ACE_KING, {1: box(QUADS)})
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.from_meter, hit.from_house, hit.meter_after) == ("49999.5", "0.5", "0")


def test_an_award_of_the_house_leaves_the_meter_alone() -> None:
    """With `funding: house` the house pays all of it."""
    ledger = ledger_at(1_000_000, funding="house")
    round_id = ledger.play(ACE_KING, {1: box(QUADS)})
    (hit,) = ledger.of(round_id, ev.JackpotHit)
    assert (hit.from_meter, hit.from_house, hit.meter_after) == ("0", "50000", "1000100")


def test_the_stake_is_the_houses_and_the_contribution_the_meters() -> None:
    """Of a dollar at 70 % the meter gets 70 cents at once, which the house advances until settlement."""
    ledger = ledger_at(0, contribution="0.70")
    ledger.open(ledger.stake(1, jackpot=100))
    assert ledger.meter() == 70
    assert ledger.work.accounts["house:real", "USD"] == -70 * 10_000


@pytest.mark.parametrize(("does", "reveals"), [("fold", True), ("fold", False), ("raise", True)])
def test_it_may_need_a_dealer_who_qualifies(does: str, *, reveals: bool) -> None:
    """Where the house says so, a dealer who does not qualify, or is not revealed, beats the side bet too."""
    document = house(reveal_if_all_fold=reveals)
    bet = {**document["side_bets"][0], "needs_dealer_to_qualify": True}  # type: ignore[index]
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table({**document, "side_bets": [bet]})
    round_id = ledger.play("Ad Qd 9h 3c 2s", {1: box(ROYALS[1], does)})
    assert ledger.paid(round_id)["jackpot"] == (0, 0)
    assert ledger.of(round_id, ev.JackpotHit) == []


def test_it_may_be_lost_with_a_fold() -> None:
    """Where the house says so, a folded royal wins nothing and a royal that stays takes the meter alone."""
    document = house()
    bet = {**document["side_bets"][0], "survives_fold": False}  # type: ignore[index]
    ledger = Ledger()
    ledger.jackpot(1_000)
    ledger.table({**document, "side_bets": [bet]})
    round_id = ledger.play(ACE_KING, {1: box(ROYALS[0], "fold"), 2: box(ROYALS[1])})
    assert ledger.paid(round_id, 1)["jackpot"] == (0, 0)
    assert ledger.paid(round_id, 2)["jackpot"] == (0, 1_200)


# ── Contributions reversed ──────────────────────────────────────────────────────────────────────
def void_after_hit(reset: int, hand: str) -> tuple[Ledger, str]:
    """Return a ledger where one round contributed, another hit the meter, and the first was then void."""
    ledger = ledger_at(reset)
    ledger.table(house(), "other")
    first = ledger.open(ledger.stake(1, jackpot=100), ledger.stake(2), ledger.stake(3, jackpot=100))
    ledger.play(ACE_KING, {1: Box(hand, player="p", side_bets={"jackpot": 100})}, "other")
    ledger.ask(c.VoidRound(first, "malfunction"))
    return ledger, first


def test_a_contribution_is_reversed_after_another_round_hit_the_meter() -> None:
    """The meter covers it: both contributions leave it, the award stays as it was paid."""
    ledger, first = void_after_hit(1_000, STRAIGHT_FLUSHES[0])

    one, three = ledger.of(first, ev.ContributionReversed)
    assert (one.seat, three.seat) == (1, 3)
    assert (one.amount, one.from_meter, one.from_house) == ("100", "100", "0")
    assert (one.meter_before, one.meter_after, three.meter_after) == ("1170", "1070", "970")
    assert ledger.meter() == 970
    assert ledger.wallet("player-1") == ledger.wallet("player-2") == (FUNDS, 0)


@pytest.mark.parametrize(("reset", "from_meter"), [(0, (0, 0)), (49_720, (20, 0)), (49_850, (100, 50))])
def test_the_house_bears_what_the_meter_does_not_hold(reset: int, from_meter: tuple[int, int]) -> None:
    """After quads have emptied the meter the reversal takes what is there and never goes below zero."""
    ledger, first = void_after_hit(reset, QUADS)

    reversals = ledger.of(first, ev.ContributionReversed)
    assert [(int(r.from_meter), int(r.from_house)) for r in reversals] == [
        (taken, 100 - taken) for taken in from_meter
    ]
    assert ledger.meter() == 0
    assert ledger.wallet("player-1") == ledger.wallet("player-3") == (FUNDS, 0)


def test_a_void_without_a_jackpot_bet_reverses_nothing() -> None:
    """Seats that did not contribute have no reversal."""
    ledger = ledger_at(1_000)
    round_id = ledger.open(ledger.stake(1))
    ledger.ask(c.VoidRound(round_id, "malfunction"))
    assert ledger.kinds(round_id) == ["RoundOpened", "AntePlaced", "RoundVoided", "StakeRefunded"]


# ── Pinned parameters and bounds ────────────────────────────────────────────────────────────────
def test_a_round_contributes_and_restarts_by_the_parameters_it_opened_with() -> None:
    """A change of share and reset between opening and stake is for later rounds (G7)."""
    ledger = ledger_at(1_000)
    round_id = ledger.open(ledger.stake(1))
    pot = ledger.work.jackpots["pot"]
    pot.share, pot.contribution, pot.reset = 1, "0.0001", 77
    stake = ledger.stake(2, jackpot=100)
    ledger.fund([stake])
    ledger.ask(c.PlaceAntes(round_id, (stake,)))
    assert ledger.meter() == 1_100
    ledger.deal(round_id, ACE_KING, {1: QUADS, 2: ROYALS[0]})
    ledger.decide(round_id, 1, "fold")
    ledger.decide(round_id, 2, "raise")
    ledger.reveal(round_id, ACE_KING)
    assert ledger.meter() == 1_000


def test_a_disabled_jackpot_takes_no_bets() -> None:
    """The side bet is refused; the ante alone is taken."""
    ledger = ledger_at(1_000)
    ledger.work.jackpots["pot"].enabled = False
    stakes = (ledger.stake(1, jackpot=100),)
    ledger.fund(stakes)
    ledger.refused(c.OpenRound("x", "t", stakes), "jackpot_disabled")
    ledger.open(ledger.stake(1))


def test_a_meter_grows_no_further_than_its_bound() -> None:
    """A bet that could take the meter beyond 9·10¹⁵ is refused, one that reaches it is taken."""
    ledger = ledger_at(1_000)
    stakes = (ledger.stake(1, jackpot=100), ledger.stake(2, jackpot=100))
    ledger.fund(stakes)
    ledger.work.jackpots["pot"].meter = (9 * 10**15 - 199) * 10_000
    ledger.refused(c.OpenRound("x", "t", stakes), "amount_out_of_range")
    ledger.open(stakes[0])


# ── Opening one ─────────────────────────────────────────────────────────────────────────────────
def test_a_jackpot_opens_at_its_reset() -> None:
    """The house pays the reset in; the event pins the parameters by their hash."""
    ledger = Ledger()
    answer = ledger.ask(c.OpenJackpot("pot", "USD", 1_000_000, "0.70"))
    document = '{"contribution":"0.70","currency":"USD","jackpot_id":"pot","reset":1000000,"version":1}'
    sha256 = hashlib.sha256(document.encode()).hexdigest()
    (emitted,) = ledger.last
    assert (emitted.stream, emitted.version) == ("jackpot-pot", 1)
    assert emitted.event == ev.JackpotOpened("pot", "USD", "real", "0.70", 1_000_000, 1, sha256)
    assert answer == {
        "jackpot_id": "pot",
        "currency": "USD",
        "account_class": "real",
        "meter": 1_000_000,
        "meter_exact": "1000000",
        "contribution": "0.70",
        "reset": 1_000_000,
        "enabled": True,
        "retired": False,
        "overflow_exact": "0",
        "diversion_exact": "0",
        "parameters_version": 1,
    }
    assert ledger.work.accounts == {("house:real", "USD"): -10_000_000_000}
    assert parameters_sha256(parameters_document("pot", "USD", "0.70", 1_000_000, 1)) == sha256
    assert ledger.work.jackpots["pot"].moved_at == emitted.position


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (c.OpenJackpot("pot", "USD", 1, "0.5"), "jackpot_exists"),
        (c.OpenJackpot("new", "XXX", 1, "0.5"), "validation_failed"),
        (c.OpenJackpot("new", "USD", -1, "0.5"), "amount_out_of_range"),
        (c.OpenJackpot("new", "USD", 10**12 + 1, "0.5"), "amount_out_of_range"),
        (c.OpenJackpot("new", "USD", 1, "0"), "validation_failed"),
        (c.OpenJackpot("new", "USD", 1, "1.1"), "validation_failed"),
        (c.OpenJackpot("new", "USD", 1, "0.12345"), "validation_failed"),
        (c.OpenJackpot("new", "USD", 1, "1", diversion="0.0001"), "validation_failed"),
        (c.OpenJackpot("new", "USD", 1, "0.5", diversion="0.00001"), "validation_failed"),
        (c.OpenJackpot("new", "USD", 9, "1", ceiling=9), "amount_out_of_range"),
        (c.OpenJackpot("new", "USD", 9, "1", ceiling=9 * 10**15 + 1), "amount_out_of_range"),
    ],
)
def test_a_jackpot_that_cannot_be(command: c.OpenJackpot, code: str) -> None:
    """A taken id, an unknown currency, an amount out of range, and shares that are none are refused."""
    ledger = ledger_at(1_000)
    ledger.refused(command, code)


def test_a_jackpot_opens_with_a_ceiling_and_a_diversion() -> None:
    """Both are in the event, in the hash, in what a round pins, and in the answer."""
    ledger = Ledger()
    answer = ledger.ask(c.OpenJackpot("pot", "USD", 5, "0.70", ceiling=6, diversion="0.30"))
    document = (
        '{"ceiling":6,"contribution":"0.70","currency":"USD","diversion":"0.30","jackpot_id":"pot",'
        '"reset":5,"version":1}'
    )
    sha256 = hashlib.sha256(document.encode()).hexdigest()
    opened = ev.JackpotOpened("pot", "USD", "real", "0.70", 5, 1, sha256, 6, "0.30")
    assert ledger.last[0].event == opened
    assert (answer["ceiling"], answer["diversion"]) == (6, "0.30")
    ledger.table(house())
    round_id = ledger.open(ledger.stake(1))
    pinned = ledger.work.rounds[round_id].opened.jackpot
    assert pinned == ev.JackpotRef("pot", 1, sha256, "0.70", 5, 6, "0.30")


def test_a_diversion_of_nothing_is_none() -> None:
    """Parameters say nothing of what there is not: their hash is that of parameters without it."""
    ledger = Ledger()
    for name, diversion in (("one", "0"), ("two", "0.00"), ("three", None)):
        answer = ledger.ask(c.OpenJackpot(name, "USD", 5, "0.70", diversion=diversion))
        assert "diversion" not in answer
        sha256 = parameters_sha256(parameters_document(name, "USD", "0.70", 5, 1))
        assert ledger.work.jackpots[name].sha256 == sha256


@pytest.mark.parametrize("reset", [0, 10**12])
def test_resets_at_the_bounds(reset: int) -> None:
    """Zero and the largest amount are taken."""
    assert ledger_at(reset).meter() == reset


# ── The arithmetic alone ────────────────────────────────────────────────────────────────────────
def test_pay() -> None:
    """Each kind of award in figures, meters in ten-thousandths."""
    assert pay(10_099_999, CompiledAward(10, None, "meter")) == Payment(100, 1_000_000, 0, 9_099_999)
    assert pay(10_000_000, CompiledAward(None, 300, "meter")) == Payment(300, 3_000_000, 0, 7_000_000)
    assert pay(1_000_001, CompiledAward(None, 300, "meter")) == Payment(300, 1_000_001, 1_999_999, 0)
    assert pay(1_000_001, CompiledAward(None, 300, "house")) == Payment(300, 0, 3_000_000, 1_000_001)


def test_an_award_of_nothing() -> None:
    """Neither a percentage nor an amount: nothing moves."""
    assert pay(1_000_001, CompiledAward(None, None, "meter")) == Payment(0, 0, 0, 1_000_001)


def test_parameters_are_hashed_in_canonical_form() -> None:
    """Sorted keys, no spaces, UTF-8."""
    expected = hashlib.sha256('{"a":1,"b":"ø"}'.encode()).hexdigest()
    assert parameters_sha256({"b": "ø", "a": 1}) == expected


def test_share_out() -> None:
    """Three winners of 100.0001 and a reset of 7: 33 each, 1.0001 carried over."""
    assert share_out(1_000_001, 3, 7) == [
        Payment(33, 330_000, 0, 670_001),
        Payment(33, 330_000, 0, 340_001),
        Payment(33, 330_000, 0, 80_001, 7),
    ]


def test_reverse() -> None:
    """A pool gives what went into it, and never more than it holds."""
    assert [reverse(pool, 400) for pool in (1_000, 400, 399, 0)] == [400, 400, 399, 0]


@pytest.mark.parametrize(
    ("overflow", "diverted", "most", "last"),
    [
        (0, 0, 10_000_000, Payment(50, 500_000, 0, 70_000, 7)),
        (25_000, 0, 10_000_000, Payment(50, 500_000, 0, 95_000, 7, 0, 25_000)),
        (25_000, 0, 80_000, Payment(50, 500_000, 0, 80_000, 7, 0, 10_000)),
        (25_000, 0, 70_000, Payment(50, 500_000, 0, 70_000, 7)),
        (25_000, 0, 60_000, Payment(50, 500_000, 0, 70_000, 7)),
        (0, 65_000, 10_000_000, Payment(50, 500_000, 0, 70_000, 7, 65_000)),
        (0, 75_000, 10_000_000, Payment(50, 500_000, 0, 70_000, 7, 70_000)),
    ],
)
def test_what_the_other_pools_give_to_a_restart(
    overflow: int, diverted: int, most: int, last: Payment
) -> None:
    """The overflow fills it up to what it may, the diversion pays for the reset and no more."""
    first, second = share_out(1_000_000, 2, 7, overflow=overflow, diverted=diverted, most=most)
    assert first == Payment(50, 500_000, 0, 500_000)
    assert second == last


def test_room() -> None:
    """Up to the ceiling where there is one, else up to what can be counted; above it nothing."""
    assert room(5, 12) == 7
    assert room(12, 12) == room(13, 12) == 0
    assert room(5, None) == METER_MAX - 5
    assert (ceiling_exact(None), ceiling_exact(3)) == (None, 30_000)
