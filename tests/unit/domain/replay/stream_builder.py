"""Streams of a round as a ledger would have stored them, written with none of the ledger's code.

A test says what each event says, payouts included; the builder counts versions, positions, time, balances
and the jackpot's links. It has its own shuffle, so that an `rng` round agrees with the replay only if both
follow the same published definition.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from tests.unit.domain.replay.rules_and_decks import SEED, digest, prefixed, shuffled

FIRST_BALANCE = 100_000_000
BETS = {"raise_": "raise", "fee": "exchange_fee"}


class Stream:
    """A round's stream in the making.

    Amounts are minor units; cards are given as text, ``"As Kd 4h 3c 2s"``.
    """

    def __init__(
        self,
        document: dict[str, Any],
        *,
        source: str = "table",
        currency: str = "USD",
        jackpot: dict[str, Any] | None = None,
        round_id: str = "r-1",
        **parameters: int,
    ) -> None:
        self.document, self.source, self.round_id = document, source, round_id
        self.events: list[dict[str, Any]] = []
        self.balances: dict[str, int] = {}
        self.stakes: dict[int, dict[str, int]] = {}
        self.players: dict[int, str] = {}
        self.client_seeds: dict[int, str] = {}
        self.position, self.commands, self.microsecond = 100, 1, 0
        self.moved_at, self.hits = 50, 7
        self.sha256 = digest(document)
        self.jackpot = None
        opened = {
            "table_id": "t-1",
            "ruleset": {"id": document["id"], "version": 1, "sha256": self.sha256},
            "currency": currency,
            "account_class": "real",
            "deal_source": source,
            "gaming_day": "2026-11-29",
            "parameters": {
                "min_ante": 100,
                "max_ante": 1_000_000,
                "zone": "Europe/Prague",
                "cutoff_hour": 6,
                "min_side_bet": 100,
                "max_side_bet": 1_000_000,
                **parameters,
            },
            "build": "test",
        }
        if source == "rng":
            commitment = hashlib.sha256(
                prefixed(
                    "stud-ledger/deck-commitment/1", bytes.fromhex(SEED), round_id, bytes.fromhex(self.sha256)
                )
            ).hexdigest()
            opened |= {"deck_commitment": commitment, "deck_algorithm": "stud-deck-1", "rng": "os"}
        if jackpot is not None:
            self.jackpot = {
                "jackpot_id": "j-1",
                "currency": currency,
                "version": 1,
                "contribution": "0.70",
                **jackpot,
            }
            opened["jackpot"] = {
                "id": "j-1",
                "version": 1,
                "sha256": digest(self.jackpot),
                "contribution": self.jackpot["contribution"],
                "reset": self.jackpot["reset"],
            }
        self.emit("RoundOpened", opened)
        self.command()

    def emit(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        """Append one event; absent values are left out."""
        self.position += 1
        self.microsecond += 7
        event = {
            "data": {name: value for name, value in data.items() if value is not None},
            "meta": {"actor": "operator", "command": f"command-{self.commands}", "schema": 1},
            "position": self.position,
            "recorded_at": f"2026-11-29T21:24:01.{self.microsecond:06}Z",
            "salt": f"{self.position:022x}",
            "stream": f"round-{self.round_id}",
            "type": kind,
            "version": len(self.events) + 1,
        }
        self.events.append(event)
        return event["data"]

    def command(self, elsewhere: int = 0) -> Stream:
        """Begin the next command; `elsewhere` events of other streams come before it."""
        self.commands += 1
        self.position += elsewhere
        return self

    def balance(self, seat: int, moved: int) -> int:
        """The player's balance after so much was moved."""
        player = self.players[seat]
        self.balances[player] = self.balances.get(player, FIRST_BALANCE) + moved
        return self.balances[player]

    def seat(self, number: int, **more: Any) -> dict[str, Any]:
        """Seat and player, as most events name them."""
        return {"seat": number, "player": self.players[number], **more}

    def ante(
        self,
        number: int,
        amount: int,
        *,
        player: str | None = None,
        seed: str | None = None,
        **side_bets: int,
    ) -> Stream:
        """Place an ante and its side bets."""
        self.players[number] = player or f"p-{number}"
        self.stakes[number] = {"ante": amount}
        if seed is not None:
            self.client_seeds[number] = seed
        after = self.balance(number, -amount)
        self.emit("AntePlaced", self.seat(number, amount=amount, balance_after=after, client_seed=seed))
        for bet, stake in side_bets.items():
            self.stakes[number][bet] = stake
            placed = self.seat(number, bet=bet, amount=stake, balance_after=self.balance(number, -stake))
            if bet == "jackpot":
                placed |= {"contribution": self.contribution(stake), "jackpot_id": "j-1"}
            self.emit("SideBetPlaced", placed)
            if bet == "jackpot":
                self.moved_at = self.position
        return self

    def contribution(self, stake: int) -> str:
        """What a jackpot side bet adds to the meter, as text."""
        assert self.jackpot is not None
        hundredths = stake * round(float(self.jackpot["contribution"]) * 100)
        return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")

    def deal(self, up: str, hands: dict[int, str] | str) -> Stream:
        """Close betting and deal from a physical table: a hand for each seat, or one shared hand."""
        self.emit("BettingClosed", {"seats": len(self.players)})
        if isinstance(hands, str):
            self.emit("Dealt", {"to": "shared", "cards": hands.split()})
        else:
            for number, hand in hands.items():
                self.emit("Dealt", {"to": "seat", "seat": number, "cards": hand.split()})
        places = self.document["deal"]["dealer_up_indices"]
        self.emit("Dealt", {"to": "dealer", "cards": up.split(), "up_indices": places})
        return self.command()

    def deal_deck(self) -> Stream:
        """Close betting and deal from the round's own deck."""
        self.deck = shuffled(SEED, self.round_id, self.sha256, self.client_seeds)
        self.emit("BettingClosed", {"seats": len(self.players)})
        hands: list[int | None] = [*sorted(self.players)]
        if self.document["seating"].get("shared_player_hand"):
            hands = [None]
        n = len(hands)
        rows = [list(range(5 * h, 5 * h + 5)) for h in range(n + 1)]
        if self.document["deal"]["pattern"] == "round_robin":
            rows = [[k * (n + 1) + h for k in range(5)] for h in range(n + 1)]
        for seat, row in zip(hands, rows, strict=False):
            to = "shared" if seat is None else "seat"
            self.emit("Dealt", {"to": to, "seat": seat, "cards": [self.deck[i] for i in row], "indices": row})
        places = self.document["deal"]["dealer_up_indices"]
        self.dealer_row, self.undealt = rows[n], 5 * (n + 1)
        up = [self.dealer_row[place] for place in places]
        self.emit(
            "Dealt",
            {"to": "dealer", "cards": [self.deck[i] for i in up], "indices": up, "up_indices": places},
        )
        return self.command()

    def exchange(
        self, number: int, discard: str, drawn: str | None = None, forfeited: tuple[str, ...] = ()
    ) -> Stream:
        """Buy a card for one ante; without `drawn`, from the deck."""
        fee = self.stakes[number]["ante"]
        self.stakes[number]["exchange_fee"] = fee
        indices = {}
        if drawn is None:
            indices = {"burn_index": self.undealt, "drawn_index": self.undealt + 1}
            drawn = self.deck[self.undealt + 1]
            self.undealt += 2
        self.emit(
            "CardExchanged",
            self.seat(
                number,
                fee=fee,
                discard=discard,
                drawn=drawn,
                forfeited=list(forfeited),
                decided_by="player",
                balance_after=self.balance(number, -fee),
                **indices,
            ),
        )
        return self.command()

    def raise_(self, number: int) -> Stream:
        """Raise twice the ante."""
        amount = 2 * self.stakes[number]["ante"]
        self.stakes[number]["raise"] = amount
        after = self.balance(number, -amount)
        self.emit("Raised", self.seat(number, amount=amount, decided_by="player", balance_after=after))
        return self.command()

    def fold(self, number: int, by: str = "player") -> Stream:
        """Fold."""
        self.emit("Folded", {"seat": number, "decided_by": by})
        return self.command()

    def reveal(self, category: str, *, qualified: bool, cards: str | None = None) -> Stream:
        """Turn up the dealer's five; without `cards`, from the deck."""
        if cards is None:
            row = self.dealer_row
            revealed = {"cards": [self.deck[i] for i in row], "indices": row}
        else:
            revealed = {"cards": cards.split()}
        self.emit("DealerQualified", {**revealed, "category": category, "qualified": qualified})
        return self

    def hit(self, number: int, category: str, award: int, meter: tuple[str, str], **funding: str) -> Stream:
        """Pay an award; `meter` is before and after, `funding` from_meter, from_house, restart."""
        self.hits += 1
        self.emit(
            "JackpotHit",
            self.seat(
                number,
                jackpot_id="j-1",
                category=category,
                award=award,
                meter_before=meter[0],
                meter_after=meter[1],
                order=self.hits,
                previous_position=self.moved_at,
                balance_after=self.balance(number, award),
                **{"from_meter": str(award), "from_house": "0", **funding},
            ),
        )
        self.moved_at = self.position
        return self

    def settle(
        self, number: int, result: str, category: str, *, shown: bool, **legs: tuple[int, ...]
    ) -> Stream:
        """Settle a seat; a leg is (returned, won) or (returned, won, odds), named by its bet."""
        bets = []
        back = 0
        for name, (returned, won, *odds) in legs.items():
            bet = BETS.get(name, name)
            leg = {"bet": bet, "stake": self.stakes[number][bet], "returned": returned, "won": won}
            bets.append({**leg, "odds": odds[0]} if odds else leg)
            back += returned + (0 if bet == "jackpot" else won)
        after = self.balance(number, back)
        self.emit(
            "Settled",
            self.seat(number, result=result, bets=bets, shown=shown, balance_after=after, category=category),
        )
        return self

    def close(self) -> Stream:
        """Close the round; the deck's seed is revealed where there is one."""
        self.emit("RoundClosed", {"deck_seed": SEED if self.source == "rng" else None})
        return self

    def void(self, cause: str) -> Stream:
        """Declare the round void."""
        self.emit("RoundVoided", {"cause": cause, "deck_seed": SEED if self.source == "rng" else None})
        return self

    def reverse(self, number: int, meter: tuple[str, str], from_meter: str, from_house: str = "0") -> Stream:
        """Reverse a seat's contribution."""
        data = self.seat(
            number,
            jackpot_id="j-1",
            amount=self.contribution(self.stakes[number]["jackpot"]),
            from_meter=from_meter,
            from_house=from_house,
            meter_before=meter[0],
            meter_after=meter[1],
            previous_position=self.moved_at,
        )
        self.emit("ContributionReversed", data)
        self.moved_at = self.position
        return self

    def refund(self, number: int) -> Stream:
        """Give back all of a seat's stakes."""
        bets = [{"bet": bet, "stake": stake} for bet, stake in self.stakes[number].items()]
        amount = sum(self.stakes[number].values())
        after = self.balance(number, amount)
        self.emit("StakeRefunded", self.seat(number, amount=amount, bets=bets, balance_after=after))
        return self

    def copy(self) -> list[dict[str, Any]]:
        """The events, for a test to alter."""
        return copy.deepcopy(self.events)


def find(events: list[dict[str, Any]], kind: str, seat: int | None = None, nth: int = 0) -> dict[str, Any]:
    """The nth event of a kind, of a seat where one is given."""
    found = [e for e in events if e["type"] == kind and (seat is None or e["data"].get("seat") == seat)]
    return found[nth]
