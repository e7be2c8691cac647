"""How the naive ledger ends a round: hands are compared, bets paid, stakes given back. Plain sums."""

from __future__ import annotations

from collections import Counter
from typing import Any

EXACT = 10_000
SHARE, SIDE_BET, RESET = 7_123, 100, 300
ODDS = (1, 1, 2, 3, 4, 5, 7, 20, 50, 100)
AWARDS = (None, 100, 200, 300, 400, 5_000, 10_000, 50_000, "10 %", "all")
HOUSE_PAYS = 6
"""The category whose award the house pays alone."""

TABLES: dict[str, dict[str, Any]] = {
    "pots": {"seats": 7, "hands": 1, "in_turn": False, "one": False, "seconds": 20, "void_late": False,
             "jackpot": "pot", "folded_wins": True, "reveals": True, "scanned": False},
    "slow": {"seats": 3, "hands": 1, "in_turn": True, "one": True, "seconds": 20, "void_late": False,
             "jackpot": None, "folded_wins": True, "reveals": False, "scanned": False},
    "hand": {"seats": 7, "hands": 3, "in_turn": False, "one": False, "seconds": 30, "void_late": True,
             "jackpot": "pot", "folded_wins": False, "reveals": True, "scanned": True},
}  # fmt: skip
ANTE_MIN, ANTE_MAX, WAIT_SECONDS, SECOND = 100, 1_000, 900, 1_000_000


def rank(cards: list[str]) -> tuple[int, list[int]]:
    """Return a hand's category, 0 to 9, and what breaks ties."""
    values = sorted(("23456789TJQKA".index(card[0]) for card in cards), reverse=True)
    groups = sorted(((values.count(v), v) for v in set(values)), reverse=True)
    shape, order = [n for n, _ in groups], [v for _, v in groups]
    flush = len({card[1] for card in cards}) == 1
    wheel = values == [12, 3, 2, 1, 0]
    straight = wheel or (shape == [1] * 5 and values[0] - values[4] == 4)
    order = [3] if wheel else order
    if straight and flush:
        return (9 if order[0] == 12 else 8), order
    if shape[:2] in ([4, 1], [3, 2]):
        return (7 if shape[0] == 4 else 6), order
    if straight or flush:
        return (5 if flush else 4), order
    return {(3, 1): 3, (2, 2): 2, (2, 1): 1}.get((shape[0], shape[1]), 0), order


class Showdown:
    """What a model does when a round ends; see `Model` for what is what."""

    seats_at_once: int
    players: dict[str, dict[str, Any]]
    exact: Counter[str]
    tables: dict[str, dict[str, Any]]
    cards: dict[str, dict[Any, list[str]]]

    def _put(self, player: str, amount: int) -> None:
        self.players[player]["balance"] -= amount
        self.players[player]["on_game"] += amount

    def _void(self, round_: dict[str, Any]) -> None:
        round_["phase"] = "voided"
        self._refund(round_)

    def _next(self, round_: dict[str, Any]) -> list[dict[str, Any]]:
        order = sorted(round_["seats"])[round_["done"] :][: self.seats_at_once]
        round_["done"] += len(order)
        return [round_["seats"][number] for number in order]

    def _refund(self, round_: dict[str, Any]) -> None:
        for seat in self._next(round_):
            taken = min(self.exact["meter:pot"], seat["bet"] * SHARE)
            self.exact["meter:pot"] -= taken
            self.exact["house"] += taken
            self._put(seat["player"], -seat["ante"] - seat["bet"] - seat["raise"])
        self._release(round_)

    def _settle(self, round_: dict[str, Any]) -> None:
        dealer = self.cards[round_["id"]].get("dealer")
        for seat in self._next(round_):
            if seat["award"] is None:
                self._award(round_, seat)
            staked = seat["ante"] + seat["bet"] + seat["raise"]
            back = self._back(seat, dealer and rank(dealer), rank(self._hand(round_, seat)))
            self.players[seat["player"]]["on_game"] -= staked
            self.players[seat["player"]]["balance"] += back
            self.exact["house"] += (staked - back) * EXACT
        if round_["done"] == len(round_["seats"]):
            round_["phase"] = "closed"
        self._release(round_)

    def _hand(self, round_: dict[str, Any], seat: dict[str, Any]) -> list[str]:
        (number,) = (n for n, each in round_["seats"].items() if each is seat)
        return self.cards[round_["id"]][number]

    def _back(self, seat: dict[str, Any], dealer: Any, hand: Any) -> int:
        ante, raised = seat["ante"], seat["raise"]
        if seat["decided"] == "fold":
            return 0
        if dealer < (0, [12, 11]):
            return 2 * ante + raised
        if hand == dealer:
            return ante + raised
        return 2 * ante + raised * (1 + ODDS[hand[0]]) if hand > dealer else 0

    def _category(self, round_: dict[str, Any], seat: dict[str, Any]) -> int:
        """Return the category a seat's jackpot bet is paid for, 0 where it has none or no longer stands."""
        stands = seat["bet"] and (TABLES[round_["table"]]["folded_wins"] or seat["decided"] != "fold")
        return rank(self._hand(round_, seat))[0] if stands else 0

    def _award(self, round_: dict[str, Any], seat: dict[str, Any]) -> None:
        category = self._category(round_, seat)
        award, meter, pays = AWARDS[category], self.exact["meter:pot"], 0
        if award == "all":
            winners = [
                w for _, w in sorted(round_["seats"].items()) if AWARDS[self._category(round_, w)] == "all"
            ]
            share = meter // len(winners) // EXACT
            for winner in winners:
                self._pay(winner, share, share * EXACT)
            self.exact["meter:pot"] += RESET * EXACT
            self.exact["house"] -= RESET * EXACT
        elif award is not None:
            pays = meter * 10 // 100 // EXACT if award == "10 %" else int(award)
            self._pay(seat, pays, 0 if category == HOUSE_PAYS else min(meter, pays * EXACT))

    def _pay(self, seat: dict[str, Any], award: int, from_meter: int) -> None:
        seat["award"] = award
        self.players[seat["player"]]["balance"] += award
        self.exact["meter:pot"] -= from_meter
        self.exact["house"] -= award * EXACT - from_meter

    def _release(self, round_: dict[str, Any]) -> None:
        left = {seat["player"] for _, seat in sorted(round_["seats"].items())[round_["done"] :]}
        for seat in round_["seats"].values():
            if (
                seat["player"] not in left
                and self.players[seat["player"]]["at"].get(round_["table"]) == round_["id"]
            ):
                del self.players[seat["player"]]["at"][round_["table"]]
        table = self.tables[round_["table"]]
        if not left and table["round"] == round_["id"]:
            table["round"] = None
