"""A naive ledger: plain dicts and sums, to hold the real one against.

It is told each command in the order in which the ledger took it, and the cards that fell. It predicts
whether the command is accepted, why not if not, and every balance, meter and account after it. It shares
nothing with the ledger but the names of commands, events and reasons. Money of wallets is in minor units, of
`exact` (meters and accounts) in 1/10000 of them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tests.property.deterministic.naive_showdown import (
    ANTE_MAX,
    ANTE_MIN,
    EXACT,
    RESET,
    SECOND,
    SHARE,
    SIDE_BET,
    TABLES,
    WAIT_SECONDS,
    Showdown,
)


class Model(Showdown):
    """Everything the naive ledger knows. `cards` of a round is what the events have told of them."""

    def __init__(self, seats_at_once: int) -> None:
        self.seats_at_once = seats_at_once
        self.players: dict[str, dict[str, Any]] = {}
        self.exact: Counter[str] = Counter({"house": -RESET * EXACT, "meter:pot": RESET * EXACT})
        self.transfers: dict[tuple[str, str, str], tuple[int, Any]] = {}
        self.tables = {name: {"open": True, "round": None, "places": {}} for name in TABLES}
        self.rounds: dict[str, dict[str, Any]] = {}
        self.cards: dict[str, dict[Any, list[str]]] = {}
        self.enabled = {"pot": True}

    def decide(self, command: Any, now_us: int) -> set[str]:
        """Take one command; return why it must be refused, nothing where it is accepted."""
        name = re.sub(r"(?=[A-Z])", "_", type(command).__name__).lower()
        return getattr(self, name)(command, now_us) or set()

    # ── The cashier ─────────────────────────────────────────────────────────────────────────────────────────
    def _open_player(self, c: Any, _: int) -> set[str]:
        if c.player_id in self.players:
            return {"player_exists"}
        self.players[c.player_id] = {
            "player": c.player,
            "currency": c.currency,
            "balance": 0,
            "on_game": 0,
            "at": {},
        }
        return set()

    def _deposit(self, c: Any, _: int) -> set[str]:
        return self._transfer(c, "in", 1)

    def _withdraw(self, c: Any, _: int) -> set[str]:
        return self._transfer(c, "out", -1)

    def _transfer(self, c: Any, way: str, sign: int) -> set[str]:
        player = self.players.get(c.player_id)
        if player is None:
            return {"player_not_found"}
        known = self.transfers.get((c.player_id, way, c.reference))
        if known is not None:
            return set() if known[0] == c.amount else {"reference_already_used"}
        if player["balance"] + sign * c.amount < 0:
            return {"insufficient_funds"}
        player["balance"] += sign * c.amount
        self.exact["cashier"] -= sign * c.amount * EXACT
        answer = {"transaction_id": c.transaction_id, "balance": player["balance"]}
        self.transfers[c.player_id, way, c.reference] = (c.amount, answer)
        return set()

    # ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────
    def _close_table(self, c: Any, _: int) -> None:
        self.tables[c.table_id]["open"] = False

    def _reopen_table(self, c: Any, _: int) -> None:
        self.tables[c.table_id]["open"] = True

    def _join_table(self, c: Any, _: int) -> set[str]:
        table, house = self.tables[c.table_id], TABLES[c.table_id]
        others = {player: seat for player, seat in table["places"].items() if player != c.player_id}
        player = self.players.get(c.player_id)
        why = {
            "player_not_found": player is None,
            "table_closed": not table["open"],
            "currency_mismatch": player is not None and player["currency"] != "USD",
            "validation_failed": c.seat is not None and not 1 <= c.seat <= house["seats"],
            "seat_taken": c.seat is not None and c.seat in others.values(),
            "table_full": house["one"] and len(others) >= house["seats"],
        }
        if not any(why.values()):
            table["places"][c.player_id] = c.seat
        return {code for code, holds in why.items() if holds}

    def _leave_table(self, c: Any, _: int) -> set[str]:
        if c.player_id not in self.players:
            return {"player_not_found"}
        if c.table_id in self.players[c.player_id]["at"]:
            return {"round_unfinished"}
        self.tables[c.table_id]["places"].pop(c.player_id, None)
        return set()

    # ── Stakes ──────────────────────────────────────────────────────────────────────────────────────────────
    def _open_round(self, c: Any, now_us: int) -> set[str]:
        table, house = self.tables[c.table_id], TABLES[c.table_id]
        fresh = {"id": c.round_id, "table": c.table_id, "phase": "betting", "seats": {}, "done": 0,
                 "deadline": now_us + WAIT_SECONDS * SECOND}  # fmt: skip
        why = self._why_no_stakes(fresh, c.seats)
        why |= {"table_closed"} if not table["open"] else set()
        why |= {"round_open"} if table["round"] is not None else set()
        why |= {"validation_failed"} if c.deal and (house["scanned"] or not c.seats) else set()
        if not why:
            self.rounds[c.round_id] = fresh
            table["round"] = c.round_id if house["one"] else None
            self._stake(fresh, c.seats, now_us)
            self._dealt(fresh, now_us, deal=c.deal)
        return why

    def _place_antes(self, c: Any, now_us: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        if round_["phase"] != "betting":
            return {"wrong_phase"}
        why = self._why_no_stakes(round_, c.seats)
        if c.deal and (TABLES[round_["table"]]["scanned"] or not (c.seats or round_["seats"])):
            why |= {"validation_failed"}
        if not why:
            self._stake(round_, c.seats, now_us)
            self._dealt(round_, now_us, deal=c.deal)
        return why

    def _why_no_stakes(self, round_: dict[str, Any], stakes: Any) -> set[str]:
        house, places = TABLES[round_["table"]], self.tables[round_["table"]]["places"]
        why: set[str] = {"table_full"} if len(round_["seats"]) + len(stakes) > house["seats"] else set()
        taken = {number: seat["player"] for number, seat in round_["seats"].items()}
        needed: Counter[str] = Counter()
        for s in stakes:
            player = self.players.get(s.player_id)
            if player is None:
                return {*why, "player_not_found", "validation_failed", "seat_taken"}
            others = {seat for who, seat in places.items() if who != s.player_id}
            if (
                s.seat in taken
                or s.seat in others
                or list(taken.values()).count(s.player_id) >= house["hands"]
            ):
                why |= {"seat_taken"}
            why |= set() if 1 <= s.seat <= house["seats"] else {"validation_failed"}
            why |= set() if player["currency"] == "USD" else {"currency_mismatch"}
            why |= (
                {"round_unfinished"}
                if player["at"].get(round_["table"], round_["id"]) != round_["id"]
                else set()
            )
            why |= set() if ANTE_MIN <= s.ante <= ANTE_MAX else {"ante_out_of_limits"}
            for kind, amount in s.side_bets.items():
                if kind != "jackpot" or house["jackpot"] is None:
                    why |= {"unknown_side_bet"}
                elif amount != SIDE_BET:
                    why |= {"side_bet_stake"}
                elif not self.enabled[house["jackpot"]]:
                    why |= {"jackpot_disabled"}
            taken[s.seat] = s.player_id
            needed[s.player_id] += s.ante + sum(s.side_bets.values())
        poor = any(self.players[who]["balance"] < amount for who, amount in needed.items())
        return {*why, "insufficient_funds"} if poor else why

    def _stake(self, round_: dict[str, Any], stakes: Any, now_us: int) -> None:
        for s in stakes:
            bet = s.side_bets.get("jackpot", 0)
            round_["seats"][s.seat] = {"player": s.player_id, "ante": s.ante, "bet": bet, "raise": 0,
                                       "decided": None, "award": None}  # fmt: skip
            self._put(s.player_id, s.ante + bet)
            self.players[s.player_id]["at"][round_["table"]] = round_["id"]
            self.exact["meter:pot"] += bet * SHARE
            self.exact["house"] -= bet * SHARE
            round_["deadline"] = now_us + WAIT_SECONDS * SECOND

    # ── Cards and decisions ─────────────────────────────────────────────────────────────────────────────────
    def _deal_cards(self, c: Any, now_us: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        if round_["phase"] != "betting":
            return {"wrong_phase"}
        if not round_["seats"] or TABLES[round_["table"]]["scanned"] != (c.hands is not None):
            return {"validation_failed"}
        if c.hands is not None:
            cards = [card for hand in c.hands.values() for card in hand] + list(c.dealer_up)
            if set(c.hands) != set(round_["seats"]) or len(set(cards)) < len(cards):
                return {"misdeal"}
        self._dealt(round_, now_us, deal=True)
        return set()

    def _dealt(self, round_: dict[str, Any], now_us: int, *, deal: bool) -> None:
        if deal:
            round_["phase"] = "dealt"
            round_["deadline"] = now_us + TABLES[round_["table"]]["seconds"] * SECOND

    def _decide(self, c: Any, now_us: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        house, seat = TABLES[round_["table"]], round_["seats"].get(c.seat)
        if seat is None or seat["decided"] is not None:
            return {"already_decided" if seat else "not_your_seat"}
        if round_["phase"] != "dealt":
            return {"wrong_phase"}
        if house["in_turn"] and c.seat != self.late(round_)[0]:
            return {"not_your_seat"}
        if c.action == "raise":
            if self.players[seat["player"]]["balance"] < 2 * seat["ante"]:
                return {"insufficient_funds"}
            seat["raise"] = 2 * seat["ante"]
            self._put(seat["player"], seat["raise"])
        seat["decided"] = c.action
        if house["in_turn"]:
            round_["deadline"] = now_us + house["seconds"] * SECOND
        self._after_decisions(round_)
        table = self.tables[round_["table"]]
        if c.open_next and round_["phase"] == "closed" and table["open"] and table["round"] is None:
            following = type("OpenRound", (), {"round_id": c.next_round_id, "table_id": round_["table"],
                                               "seats": (), "deal": False})  # fmt: skip
            self._open_round(following, now_us)
        return set()

    def late(self, round_: dict[str, Any]) -> list[int]:
        """Return the seats that have not decided, in order."""
        return sorted(number for number, seat in round_["seats"].items() if seat["decided"] is None)

    def _time_out_round(self, c: Any, now_us: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        if round_["phase"] not in ("betting", "dealt") or round_["deadline"] > now_us:
            return {"wrong_phase"}
        house = TABLES[round_["table"]]
        if round_["phase"] == "betting" or house["void_late"]:
            self._void(round_)
            return set()
        for number in self.late(round_)[: 1 if house["in_turn"] else None]:
            round_["seats"][number]["decided"] = "fold"
        round_["deadline"] = now_us + house["seconds"] * SECOND if house["in_turn"] else round_["deadline"]
        self._after_decisions(round_)
        return set()

    def _after_decisions(self, round_: dict[str, Any]) -> None:
        house = TABLES[round_["table"]]
        if self.late(round_):
            return
        round_["phase"] = "decided"
        nobody = all(seat["decided"] == "fold" for seat in round_["seats"].values())
        if not house["scanned"] or (nobody and not house["reveals"]):
            self._settle(round_)

    def _reveal_dealer(self, c: Any, _: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        if not TABLES[round_["table"]]["scanned"]:
            return {"validation_failed"}
        if round_["phase"] != "decided" or round_["done"]:
            return {"wrong_phase"}
        known = self.cards[c.round_id]
        seen = {card for to, hand in known.items() if to != "dealer" for card in hand}
        if len(set(c.dealer)) != 4 or seen & set(c.dealer):
            return {"misdeal"}
        known["dealer"] = [*known["up"], *c.dealer]
        self._settle(round_)
        return set()

    # ── The end ─────────────────────────────────────────────────────────────────────────────────────────────
    def _continue_round(self, c: Any, _: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        left = round_["done"] < len(round_["seats"])
        if round_["phase"] == "voided" and left:
            self._refund(round_)
        elif round_["phase"] == "decided" and round_["done"]:
            self._settle(round_)
        else:
            return {"wrong_phase"}
        return set()

    def _void_round(self, c: Any, _: int) -> set[str]:
        round_ = self.rounds.get(c.round_id)
        if round_ is None:
            return {"round_not_found"}
        if round_["phase"] in ("closed", "voided") or round_["done"]:
            return {"wrong_phase"}
        if c.cause != "malfunction":
            return {"validation_failed"}
        self._void(round_)
        return set()
