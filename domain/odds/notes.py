"""What a reader has to know beside exact odds: what they count, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from domain.odds.house import Cap, HouseOdds
from domain.odds.other_hands import OtherHands, hands_seen

ALWAYS: Final = (
    (
        "own_cards",
        "A hand is decided on its own five cards and the dealer's up-cards; other hands' cards are not used.",
    ),
    (
        "ties",
        "Between decisions of the same worth, a hand folds before it raises, and raises before it exchanges.",
    ),
    (
        "wagered",
        "The amount wagered is ante, raise and exchange fee; a raise counts also where it comes back.",
    ),
)

JACKPOT: Final = (
    "The meter is the one that awards are paid from, with what the bet itself contributes. Not counted:"
    " awards are cut to the minor unit, and several royals of a round share one meter."
)


def notes(odds: HouseOdds) -> Iterator[tuple[str, str]]:
    """Yield a code and a sentence for everything that the figures need said beside them."""
    rules = odds.rules
    yield from ALWAYS
    if hands_seen(rules) > 1:
        yield "other_hands_seen", _of_other_hands(odds.other_hands)
    yield from _of_the_cap(odds.cap, odds.ante)
    if odds.side_bets:
        yield (
            "side_bets",
            "Decisions are those that are best for the main bet alone, whatever side bets there are.",
        )
    for kind, bet in odds.side_bets.items():
        if bet is None:
            yield (
                f"{kind}_not_counted",
                "The best five of six cards are not counted where a card can be bought.",
            )
    bonus = rules.side_bets.get("bonus")
    if bonus is not None and bonus.stake is None:
        yield "bonus_stake", "The house leaves the stake of the bonus to its tables, and none is given."
    if "jackpot" in odds.side_bets:
        yield "jackpot", JACKPOT


def _of_other_hands(found: OtherHands | None) -> str:
    seen = "Players of this house see cards of other hands; what they can gain by that is left out."
    if found is None:
        return f"{seen} It is not estimated here."
    return (
        f"{seen} With {found.hands} hands it is worth about {100 * found.per_ante:.2f} % of each ante"
        f" (standard error {100 * found.standard_error:.2f} %), as {found.rounds:,} simulated rounds have it;"
        f" {100 * found.share_changed:.0f} % of the hands are decided otherwise."
    )


def _of_the_cap(cap: Cap, ante: int) -> Iterator[tuple[str, str]]:
    if cap.left_to_table:
        yield (
            "cap_open",
            "The house leaves the most that a raise wins to its tables; none is given, and none is counted.",
        )
    if cap.cut:
        names = ", ".join(name.replace("_", " ") for name in cap.cut)
        yield "cap_cuts", f"At an ante of {ante} minor units the cap cuts what these win: {names}."
    if cap.scope == "aggregate":
        yield (
            "cap_aggregate",
            "The cap is on all of a player's raises of a round together; here the player has this hand only.",
        )
