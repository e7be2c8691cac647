"""The progressive jackpot over HTTP on physical tables: order of awards, top-ups, reversals, to the unit.

The readings are those of the houses' rule sets: who is paid first, from which meter, and who pays what the
meter does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.integration.api.physical_table import Box, PhysicalTable, publish

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

BET: Final = {"jackpot": 100}
DEALER: Final = "4c 7h 9c Jd Qd"
ROYAL_OF_SPADES: Final = "Ts Js Qs Ks As"
ROYAL_OF_HEARTS: Final = "Th Jh Qh Kh Ah"
FULL_HOUSE: Final = "3s 3h 3d 2s 2h"
QUADS: Final = "3s 3h 3d 3c 2s"
FLUSH: Final = "2s 4s 6s 8s Ts"
PAIR: Final = "5h 5d Kc 9h 2c"


def feeder(api: Api, stake: str, jackpot_id: str) -> PhysicalTable:
    """Return a table of a house whose jackpot bet costs `stake` dollars, on a jackpot that is there."""
    document: dict[str, Any] = api.done(api.get("/v1/rulesets/us-casino"))["document"]
    document["id"] = f"feeder-{stake}"
    document["side_bets"][0]["stake"] = stake
    publish(api, document)
    return PhysicalTable(api, document["id"], jackpot_id=jackpot_id)


def feed(api: Api, stake: str, jackpot_id: str) -> None:
    """Have one jackpot bet of `stake` dollars made and lost."""
    minor = int(stake.replace(".", ""))
    round_ = feeder(api, stake, jackpot_id).play(DEALER, Box(PAIR, "fold", 100, {"jackpot": minor}))
    assert round_.hits() == []


def meters(hits: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the meter before and after each award."""
    return [(hit["meter_before"], hit["meter_after"]) for hit in hits]


def test_the_order_of_awards_in_one_round(api: Api) -> None:
    """Reading 11: from a meter of 1 000 000 the five seats win 100 000, 50 000, 425 000 twice, and 1 000."""
    table = PhysicalTable(api, "us-casino", reset=10_000, contribution="1")
    assert table.jackpot_id is not None
    feed(api, "9895.00", table.jackpot_id)
    assert table.meter() == "999500"
    hands = ("5c 6c 7c 8c 9c", "3s 3h 3d 3c 2s", ROYAL_OF_SPADES, ROYAL_OF_HEARTS, "4d 5d 6d 7d 8d")
    round_ = table.play("9s 9h 2c 4h Jc", *(Box(hand, "raise", 100, BET) for hand in hands))
    assert round_.hits() == [(1, 100_000), (2, 50_000), (3, 425_000), (4, 425_000), (5, 1_000)]
    assert meters(round_.of("JackpotHit")) == [
        ("1000000", "900000"),
        ("900000", "850000"),
        ("850000", "425000"),
        ("425000", "10000"),
        ("10000", "9000"),
    ]
    assert [hit.get("restart") for hit in round_.of("JackpotHit")] == [None, None, None, "10000", None]
    assert table.meter() == "9000"
    order = [
        event["data"].get("seat") for event in round_.events if event["type"] in ("JackpotHit", "Settled")
    ]
    assert order == [1, 1, 2, 2, 3, 4, 3, 4, 5, 5]
    assert [round_.paid(seat)["jackpot"][2] for seat in range(1, 6)] == [
        100_000,
        50_000,
        425_000,
        425_000,
        1_000,
    ]


def test_what_shares_of_a_meter_cut_off_is_carried_into_the_next(api: Api) -> None:
    """Two royals halve 1 000 141.5 rounded down; the rest lies in the restarted meter."""
    table = PhysicalTable(api, "nordic", reset=1_000_000, contribution="0.7075")
    boxes = (Box(ROYAL_OF_SPADES, "fold", 100, BET), Box(ROYAL_OF_HEARTS, "raise", 100, BET))
    round_ = table.play(DEALER, *boxes)
    assert round_.hits() == [(1, 500_070), (2, 500_070)]
    assert table.meter() == "1000001.5"


def test_a_percentage_is_rounded_down_and_the_rest_stays_in_the_meter(api: Api) -> None:
    """A tenth of 12 345.71 is 1 234, and 11 111.71 are left."""
    table = PhysicalTable(api, "us-casino", reset=12_275, contribution="0.7071")
    round_ = table.play(DEALER, Box("9s Ts Js Qs Ks", "raise", 100, BET))
    assert meters(round_.of("JackpotHit")) == [("12345.71", "11111.71")]
    assert round_.hits() == [(1, 1_234)]


def test_a_seat_without_the_side_bet_wins_nothing_of_the_jackpot(api: Api) -> None:
    """Of two royals only the one that bet on the jackpot gets it, whole."""
    table = PhysicalTable(api, "us-casino", reset=1_000_000)
    round_ = table.play(DEALER, Box(ROYAL_OF_SPADES), Box(ROYAL_OF_HEARTS, "raise", 10_000, BET))
    assert round_.hits() == [(2, 1_000_070)]
    assert "jackpot" not in round_.paid(1)


FIXED: Final = {
    "us-casino": (100, 50_000, 10_000, 5_000),
    "nordic": (100, 50_000, 10_000, 5_000),
    "uk-casino": (100, 50_000, 10_000, 5_000),
    "cyber": (100, 10_000, 10_000, 5_000),
    "macau": (1_000, 500_000, 150_000, 100_000),
    "adelaide": (250, 125_000, 37_500, 25_000),
}
"""Each house's stake, and its awards for four of a kind, a full house and a flush."""


@pytest.mark.parametrize(
    ("ruleset", "stake", "hand", "award"),
    [
        (ruleset, stake, hand, award)
        for ruleset, (stake, *awards) in FIXED.items()
        for hand, award in zip((QUADS, FULL_HOUSE, FLUSH), awards, strict=True)
    ],
)
def test_the_house_tops_up_what_the_meter_does_not_hold(
    api: Api, ruleset: str, stake: int, hand: str, award: int
) -> None:
    """Reading 12: each fixed award is paid in full, from the meter first, which is empty then."""
    table = PhysicalTable(api, ruleset, reset=1_000)
    round_ = table.play(DEALER, Box(hand, "raise", 100, {"jackpot": stake}))
    meter = 1_000 + stake * 7 // 10
    (hit,) = round_.of("JackpotHit")
    assert (hit["award"], hit["from_meter"], hit["from_house"]) == (award, str(meter), str(award - meter))
    assert round_.paid()["jackpot"] == (stake, 0, award)
    assert table.meter() == "0"
    again = table.play(DEALER, Box(PAIR, "fold", 100, {"jackpot": stake}))
    assert (again.hits(), table.meter()) == ([], str(stake * 7 // 10))


def test_a_meter_that_holds_the_award_pays_it_alone(api: Api) -> None:
    """The house adds nothing to an award of exactly what is in the meter."""
    table = PhysicalTable(api, "us-casino", reset=49_930)
    (hit,) = table.play(DEALER, Box(QUADS, "raise", 100, BET)).of("JackpotHit")
    assert (hit["from_meter"], hit["from_house"], table.meter()) == ("50000", "0", "0")


# ── A contribution reversed after another round hit the meter (reading 15) ────────────────────────────────


def reversals(api: Api, reset: int, hit: str, *, feed_after: str | None = None) -> tuple[list[Any], str]:
    """Bet on the jackpot with three seats, let another round win, void the first; what left the meter.

    Returns the parts of each reversal that the meter and the house bore, and the meter in the end.
    """
    table = PhysicalTable(api, "us-casino", reset=reset)
    assert table.jackpot_id is not None
    hands = (PAIR, "6h 6d Kd 9s 2d", "7c 7d Ks 8h 2h")
    boxes = [Box(hand, "raise", 100, BET) for hand in hands]
    round_id = table.begin(DEALER, *boxes)
    other = PhysicalTable(api, "us-casino", jackpot_id=table.jackpot_id)
    assert len(other.play(DEALER, Box(hit, "raise", 100, BET)).hits()) == 1
    if feed_after is not None:
        feed(api, feed_after, table.jackpot_id)
    void = table.void(round_id)
    assert [seat["result"] for seat in void.answer["seats"]] == ["void"] * 3
    assert [seat["net"] for seat in void.answer["seats"]] == [0] * 3
    assert [refund["amount"] for refund in void.of("StakeRefunded")] == [400] * 3
    reversed_ = void.of("ContributionReversed")
    assert [each["amount"] for each in reversed_] == ["70"] * 3
    return [(each["from_meter"], each["from_house"]) for each in reversed_], table.meter()


def test_a_meter_that_was_hit_covers_a_reversed_contribution(api: Api) -> None:
    """After a full house took 10 000 the meter gives back all three contributions."""
    assert reversals(api, 1_000_000, FULL_HOUSE) == ([("70", "0")] * 3, "990070")


def test_the_house_bears_a_reversed_contribution_that_was_won_already(api: Api) -> None:
    """After a flush emptied the meter nothing is in it to give back: it stays at zero, the house pays."""
    assert reversals(api, 0, FLUSH) == ([("0", "70")] * 3, "0")


def test_meter_and_house_share_what_is_reversed_from_a_meter_that_holds_too_little(api: Api) -> None:
    """Where 87.5 came in again one contribution is covered, one in part, and the third is the house's."""
    parts, meter = reversals(api, 0, FLUSH, feed_after="1.25")
    assert parts == [("70", "0"), ("17.5", "52.5"), ("0", "70")]
    assert meter == "0"


def test_a_royal_in_between_leaves_a_restarted_meter_to_reverse_from(api: Api) -> None:
    """The winner keeps the contributions of the void round: they leave the new meter."""
    assert reversals(api, 1_000, ROYAL_OF_SPADES) == ([("70", "0")] * 3, "790")


def test_a_hit_after_the_reversal_is_of_the_meter_without_it(api: Api) -> None:
    """Void first and won after, the award is a tenth of what is left."""
    table = PhysicalTable(api, "us-casino", reset=1_000_000)
    round_id = table.begin(DEALER, *(Box(hand, "raise", 100, BET) for hand in (PAIR, "6h 6d Kd 9s 2d")))
    other = PhysicalTable(api, "us-casino", jackpot_id=table.jackpot_id)
    winner = Box("9s Ts Js Qs Ks", "raise", 100, BET)
    won = other.begin(DEALER, winner)
    assert table.meter() == "1000210"
    table.void(round_id)
    assert table.meter() == "1000070"
    assert other.finish(won, DEALER).hits() == [(1, 100_007)]
