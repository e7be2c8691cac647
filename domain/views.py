"""What may be seen of a round, by whom (G5).

The game server (scope ``play``) sees each seat's cards, since it shows them to the seat's player. Anybody
else sees a face-down card only after the round has finished. The dealer's other cards and the seed are in
nobody's view before their reveal, because they are in no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from domain.hands import rank_five
from domain.money import floor_minor, parse_exact
from domain.round import Round, Seat
from domain.rules import Rules
from domain.work import Work

WHOLE_SEATS_MAX: Final = 20
"""A round with more seats answers a command with the command's own seats and totals."""


def round_answer(work: Work, round_id: str, seats: Iterable[int] = ()) -> dict[str, Any]:
    """The answer to a command on a round, as the game server sees it; `seats` are the command's own.

    Who asks for more of a big round reads it by pages. Empty where the work is to give no answers.
    """
    if not work.answers:
        return {}
    round_ = work.rounds[round_id]
    names = {}
    own = None if len(round_.seats) <= WHOLE_SEATS_MAX else list(seats)
    for number in round_.seats if own is None else own:
        player = round_.seats[number].player
        names[player] = work.wallets[player].player_id
    view = round_view(round_, work.rules_of(round_), names, game_server=True, seats=own)
    if work.checkpoint is not None:
        view["checkpoint"] = work.checkpoint
    return view


def round_view(
    round_: Round,
    rules: Rules,
    names: Mapping[str, str | None],
    *,
    game_server: bool,
    seats: Iterable[int] | None = None,
) -> dict[str, Any]:
    """A round as the HTTP contract shows it.

    `names` maps pseudonyms to the operator's player ids; `seats` limits the seats shown.
    """
    opened = round_.opened
    cards_visible = game_server or round_.finished or not rules.player_cards_down
    view: dict[str, Any] = {
        "round_id": round_.id,
        "table_id": opened.table_id,
        "ruleset": {
            "id": opened.ruleset.id,
            "version": opened.ruleset.version,
            "sha256": opened.ruleset.sha256,
        },
        "currency": opened.currency,
        "gaming_day": opened.gaming_day,
        "phase": round_.phase,
        "deck_commitment": opened.deck_commitment,
        "committed": committed(round_),
        "up_cards": list(round_.up_cards),
    }
    if round_.shared:
        # Face up for everybody, and told here even where the answer shows none of the seats.
        view["shared_cards"] = list(round_.shared)
    numbers = sorted(round_.seats) if seats is None else seats
    view["seats"] = [
        _seat(round_, round_.seats[n], rules, names, cards_visible=cards_visible) for n in numbers
    ]
    if seats is not None:
        view["totals"] = _totals(round_)
    if round_.dealer:
        view["dealer"] = {
            "cards": list(round_.dealer),
            "category": round_.dealer_category,
            "qualified": round_.qualified,
        }
    hits = [seat.hit for seat in round_.seats.values() if seat.hit is not None]
    if hits:
        view["jackpot_hits"] = [
            {
                "seat": hit.seat,
                "jackpot_id": hit.jackpot_id,
                "category": hit.category,
                "award": hit.award,
                "meter_before": floor_minor(parse_exact(hit.meter_before)),
                "meter_after": floor_minor(parse_exact(hit.meter_after)),
                "meter_before_exact": hit.meter_before,
                "meter_after_exact": hit.meter_after,
                "order": hit.order,
            }
            for hit in sorted(hits, key=lambda hit: hit.order)
        ]
    if round_.deck_seed is not None:
        view["deck_seed"] = round_.deck_seed
    if round_.void_cause is not None:
        view["void_cause"] = round_.void_cause
    return view


def committed(round_: Round) -> str:
    """When the deck was fixed.

    Before the first stake, in one command with it, or never, by a physical table (G6).
    """
    if round_.opened.deal_source == "table":
        return "table"
    return "same_command" if round_.staked_command == round_.opened_command else "before_stake"


def options(round_: Round, seat: Seat, rules: Rules) -> list[str]:
    """What the seat may do now."""
    if round_.phase != "dealt" or seat.decided_by is not None:
        return []
    if rules.decision_order == "seat" and seat.seat != round_.next_seat():
        return []
    buys = rules.exchange_fee_antes is not None and seat.step == "deciding"
    return ["raise", "fold", "exchange"] if buys else ["raise", "fold"]


def _seat(
    round_: Round, seat: Seat, rules: Rules, names: Mapping[str, str | None], *, cards_visible: bool
) -> dict[str, Any]:
    cards = round_.hand(seat)
    view: dict[str, Any] = {
        "seat": seat.seat,
        "player_id": names.get(seat.player),
        "ante": seat.ante,
        "side_bets": seat.side_bets,
        "cards": list(cards) if cards_visible else [],
        "category": rank_five(cards).category if cards and cards_visible else None,
        "options": options(round_, seat, rules),
    }
    if seat.session_id is not None:
        view["session_id"] = seat.session_id
    if seat.fee:
        view["exchanged"] = True
    if seat.decided_by is not None:
        view["decision"] = "fold" if seat.step == "folded" else "raise"
        view["decided_by"] = seat.decided_by
    if seat.settled is not None:
        view.update(_settled(seat))
    elif seat.refunded:
        view.update(_refunded(seat))
    return view


def _settled(seat: Seat) -> dict[str, Any]:
    settled = seat.settled
    assert settled is not None  # noqa: S101 - the caller has looked
    bets: list[dict[str, Any]] = []
    total = staked = 0
    for leg in settled.bets:
        bet = {"bet": leg.bet, "stake": leg.stake, "returned": leg.returned, "won": leg.won}
        if leg.odds is not None:
            bet["odds"] = leg.odds
        bets.append(bet)
        total += leg.returned + leg.won
        staked += leg.stake
    return {
        "shown": settled.shown,
        "result": settled.result,
        "bets": bets,
        "total_returned": total,
        "net": total - staked,
    }


def _refunded(seat: Seat) -> dict[str, Any]:
    bets = [{"bet": bet, "stake": stake, "returned": stake, "won": 0} for bet, stake in seat.placed()]
    return {"shown": False, "result": "void", "bets": bets, "total_returned": seat.stakes(), "net": 0}


def _totals(round_: Round) -> dict[str, int]:
    return {
        "seats": len(round_.seats),
        "undecided": round_.undecided,
        "folded": round_.folded,
        "settled": round_.settled,
        "refunded": round_.refunded,
    }
