"""What is played on a golden ledger: every house, and everything that can become of a round.

The same commands and, with `players.determined`, the same seeds, salts and ids each time. Rounds and a
proposal are left open on purpose, in every phase that is waited in: the software of a later stage has to go
on with them.
"""

from __future__ import annotations

import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain import commands as c
from infrastructure import bootstrap, ids
from infrastructure.evidence.notes import Signer
from tests.golden.players import (
    FUNDS,
    RESET,
    House,
    Player,
    deal_out,
    furnish,
    house_of,
    open_round,
    usual_rounds,
)
from tests.integration.made_log import SIGNER

SEED = 20_261_130
ROYALS = (("Ts", "Js", "Qs", "Ks", "As"), ("Th", "Jh", "Qh", "Kh", "Ah"))
FOUR_NINES = ("9s", "9h", "9d", "9c", "2d")
SHARED_SEATS = 40
SETTLE_SEATS_MAX = 16
"""So few that the big shared round settles in several commands."""
NOTE = "ab" * 32


def play(player: Player) -> None:
    """Play everything."""
    player.do(c.StartLedger(demo=True))
    player.do(c.StartLog(SIGNER.name, SIGNER.verifier.vkey))
    player.do(c.VerifySoftware("stud-ledger/golden", *("0123456789abcdef" * 4,) * 4, occasion="start"))
    houses = [house_of(player, document) for document in bootstrap.shipped_documents()]
    for house in houses:
        furnish(player, house)
        usual_rounds(player, house)
        _odd_ends(player, house)
        _physical_rounds(player, house)
    _crowd(player, next(house for house in houses if house.shared))
    _new_version(player, next(house for house in houses if house.id == "us-casino"))
    _desk(player, houses[0])
    _two_people(player, next(house for house in houses if house.id == "us-casino"))
    _kept_by_others(player)
    _leave_open(player, houses)


def _odd_ends(player: Player, house: House) -> None:
    """Rounds that are declared void, whose time runs out, and on which nobody stakes; and refusals."""
    answer = player.decide_all(open_round(player, house, 2), leave=1)
    player.do(c.VoidRound(answer["round_id"], "malfunction"))
    player.ask(c.VoidRound(answer["round_id"], "malfunction"))
    answer = player.decide_all(open_round(player, house, 3), leave=2)
    while answer["phase"] == "dealt":  # where seats decide in turn, each has its own time
        player.clock.forward(60)
        answer = player.do(c.TimeOutRound(answer["round_id"]))
    player.ask(c.Decide(answer["round_id"], 1, "raise"))
    empty = player.do(c.OpenRound(player.round_id(), f"{house.name}-deck"))
    player.clock.forward(7_200)
    player.do(c.TimeOutRound(empty["round_id"]))
    player.ask(c.Withdraw(f"{house.name}-1", 10**11, "too much", ids.transaction_id()))
    player.do(c.Withdraw(f"{house.name}-1", 12_345, "home", ids.transaction_id()))


def _physical_rounds(player: Player, house: House) -> None:
    """Rounds whose cards a dealer names: two royal flushes at once, four of a kind, and a misdeal."""
    hands = ROYALS if not house.shared else ROYALS[:1]
    deal_out(player, house, hands)
    deal_out(player, house, (FOUR_NINES,))
    deal_out(player, house, (), void=True)


def _crowd(player: Player, house: House) -> None:
    """A shared round with more seats than one command settles."""
    for number in range(8, SHARED_SEATS + 1):
        player.do(c.OpenPlayer(f"{house.name}-{number}", ids.pseudonym(), house.currency))
        player.do(c.Deposit(f"{house.name}-{number}", FUNDS, "first", ids.transaction_id()))
    answer = open_round(player, house, SHARED_SEATS)
    for seat in range(1, SHARED_SEATS + 1):
        answer = player.do(c.Decide(answer["round_id"], seat, player.dice.choice(("raise", "fold"))))
    # The writer goes on settling by itself: what comes next has to come after it each time.
    end = player.writer.figures().commands + SHARED_SEATS // SETTLE_SEATS_MAX
    deadline = time.monotonic() + 30
    while player.writer.figures().commands < end and time.monotonic() < deadline:
        time.sleep(0.01)


def _new_version(player: Player, house: House) -> None:
    """A second version of a rule set is published and, later, played."""
    player.do(c.PublishRuleset({**house.document, "title": f"{house.document['title']}, again"}))
    player.decide_all(open_round(player, house, 2))
    player.do(c.ActivateRuleset(f"{house.name}-deck", house.id, 2))
    player.decide_all(open_round(player, house, 2))


def _desk(player: Player, house: House) -> None:
    """Comings and goings at a table, and a clock that is set back."""
    table = f"{house.name}-deck"
    player.do(c.JoinTable(table, f"{house.name}-2", 2, "evening"))
    player.do(c.CloseTable(table))
    player.ask(c.OpenRound(player.round_id(), table, house.seats(player.dice, 1)))
    player.do(c.ReopenTable(table))
    player.clock.forward(-30)
    player.decide_all(open_round(player, house, 1))
    player.do(c.LeaveTable(table, f"{house.name}-2"))


def _two_people(player: Player, house: House) -> None:
    """A jackpot's life, of what one person proposes and another approves; and who they are."""
    for name, asked_by in (("anna", None), ("ben", None), ("cleo", "anna")):  # two are enough to ask two
        public = (
            Ed25519PrivateKey.from_private_bytes(player.dice.randbytes(32)).public_key().public_bytes_raw()
        )
        key = urlsafe_b64encode(public).decode().rstrip("=")
        player.do(c.RegisterPerson(name, key, ("admin",), f"register-{name}", NOTE), asked_by)
        if asked_by:
            player.do(c.Approve(f"register-{name}"), "ben")
    capped = House(house.document, house.currency, house.kinds, "capped")
    heir = House(house.document, house.currency, house.kinds, "heir")
    furnish(player, capped, ceiling=RESET + 100, diversion="0.05")
    furnish(player, heir)
    usual_rounds(player, capped)
    deal_out(player, capped, ROYALS)  # the overflow and the diversion pay for the restart
    terms = {"contribution": "0.60", "reset": 60_000, "ceiling": 70_000}
    _decided(player, "terms", "jackpot_parameters", jackpot_id="pot-capped", **terms)
    usual_rounds(player, capped)
    deal_out(player, capped, ROYALS)  # and they are in force
    _decided(player, "amends", "jackpot_adjustment", jackpot_id="pot-capped", amount=-25)
    _decided(player, "pool", "jackpot_adjustment", jackpot_id="pot-capped", pool="diversion", amount=40)
    player.do(c.Propose("doubtful", "jackpot_adjustment", {"jackpot_id": "pot-heir", "amount": 9}), "anna")
    player.ask(c.Approve("doubtful"), "anna")
    player.do(c.Refuse("doubtful", NOTE), "ben")
    player.do(c.DisableJackpot("pot-capped", NOTE))
    player.ask(c.OpenRound(player.round_id(), "capped-deck", capped.seats(player.dice, 3), deal=True))
    player.do(c.EnableJackpot("pot-capped"))
    usual_rounds(player, capped)
    player.do(c.DisableJackpot("pot-capped"))
    _decided(player, "end", "jackpot_transfer", jackpot_id="pot-capped", to="pot-heir")
    player.do(c.RevokePerson("cleo", "revoke-cleo"), "anna")
    player.do(c.Approve("revoke-cleo"), "ben")
    player.do(c.Propose("waiting", "jackpot_adjustment", {"jackpot_id": "pot-heir", "amount": 5}, NOTE))


def _kept_by_others(player: Player) -> None:
    """Audits, an export, another key for the log, and another log after the ledger had lost some events."""
    player.do(c.StartAudit("audit-1", "database", 1, 100))
    player.do(c.FinishAudit("audit-1", "pass", 9, 100, 0, NOTE))
    player.do(c.RecordArchive(1, "2026-09-21", 1, 100, NOTE))
    key = Signer.from_seed(SIGNER.name, b"2" * 32).verifier.vkey
    _decided(player, "next-key", "log_key", vkey=key)
    root = b64encode(bytes(32)).decode()
    player.do(c.HaltLog(1, "behind", 200, 240, root))
    origin = f"{SIGNER.name.rpartition('/')[0]}/2"
    _decided(player, "next-log", "log", origin=origin, vkey=Signer.from_seed(origin, b"3" * 32).verifier.vkey)


def _decided(player: Player, name: str, kind: str, **payload: Any) -> None:
    player.do(c.Propose(name, kind, payload, NOTE), "anna")
    player.do(c.Approve(name), "ben")


def _leave_open(player: Player, houses: Sequence[House]) -> None:
    """Leave rounds as they may stand when a ledger is moved to new software."""
    for house in houses:
        player.do(c.OpenRound(player.round_id(), f"{house.name}-deck"))
        open_round(player, house, 2, deal=False)
        player.decide_all(open_round(player, house, 2, first=2), leave=1)
        seats = house.seats(player.dice, 1)
        player.do(c.OpenRound(player.round_id(), f"{house.name}-dealer", seats))
