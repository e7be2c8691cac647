"""What the files of an archived day are called, and which columns they have.

Amounts that may hold fractions of a minor unit are decimals with four places, times are microseconds UTC.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa

EVENTS: Final = "events.parquet"
"""The day's events in the order of their positions, each as it was stored."""
CONTEXT: Final = "context.parquet"
"""Events of earlier days without which the day's cannot be understood.

They are those of rounds that were open when it began, published rule sets, the parameters of jackpots and
the keys of the log. The same columns as `EVENTS`.
"""
OPENING: Final = "opening.parquet"
"""What every wallet, account and jackpot pool held before the day's first event."""
CLOSING: Final = "closing.parquet"
"""The same after its last event; the next day's opening is this file, byte for byte."""
ROUNDS: Final = "rounds.parquet"
"""A row for each hand that ended on the day, with the columns of the projection ``round_records``."""
ONWARD: Final = "onward.parquet"
"""What the next day's context is: that file is this one, byte for byte."""
FILES: Final = (EVENTS, CONTEXT, OPENING, ROUNDS, CLOSING, ONWARD)
"""The files that the manifest names."""
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"
SEALED: Final = "log.json"
"""A checkpoint of the evidence log that covers the day, and the proof that it does."""

ROW_GROUP: Final = 65_536
"""Rows in each row group but the last: what a reader has in memory at once."""

EXACT_DIGITS: Final = 4
"""Decimal places of an exact amount of minor units."""

EVENT_COLUMNS: Final = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("stream", pa.string(), nullable=False),
        pa.field("version", pa.int32(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("recorded_at", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("data", pa.binary(), nullable=False),
    ]
)
"""All but `data` is in `data` too, which is what was hashed and signed: the others are for finding it."""

BALANCE_COLUMNS: Final = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("owner", pa.string(), nullable=False),
        pa.field("currency", pa.string(), nullable=False),
        pa.field("account_class", pa.string(), nullable=False),
        pa.field("balance", pa.decimal128(28, EXACT_DIGITS), nullable=False),
        pa.field("version", pa.int32()),
    ]
)
"""`kind` is an account's of `domain.accounts`: ``wallet`` and ``on_game`` (`owner` is the player),
``house`` (the game), ``cashier`` (nobody), ``jackpot``, ``jackpot_overflow``, ``jackpot_diversion`` (the
jackpot); an on_game account that holds nothing has no row. `balance` is in minor units. `version` is that of
the last event in the wallet's own stream, null for what is no wallet. Wallets come first, by player, and
behind each what the player has on game."""


StoredRow: TypeAlias = tuple[int, str, int, bytes]
"""Position, stream, version and bytes of an event: canonical JSON, the leaf of the evidence log."""


class Balance(NamedTuple):
    """A row of `BALANCE_COLUMNS`; `balance` in 1/10000 minor units."""

    kind: str
    owner: str
    currency: str
    account_class: str
    balance: int
    version: int | None
