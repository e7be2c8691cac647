"""The page's forms: what they offer, and what comes back from them, read strictly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from api.page.amounts import AmountError, parse, plain
from api.page.house import House, stake_of
from api.page.words import word
from api.shapes import CLIENT_SEED_CHARACTERS_MAX, plain_text
from domain.commands import SeatStake

FIELDS_MAX: Final = 32
BODY_BYTES_MAX: Final = 8 * 1024
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")


class FormError(ValueError):
    """A form that cannot be acted on, in one sentence for the person who filled it in."""


class SideBetField(NamedTuple):
    """A side bet in the form: a box to tick where its stake is fixed, an amount to type where it is free."""

    kind: str
    name: str
    stake: str
    fixed: bool


def side_bet_fields(house: House) -> list[SideBetField]:
    """The side bets the table offers, for the form."""
    bets = [house.rules.side_bets[kind] for kind in house.rules.side_bet_order]
    names = house.names
    return [SideBetField(b.kind, word(names, b.kind), stake_of(house, b), b.stake is not None) for b in bets]


def typed_from(house: House, view: Mapping[str, Any], player_id: str) -> dict[str, str]:
    """The form fields that bet the same again as the player did in a round."""
    typed: dict[str, str] = {}
    seats = [seat for seat in view["seats"] if seat["player_id"] == player_id]
    for number, seat in enumerate(seats, start=1):
        typed[f"ante-{number}"] = plain(seat["ante"], house.currency)
        for kind, amount in seat["side_bets"].items():
            typed[f"{kind}-{number}"] = plain(amount, house.currency)
    return typed


def fields_of(body: bytes) -> dict[str, str]:
    """Read a form as browsers send it. Raises FormError for one that no browser sends."""
    try:
        pairs = parse_qsl(
            body.decode(),
            keep_blank_values=True,
            strict_parsing=bool(body),
            max_num_fields=FIELDS_MAX,
            errors="strict",
        )
    except ValueError:
        raise FormError("The form arrived damaged: load the page again.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise FormError("The form has a field twice: load the page again.")
    return fields


def key_of(fields: Mapping[str, str]) -> str:
    """The key that the form was made with. Raises FormError."""
    key = fields.get("key", "")
    if not _KEY.fullmatch(key):
        raise FormError(
            "The form has lost its key, which makes pressing twice act once: load the page again."
        )
    return key


def stakes_of(
    fields: Mapping[str, str], house: House, player_id: str, free: Iterable[int]
) -> tuple[SeatStake, ...]:
    """The stakes a form asks for, one for each hand, on the first of the `free` seats. Raises FormError."""
    seats = iter(free)
    stakes: list[SeatStake] = []
    for number in range(1, house.rules.hands_per_player + 1):
        ante = fields.get(f"ante-{number}", "").strip()
        side_bets: dict[str, int] = {}
        for kind in house.rules.side_bet_order:
            amount = _side_bet(fields.get(f"{kind}-{number}", "").strip(), house, kind)
            if amount is not None:
                side_bets[kind] = amount
        if not ante and not side_bets and house.rules.hands_per_player > 1:
            continue
        seat = next(seats, None)
        if seat is None:
            raise FormError("Every seat of this table is taken: try again when its round has ended.")
        stakes.append(
            SeatStake(
                seat,
                player_id,
                _amount(ante, house, word(house.names, "ante")),
                side_bets,
                channel="internet",
                client_seed=_client_seed(fields) if not stakes else None,
            )
        )
    if not stakes:
        raise FormError("No hand has an ante: type one for each hand you want to play.")
    return tuple(stakes)


def free_seats(house: House, taken: Sequence[int]) -> Iterable[int]:
    """The seats of the table that nobody has, in their order."""
    return (seat for seat in range(1, house.rules.seats + 1) if seat not in taken)


def _side_bet(typed: str, house: House, kind: str) -> int | None:
    if not typed:
        return None
    fixed = house.rules.side_bets[kind].stake
    return fixed if fixed is not None else _amount(typed, house, word(house.names, kind))


def _amount(typed: str, house: House, name: str) -> int:
    try:
        return parse(typed, house.currency)
    except AmountError as error:
        raise FormError(f"{name}: {error}") from None


def _client_seed(fields: Mapping[str, str]) -> str | None:
    seed = unicodedata.normalize("NFC", fields.get("client_seed", ""))
    if not seed:
        return None
    try:
        plain_text(seed).encode()
    except ValueError:
        raise FormError(
            "Your own words have a character that cannot be kept: use letters, digits and signs."
        ) from None
    if len(seed) > CLIENT_SEED_CHARACTERS_MAX:
        raise FormError(f"Your own words are too long: at most {CLIENT_SEED_CHARACTERS_MAX} characters.")
    return seed
