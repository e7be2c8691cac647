"""Rounds to be told in words: the domain's own, dealt by a physical table."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from api.page.house import House
from api.page.model import Play, lay_out
from api.page.words import BetWords, explain, headline, verdict
from domain import commands as c
from domain import rulesets
from domain.handlers import HANDLERS
from domain.rulesets.schema import RuleSet, load
from domain.views import round_view
from domain.work import Work

FOLDER = Path(rulesets.__file__).parent

ROYAL = "As Ks Qs Js Ts"
STRAIGHT_FLUSH = "9h 8h 7h 6h 5h"
QUADS = "9c 9d 9h 9s 2c"
FULL_HOUSE = "7c 7d 7h 2s 2c"
FLUSH = "Kh 9h 7h 4h 2h"
STRAIGHT = "9c 8d 7h 6s 5c"
TRIPS = "7c 7d 7h Ks 2c"
TWO_PAIR = "9c 9d 4s 4h Ks"
PAIR = "9c 9d 8s 4h Ks"
QUEEN_HIGH = "Qc 9d 8s 4h 2s"
LOW_DEALER = "Jc Td 8c 4d 3h"
FIVES = "5c 5d As Jd 3h"
ACES = "Ac Ad Js 6d 3h"
ACE_KING = "Ac Kd Js 6d 3h"


class Told(NamedTuple):
    """A settled seat in words, and laid out."""

    headline: str
    verdict: str
    bets: dict[str, BetWords]
    play: Play


@cache
def ruleset(house: str) -> RuleSet:
    """Return a shipped rule set."""
    return load((FOLDER / f"{house}.toml").read_text())


def opened(
    document: dict[str, Any], currency: str, meter: int, pot: dict[str, Any] | None = None, **options: Any
) -> Work:
    """Return a ledger with one player, and one physical table that plays by a rule set.

    `pot` is what its jackpot has beside a contribution of 0.70.
    """
    work = Work(entropy=lambda _: b"", build="test", now_us=1)
    house = document["id"]
    kinds = [bet["kind"] for bet in document["side_bets"]]
    run(work, c.PublishRuleset(document), c.OpenPlayer("demo", "p1", currency))
    run(work, c.Deposit("demo", 10_000_000, "r", "t"))
    if "jackpot" in kinds:
        run(work, c.OpenJackpot("j", currency, meter, "0.70", **(pot or {})))
        options["jackpot_id"] = "j"
    if "bonus" in kinds:
        options = {"bonus_stake": 1_000, "raise_win_cap": 1_000_000, **options}
    run(work, c.OpenTable("t", house, currency, 100, 10_000, "table", **options))
    return work


def run(work: Work, *commands: c.Command) -> None:
    """Decide commands one after the other."""
    for command in commands:
        work.command = f"command-{work.position}"
        HANDLERS[type(command)](command, work)


def told(
    house: str | dict[str, Any],
    hand: str | list[str],
    dealer: str,
    *actions: str,
    currency: str = "",
    meter: int = 1_000_000,
    ante: int = 500,
    side_bets: dict[str, int] | None = None,
    drawn: str = "",
    void: str = "",
    **options: Any,
) -> Told:
    """Play a hand (or several: the first is told) at a physical table and return what is said of it."""
    document = ruleset(house).document() if isinstance(house, str) else house
    money = currency or document["currencies"][0]
    work = opened(document, money, meter, **options)
    hands = [hand] if isinstance(hand, str) else hand
    players = ["demo", *(f"other-{number}" for number in range(2, len(hands) + 1))]
    for number, player_id in enumerate(players[1:], start=2):
        run(work, c.OpenPlayer(player_id, f"p{number}", money), c.Deposit(player_id, 10_000_000, "r", "t"))
    seats = tuple(c.SeatStake(n, who, ante, side_bets or {}) for n, who in enumerate(players, start=1))
    run(work, c.OpenRound("r1", "t", seats))
    table = work.tables["t"]
    rules = work.rules(table.ruleset, money, table.parameters, has_jackpot=table.jackpot_id is not None)
    cards = dealer.split()
    up = tuple(cards[place] for place in rules.up_indices)
    if rules.shared:
        run(work, c.DealCards("r1", shared=tuple(hands[0].split()), dealer_up=up))
    else:
        dealt = {number: tuple(each.split()) for number, each in enumerate(hands, start=1)}
        run(work, c.DealCards("r1", hands=dealt, dealer_up=up))
    for number, action in itertools.product(range(1, len(hands) + 1), actions or ("raise",)):
        discard, _, name = action.rpartition(" ")
        run(work, c.Decide("r1", number, name, discard or None, drawn or None if discard else None))
    if void:
        run(work, c.VoidRound("r1", void))
    elif work.rounds["r1"].phase == "decided":
        run(work, c.RevealDealer("r1", tuple(card for card in cards if card not in up)))
    round_ = work.rounds["r1"]
    view = round_view(round_, rules, {"p1": "demo"}, game_server=True)
    published = RuleSet.from_document(document)
    named = House("t", published, rules, table.parameters, table.jackpot_id)
    seat = view["seats"][0]
    bets = {bet.bet: bet for bet in explain(view, seat, rules, named.names)}
    events = [
        {"type": type(e.event).__name__, "data": {n: getattr(e.event, n) for n in e.event.__slots__}}
        for e in work.emitted
        if e.stream == "round-r1"
    ]
    kept = [{**e, "data": {n: v for n, v in e["data"].items() if v is not None}} for e in events]
    return Told(headline(seat), verdict(view, seat, rules), bets, lay_out(named, view, kept, "demo"))
