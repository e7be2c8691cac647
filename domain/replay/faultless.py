"""A quick look at a round, which says of an ordinary one that it is beyond question.

Nearly every round is ordinary. This tells an ordinary one again: a round that was dealt from a committed
deck, played to its end, and won nothing from a jackpot. From what its events say of stakes and decisions it
derives what all others have to be, and compares their bytes with what is kept; it gives up at the first that
is another, or that is out of the ordinary. Then all the checks are made, which name what is wrong. What is
faultless here passes all of them (a property test), at a fraction of their cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from domain.replay import deck, kinds, ordinary, pinned, play, stakes
from domain.replay.fields import AMOUNT_MAX
from domain.replay.house import House, house
from domain.replay.ordinary import Bets, Paid, Seats, Table
from domain.replay.records import read_canonical
from domain.replay.retelling import Odd, Retelling, Row
from domain.replay.state import Seat

_REMEMBERED: Final = 1024
_COMMITMENT: Final = '"deck_commitment":"'
_DIGEST: Final = 64
_META: Final = ',"meta":'
_SEED: Final = slice(len('{"data":{"deck_seed":"'), len('{"data":{"deck_seed":"') + 96)


class Faultless(NamedTuple):
    """What an ordinary round came to, in which nothing is wrong.

    `opened` is what its first event says, but for the commitment. `moves` are what wallets got, as (position,
    player, amount, balance after), `paid` what the seats were settled with, minor units; `bets` are the side
    bets. `times` are those of the events, in order.
    """

    opened: kinds.RoundOpened
    moves: list[tuple[int, str, int, int]]
    bets: Bets
    paid: Paid
    times: list[str]


def retell(rows: Sequence[Row], rulesets: Mapping[str, bytes]) -> Faultless | None:
    """What an ordinary round came to that passes all checks; None where that takes a closer look.

    `rows` are the events of one stream as they are kept, one at least; `rulesets` the canonical forms of rule
    sets by their SHA-256 in hexadecimal.
    """
    try:
        return _tell(Retelling(rows[0][1], rows), rulesets)
    except (Odd, AttributeError, LookupError, ValueError):
        return None  # the last three: an event is another than is due, is no text, or is not there


def _tell(told: Retelling, rulesets: Mapping[str, bytes]) -> Faultless:
    before, _, rest = told.first.partition(_COMMITMENT)
    commitment, rest = rest[:_DIGEST], rest[_DIGEST : rest.index(_META)]
    opened = _opened(before, rest)
    table = _table(before, rest, rulesets[opened.ruleset.sha256])
    if table is None:
        raise Odd
    told.write("RoundOpened", f"{before}{_COMMITMENT}{commitment}{rest}")
    seed = told.last[_SEED]
    seats, bets = _take_stakes(told, table)
    in_seat_order = [seats[number] for number in sorted(seats)]
    cards = ordinary.shuffled(told.stream, table, (commitment, seed), in_seat_order)
    up_card = ordinary.tell_hands(told, table, in_seat_order, cards)
    ordinary.take_decisions(told, table, seats, cards)
    shown = ordinary.tell_reveal(told, table, in_seat_order, cards, up_card)
    paid = ordinary.tell_settlement(told, table, in_seat_order, shown)
    told.write("RoundClosed", f'{{"deck_seed":"{seed}"}}')
    told.end()
    return Faultless(opened, told.moves, bets, paid, told.times)


@lru_cache(_REMEMBERED)
def _opened(before: str, rest: str) -> kinds.RoundOpened:
    """What a first event says, in the text before and behind its commitment, of which it says nothing.

    The rounds of a table differ in nothing else. Raises Odd where it is out of the ordinary.
    """
    opened = read_canonical(kinds.RoundOpened, f"{before}{_COMMITMENT}{'0' * _DIGEST}{rest}")
    if opened is None or opened.deal_source != "rng" or opened.deck_algorithm != deck.ALGORITHM:
        raise Odd
    return opened


@lru_cache(_REMEMBERED)
def _table(before: str, rest: str, ruleset: bytes) -> Table | None:
    """What a round's first event sets, if it is as the rules and the hashes it names want it."""
    opened = _opened(before, rest)
    named, jackpot, parameters, currency = opened.ruleset, opened.jackpot, opened.parameters, opened.currency
    rules = house(ruleset, currency)
    if (
        rules is None
        or not _is_plain(rules)
        or pinned.hash_of(ruleset) != named.sha256
        or rules.id != named.id
        or currency not in rules.currencies
        or (jackpot is not None and pinned.parameters_hash(jackpot, currency) != jackpot.sha256)
        or stakes.unfit_parameters(parameters, rules)
    ):
        return None
    low, high = stakes.ante_limits(parameters, rules)
    return Table(opened, rules, low, high, bytes.fromhex(named.sha256), {})


def _is_plain(rules: House) -> bool:
    """Whether what events say by these rules is well-formed: numbers above zero, and different up-cards."""
    factors = [rules.raise_multiple, *rules.raise_pays.values()]
    factors += [odds for bet in rules.side_bets.values() for odds in bet.pays.values()]
    if rules.exchange_fee_antes is not None:
        factors.append(rules.exchange_fee_antes)
    return (
        min(factors) > 0 and max(factors) <= AMOUNT_MAX and len({*rules.up_indices}) == len(rules.up_indices)
    )


def _take_stakes(told: Retelling, table: Table) -> tuple[Seats, Bets]:
    """Take antes and side bets up to the end of betting; seats by number, and the side bets."""
    rules, opened = table.house, table.opened
    seats: Seats = {}
    bets: Bets = []
    while told.next_is('"AntePlaced"'):
        event = told.read()
        ante: kinds.AntePlaced = event.data
        if (
            ante.seat in seats
            or ante.seat > rules.seats
            or not table.min_ante <= ante.amount <= table.max_ante
            or (ante.client_seed is not None and event.command == told.command)
        ):
            raise Odd
        told.move(ante.player, -ante.amount, ante.balance_after)
        seat = seats[ante.seat] = Seat(ante.seat, ante.player, event)
        while told.next_is('"SideBetPlaced"'):
            event = told.read()
            bet: kinds.SideBetPlaced = event.data
            if (
                bet.seat != seat.number
                or bet.player != seat.player
                or bet.bet in seat.side_bets
                or bet.overflow is not None
                or not stakes.fits(bet, opened, rules)
            ):
                raise Odd
            told.move(bet.player, -bet.amount, bet.balance_after)
            seat.side_bets[bet.bet] = bet
            bets.append(event)
    told.write("BettingClosed", f'{{"seats":{len(seats)}}}')
    if play.with_too_many_hands(seats, rules):
        raise Odd
    return seats, bets
