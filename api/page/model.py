"""What the template draws: a round of the demo player laid out for reading.

Everything here is made of the round as the HTTP contract shows it and of its recorded events; the template
decides nothing but markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from api.page.amounts import exact_whole, money, signed
from api.page.card_words import card_name, hand_name
from api.page.faces import Face, face
from api.page.house import House
from api.page.words import BetWords, explain, headline, verdict, word
from domain.money import exact_text, parse_exact

HAND: Final = 5


class Stake(NamedTuple):
    """A stake that lies on the table: the bet's name in the house's words, and the amount in words."""

    name: str
    amount: str


class Buttons(NamedTuple):
    """What a seat may do now, with the words on its buttons; empty words where it may not."""

    raise_: str
    fold: str
    exchange: str


class Line(NamedTuple):
    """One bet of a finished seat: amounts in words, `tone` one of won, back, lost."""

    name: str
    stake: str
    odds: str
    returned: str
    won: str
    sentence: str
    tone: str


@dataclass(frozen=True, slots=True)
class Hand:
    """One of the player's hands, dealt or finished."""

    seat: int
    title: str
    faces: tuple[Face, ...]
    name: str
    stakes: tuple[Stake, ...]
    news: str
    buttons: Buttons | None
    waits: bool
    headline: str
    tone: str
    verdict: str
    lines: tuple[Line, ...]
    staked: str
    returned: str
    won: str
    sum: str
    net: str


@dataclass(frozen=True, slots=True)
class Play:
    """A round laid out. `dealer` has five places, None where a card lies face down (or none is dealt yet)."""

    round_id: str
    phase: str
    dealt: bool
    finished: bool
    dealer: tuple[Face | None, ...]
    dealer_name: str
    dealer_news: str
    hands: tuple[Hand, ...]
    headline: str
    tone: str
    net: str
    before: str
    after: str
    meter_news: tuple[str, ...]
    commitment: str
    committed: str
    seed: str
    stakes_placed: bool


def lay_out(
    house: House, view: Mapping[str, Any], events: Sequence[Mapping[str, Any]], player_id: str
) -> Play:
    """Lay a round out for one player: other players' seats are left out.

    `view` is `domain.views.round_view` for the game server; `events` the round's recorded events, each with
    `type` and `data`.
    """
    seats = [seat for seat in view["seats"] if seat["player_id"] == player_id]
    own = {seat["seat"] for seat in seats}
    mine = [event for event in events if event["data"].get("seat") in own]
    hands = tuple(_hand(house, view, seat, seats, mine) for seat in seats)
    finished = view["phase"] in ("closed", "voided")
    net = sum(seat.get("net", 0) for seat in seats)
    before, after = _wallet(mine)
    dealer = view.get("dealer")
    return Play(
        round_id=view["round_id"],
        phase=view["phase"],
        dealt=bool(view["up_cards"]),
        finished=finished,
        dealer=_dealer(house, view),
        dealer_name=hand_name(dealer["cards"]) if dealer else "",
        dealer_news=("qualifies" if dealer["qualified"] else "does not qualify") if dealer else "",
        hands=hands,
        headline=_headline(hands, finished=finished),
        tone=_tone(net),
        net=signed(net, house.currency),
        before="" if before is None else money(before, house.currency),
        after="" if after is None or not finished else money(after, house.currency),
        meter_news=tuple(_meter_news(house, mine)),
        commitment=view["deck_commitment"] or "",
        committed=view["committed"],
        seed=view.get("deck_seed", ""),
        stakes_placed=bool(seats),
    )


def _dealer(house: House, view: Mapping[str, Any]) -> tuple[Face | None, ...]:
    if "dealer" in view:
        return tuple(face(card) for card in view["dealer"]["cards"])
    open_cards = dict(zip(house.rules.up_indices, view["up_cards"], strict=False))
    return tuple(face(open_cards[place]) if place in open_cards else None for place in range(HAND))


def _hand(
    house: House,
    view: Mapping[str, Any],
    seat: Mapping[str, Any],
    seats: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
) -> Hand:
    currency, rules, names = house.currency, house.rules, house.names
    done = "result" in seat
    lines = tuple(_line(bet, currency) for bet in explain(view, seat, rules, names)) if done else ()
    waits = view["phase"] == "dealt" and "decision" not in seat and not seat["options"]
    return Hand(
        seat=seat["seat"],
        title=_title(house, seat, seats),
        faces=tuple(face(card) for card in seat["cards"]),
        name=hand_name(seat["cards"]) if seat["cards"] else "",
        stakes=tuple(_stakes(house, seat)),
        news=_news(house, seat, events),
        buttons=None if not seat["options"] else _buttons(house, seat),
        waits=waits,
        headline=headline(seat) if done else "",
        tone=_tone(seat.get("net", 0)),
        verdict=verdict(view, seat, rules) if done else "",
        lines=lines,
        staked=_total(seat, "stake", currency),
        returned=_total(seat, "returned", currency),
        won=_total(seat, "won", currency),
        sum=_sum(seat, currency) if done else "",
        net=signed(seat["net"], currency) if done else "",
    )


def _total(seat: Mapping[str, Any], part: str, currency: str) -> str:
    return money(sum(leg[part] for leg in seat.get("bets", ())), currency)


def _sum(seat: Mapping[str, Any], currency: str) -> str:
    net = seat["net"]
    if not seat["total_returned"]:
        return f"Nothing goes back to the wallet: a loss of {money(-net, currency)}."
    change = "nothing gained, nothing lost"
    if net:
        change = f"a {'gain' if net > 0 else 'loss'} of {money(abs(net), currency)}"
    return f"{money(seat['total_returned'], currency)} goes back to the wallet: {change}."


def _title(house: House, seat: Mapping[str, Any], seats: Sequence[Mapping[str, Any]]) -> str:
    if house.rules.shared:
        return "The shared player hand"
    return "Your hand" if len(seats) == 1 else f"Hand {seat['seat']}"


def _stakes(house: House, seat: Mapping[str, Any]) -> list[Stake]:
    names, currency, rules = house.names, house.currency, house.rules
    stakes = [Stake(word(names, "ante"), money(seat["ante"], currency))]
    if seat.get("decision") == "raise":
        stakes.append(Stake(word(names, "raise"), money(seat["ante"] * rules.raise_multiple, currency)))
    if seat.get("exchanged"):
        fee = seat["ante"] * (rules.exchange_fee_antes or 0)
        stakes.append(Stake(word(names, "exchange"), money(fee, currency)))
    stakes.extend(Stake(word(names, kind), money(sum_, currency)) for kind, sum_ in seat["side_bets"].items())
    return stakes


def _news(house: House, seat: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> str:
    """What has happened to an undecided hand since the deal: the card it bought, the decision it made."""
    said = []
    for event in events:
        data = event["data"]
        if event["type"] == "CardExchanged" and data["seat"] == seat["seat"]:
            fee = money(data["fee"], house.currency)
            gone, drawn = card_name(data["discard"]), card_name(data["drawn"])
            said.append(f"You gave up the {gone} and drew the {drawn}, for {fee}.")
    if seat.get("decision") and "result" not in seat:
        said.append("Folded." if seat["decision"] == "fold" else f"{word(house.names, 'raise')} placed.")
    return " ".join(said)


def _buttons(house: House, seat: Mapping[str, Any]) -> Buttons:
    names, rules, currency = house.names, house.rules, house.currency
    fee = rules.exchange_fee_antes
    buys = "exchange" in seat["options"] and fee is not None
    return Buttons(
        raise_=f"{word(names, 'raise')} {money(seat['ante'] * rules.raise_multiple, currency)}",
        fold=word(names, "fold"),
        exchange=f"{word(names, 'exchange')}: {money(seat['ante'] * fee, currency)}"
        if buys and fee is not None
        else "",
    )


def _line(bet: BetWords, currency: str) -> Line:
    tone = "won" if bet.won else "back" if bet.returned else "lost"
    return Line(
        bet.name,
        money(bet.stake, currency),
        bet.odds or "",
        money(bet.returned, currency),
        money(bet.won, currency),
        bet.sentence,
        tone,
    )


def _headline(hands: Sequence[Hand], *, finished: bool) -> str:
    if not finished:
        return ""
    if not hands:
        return "The round has ended without a stake"
    results = {hand.headline for hand in hands}
    return results.pop() if len(results) == 1 else "The round is settled"


def _tone(net: int) -> str:
    return "won" if net > 0 else "lost" if net < 0 else "back"


def _wallet(events: Sequence[Mapping[str, Any]]) -> tuple[int | None, int | None]:
    """The wallet before the player's first stake and after the round's last event on it, minor units."""
    before = after = None
    for event in events:
        data = event["data"]
        if "balance_after" in data:
            after = data["balance_after"]
            if before is None and event["type"] == "AntePlaced":
                before = after + data["amount"]
    return before, after


def _meter_news(house: House, events: Sequence[Mapping[str, Any]]) -> list[str]:
    said = []
    for event in events:
        data = event["data"]
        if event["type"] == "SideBetPlaced" and "contribution" in data:
            said.append(_contributed(data, house.currency))
        elif event["type"] == "ContributionReversed":
            said.append("The contribution to the meter was taken back.")
    return said


def _contributed(placed: Mapping[str, Any], currency: str) -> str:
    """Where a jackpot side bet's shares went: the meter, and what waits for its next start."""
    said, above = [], placed.get("overflow", "0")
    into = exact_text(parse_exact(placed["contribution"]) - parse_exact(above))
    if into != "0":
        said.append(f"{exact_whole(into, currency)} of the side bet went into the meter.")
    if above != "0":
        said.append(f"The meter is full: {exact_whole(above, currency)} of it waits to be in the next one.")
    if "diversion" in placed:
        said.append(f"{exact_whole(placed['diversion'], currency)} of it pays for the next meter's start.")
    return " ".join(said)
