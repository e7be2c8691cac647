"""The worked examples of the sources, over HTTP on physical tables of the right house, to the unit.

The sources are named by their numbers, 000 to 004; amounts are minor units.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.integration.api.physical_table import HOUSES, SCRIPT, Box, PhysicalTable, proved

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.api.conftest import Api

FIVES = "5c 5d Kc 9h 2s"
NOTHING = "Qh Jc 9s 6d 2c"


def test_000_a_straight_against_a_pair_of_fives_wins_1800(api: Api) -> None:
    """000: ante 200 and raise 400 on a straight win 200 + 1 600, 2 400 with the stakes."""
    table = PhysicalTable(api, "nordic")
    round_ = table.play(FIVES, Box("9c 8d 7h 6s 5h", ante=200))
    assert round_.answer["dealer"]["qualified"]
    assert round_.paid() == {"ante": (200, 200, 200), "raise": (400, 400, 1_600)}
    assert round_.result() == "win"
    assert (round_.seat()["total_returned"], round_.seat()["net"]) == (2_400, 1_800)


def test_000_a_dealer_who_does_not_qualify_pays_the_ante_and_returns_the_raise(api: Api) -> None:
    """000: with ante 100 a dealer without ace and king pays 100, and the raise comes back."""
    table = PhysicalTable(api, "nordic")
    round_ = table.play(NOTHING, Box("7c 7d Kh 8s 3h", ante=100))
    assert not round_.answer["dealer"]["qualified"]
    assert round_.paid() == {"ante": (100, 100, 100), "raise": (200, 200, 0)}
    assert round_.result() == "dealer_not_qualified"
    assert (round_.seat()["total_returned"], round_.seat()["net"]) == (400, 100)


def test_000_seven_seats_use_forty_of_the_fifty_two_cards(api: Api) -> None:
    """000: seven players and the dealer are dealt forty cards, and each seat has its own result."""
    hands = [
        "2c 3c 4c 5c 7d", "2d 3d 4d 5d 7h", "2h 3h 4h 5h 7s", "2s 3s 4s 5s 7c",
        "8c 8d 9c 9d Tc", "8h 8s 9h 9s Td", "Th Jc Qd Kh As",
    ]  # fmt: skip
    table = PhysicalTable(api, "nordic")
    round_ = table.play("Jd Js Qh Kd Ac", *(Box(hand) for hand in hands))
    dealt = [card for seat in round_.answer["seats"] for card in seat["cards"]]
    assert len(set(dealt + round_.answer["dealer"]["cards"])) == 40
    assert [round_.result(seat) for seat in range(1, 8)] == ["lose"] * 4 + ["win"] * 3
    assert [round_.seat(seat)["net"] for seat in range(1, 8)] == [-30_000] * 4 + [50_000, 50_000, 90_000]


@pytest.mark.parametrize(
    ("dealer", "result", "net"),
    [
        ("As Kd 4h 3c 2s", "win", 30_000),
        ("Ad Qc Js Td 9h", "dealer_not_qualified", 10_000),
    ],
)
@pytest.mark.parametrize("ruleset", HOUSES)
def test_001_the_hands_on_both_sides_of_qualifying(
    api: Api, ruleset: str, dealer: str, result: str, net: int
) -> None:
    """001: A-K-4-3-2 qualifies and A-Q-J-10-9 does not, at every house, so a pair wins 3 antes or 1."""
    round_ = PhysicalTable(api, ruleset).play(dealer, Box("6c 6d 7h 8s 9c"))
    assert round_.answer["dealer"]["qualified"] is (result == "win")
    assert (round_.result(), round_.seat()["net"]) == (result, net)


@pytest.mark.parametrize(
    ("fifth", "result", "net"),
    [("Ah", "win", 50_000), ("Ks", "push", 0), ("Qs", "lose", -30_000)],
)
def test_003_the_fifth_card_decides_between_sixes_and_fives(
    api: Api, fifth: str, result: str, net: int
) -> None:
    """003: where both hold sixes and fives the fifth card decides, and if it is equal nobody wins."""
    table = PhysicalTable(api, "czech")
    round_ = table.play("6c 6d 5c 5d Kh", Box(f"6h 6s 5h 5s {fifth}"))
    assert (round_.result(), round_.seat()["net"]) == (result, net)
    if result == "push":
        assert round_.paid() == {"ante": (10_000, 10_000, 0), "raise": (20_000, 20_000, 0)}


@pytest.mark.parametrize("hand", ["Ts Js Qs Ks As", "9s Ts Js Qs Ks"])
def test_004_uk_a_royal_and_a_straight_flush_win_ten_thousand_pounds(api: Api, hand: str) -> None:
    """004, United Kingdom: ante 100 and raise 200 win 10 000 on the raise, 50 to 1, royal flush or not."""
    round_ = PhysicalTable(api, "uk-casino").play(FIVES, Box(hand))
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, 1_000_000)}


def test_004_us_a_royal_wins_five_thousand_dollars_on_the_raise(api: Api) -> None:
    """004, United States: ante 100 and raise 200 on a royal win 5 000 on the raise and 100 on the ante."""
    round_ = PhysicalTable(api, "us-casino").play(FIVES, Box("Ts Js Qs Ks As"))
    assert round_.paid() == {"ante": (10_000, 10_000, 10_000), "raise": (20_000, 20_000, 500_000)}


def test_an_auditor_verifies_a_file_with_nothing_but_python(api: Api, tmp_path: Path) -> None:
    """The file that `/evidence` gives is verified by the script alone, in a Python without site packages."""
    round_ = PhysicalTable(api, "nordic").play(FIVES, Box("9c 8d 7h 6s 5h", ante=200))
    round_id = round_.answer["round_id"]
    assert [event["type"] for event in proved(api, round_id)][-2:] == ["Settled", "RoundClosed"]
    raw = api.get(f"/v1/rounds/{round_id}/evidence").content
    file = tmp_path / "round.json"
    file.write_bytes(raw)
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(file)]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1] == "VERIFIED"
    changed = json.loads(raw)
    (settled,) = [event for event in changed["events"] if event["type"] == "Settled"]
    settled["data"]["bets"][1]["won"] += 1
    file.write_text(json.dumps(changed))
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
