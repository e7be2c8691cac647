"""Awards in the order of reading 11, the meter's chain, and what other rounds may do to it in between."""

from __future__ import annotations

from domain.replay import Report, replay
from tests.unit.domain.replay.rules_and_decks import plain
from tests.unit.domain.replay.stream_builder import Stream, find

ROYAL_CLUBS = "Ac Kc Qc Jc Tc"
ROYAL_DIAMONDS = "Ad Kd Qd Jd Td"
ROYAL_HEARTS = "Ah Kh Qh Jh Th"
QUADS = "2c 2d 2h 2s 3c"
LEGS = {"ante": (100, 100, 1)}


def dealt(*hands: str, reset: int = 10_000) -> Stream:
    """A table where every seat bets on the jackpot and raises; the dealer holds ace-king and plays."""
    stream = Stream(plain(), jackpot={"reset": reset}, bonus_stake=500)
    for seat in range(1, len(hands) + 1):
        stream.ante(seat, 100, jackpot=100)
    stream.command().deal("4h", dict(enumerate(hands, 1)))
    for seat in range(1, len(hands) + 1):
        stream.raise_(seat)
    return stream.reveal("high_card", qualified=True, cards="As Ks 3d 7c 4h")


def settled(stream: Stream, seat: int, category: str, odds: int, award: int) -> Stream:
    """Settle a seat that won its bets and an award."""
    legs = {**LEGS, "raise_": (200, 200 * odds, odds), "jackpot": (0, award)}
    return stream.settle(seat, "win", category, shown=True, **legs)


def checked(stream: Stream) -> Report:
    """The replay's report."""
    return replay(stream.events, stream.document, stream.jackpot)


def the_example() -> Stream:
    """Reading 11's example, seat by seat."""
    stream = dealt("9h 8h 7h 6h 5h", QUADS, ROYAL_CLUBS, ROYAL_DIAMONDS, "9s 8s 7s 6s 5s")
    stream.hit(1, "straight_flush", 100_000, ("1000000", "900000"))
    settled(stream, 1, "straight_flush", 50, 100_000)
    stream.hit(2, "four_of_a_kind", 50_000, ("900000", "850000"))
    settled(stream, 2, "four_of_a_kind", 20, 50_000)
    stream.hit(3, "royal_flush", 425_000, ("850000", "425000"))
    stream.hit(4, "royal_flush", 425_000, ("425000", "10000"), restart="10000")
    settled(stream, 3, "royal_flush", 100, 425_000)
    settled(stream, 4, "royal_flush", 100, 425_000)
    stream.hit(5, "straight_flush", 1_000, ("10000", "9000"))
    return settled(stream, 5, "straight_flush", 50, 1_000).close()


def test_the_example_of_the_jackpot_order_passes() -> None:
    """Meter 1 000 000, reset 10 000: 100 000, 50 000, 425 000, 425 000, 1 000 (reading 11)."""
    assert checked(the_example()).failed() == ()


def test_royals_paid_one_after_the_other_fail() -> None:
    """The first royal may not take the meter and leave the reset to the second: they share it."""
    stream = dealt(ROYAL_CLUBS, ROYAL_DIAMONDS)
    stream.hit(1, "royal_flush", 850_000, ("850000", "10000"), restart="10000")
    settled(stream, 1, "royal_flush", 100, 850_000)
    stream.hit(2, "royal_flush", 10_000, ("10000", "10000"), restart="10000")
    settled(stream, 2, "royal_flush", 100, 10_000).close()

    failed = checked(stream).failed()

    assert {
        "settlement_order",
        "jackpot.seat_1.award",
        "jackpot.seat_1.funding",
        "jackpot.seat_2.award",
    } <= set(failed)


def test_shares_are_rounded_down_and_the_rest_stays_in_the_restarted_meter() -> None:
    """1 000 001.25 among three royals: 333 333 each, 2.25 go into the restarted meter (reading 11)."""
    stream = dealt(ROYAL_CLUBS, ROYAL_DIAMONDS, ROYAL_HEARTS)
    stream.hit(1, "royal_flush", 333_333, ("1000001.25", "666668.25"))
    stream.hit(2, "royal_flush", 333_333, ("666668.25", "333335.25"))
    stream.hit(3, "royal_flush", 333_333, ("333335.25", "10002.25"), restart="10000")
    for seat in (1, 2, 3):
        settled(stream, seat, "royal_flush", 100, 333_333)

    assert checked(stream.close()).failed() == ()


def test_a_house_funded_award_leaves_the_meter_alone() -> None:
    """A full house that the house pays takes nothing from the meter (reading 12)."""
    stream = dealt("5c 5d 5h 6c 6d")
    stream.hit(1, "full_house", 10_000, ("77.7", "77.7"), from_meter="0", from_house="10000")

    assert checked(settled(stream, 1, "full_house", 7, 10_000).close()).failed() == ()


def test_a_percentage_of_an_empty_meter_is_an_award_of_nothing() -> None:
    """Ten per cent of 9.9999 minor units is nothing, which is recorded as such; the meter stays as it is."""
    stream = dealt("9h 8h 7h 6h 5h").hit(1, "straight_flush", 0, ("9.9999", "9.9999"))

    assert checked(settled(stream, 1, "straight_flush", 50, 0).close()).failed() == ()


def test_another_round_may_hit_between_two_batches() -> None:
    """Where another round's hit came between, its link and count are accepted, and the meter is read anew."""
    stream = the_example_in_two_batches(order=12, meter=("700000", "650000"))

    assert checked(stream).failed() == ()


def the_example_in_two_batches(order: int, meter: tuple[str, str], link: int | None = None) -> Stream:
    """Two awards of one round, the second after four events of other streams, the last of them a hit."""
    stream = dealt("9h 8h 7h 6h 5h", QUADS)
    stream.hit(1, "straight_flush", 100_000, ("1000000", "900000"))
    settled(stream, 1, "straight_flush", 50, 100_000).command(elsewhere=4)
    stream.moved_at = link or stream.position
    stream.hits = order - 1
    stream.hit(2, "four_of_a_kind", 50_000, meter)
    return settled(stream, 2, "four_of_a_kind", 20, 50_000).close()


def test_hits_are_counted_upwards() -> None:
    """A later hit has a higher number, whatever came between."""
    assert checked(the_example_in_two_batches(order=8, meter=("700000", "650000"))).failed() == (
        "meter_chain",
    )


def test_hits_with_nothing_between_are_counted_by_one() -> None:
    """A hit that links to the one before it has the next number."""
    stream = the_example()
    find(stream.events, "JackpotHit", 2)["data"]["order"] += 1

    assert "meter_chain" in checked(stream).failed()


def test_the_meter_goes_on_from_the_movement_it_links_to() -> None:
    """A hit that links to one in this round starts from the meter that one left."""
    stream = the_example_in_two_batches(order=9, meter=("700000", "650000"), link=1)
    hits = [event for event in stream.events if event["type"] == "JackpotHit"]
    hits[1]["data"]["previous_position"] = hits[0]["position"]

    assert checked(stream).failed() == ("meter_chain",)


def test_nothing_comes_between_the_shares_of_a_meter() -> None:
    """The shares of a won meter follow each other directly: another round's movement between them fails."""
    stream = the_example()
    share = find(stream.events, "JackpotHit", 4)
    for event in stream.events[stream.events.index(share) :]:
        event["position"] += 10
    share["data"]["previous_position"] = share["position"] - 1

    assert "meter_chain" in checked(stream).failed()


def test_a_missing_share_does_not_stop_the_others_from_being_judged() -> None:
    """Without the first share the pot is read from the next one, and the report goes on."""
    stream = the_example()
    stream.events.remove(find(stream.events, "JackpotHit", 3))

    failed = checked(stream).failed()

    assert {"jackpot.seat_3", "jackpot.seat_4.award", "settlement_order", "versions_gap_free"} <= set(failed)


def test_an_exchange_that_forfeits_the_jackpot_bet_earns_no_award() -> None:
    """Where the house takes the jackpot bet with an exchange, the hand that it makes is paid no award."""
    rules = plain(exchange={"fee_antes": 1, "forfeits": ["jackpot"]})
    stream = Stream(rules, jackpot={"reset": 10_000}, bonus_stake=500).ante(1, 100, jackpot=100).command()
    stream.deal("4h", {1: "2c 2d 2h 3c 9c"}).exchange(1, "9c", "2s", ("jackpot",)).raise_(1)
    stream.reveal("high_card", qualified=True, cards="As Ks 3d 7c 4h")
    legs = {**LEGS, "raise_": (200, 4_000, 20), "fee": (0, 0), "jackpot": (0, 0)}
    stream.settle(1, "win", "four_of_a_kind", shown=True, **legs).close()

    assert checked(stream).failed() == ()


def test_a_side_bet_that_does_not_survive_a_fold_earns_no_award() -> None:
    """Where the house says that a fold loses the side bet, a folded hand is paid no award."""
    rules = plain()
    rules["side_bets"][0]["survives_fold"] = False
    stream = Stream(rules, jackpot={"reset": 10_000}, bonus_stake=500).ante(1, 100, jackpot=100).command()
    stream.deal("4h", {1: QUADS}).fold(1).reveal("high_card", qualified=True, cards="As Ks 3d 7c 4h")
    stream.settle(1, "folded", "four_of_a_kind", shown=False, ante=(0, 0), jackpot=(0, 0)).close()

    assert checked(stream).failed() == ()
