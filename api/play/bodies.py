"""What is sent to play a round."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.shapes import (
    SEATS_MAX,
    Amount,
    Body,
    Card,
    Cards,
    Channel,
    ClientSeed,
    Note,
    PlayerId,
    SeatNumber,
    SessionId,
    SideBetKind,
    TableId,
)


class SeatBody(Body):
    """One seat's stakes."""

    seat: SeatNumber
    player_id: PlayerId
    ante: Amount
    side_bets: Annotated[
        dict[SideBetKind, Amount], Field(default_factory=dict, max_length=8, examples=[{"jackpot": 100}])
    ]
    session_id: SessionId | None = None
    channel: Channel | None = None
    client_seed: ClientSeed | None = None


class OpenRoundBody(Body):
    """A round at a table, perhaps with its first stakes."""

    table_id: TableId
    seats: Annotated[list[SeatBody], Field(default_factory=list, max_length=SEATS_MAX)]
    deal: bool = False


class AntesBody(Body):
    """Stakes in a round that is betting."""

    seats: Annotated[list[SeatBody], Field(max_length=SEATS_MAX)]
    deal: bool = False


class DealBody(Body):
    """Nothing for `rng`; a physical table names each seat's cards or the shared hand, and the up-cards."""

    seats: Annotated[
        dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,4}$")], Cards] | None, Field(max_length=SEATS_MAX)
    ] = None
    player: Cards | None = None
    dealer_up: Cards | None = None


class DecisionBody(Body):
    """What one seat does."""

    seat: SeatNumber
    action: Literal["raise", "fold", "exchange"]
    discard: Card | None = None
    drawn: Card | None = None
    open_next: bool = False


class RevealBody(Body):
    """The dealer's other cards, in dealing order."""

    dealer: Cards


class VoidBody(Body):
    """Why the round is void."""

    cause: Annotated[str, Field(pattern=r"^[a-z_]{1,64}$", examples=["malfunction"])]
    note: Note
