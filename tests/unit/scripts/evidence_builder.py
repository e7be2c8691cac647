"""Evidence made by hand, for testing the offline verifier.

Written from the contract of the evidence file and the rules of the game, apart from both the ledger's code
and the verifier's: hands are ranked by `treys`, the deck is drawn from a list that shrinks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any

from treys import Card, Evaluator

from domain.rulesets import schema

SEED = bytes(range(48))
RANKS, SUITS = "23456789TJQKA", "cdhs"
NAMES = (
    "royal_flush straight_flush four_of_a_kind full_house flush straight three_of_a_kind"
    " two_pair pair high_card"
).split()
WORST = (1, 10, 166, 322, 1599, 1609, 2467, 3325, 6185, 7462)
ACE_KING_LEAST = 6349
HOUSES = Path(schema.__file__).parent
EVALUATOR = Evaluator()


def house(name: str, **changes: Any) -> dict[str, Any]:
    """Return the document of a shipped rule set, with some top-level parts changed."""
    document = schema.load((HOUSES / f"{name}.toml").read_text(encoding="utf-8")).document()
    return {**json.loads(json.dumps(document)), **changes}


def canonical(value: object) -> bytes:
    """Return sorted, dense JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(value: object) -> str:
    """Return the hash of canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def packed(*parts: bytes) -> bytes:
    """Return every part behind its length."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def deck(seed: bytes, round_id: str, rules_sha256: str, client_seeds: dict[int, str]) -> list[str]:
    """Return the 52 cards in dealing order."""
    personalization = packed(b"stud-deck-1", round_id.encode(), bytes.fromhex(rules_sha256))
    for seat, text in sorted(client_seeds.items()):
        personalization += packed(str(seat).encode(), text.encode())
    state = {"K": bytes(32), "V": bytes([1] * 32)}

    def mac(data: bytes) -> bytes:
        return hmac.new(state["K"], data, hashlib.sha256).digest()

    def update(data: bytes) -> None:
        state["K"] = mac(state["V"] + b"\x00" + data)
        state["V"] = mac(state["V"])
        if data:
            state["K"] = mac(state["V"] + b"\x01" + data)
            state["V"] = mac(state["V"])

    pool: list[int] = []

    def byte() -> int:
        if not pool:
            for _ in range(2):
                state["V"] = mac(state["V"])
                pool.extend(state["V"])
            update(b"")
        return pool.pop(0)

    update(seed + personalization)
    cards = [rank + suit for rank in RANKS for suit in SUITS]
    for place in range(51):
        count = 52 - place
        drawn = byte()
        while drawn >= count * (256 // count):
            drawn = byte()
        other = place + drawn % count
        cards[place], cards[other] = cards[other], cards[place]
    return cards


def value(cards: list[str]) -> int:
    """Return the rank of the best five, 1 the best."""
    return EVALUATOR.evaluate([], [Card.new(card) for card in cards])


def category(cards: list[str]) -> str:
    """Return the category of the best five."""
    return next(name for name, worst in zip(NAMES, WORST, strict=True) if value(cards) <= worst)


def text(amount: Decimal) -> str:
    """Return an exact amount without superfluous zeros."""
    plain = f"{amount:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def whole(amount: Decimal) -> int:
    """Return an amount rounded down to the minor unit."""
    return int(amount.to_integral_value(ROUND_DOWN))


class Maker:
    """One round in the making: every method plays a command or a part of one."""

    def __init__(
        self,
        rules: dict[str, Any],
        *,
        source: str = "rng",
        meter: str | None = None,
        reset: int = 1_000_000,
        round_id: str = "r-1",
        **parameters: Any,
    ) -> None:
        """Open the round."""
        self.rules, self.rng, self.round_id = rules, source == "rng", round_id
        self.events: list[dict[str, Any]] = []
        self.position, self.command, self.at = 100, "", datetime(2026, 11, 29, 21, 24, 1, 5, tzinfo=UTC)
        self.wallets: dict[str, int] = {}
        self.seats: dict[int, dict[str, Any]] = {}
        self.dealer: list[str] = []
        self.up_cards: list[str] = []
        self.currency = rules["currencies"][0]
        self.meter, self.moved_at, self.hits, self.reset = Decimal(meter or 0), 41, 6, reset
        self.seed = SEED
        self.bets = {bet["kind"]: bet for bet in rules["side_bets"]}
        limits = {"min_ante": 100, "max_ante": 1_000_000, "min_side_bet": 100, "max_side_bet": 100_000}
        self.table = {**limits, "zone": "UTC", "cutoff_hour": 6, **parameters}
        self.rules_sha256 = sha256(rules)
        data: dict[str, Any] = {
            "table_id": "t-1",
            "ruleset": {"id": rules["id"], "version": 1, "sha256": self.rules_sha256},
            "currency": self.currency,
            "account_class": "real",
            "deal_source": source,
            "gaming_day": "2026-11-29",
            "parameters": self.table,
            "build": "stud-ledger 0.1.0",
        }
        if self.rng:
            parts = (
                b"stud-ledger/deck-commitment/1",
                SEED,
                round_id.encode(),
                bytes.fromhex(self.rules_sha256),
            )
            data["deck_commitment"] = hashlib.sha256(packed(*parts)).hexdigest()
            data |= {"deck_algorithm": "stud-deck-1", "rng": "os-urandom"}
        self.jackpot: dict[str, Any] | None = None
        if meter is not None:
            figures = {"version": 3, "contribution": "0.70", "reset": reset}
            self.jackpot = {**figures, "jackpot_id": "main", "currency": self.currency}
            data["jackpot"] = {**figures, "id": "main", "sha256": sha256(self.jackpot)}
        self.begin("open")
        self.add("RoundOpened", data)

    def begin(self, name: str) -> None:
        """Start a new command, with another stream's events in between."""
        self.command = base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).decode()[:22]
        self.position += 3

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Write an event."""
        self.position += 1
        self.at += timedelta(microseconds=7)
        version = len(self.events) + 1
        self.events.append(
            {
                "data": {name: entry for name, entry in data.items() if entry is not None},
                "meta": {"actor": "game-server", "command": self.command, "schema": 1},
                "position": self.position,
                "recorded_at": self.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "salt": hashlib.md5(str(version).encode()).hexdigest()[:22],
                "stream": f"round-{self.round_id}",
                "type": kind,
                "version": version,
            }
        )

    def pay(self, player: str, amount: int) -> int:
        """Change a wallet and return what is in it then."""
        self.wallets[player] = self.wallets.get(player, 50_000_000) + amount
        return self.wallets[player]

    def ante(
        self, seat: int, amount: int, *, player: str = "", client_seed: str | None = None, **bets: int
    ) -> None:
        """Place a seat's ante and side bets."""
        player = player or f"p-{seat}"
        self.seats[seat] = {"player": player, "ante": amount, "bets": bets, "client_seed": client_seed}
        who = {"seat": seat, "player": player}
        after = self.pay(player, -amount)
        extra = {"session_id": "s-1", "channel": "internet", "client_seed": client_seed}
        self.add("AntePlaced", {**who, "amount": amount, "balance_after": after, **extra})
        for bet, stake in bets.items():
            share = Decimal(stake) * Decimal("0.70") if bet == "jackpot" else None
            after = self.pay(player, -stake)
            given = text(share) if share is not None else None
            data = {**who, "bet": bet, "amount": stake, "balance_after": after, "contribution": given}
            self.add("SideBetPlaced", {**data, "jackpot_id": "main" if bet == "jackpot" else None})
            if share:
                self.meter += share
                self.moved_at = self.position

    def deal(self, hands: dict[int, str] | None = None, dealer: str = "") -> None:
        """Close betting and deal: from the deck, or the hands given (seat 0: the shared hand)."""
        self.add("BettingClosed", {"seats": len(self.seats)})
        shared = self.rules["seating"]["shared_player_hand"]
        self.order = [0] if shared else sorted(self.seats)
        ups, count = self.rules["deal"]["dealer_up_indices"], len(self.order)
        places = {}
        for number in range(count + 1):
            if self.rules["deal"]["pattern"] == "block":
                places[number] = [5 * number + card for card in range(5)]
            else:
                places[number] = [card * (count + 1) + number for card in range(5)]
        seeds = {seat: info["client_seed"] for seat, info in self.seats.items() if info["client_seed"]}
        self.deck = deck(self.seed, self.round_id, self.rules_sha256, seeds)
        self.next_card = 5 * (count + 1)
        self.dealer = dealer.split() if dealer else [self.deck[place] for place in places[count]]
        self.dealer_places = places[count] if self.rng else None
        for number, seat in enumerate(self.order):
            given = (hands or {}).get(seat)
            cards = given.split() if given else [self.deck[place] for place in places[number]]
            data: dict[str, Any] = {"to": "shared" if shared else "seat", "cards": cards}
            data |= {"seat": None if shared else seat, "indices": places[number] if self.rng else None}
            self.add("Dealt", data)
            for info in self.seats.values() if shared else [self.seats[seat]]:
                info["hand"] = list(cards)
        self.up_cards = [self.dealer[up] for up in ups]
        data = {"to": "dealer", "cards": self.up_cards, "up_indices": ups}
        self.add("Dealt", {**data, "indices": [places[count][up] for up in ups] if self.rng else None})

    def exchange(self, seat: int, discard: str, drawn: str | None = None) -> None:
        """Buy one card."""
        info = self.seats[seat]
        info["fee"] = info["ante"] * self.rules["exchange"]["fee_antes"]
        info["lost"] = [bet for bet in info["bets"] if bet in self.rules["exchange"]["forfeits"]]
        data = {"seat": seat, "player": info["player"], "fee": info["fee"], "discard": discard}
        data["drawn"] = drawn or self.deck[self.next_card + 1]
        data |= {"forfeited": info["lost"], "decided_by": "player"}
        data["balance_after"] = self.pay(info["player"], -info["fee"])
        if self.rng:
            data |= {"burn_index": self.next_card, "drawn_index": self.next_card + 1}
        self.next_card += 2
        info["hand"][info["hand"].index(discard)] = data["drawn"]
        self.add("CardExchanged", data)

    def call(self, *seats: int) -> None:
        """Raise at these seats."""
        for seat in seats:
            info = self.seats[seat]
            info["raise"] = info["ante"] * self.rules["play"]["raise_multiple"]
            data = {"seat": seat, "player": info["player"], "amount": info["raise"], "decided_by": "player"}
            self.add("Raised", {**data, "balance_after": self.pay(info["player"], -info["raise"])})

    def fold(self, *seats: int, by: str = "player") -> None:
        """Fold at these seats."""
        for seat in seats:
            self.add("Folded", {"seat": seat, "decided_by": by})

    def settle(self) -> None:
        """Reveal, settle every seat, close."""
        calls = any("raise" in info for info in self.seats.values())
        self.plays = False
        if calls or self.rules["play"]["reveal_if_all_fold"]:
            self.plays = value(self.dealer) <= ACE_KING_LEAST
            data = {"cards": self.dealer, "category": category(self.dealer), "qualified": self.plays}
            self.add("DealerQualified", {**data, "indices": self.dealer_places})
        raised: dict[str, int] = {}
        for seat in sorted(self.seats):
            self.hit(seat)
            self.settle_seat(seat, raised)
        self.add("RoundClosed", {"deck_seed": self.seed.hex() if self.rng else None})

    def owed(self, seat: int) -> dict[str, Any] | None:
        """Return the jackpot's award for a seat."""
        info, bet = self.seats[seat], self.bets.get("jackpot")
        if bet is None or "jackpot" not in info["bets"]:
            return None
        return bet["awards"].get(category(info["hand"]))

    def hit(self, seat: int) -> None:
        """Pay a seat's award; with the first whole meter all of them."""
        award, info = self.owed(seat), self.seats[seat]
        if award is None or "award" in info:
            return
        if award.get("percent") == 100:
            owed = {other: self.owed(other) or {} for other in sorted(self.seats)}
            winners = [other for other, theirs in owed.items() if theirs.get("percent") == 100]
            share = whole(self.meter / len(winners))
            for winner in winners:
                self.pay_hit(winner, share, Decimal(share), restart=winner == winners[-1])
        elif "percent" in award:
            paid = whole(self.meter * award["percent"] / 100)
            self.pay_hit(seat, paid, Decimal(paid))
        else:
            paid = int(Decimal(award["fixed"]) * 100)
            fund = Decimal(0) if award["funding"] == "house" else min(self.meter, Decimal(paid))
            self.pay_hit(seat, paid, fund)

    def pay_hit(self, seat: int, paid: int, from_meter: Decimal, *, restart: bool = False) -> None:
        """Write one award."""
        info, before = self.seats[seat], self.meter
        self.meter += (self.reset if restart else 0) - from_meter
        self.hits += 1
        info["award"] = paid
        data = {
            "seat": seat,
            "player": info["player"],
            "jackpot_id": "main",
            "category": category(info["hand"]),
        }
        data |= {"award": paid, "from_meter": text(from_meter), "from_house": text(paid - from_meter)}
        data |= {"meter_before": text(before), "meter_after": text(self.meter), "order": self.hits}
        data |= {"previous_position": self.moved_at, "balance_after": self.pay(info["player"], paid)}
        self.add("JackpotHit", {**data, "restart": str(self.reset) if restart else None})
        if from_meter or restart:
            self.moved_at = self.position

    def settle_seat(self, seat: int, raised: dict[str, int]) -> None:
        """Write one seat's Settled."""
        info, bets = self.seats[seat], []
        ante, stake = info["ante"], info.get("raise")
        result = "folded"
        if stake is not None:
            mine, dealers = value(info["hand"]), value(self.dealer)
            result = "win" if mine < dealers else "lose" if mine > dealers else "push"
            result = result if self.plays else "dealer_not_qualified"
        if result in ("win", "dealer_not_qualified"):
            bets.append({"bet": "ante", "stake": ante, "returned": ante, "won": ante, "odds": 1})
        else:
            bets.append({"bet": "ante", "stake": ante, "returned": ante * (result == "push"), "won": 0})
        if stake is not None:
            bets.append({"bet": "raise", "stake": stake, "returned": stake * (result != "lose"), "won": 0})
        if result == "win":
            odds = self.rules["raise_pays"][category(info["hand"])]
            cap = self.cap() - (raised.get(info["player"], 0) if self.aggregate() else 0)
            bets[1]["won"] = min(stake * odds, cap)
            bets[1] |= {"odds": odds} if bets[1]["won"] else {}
            raised[info["player"]] = raised.get(info["player"], 0) + bets[1]["won"]
        if "fee" in info:
            bets.append({"bet": "exchange_fee", "stake": info["fee"], "returned": 0, "won": 0})
        bets += [self.side_bet(info, kind) for kind in self.bets if kind in info["bets"]]
        back = sum(bet["returned"] + bet["won"] * (bet["bet"] != "jackpot") for bet in bets)
        policy, shown = self.rules["play"]["show_hands"], stake is not None
        if policy == "jackpot_when_not_qualified" and not self.plays:
            shown = shown and "jackpot" in info["bets"]
        data = {"seat": seat, "player": info["player"], "result": result, "bets": bets}
        data |= {"shown": policy == "all" or shown, "balance_after": self.pay(info["player"], back)}
        self.add("Settled", {**data, "category": category(info["hand"])})

    def side_bet(self, info: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return a side bet's leg."""
        stake, bet = info["bets"][kind], self.bets[kind]
        none = {"bet": kind, "stake": stake, "returned": 0, "won": 0}
        if kind == "jackpot":
            return {**none, "won": info.get("award", 0)}
        if kind == "bonus":
            award = bet["awards"].get(category(info["hand"]))
            return {**none, "won": int(award["fixed"]) * 100} if award and "fee" not in info else none
        odds = bet["pays"].get(category([*info["hand"], self.up_cards[0]]))
        return {**none, "returned": stake, "won": stake * odds, "odds": odds} if odds else none

    def cap(self) -> int:
        """Return the most a raise wins."""
        limit = self.rules.get("raise_cap")
        if limit is None:
            return 10**15
        return int(limit["amount"]) * 100 if "amount" in limit else self.table["raise_win_cap"]

    def aggregate(self) -> bool:
        """Return whether the cap is for all hands of a player."""
        return bool(self.rules.get("raise_cap", {}).get("scope") == "aggregate")

    def void(self, cause: str = "malfunction") -> None:
        """Declare the round void and give everything back."""
        self.add("RoundVoided", {"cause": cause, "deck_seed": self.seed.hex() if self.rng else None})
        for seat, info in sorted(self.seats.items()):
            if "jackpot" in info["bets"]:
                share, before = Decimal(info["bets"]["jackpot"]) * Decimal("0.70"), self.meter
                taken = min(before, share)
                self.meter -= taken
                data = {"seat": seat, "player": info["player"], "jackpot_id": "main", "amount": text(share)}
                data |= {"from_meter": text(taken), "from_house": text(share - taken)}
                data |= {"meter_before": text(before), "meter_after": text(self.meter)}
                self.add("ContributionReversed", {**data, "previous_position": self.moved_at})
                self.moved_at = self.position if taken else self.moved_at
            stakes = {"ante": info["ante"], "raise": info.get("raise"), "exchange_fee": info.get("fee")}
            bets = [{"bet": bet, "stake": stake} for bet, stake in (stakes | info["bets"]).items() if stake]
            amount = sum(bet["stake"] for bet in bets)
            data = {"seat": seat, "player": info["player"], "amount": amount, "bets": bets}
            self.add("StakeRefunded", {**data, "balance_after": self.pay(info["player"], amount)})

    def evidence(self, player: str | None = None) -> dict[str, Any]:
        """Return the evidence file, whole or one player's."""
        file: dict[str, Any] = {
            "format": "stud-ledger/evidence/1",
            "round_id": self.round_id,
            "player": player,
            "events": [self.disclosed(event, player) for event in self.events],
            "ruleset": self.rules,
            "currency": {"code": self.currency, "exponent": 2},
        }
        return file if self.jackpot is None else {**file, "jackpot": self.jackpot}

    def disclosed(self, event: dict[str, Any], player: str | None) -> dict[str, Any]:
        """Return an event, or only its place where it is another player's."""
        seat = event["data"].get("seat")
        if player is None or seat is None or self.seats[seat]["player"] == player:
            return event
        leaf = hashlib.sha256(b"\x00" + canonical(event)).hexdigest()
        place = {name: event[name] for name in ("position", "stream", "version")}
        return {**place, "withheld": True, "leaf_sha256": leaf}
