"""What a round's events do to the accounts.

A stake goes from the wallet to the on-game account and stays there until the seat is settled, or refunded in
a void round. The house advances what a side bet puts into a jackpot, and takes back what a void round put in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from infrastructure.checking.books import DIVERSION, METER, OVERFLOW, Books
from infrastructure.checking.exact import MINOR, exact, share
from infrastructure.checking.exact import text as exact_text
from infrastructure.checking.state import OpenRound, Seat

Data = dict[str, Any]

_STAKES: Final = {"ante": "antes", "raise": "raises", "exchange_fee": "fees"}
"""Under what the stakes of settled bets are added up; all others are side bets."""


def opened(books: Books, round_id: str, data: Data) -> OpenRound:
    """A round begins."""
    jackpot = data.get("jackpot")
    table = books.tables.get(data["table_id"])
    if table is None:
        books.differs("unknown_table", f"the table {data['table_id']} was never opened")
    elif not table.parallel_rounds:
        table.open_round = round_id
        table.touched_at = books.position
    round_ = OpenRound(
        data["table_id"],
        data["currency"],
        data["account_class"],
        data.get("deck_commitment") is not None,
        None if jackpot is None else jackpot["id"],
        0 if jackpot is None else share(jackpot["contribution"]),
        share(jackpot["diversion"]) if jackpot is not None and "diversion" in jackpot else 0,
        jackpot["ceiling"] * MINOR if jackpot is not None and "ceiling" in jackpot else None,
        moved_at=books.position,
    )
    books.count(round_)["rounds_opened"] += 1
    return round_


def _ante_placed(books: Books, round_: OpenRound, round_id: str, data: Data) -> None:
    player, amount, number = data["player"], data["amount"], data["seat"]
    wallet = books.move(player, -amount, amount, data["balance_after"])
    wallet.unfinished[round_.table] = round_id
    if number in round_.seats:
        books.differs("seat", f"seat {number} has staked already")
    if (wallet.currency, wallet.account_class) != (round_.currency, round_.account_class):
        books.differs("account_class", f"{player} holds {wallet.currency} {wallet.account_class}")
    round_.seats[number] = Seat(player, amount, balance_after=data["balance_after"])
    hands = round_.hands.get(player, 0)
    round_.hands[player] = hands + 1
    books.player_rounds += not hands


def _raised(books: Books, round_: OpenRound, _: str, data: Data) -> None:
    seat = _stake(books, round_, data, data["amount"])
    if seat is not None:
        seat.raised += data["amount"]


def _exchanged(books: Books, round_: OpenRound, _: str, data: Data) -> None:
    seat = _stake(books, round_, data, data["fee"])
    if seat is not None:
        seat.fee += data["fee"]


def _stake(books: Books, round_: OpenRound, data: Data, amount: int) -> Seat | None:
    books.move(data["player"], -amount, amount, data["balance_after"])
    seat = _seat(books, round_, data)
    if seat is not None:
        seat.staked += amount
        seat.balance_after = data["balance_after"]
    return seat


def _seat(books: Books, round_: OpenRound, data: Data) -> Seat | None:
    seat = round_.seats.get(data["seat"])
    if seat is None or seat.player != data["player"] or seat.settled:
        books.differs("seat", f"seat {data['seat']} is not {data['player']}'s, or is settled")
        return None
    return seat


def _side_bet_placed(books: Books, round_: OpenRound, _: str, data: Data) -> None:
    amount = data["amount"]
    seat = _stake(books, round_, data, amount)
    if seat is not None:
        seat.side_bets += amount
    if "contribution" not in data:
        return
    contribution = exact(data["contribution"])
    overflow, diversion = (exact(data[name]) if name in data else 0 for name in ("overflow", "diversion"))
    if (contribution, diversion) != (amount * round_.share, amount * round_.diversion):
        books.differs(
            "contribution",
            f"of {amount}, {exact_text(amount * round_.share)} and {exact_text(amount * round_.diversion)} "
            f"go to the jackpot, the event says {exact_text(contribution)} and {exact_text(diversion)}",
        )
    jackpot = books.jackpot(data["jackpot_id"])
    if jackpot is None:
        return
    room = contribution if round_.ceiling is None else max(0, round_.ceiling - jackpot.meter)
    if overflow != contribution - min(contribution, room):
        books.differs("contribution", f"the meter takes {exact_text(room)}, {exact_text(overflow)} went over")
    jackpot.unsettled += 1
    if seat is not None:
        seat.on_jackpot = True
    books.pool(data["jackpot_id"], METER, contribution - overflow)
    if overflow:
        books.pool(data["jackpot_id"], OVERFLOW, overflow)
    if diversion:
        books.pool(data["jackpot_id"], DIVERSION, diversion)
    books.book(f"house:{round_.account_class}", round_.currency, -contribution - diversion)
    if seat is not None:
        seat.meter, seat.overflow, seat.diversion = contribution - overflow, overflow, diversion


def _jackpot_hit(books: Books, round_: OpenRound, _: str, data: Data) -> None:
    jackpot_id, award = data["jackpot_id"], data["award"]
    jackpot, seat = books.jackpot(jackpot_id), _seat(books, round_, data)
    if jackpot is None:
        return
    taken, house = exact(data["from_meter"]), exact(data["from_house"])
    restart, diverted, released = (
        exact(data[name]) if name in data else 0
        for name in ("restart", "restart_from_diversion", "from_overflow")
    )
    if (jackpot.moved_at, jackpot.hits + 1) != (data["previous_position"], data["order"]):
        books.differs(
            "jackpot_order",
            f"hit {jackpot.hits + 1} after position {jackpot.moved_at}, the event says {data['order']} "
            f"after {data['previous_position']}",
        )
    jackpot.hits = data["order"]
    books.meter_is(jackpot_id, exact(data["meter_before"]), "before")
    books.move(data["player"], award, 0, data["balance_after"])
    books.pool(jackpot_id, METER, restart + released - taken)
    books.meter_is(jackpot_id, exact(data["meter_after"]), "after")
    if released:
        books.pool(jackpot_id, OVERFLOW, -released)
    if diverted:
        books.pool(jackpot_id, DIVERSION, -diverted)
    books.book(f"house:{round_.account_class}", round_.currency, diverted - restart - house)
    books.count(round_)["jackpot_wins"] += award
    if seat is not None:
        seat.award += award
        seat.balance_after = data["balance_after"]


def _settled(books: Books, round_: OpenRound, round_id: str, data: Data) -> None:
    staked = returned = won = award = 0
    figures = books.count(round_)
    for bet in data["bets"]:
        staked += bet["stake"]
        figures[_STAKES.get(bet["bet"], "side_bets")] += bet["stake"]
        returned += bet["returned"]
        if bet["bet"] == "jackpot":
            award += bet["won"]  # was paid by JackpotHit
        else:
            won += bet["won"]
    back = returned + won
    figures["hands"] += 1
    figures["returned"] += returned
    figures["game_wins"] += won
    books.move(data["player"], back, -staked, data["balance_after"])
    books.book(f"house:{round_.account_class}", round_.currency, (staked - back) * MINOR)
    seat = _seat(books, round_, data)
    if seat is None:
        return
    if (seat.staked, seat.award) != (staked, award):
        books.differs(
            "settlement",
            f"seat {data['seat']} staked {seat.staked} and was awarded {seat.award}, the event settles "
            f"{staked} and {award}",
        )
    round_.settled += 1
    seat.returned, seat.game_win, seat.balance_after = returned, won, data["balance_after"]
    _leave(books, round_, round_id, seat)


def _leave(books: Books, round_: OpenRound, round_id: str, seat: Seat) -> None:
    """A seat has got all it will get."""
    seat.settled = True
    if seat.on_jackpot:
        _unstake(books, round_)
    left = round_.hands.get(seat.player, 1) - 1
    round_.hands[seat.player] = left
    wallet = books.wallet(seat.player)
    if left == 0 and wallet.unfinished.get(round_.table) == round_id:
        del wallet.unfinished[round_.table]


def _unstake(books: Books, round_: OpenRound) -> None:
    jackpot = books.jackpots.get(round_.jackpot or "")
    if jackpot is not None:
        jackpot.unsettled -= 1
        jackpot.touched_at = books.position


def _voided(books: Books, round_: OpenRound, _: str, __: Data) -> None:
    if round_.settled:
        books.differs("void_round", "the round is void after a seat was settled")
    round_.void = True


def _reversed(books: Books, round_: OpenRound, _: str, data: Data) -> None:
    jackpot_id = data["jackpot_id"]
    jackpot, seat = books.jackpot(jackpot_id), _seat(books, round_, data)
    if jackpot is None or seat is None:
        return
    meter, house = exact(data["from_meter"]), exact(data["from_house"])
    overflow, diversion = (
        exact(data[name]) if name in data else 0 for name in ("from_overflow", "from_diversion")
    )
    # A pool gives back what it got, as far as it holds that; the house bears the rest.
    due = [
        min(jackpot.meter, seat.meter),
        min(jackpot.overflow, seat.overflow),
        min(jackpot.diverted, seat.diversion),
    ]
    amount = seat.meter + seat.overflow + seat.diversion
    due += [amount - sum(due), amount]
    said = [meter, overflow, diversion, house, exact(data["amount"])]
    if due != said:
        books.differs("reversal", f"the pools give back {due}, the event says {said}")
    if jackpot.moved_at != data["previous_position"]:
        books.differs("jackpot_order", f"the meter last moved at {jackpot.moved_at}, not as the event says")
    books.meter_is(jackpot_id, exact(data["meter_before"]), "before")
    books.pool(jackpot_id, METER, -meter)
    books.meter_is(jackpot_id, exact(data["meter_after"]), "after")
    if overflow:
        books.pool(jackpot_id, OVERFLOW, -overflow)
    if diversion:
        books.pool(jackpot_id, DIVERSION, -diversion)
    books.book(f"house:{round_.account_class}", round_.currency, meter + overflow + diversion)


def _refunded(books: Books, round_: OpenRound, round_id: str, data: Data) -> None:
    amount = data["amount"]
    books.move(data["player"], amount, -amount, data["balance_after"])
    figures = books.count(round_)
    figures["hands_refunded"] += 1
    figures["refunded"] += amount
    seat = _seat(books, round_, data)
    if seat is None:
        return
    if amount != seat.staked or amount != sum(bet["stake"] for bet in data["bets"]):
        books.differs("refund", f"seat {data['seat']} staked {seat.staked} and got {amount} back")
    round_.refunded += 1
    seat.returned, seat.balance_after = amount, data["balance_after"]
    _leave(books, round_, round_id, seat)


def _nothing(_: Books, __: OpenRound, ___: str, ____: Data) -> None:
    """No money moves."""


IN_ROUNDS: Final[dict[str, Callable[[Books, OpenRound, str, Data], None]]] = {
    "AntePlaced": _ante_placed,
    "SideBetPlaced": _side_bet_placed,
    "Raised": _raised,
    "CardExchanged": _exchanged,
    "JackpotHit": _jackpot_hit,
    "Settled": _settled,
    "RoundVoided": _voided,
    "ContributionReversed": _reversed,
    "StakeRefunded": _refunded,
    **dict.fromkeys(("BettingClosed", "Dealt", "Folded", "DealerQualified", "RoundClosed"), _nothing),
}
"""What to do with each type of event in a round's stream, after RoundOpened."""
