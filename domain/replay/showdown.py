"""The hands as they stood at the end, ranked once: what the payouts and the jackpot are judged by."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from domain.replay.fields import HAND
from domain.replay.house import House, SideBet
from domain.replay.ranking import Hand, qualifies, rank
from domain.replay.report import Findings
from domain.replay.state import Game, Seat


class Showdown(Struct, frozen=True):
    """The final hand of each seat, the best of it and the dealer's first up-card, and the dealer's hand.

    A seat is missing where the events hold no such hand. `dealer` is None where the dealer's hand stayed
    closed; then nobody says that it qualified.
    """

    hands: dict[int, Hand]
    with_up_card: dict[int, Hand]
    dealer: Hand | None
    qualified: bool

    def result(self, seat: Seat, hand: Hand) -> str:
        """How the seat's ante and raise ended (readings 5 and 6)."""
        if seat.folded:
            return "folded"
        if self.dealer is None or not self.qualified:
            return "dealer_not_qualified"
        if hand.value == self.dealer.value:
            return "push"
        return "win" if hand.value < self.dealer.value else "lose"

    def in_play(self, seat: Seat, side_bet: SideBet, house: House) -> bool:
        """Whether a side bet can still win at settlement (readings 9 and 13)."""
        if seat.exchange is not None and side_bet.kind in house.forfeits:
            return False
        if seat.folded and not side_bet.survives_fold:
            return False
        return self.qualified or not side_bet.needs_dealer_to_qualify


def showdown(game: Game, house: House, findings: Findings) -> Showdown:
    """Rank every hand; check what the dealer's was called and whether it qualified."""
    up_card = game.dealer_up.cards[:1] if game.dealer_up is not None else ()
    hands, with_up_card = rank_seats(game.in_seat_order, up_card)
    if game.dealer is None:
        findings.skip("dealer.category", "dealer.qualified")
        return Showdown(hands, with_up_card, None, qualified=False)
    dealer = rank(game.dealer.cards)
    qualified = qualifies(dealer, house.qualify)
    findings.same("dealer.category", dealer.category, game.dealer.category)
    findings.same("dealer.qualified", qualified, game.dealer.qualified)
    return Showdown(hands, with_up_card, dealer, qualified)


def rank_seats(seats: Sequence[Seat], up_card: tuple[str, ...]) -> tuple[dict[int, Hand], dict[int, Hand]]:
    """Rank each seat's final hand and, where it bet on it, the best of that and the first up-card."""
    ranked: dict[tuple[str, ...], Hand] = {}
    hands: dict[int, Hand] = {}
    with_up_card: dict[int, Hand] = {}
    for seat in seats:
        five = seat.final or ()
        if five in ranked:
            # On a shared hand thousands of seats hold the same five cards.
            hands[seat.number] = ranked[five]
        elif _distinct(five, HAND):
            hands[seat.number] = ranked[five] = rank(five)
        if "five_plus_one" in seat.side_bets:
            six = five + up_card
            if _distinct(six, HAND + 1):
                if six not in ranked:
                    ranked[six] = rank(six)
                with_up_card[seat.number] = ranked[six]
    return hands, with_up_card


def _distinct(cards: Sequence[str], count: int) -> bool:
    """Whether these are so many cards, no two alike: an exchange at a physical table may claim any card."""
    return len(cards) == count == len(set(cards))
