"""Looking for what must not be there: cards and seeds in answers, rows, dumps and logs."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from domain.cards import DECK
from domain.shuffle import ENTROPY_BYTES, Shuffle
from infrastructure.ledger.answers import unpack


@dataclass(frozen=True)
class Revealed:
    """What a finished round's evidence says was hidden: its seed, and who had which cards.

    `face_up`: the house lays the players' cards face up.
    """

    round_id: str
    seed: bytes
    up: frozenset[str]
    hands: Mapping[str, frozenset[str]]
    dealer: frozenset[str]
    face_up: bool

    @classmethod
    def of(cls, evidence: Mapping[str, Any]) -> Revealed:
        """Read a round's evidence; the deck is derived again from the seed and holds what was dealt."""
        events = evidence["events"]
        kinds = {event["type"]: event["data"] for event in events}
        opened, round_id = kinds["RoundOpened"], evidence["round_id"]
        seed = bytes.fromhex(kinds["RoundClosed"]["deck_seed"])
        seats = [event["data"] for event in events if event["type"] == "AntePlaced"]
        client_seeds = {seat["seat"]: seat["client_seed"] for seat in seats if "client_seed" in seat}
        deck = Shuffle(seed, round_id, opened["ruleset"]["sha256"], client_seeds).first(len(DECK))
        hands: dict[str, frozenset[str]] = {}
        up: frozenset[str] = frozenset()
        for dealt in (event["data"] for event in events if event["type"] == "Dealt"):
            assert [deck[index] for index in dealt["indices"]] == dealt["cards"]
            if dealt["to"] == "dealer":
                up = frozenset(dealt["cards"])
            else:
                hands[str(dealt.get("seat", "shared"))] = frozenset(dealt["cards"])
        face_up = evidence["ruleset"]["deal"]["player_cards"] == "up"
        return cls(round_id, seed, up, hands, frozenset(kinds["DealerQualified"]["cards"]), face_up)

    @property
    def nobodys(self) -> frozenset[str]:
        """What nobody may see while the round is open: the dealer's other cards and the undealt ones."""
        return frozenset(DECK) - self.up - frozenset().union(*self.hands.values())


def cards_in(content: bytes, cards: Iterable[str]) -> set[str]:
    """Return which of these cards stand in bytes, as words of their own.

    Rank and suit also occur by chance within hashes, salts and identifiers: there they have neighbours.
    """
    wanted = b"|".join(card.encode() for card in cards)
    found = re.findall(rb"(?<![0-9A-Za-z_+/=-])(?:" + wanted + rb")(?![0-9A-Za-z_+/=-])", content)
    return {card.decode() for card in found}


def forms(seed: bytes) -> list[bytes]:
    """Return what a seed, or either part of it, looks like: raw, hexadecimal, base 64."""
    found: list[bytes] = []
    for part in (seed, seed[:ENTROPY_BYTES], seed[ENTROPY_BYTES:]):
        texts = [base64.b64encode(part), base64.urlsafe_b64encode(part)]
        found += [part, part.hex().encode(), part.hex().upper().encode()]
        # Without the last characters, which depend on what comes after.
        found += [text.rstrip(b"=")[:-1] for text in texts]
    return found


def seeds_in(content: bytes, rounds: Iterable[Revealed]) -> set[str]:
    """Return the ids of the rounds whose seeds stand in bytes, in whatever form."""
    return {each.round_id for each in rounds if any(form in content for form in forms(each.seed))}


def dump(dsn: str) -> dict[str, bytes]:
    """Return every table as PostgreSQL copies it out, as text and in the binary format, under its name.

    Answers are stored compressed: they stand beside their table, unpacked.
    """
    found: dict[str, bytes] = {}
    with psycopg.connect(dsn, options="-c search_path=ledger") as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ledger'").fetchall()
        for (name,) in names:
            for form in ("text", "binary"):
                statement = sql.SQL("COPY (SELECT * FROM {}) TO STDOUT (FORMAT {})").format(
                    sql.Identifier(name), sql.SQL(form)
                )
                with connection.cursor().copy(statement) as copy:
                    found[f"{name}.{form}"] = b"".join(copy)
        answers = connection.execute("SELECT body FROM commands").fetchall()
    found["answers"] = b"\n".join(unpack(body) for (body,) in answers)
    return found


def files_below(folder: Path) -> Iterable[tuple[str, bytes]]:
    """Yield every file of a folder, a data directory's for one, with its name; files may vanish meanwhile."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield str(path.relative_to(folder)), path.read_bytes()
            except FileNotFoundError:
                continue
