"""How games do: by gaming day, hour, table, rule-set version and jackpot parameters.

A round belongs to the cell of its opening, whenever its events come, so that one over the cut-off counts
once. A change of the rules or of a jackpot's parameters is another game (A.6.1). Stakes count as wagered when
they are settled, what came back from void rounds is refunded, and what is neither yet is unfinished (2.9.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from domain.money import parse_exact
from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.round_facts import Cell, RoundFacts

FIGURES: Final = (
    "rounds_opened",
    "rounds_finished",
    "rounds_voided",
    "rounds_expired",
    "hands",
    "hands_refunded",
    "antes",
    "raises",
    "side_bets",
    "fees",
    "returned",
    "game_wins",
    "jackpot_wins",
    "refunded",
    "unfinished",
)
EXACT_FIGURES: Final = ("contributions", "diversions")

PERFORMANCE: Final = Table(
    "performance",
    (
        Column("gaming_day", "text"),
        Column("hour_us", "bigint"),
        Column("table_id", "text"),
        Column("ruleset_id", "text"),
        Column("ruleset_version", "integer"),
        Column("jackpot_id", "text"),
        Column("jackpot_version", "integer"),
        Column("currency", "text"),
        Column("account_class", "text"),
        *(Column(name, "bigint") for name in FIGURES),
        *(Column(name, "numeric(24,0)") for name in EXACT_FIGURES),
    ),
    key=(
        "gaming_day",
        "hour_us",
        "table_id",
        "ruleset_id",
        "ruleset_version",
        "jackpot_id",
        "jackpot_version",
        "currency",
        "account_class",
    ),
    mode="add",
)
"""The key's columns are those of `round_facts.Cell`. `hands` and the stakes (`antes`, `raises`, `side_bets`,
`fees`: together the handle) are those settled, in minor units; `jackpot_wins` are apart from `game_wins`.
`unfinished` is what is staked in rounds of the cell that have not ended. `contributions` and `diversions`, in
1/10000 minor units, are what side bets put into the jackpot's meter or overflow, and into its diversion, less
what was reversed. Rounds that nobody staked on are `rounds_expired`."""

_ALL: Final = (*FIGURES, *EXACT_FIGURES)
(
    _OPENED, _FINISHED, _VOIDED, _EXPIRED, _HANDS, _HANDS_REFUNDED, _ANTES, _RAISES, _SIDE_BETS, _FEES,
    _RETURNED, _GAME_WINS, _JACKPOT_WINS, _REFUNDED, _UNFINISHED, _CONTRIBUTIONS, _DIVERSIONS,
) = range(len(_ALL))  # fmt: skip

EXPIRED: Final = "expired"
"""The cause of the void of a round that nobody staked on."""


class Performance:
    """The projection: figures are summed in memory through a batch and added to the tables at its end."""

    name = "performance"
    version = 1
    tables = (PERFORMANCE,)
    rounds = True

    def __init__(self) -> None:
        self.types: frozenset[str] | None = frozenset(_COUNT)
        self._sums: dict[Cell, list[int]] = {}

    def restore(self, shelf: Shelf, position: int) -> None:  # noqa: ARG002 - nothing is carried over
        """Forget what was not put."""
        self._sums.clear()

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:  # noqa: ARG002 - the same
        """Forget what was not put."""
        self._sums.clear()

    def event(self, happened: Happened, facts: RoundFacts, out: Out) -> None:  # noqa: ARG002 - put at the end
        """Count an event in the cell of its round."""
        sums = self._sums.get(facts.cell)
        if sums is None:
            sums = self._sums[facts.cell] = [0] * len(_ALL)
        _COUNT[happened.type](sums, happened.data, facts)

    def finish(self, last: Happened, out: Out) -> None:  # noqa: ARG002 - what is put depends on no time
        """Put the sums."""
        for cell, sums in self._sums.items():
            out.put("performance", (*cell, *sums))
        self._sums.clear()


def _round_opened(sums: list[int], _data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_OPENED] += 1


def _staked(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_UNFINISHED] += data["amount"]


def _side_bet_placed(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_UNFINISHED] += data["amount"]
    if "contribution" in data:
        sums[_CONTRIBUTIONS] += parse_exact(data["contribution"])
        if "diversion" in data:
            sums[_DIVERSIONS] += parse_exact(data["diversion"])


def _card_exchanged(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_UNFINISHED] += data["fee"]


_STAKES: Final = {"ante": _ANTES, "raise": _RAISES, "exchange_fee": _FEES}


def _settled(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_HANDS] += 1
    for bet in data["bets"]:
        name, stake = bet["bet"], bet["stake"]
        sums[_STAKES.get(name, _SIDE_BETS)] += stake
        sums[_UNFINISHED] -= stake
        sums[_RETURNED] += bet["returned"]
        if name != "jackpot":  # whose win JackpotHit pays
            sums[_GAME_WINS] += bet["won"]


def _jackpot_hit(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_JACKPOT_WINS] += data["award"]


def _round_closed(sums: list[int], _data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_FINISHED] += 1


def _round_voided(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_EXPIRED if data["cause"] == EXPIRED else _VOIDED] += 1


def _stake_refunded(sums: list[int], data: dict[str, Any], _facts: RoundFacts) -> None:
    sums[_HANDS_REFUNDED] += 1
    sums[_REFUNDED] += data["amount"]
    sums[_UNFINISHED] -= data["amount"]


def _contribution_reversed(sums: list[int], _data: dict[str, Any], facts: RoundFacts) -> None:
    # All that the side bet put in, whatever the pools still held of it.
    seat = facts.seats[_data["seat"]]
    sums[_CONTRIBUTIONS] -= seat.contribution
    sums[_DIVERSIONS] -= seat.diversion


_COUNT: Final[dict[str, Callable[[list[int], dict[str, Any], RoundFacts], None]]] = {
    "RoundOpened": _round_opened,
    "AntePlaced": _staked,
    "SideBetPlaced": _side_bet_placed,
    "CardExchanged": _card_exchanged,
    "Raised": _staked,
    "Settled": _settled,
    "JackpotHit": _jackpot_hit,
    "RoundClosed": _round_closed,
    "RoundVoided": _round_voided,
    "StakeRefunded": _stake_refunded,
    "ContributionReversed": _contribution_reversed,
}
