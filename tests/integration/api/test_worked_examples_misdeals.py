"""Scans that cannot be right, and rounds that are declared void, over HTTP on physical tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.integration.api.physical_table import Box, PhysicalTable

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

DEALER: Final = "4c 7h 9c Kd Ad"
BOXES: Final = (Box("5h 5d Kc 9h 2c"), Box("6h 6d Kh 9s 2d"))
HANDS: Final = {"1": "5h 5d Kc 9h 2c", "2": "6h 6d Kh 9s 2d"}


@pytest.mark.parametrize(
    ("hands", "up"),
    [
        (HANDS | {"2": "6h 6d Kh 9s"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s 2d 3d"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s 9s"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s 5h"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s 1d"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s 10d"}, "Ad"),
        (HANDS | {"2": "6h 6d Kh 9s as"}, "Ad"),
        (HANDS | {"3": "3c 3d 3h 4d 4h"}, "Ad"),
        ({"1": HANDS["1"]}, "Ad"),
        ({}, "Ad"),
        (HANDS, "9h"),
        (HANDS, "Ad Kd"),
        (HANDS, ""),
    ],
)
@pytest.mark.parametrize("ruleset", ["nordic", "czech"])
def test_a_deal_that_cannot_be_right_is_refused_and_scanned_again(
    api: Api, ruleset: str, hands: dict[str, str], up: str
) -> None:
    """003: a wrong count, an unknown card or a repeated one is refused, and a second scan goes on."""
    table = PhysicalTable(api, ruleset)
    round_id = table.stake(*BOXES)
    body = {"seats": {seat: cards.split() for seat, cards in hands.items()}, "dealer_up": up.split()}
    refused = api.refused("misdeal", 422, api.post(f"/v1/rounds/{round_id}/deal", body))
    assert "5h" not in str(refused)
    assert "6h" not in str(refused)
    assert api.done(api.get(f"/v1/rounds/{round_id}"))["phase"] == "betting"
    api.done(table.deal(round_id, DEALER, *BOXES))
    table.decide(round_id, *BOXES)
    assert table.finish(round_id, DEALER).result(1) == "win"


@pytest.mark.parametrize(
    "others", ["4c 7h 9c", "4c 7h 9c Kd 3c", "4c 7h 9c 9c", "4c 7h 9c 5h", "4c 7h 9c Ad", "4c 7h 9c Xx", ""]
)
def test_a_reveal_that_cannot_be_right_is_refused_and_scanned_again(api: Api, others: str) -> None:
    """The dealer's other cards are four, none of them on the table already."""
    table = PhysicalTable(api, "nordic")
    round_id = table.begin(DEALER, *BOXES)
    api.refused("misdeal", 422, api.post(f"/v1/rounds/{round_id}/reveal", {"dealer": others.split()}))
    assert table.finish(round_id, DEALER).result(2) == "win"


@pytest.mark.parametrize("cause", ["misdeal_count", "misdeal_exposed", "malfunction"])
@pytest.mark.parametrize("stage", ["betting", "dealt", "exchanged", "decided"])
def test_a_misdeal_is_declared_and_every_stake_comes_back(api: Api, cause: str, stage: str) -> None:
    """003: until the dealer's hand is up a round can be void: ante, raise, fee and bonus come back."""
    table = PhysicalTable(api, "czech")
    does = {"exchanged": "2c>8h", "decided": "2c>8h raise"}.get(stage, "wait")
    boxes = (
        Box("5h 5d Kc 9h 2c", does, 10_000, {"bonus": 5_000}),
        Box("6h 6d Kh 9s 2d", "fold" if stage == "decided" else "wait"),
    )
    round_id = table.stake(*boxes) if stage == "betting" else table.begin(DEALER, *boxes)
    void = table.void(round_id, cause)
    assert void.answer["void_cause"] == cause
    assert [void.result(seat) for seat in (1, 2)] == ["void", "void"]
    back = {"ante": (10_000, 10_000, 0)}
    raised = {"raise": (20_000, 20_000, 0)} if stage == "decided" else {}
    fee = {"exchange_fee": (10_000, 10_000, 0)} if stage in ("exchanged", "decided") else {}
    assert void.paid(1) == back | raised | fee | {"bonus": (5_000, 5_000, 0)}
    assert void.paid(2) == back
    following = table.play(DEALER, Box(BOXES[0].hand), Box(BOXES[1].hand))
    assert following.result(1) == "win"


def test_a_void_round_gives_its_contributions_back(api: Api) -> None:
    """A malfunction before the reveal takes each jackpot bet out of the meter and gives the stakes back."""
    table = PhysicalTable(api, "us-casino", reset=10_000)
    bet = {"jackpot": 100}
    boxes = [Box(box.hand, "raise", 1_000, bet) for box in BOXES]
    round_id = table.begin(DEALER, *boxes)
    assert table.meter() == "10140"
    void = table.void(round_id)
    assert table.meter() == "10000"
    assert [void.seat(seat)["total_returned"] for seat in (1, 2)] == [3_100, 3_100]
    again = api.post(f"/v1/rounds/{round_id}/void", {"cause": "malfunction", "note": "Twice."})
    api.refused("wrong_phase", 409, again)


@pytest.mark.parametrize("ruleset", ["evolution-live", "cyber"])
def test_a_misdeal_is_no_cause_where_cards_lie_open(api: Api, ruleset: str) -> None:
    """Reading 14: a card that lies open anyway is no misdeal; a malfunction voids all plays (001)."""
    table = PhysicalTable(api, ruleset)
    round_id = table.begin(DEALER, Box("5h 5d Kc 9h 2c"))
    body: dict[str, Any] = {"cause": "misdeal_exposed", "note": "A card fell."}
    api.refused("validation_failed", 422, api.post(f"/v1/rounds/{round_id}/void", body))
    assert table.void(round_id).seat()["total_returned"] == 30_000


def test_a_settled_round_is_not_void(api: Api) -> None:
    """Once seats are settled, money changes by a correction only."""
    table = PhysicalTable(api, "nordic")
    round_ = table.play(DEALER, *BOXES)
    body = {"cause": "malfunction", "note": "Too late."}
    refused = api.post(f"/v1/rounds/{round_.answer['round_id']}/void", body)
    api.refused("wrong_phase", 409, refused)
