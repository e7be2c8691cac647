"""Do the cards on the table follow from the revealed seed, and is each card there only once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

from msgspec import Struct

from domain.cards import DECK
from domain.replay import deck
from domain.replay.fields import HAND
from domain.replay.house import House
from domain.replay.kinds import DealerQualified, Dealt, RoundOpened
from domain.replay.records import Record
from domain.replay.report import Findings
from domain.replay.state import Game

_DECK_CHECKS: Final = ("commitment_timing", "deck_algorithm", "deck_seed_revealed", "deck_commitment")
_DECK_FIELDS: Final = ("deck_commitment", "deck_algorithm", "rng")


class _Cards(Struct, omit_defaults=True):
    """Cards, and where in the deck they lay: absent at a physical table."""

    cards: tuple[str, ...]
    indices: tuple[int, ...] | None = None


class Source(NamedTuple):
    """Where cards came from: an `rng` deck or a physical table.

    `cards` is the derived deck, None where there is no seed.
    """

    rng: bool
    cards: tuple[str, ...] | None


def check_deck(game: Game, opened: Record[RoundOpened], round_id: str, findings: Findings) -> Source:
    """Check that the revealed seed is the one committed to (G6), and derive the deck from it.

    The commitment is in the round's first event, so no stake can come before it; where a stake came in the
    same command, nobody saw the commitment before staking, and ``commitment_timing`` says so. A client seed
    is then worthless, and refused.
    """
    data = opened.data
    seed = _revealed_seed(game)
    if data.deal_source == "table":
        named = [name for name in _DECK_FIELDS if getattr(data, name) is not None]
        findings.none_of("no_deck", named if seed is None else [*named, "deck_seed"])
        findings.skip(*_DECK_CHECKS)
        return Source(rng=False, cards=None)
    findings.skip("no_deck")
    together = [seat for seat in game.seats.values() if seat.ante.command == opened.command]
    blind = any(seat.ante.data.client_seed is not None for seat in together)
    timing = "same_command" if together else "before_stake"
    findings.holds("commitment_timing", not blind, "before_stake" if blind else timing, timing)
    findings.same("deck_algorithm", deck.ALGORITHM, data.deck_algorithm)
    findings.holds("deck_seed_revealed", seed is not None)
    if seed is None:
        findings.skip("deck_commitment")
        return Source(rng=True, cards=None)
    material, ruleset_hash = bytes.fromhex(seed), bytes.fromhex(data.ruleset.sha256)
    findings.same("deck_commitment", deck.commitment(material, round_id, ruleset_hash), data.deck_commitment)
    count = min(_cards(max(len(game.seats), 1), game), len(DECK))  # a shared hand is one for all
    return Source(rng=True, cards=deck.shuffled(material, round_id, ruleset_hash, _client_seeds(game), count))


def _cards(hands: int, game: Game) -> int:
    """How many cards so many hands, the dealer and the exchanges take out of the deck."""
    exchanges = [1 for seat in game.seats.values() if seat.exchange is not None]
    return HAND * (hands + 1) + 2 * len(exchanges)


def _revealed_seed(game: Game) -> str | None:
    """The seed material in hexadecimal from the event that ended the round."""
    end = game.voided.data if game.voided is not None else game.closed
    return None if end is None else end.deck_seed


def _client_seeds(game: Game) -> list[tuple[int, str]]:
    """The client seeds in ascending order of seats."""
    return [
        (seat.number, seed) for seat in game.in_seat_order if (seed := seat.ante.data.client_seed) is not None
    ]


def check_cards(game: Game, house: House, source: Source, findings: Findings) -> None:
    """Check where every card came from, in dealing order, and that no card was there twice."""
    hands: list[int | None] = [None] if house.shared else [*sorted(game.seats)]
    cards_needed = _cards(len(hands), game)
    findings.holds("deck_suffices", cards_needed <= len(DECK), len(DECK), cards_needed)
    up = game.dealer_up
    if cards_needed > len(DECK) or up is None:
        findings.skip("dealt")
        return
    dealt = {hand.seat: hand for hand in game.hands}
    for place, number in enumerate(hands):
        name = "dealt.shared" if number is None else f"dealt.seat_{number}"
        indices = deck.hand_indices(place, len(hands), round_robin=house.round_robin)
        _same_cards(name, dealt.get(number), indices, source, findings)
    findings.none_of("dealt_hands", [str(number) for number in dealt if number not in hands])
    _check_dealer(game, up, house, len(hands), source, findings)
    _check_exchanges(game, HAND * (len(hands) + 1), source, findings)
    findings.none_of("cards_distinct", _twice(_seen(game, up)))


def _same_cards(
    name: str,
    dealt: Dealt | DealerQualified | None,
    indices: tuple[int, ...],
    source: Source,
    findings: Findings,
) -> None:
    """Check one hand against the deck: its cards and where they lay.

    At a physical table, only how many there are can be checked.
    """
    if dealt is None:
        findings.holds(name, ok=False)
    elif source.cards is not None:
        cards = deck.picker(indices)(source.cards)
        findings.same(name, _Cards(cards, indices), _Cards(dealt.cards, dealt.indices))
    else:
        expected = {"count": len(indices), **({"indices": indices} if source.rng else {})}
        found = {
            "count": len(dealt.cards),
            **({} if dealt.indices is None else {"indices": dealt.indices}),
        }
        findings.same(name, expected, found)


def _check_dealer(
    game: Game, up: Dealt, house: House, hands: int, source: Source, findings: Findings
) -> None:
    """Check the dealer's up-cards, and that all five are those, in dealing order, with the others."""
    indices = deck.hand_indices(hands, hands, round_robin=house.round_robin)
    up_indices = tuple([indices[place] for place in house.up_indices])
    _same_cards("dealt.dealer", up, up_indices, source, findings)
    findings.same("dealer_up_indices", house.up_indices, up.up_indices or ())
    if game.dealer is None:
        findings.skip("dealer_cards", "dealer_up_cards")
        return
    _same_cards("dealer_cards", game.dealer, indices, source, findings)
    five = game.dealer.cards
    findings.same("dealer_up_cards", up.cards, tuple([five[place] for place in house.up_indices]))


def _check_exchanges(game: Game, undealt: int, source: Source, findings: Findings) -> None:
    """Check each exchange in ledger order.

    The next undealt card is burned, the one after it drawn (source 003).
    """
    for action in game.actions:
        if action.type != "CardExchanged":
            continue
        data = action.data
        expected: dict[str, Any] = {}
        actual = {
            name: index
            for name in ("burn_index", "drawn_index")
            if (index := getattr(data, name)) is not None
        }
        if source.rng:
            expected = {"burn_index": undealt, "drawn_index": undealt + 1}
            if source.cards is not None:
                expected["drawn"], actual["drawn"] = source.cards[undealt + 1], data.drawn
        findings.same(f"exchanged.seat_{data.seat}", expected, actual)
        undealt += 2


def _seen(game: Game, up: Dealt) -> list[str]:
    """Every card that was turned up in the round, once for each time it came out of the deck."""
    seen = [card for hand in game.hands for card in hand.cards]
    seen += up.cards if game.dealer is None else game.dealer.cards
    seen += [action.data.drawn for action in game.actions if action.type == "CardExchanged"]
    return seen


def _twice(cards: list[str]) -> list[str]:
    """The cards that are there more than once."""
    if len(set(cards)) == len(cards):
        return []
    return [card for card, again in pairwise(sorted(cards)) if card == again]
