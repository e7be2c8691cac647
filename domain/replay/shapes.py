"""The shape of every event that a round's stream may hold, and of the envelope around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domain.replay import fields as f
from domain.replay.fields import Shape, shape

_PLACE: Final = {"seat": f.seat, "player": f.name}
_RULESET: Final = shape({"id": f.name, "version": f.position, "sha256": f.digest})
_JACKPOT: Final = shape(
    {"id": f.name, "version": f.position, "sha256": f.digest, "contribution": f.share, "reset": f.amount},
    {"ceiling": f.whole(1, f.BALANCE_MAX), "diversion": f.share},
)
_PARAMETERS: Final = shape(
    {
        "min_ante": f.positive,
        "max_ante": f.positive,
        "zone": f.text,
        "cutoff_hour": f.whole(0, 23),
        "min_side_bet": f.positive,
        "max_side_bet": f.positive,
    },
    {"raise_win_cap": f.positive, "bonus_stake": f.positive, "decision_seconds": f.number},
)
_LEG: Final = shape(
    {"bet": f.name, "stake": f.amount, "returned": f.amount, "won": f.balance},
    {"odds": f.positive},
)
_REFUNDED: Final = shape({"bet": f.name, "stake": f.amount})

EVENTS: Final[Mapping[str, Shape]] = {
    "RoundOpened": shape(
        {
            "table_id": f.name,
            "ruleset": f.nested(_RULESET),
            "currency": f.currency,
            "account_class": f.one_of("real", "test"),
            "deal_source": f.one_of("rng", "table"),
            "gaming_day": f.day,
            "parameters": f.nested(_PARAMETERS),
            "build": f.text,
        },
        {"deck_commitment": f.digest, "deck_algorithm": f.text, "rng": f.text, "jackpot": f.nested(_JACKPOT)},
    ),
    "AntePlaced": shape(
        {**_PLACE, "amount": f.positive, "balance_after": f.balance},
        {"session_id": f.text, "channel": f.text, "client_seed": f.text},
    ),
    "SideBetPlaced": shape(
        {**_PLACE, "bet": f.side_bet, "amount": f.positive, "balance_after": f.balance},
        {"contribution": f.exact, "jackpot_id": f.name, "overflow": f.exact, "diversion": f.exact},
    ),
    "BettingClosed": shape({"seats": f.number}),
    "Dealt": shape(
        {"to": f.one_of("seat", "shared", "dealer"), "cards": f.cards(1, f.HAND)},
        {"seat": f.seat, "indices": f.indices, "up_indices": f.array(f.whole(0, f.HAND - 1), 1, f.HAND)},
    ),
    "CardExchanged": shape(
        {
            **_PLACE,
            "fee": f.positive,
            "discard": f.card,
            "drawn": f.card,
            "forfeited": f.array(f.side_bet),
            "decided_by": f.decided_by,
            "balance_after": f.balance,
        },
        {"burn_index": f.index, "drawn_index": f.index},
    ),
    "Folded": shape({"seat": f.seat, "decided_by": f.decided_by}),
    "Raised": shape(
        {**_PLACE, "amount": f.positive, "decided_by": f.decided_by, "balance_after": f.balance},
    ),
    "DealerQualified": shape(
        {"cards": f.cards(f.HAND, f.HAND), "category": f.category, "qualified": f.flag},
        {"indices": f.indices},
    ),
    "Settled": shape(
        {
            **_PLACE,
            "result": f.name,
            "bets": f.array(f.nested(_LEG), 1),
            "shown": f.flag,
            "balance_after": f.balance,
        },
        {"category": f.category},
    ),
    "JackpotHit": shape(
        {
            **_PLACE,
            "jackpot_id": f.name,
            "category": f.category,
            "award": f.balance,
            "from_meter": f.exact,
            "from_house": f.exact,
            "meter_before": f.exact,
            "meter_after": f.exact,
            "order": f.position,
            "previous_position": f.position,
            "balance_after": f.balance,
        },
        {"restart": f.exact, "restart_from_diversion": f.exact, "from_overflow": f.exact},
    ),
    "RoundClosed": shape({}, {"deck_seed": f.seed}),
    "ContributionReversed": shape(
        {
            **_PLACE,
            "jackpot_id": f.name,
            "amount": f.exact,
            "from_meter": f.exact,
            "from_house": f.exact,
            "meter_before": f.exact,
            "meter_after": f.exact,
            "previous_position": f.position,
        },
        {"from_overflow": f.exact, "from_diversion": f.exact},
    ),
    "StakeRefunded": shape(
        {**_PLACE, "amount": f.positive, "bets": f.array(f.nested(_REFUNDED), 1), "balance_after": f.balance}
    ),
    "RoundVoided": shape({"cause": f.name}, {"deck_seed": f.seed, "note_sha256": f.digest}),
}


def _meta(value: Any) -> bool:
    """Whether an envelope names who asked and by which command.

    What else it carries is none of the game's business.
    """
    return (
        f.is_object(value)
        and f.text(value.get("actor"))
        and f.text(value.get("command"))
        and value.get("schema") == 1
    )


ENVELOPE: Final = shape(
    {
        "data": f.is_object,
        "meta": _meta,
        "position": f.position,
        "recorded_at": f.time,
        "salt": f.salt,
        "stream": f.pattern(r"round-[A-Za-z0-9._-]{1,64}"),
        "type": f.one_of(*EVENTS),
        "version": f.position,
    }
)
