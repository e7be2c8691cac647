"""Exact odds of any rule set, from tables that are counted once and kept on a shelf.

What is kept depends on the code that counts it: after any change in `domain.odds`, or in how cards are
numbered and hands are ranked, it is counted again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Final, TypeAlias

import numpy as np

import domain
from domain.hands import Qualifier
from domain.odds.basis import Basis, build_basis
from domain.odds.exchange import solve_exchange
from domain.odds.exchange_values import ExchangeValues
from domain.odds.hands_table import hands_table
from domain.odds.house import HouseOdds, TableSettings, house_odds, rules_for
from domain.odds.lookup import Lookup
from domain.odds.one_card import solve_one
from domain.odds.other_hands import OtherHands, hands_seen
from domain.odds.other_hands_sample import deal, estimate
from domain.odds.outcomes import Branch, Outcomes
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.two_cards import solve_two
from domain.rules import Rules
from domain.rulesets.schema import RuleSet
from infrastructure.odds.shelf import Arrays, Shelf

Tell: TypeAlias = Callable[[str], object]

SAMPLE_ROUNDS: Final = 20_000
SAMPLE_SEED: Final = 1
"""What is said beside the odds is estimated from so many rounds, from this seed."""
PORTION_ROUNDS: Final = 5_000

_BASIS: Final = "basis"
_OUTCOMES: Final = "outcomes"
_EXCHANGE: Final = "exchange"
_OTHER_HANDS: Final = "other_hands"
_KEPT: Final = {  # of 90 MB, 4 kB, 70 MB and a few bytes each
    _BASIS: 4,
    _OUTCOMES: 256,
    _EXCHANGE: 8,
    _OTHER_HANDS: 256,
}
_BASIS_ARRAYS: Final = ("weights", "categories", "not_qualified", "win", "tie", "six")
_EXCHANGE_ARRAYS: Final = ("places", "values", "decisions")


def _silent(_: str) -> None:
    """Tell nobody."""


def odds_of(
    ruleset: RuleSet,
    currency: str,
    ante: int,
    settings: TableSettings,
    shelf: Shelf | None,
    tell: Tell = _silent,
) -> HouseOdds:
    """Return a house's exact odds at ``ante`` minor units of ``currency``.

    ``settings``: what the house leaves to its tables. Without a ``shelf`` everything is counted here and now.
    ``tell`` is given a sentence before anything that takes more than a moment.

    Raises ``RulesError`` for a currency or settings that do not fit the rule set, ``OddsError`` for an ante
    that it does not take and for games that are not counted as a whole: with more than two up-cards, or an
    exchange and more than one.
    """
    rules = rules_for(ruleset, currency, settings)
    payoffs = Payoffs.from_rules(rules, ante)
    return house_odds(rules, ante, payoffs, outcomes_of(rules, payoffs, shelf, tell))


def outcomes_of(rules: Rules, payoffs: Payoffs, shelf: Shelf | None, tell: Tell = _silent) -> Outcomes:
    """Return what happens in how many deals by the best decisions under ``payoffs``. Raises ``OddsError``."""
    up_cards = len(rules.up_indices)
    kept = _get(shelf, _OUTCOMES, _outcomes_key(rules.qualify, payoffs, up_cards))
    if kept is not None:
        return _outcomes(json.loads(kept["json"].tobytes()))
    if payoffs.fee is not None:
        _require_one_up(up_cards)
        return _solve_exchange(rules.qualify, payoffs, shelf, tell)[0]
    if up_cards == 1:
        outcomes = solve_one(basis_of(rules.qualify, shelf, tell), payoffs)
    elif up_cards == 2:  # noqa: PLR2004
        tell("counting the hands of every two up-cards: some seconds")
        outcomes = solve_two(rules.qualify, payoffs)
    else:
        raise OddsError(f"a game with {up_cards} up-cards is not counted as a whole: with 1 or 2 it is")
    _keep_outcomes(shelf, rules.qualify, payoffs, outcomes)
    return outcomes


@lru_cache(maxsize=2)
def basis_of(qualify: Qualifier, shelf: Shelf | None, tell: Tell = _silent) -> Basis:
    """Return what every game with one up-card is counted from, whatever it pays."""
    kept = _get(shelf, _BASIS, _basis_key(qualify))
    if kept is None:
        tell("counting the dealer's hands against every hand: some seconds, once")
        basis = build_basis(qualify)
        keep_basis(shelf, basis)
        return basis
    return Basis(qualify, **{name: kept[name] for name in _BASIS_ARRAYS})


def with_other_hands(odds: HouseOdds, shelf: Shelf | None, tell: Tell = _silent) -> HouseOdds:
    """Return a house's odds with an estimate of what they leave out: what players know of other hands.

    They are returned as they are where nobody sees another hand, and where a card can be exchanged.
    """
    rules, payoffs = odds.rules, odds.payoffs
    if hands_seen(rules) == 1 or payoffs.fee is not None:
        return odds
    sample = {"hands": hands_seen(rules), "rounds": SAMPLE_ROUNDS, "seed": SAMPLE_SEED}
    key = _outcomes_key(rules.qualify, payoffs, len(rules.up_indices)) | sample
    kept = _get(shelf, _OTHER_HANDS, key)
    if kept is not None:
        return replace(odds, other_hands=OtherHands(*json.loads(kept["json"].tobytes())))
    tell("playing rounds in which other hands are known: some seconds, once for these stakes")
    *_, found = other_hands_samples(rules, payoffs, SAMPLE_ROUNDS, SAMPLE_SEED)
    _put(shelf, _OTHER_HANDS, key, {"json": np.frombuffer(json.dumps(astuple(found)).encode(), np.uint8)})
    return replace(odds, other_hands=found)


def other_hands_samples(rules: Rules, payoffs: Payoffs, rounds: int, seed: int) -> Iterator[OtherHands]:
    """Yield estimates of what knowing all hands is worth, from more and more of ``rounds``, at last from all.

    All seats whose cards a player sees are taken. Rounds are played in portions, each with a stream of its
    own that the ``seed`` and its number make. Another version of NumPy may draw other cards.

    Raises ``OddsError`` where players see no hand but one, and where a card can be exchanged.
    """
    hands, up_cards = hands_seen(rules), len(rules.up_indices)
    if hands == 1:
        raise OddsError(f"players of {rules.ref.id} see no other hand")
    lookup, found = Lookup(rules.qualify), None
    for portion, begin in enumerate(range(0, rounds, PORTION_ROUNDS)):
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(portion,)))
        deals = deal(generator, min(PORTION_ROUNDS, rounds - begin), hands, up_cards)
        part = estimate(lookup, payoffs, deals)
        found = part if found is None else found + part
        yield found


def keep_basis(shelf: Shelf | None, basis: Basis) -> None:
    """Keep a basis for `basis_of`."""
    _put(shelf, _BASIS, _basis_key(basis.qualify), {name: getattr(basis, name) for name in _BASIS_ARRAYS})


def exchange_values_of(
    qualify: Qualifier, payoffs: Payoffs, shelf: Shelf | None, tell: Tell = _silent
) -> ExchangeValues:
    """Return what the best exchange is worth in every state with one up-card. Raises ``OddsError``."""
    kept = kept_exchange_values(qualify, payoffs, shelf)
    return _solve_exchange(qualify, payoffs, shelf, tell)[1] if kept is None else kept


def kept_exchange_values(qualify: Qualifier, payoffs: Payoffs, shelf: Shelf | None) -> ExchangeValues | None:
    """Return the same where it is on the shelf, and None where it would have to be counted."""
    kept = _get(shelf, _EXCHANGE, _outcomes_key(qualify, payoffs, 1))
    if kept is None:
        return None
    return ExchangeValues(payoffs, qualify, **{name: kept[name] for name in _EXCHANGE_ARRAYS})


def _solve_exchange(
    qualify: Qualifier, payoffs: Payoffs, shelf: Shelf | None, tell: Tell
) -> tuple[Outcomes, ExchangeValues]:
    basis = basis_of(qualify, shelf, tell)
    tell("counting what comes of every exchange: up to a minute, once for these stakes")
    outcomes, values = solve_exchange(basis, hands_table(), payoffs)
    keep_exchange(shelf, outcomes, values)
    return outcomes, values


def keep_exchange(shelf: Shelf | None, outcomes: Outcomes, values: ExchangeValues) -> None:
    """Keep what came of a game with an exchange for `outcomes_of` and `exchange_values_of`."""
    arrays = {name: getattr(values, name) for name in _EXCHANGE_ARRAYS}
    _put(shelf, _EXCHANGE, _outcomes_key(values.qualify, values.payoffs, 1), arrays)
    _keep_outcomes(shelf, values.qualify, values.payoffs, outcomes)


def _require_one_up(up_cards: int) -> None:
    if up_cards != 1:
        raise OddsError(f"a game with an exchange and {up_cards} up-cards is not counted: with 1 it is")


# ── What is kept ────────────────────────────────────────────────────────────────────────────────────────────
@lru_cache(maxsize=1)
def engine() -> str:
    """Return the SHA-256 (hex) of the code that what is kept depends on."""
    folder = resources.files(domain)
    sources = [folder / "cards.py", folder / "hands.py"]
    sources += (file for file in (folder / "odds").iterdir() if file.name.endswith(".py"))
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda file: file.name):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()


def _basis_key(qualify: Qualifier) -> dict[str, Any]:
    return {"qualify": str(qualify)}


def _outcomes_key(qualify: Qualifier, payoffs: Payoffs, up_cards: int) -> dict[str, Any]:
    """Stakes of the same proportions have the same outcomes: the unit is no part of it."""
    return {"qualify": str(qualify), "up_cards": up_cards, "payoffs": asdict(replace(payoffs, unit=1))}


def _keep_outcomes(shelf: Shelf | None, qualify: Qualifier, payoffs: Payoffs, outcomes: Outcomes) -> None:
    content = json.dumps(asdict(outcomes)).encode()
    key = _outcomes_key(qualify, payoffs, outcomes.up_cards)
    _put(shelf, _OUTCOMES, key, {"json": np.frombuffer(content, np.uint8)})


def _outcomes(content: dict[str, Any]) -> Outcomes:
    exchanged = content["exchanged"]
    return Outcomes(
        total=content["total"],
        kept=_branch(content["kept"]),
        exchanged=None if exchanged is None else _branch(exchanged),
        six=tuple(tuple(tuple(counts) for counts in half) for half in content["six"]),
        up_cards=content["up_cards"],
    )


def _branch(content: dict[str, list[int]]) -> Branch:
    return Branch(**{name: tuple(counts) for name, counts in content.items()})


def _get(shelf: Shelf | None, kind: str, key: dict[str, Any]) -> Arrays | None:
    return None if shelf is None else shelf.get(kind, {"engine": engine(), **key})


def _put(shelf: Shelf | None, kind: str, key: dict[str, Any], arrays: Arrays) -> None:
    if shelf is not None:
        shelf.put(kind, {"engine": engine(), **key}, arrays, _KEPT[kind])
