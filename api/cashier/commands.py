"""Wallets and transfers: each request turned into a command."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Body as InBody

from api import openapi
from api.auth import CASHIER, scopes
from api.cashier.answers import TRANSFER, WALLET, TransferAnswer, WalletAnswer
from api.shapes import AccountClass, Amount, Body, Currency, PlayerId, PlayerPath, Reference
from api.writing import WriteRoute
from domain import commands as c
from infrastructure import ids

router = APIRouter(route_class=WriteRoute, tags=["players"])

_TRANSFER = {"amount": 50_000, "reference": "psp-2026-000417"}


class PlayerBody(Body):
    """A new player."""

    player_id: PlayerId
    currency: Currency
    account_class: AccountClass = "real"


class TransferBody(Body):
    """Money in or out. The same reference and amount again is the same transfer."""

    amount: Amount
    reference: Reference


@router.post(
    "/v1/players",
    status_code=201,
    summary="Open a player's wallet",
    response_model=WalletAnswer,
    dependencies=[scopes(CASHIER)],
    responses=openapi.write_problems("player_exists"),
    openapi_extra=openapi.write(
        {**WALLET, "balance": 0}, {"player_id": "anna", "currency": "USD"}, status=201
    ),
)
def open_player(body: Annotated[PlayerBody, InBody()]) -> c.Command:
    """Open a wallet, empty, in one currency. Real and test money do not mix."""
    return c.OpenPlayer(body.player_id, ids.pseudonym(), body.currency, body.account_class)


@router.post(
    "/v1/players/{player_id}/deposits",
    status_code=201,
    summary="Credit a wallet",
    response_model=TransferAnswer,
    dependencies=[scopes(CASHIER)],
    responses=openapi.write_problems("player_not_found", "amount_out_of_range", "reference_already_used"),
    openapi_extra=openapi.write(TRANSFER, _TRANSFER, status=201),
)
def deposit(player_id: PlayerPath, body: Annotated[TransferBody, InBody()]) -> c.Command:
    """Credit a wallet. The same reference and amount again gets the first answer."""
    return c.Deposit(player_id, body.amount, body.reference, ids.transaction_id())


@router.post(
    "/v1/players/{player_id}/withdrawals",
    status_code=201,
    summary="Debit a wallet",
    response_model=TransferAnswer,
    dependencies=[scopes(CASHIER)],
    responses=openapi.write_problems(
        "player_not_found", "amount_out_of_range", "insufficient_funds", "reference_already_used"
    ),
    openapi_extra=openapi.write({**TRANSFER, "balance": 0}, _TRANSFER, status=201),
)
def withdraw(player_id: PlayerPath, body: Annotated[TransferBody, InBody()]) -> c.Command:
    """Debit a wallet. The same reference and amount again gets the first answer."""
    return c.Withdraw(player_id, body.amount, body.reference, ids.transaction_id())
