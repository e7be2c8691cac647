"""Which of a rule set's odds answer a question: in a currency, at an ante, under a table's own limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from api.page.amounts import money
from api.problems import Problem, validation_failed
from domain.work import PublishedRuleset
from infrastructure.odds.store import Odds, Terms
from infrastructure.reading import Reading

RETRY_SECONDS: Final = 30
_ANTES_TOLD_MAX: Final = 12


class Asked(NamedTuple):
    """What was asked for; None where it was left open. Amounts in minor units."""

    version: int | None = None
    currency: str | None = None
    ante: int | None = None
    raise_win_cap: int | None = None
    bonus_stake: int | None = None


class Found(NamedTuple):
    """A version, all of its odds, and those that answer."""

    published: PublishedRuleset
    all: Sequence[Odds]
    odds: Odds


async def choose(reading: Reading, ruleset_id: str, asked: Asked) -> Found:
    """Return the odds that answer: of what is left open, those of the first currency and the lowest ante.

    An ante of which no odds were computed has those of another where no cap cuts anything at either: they
    are the same for each unit staked.

    Raises Problem ruleset_not_found, odds_not_ready, odds_not_counted, and validation_failed where the
    house does not take the currency, or nothing was computed for such an ante or such limits.
    """
    published = await version_of(reading, ruleset_id, asked.version)
    currencies = published.ruleset.currencies
    if asked.currency is not None and asked.currency not in currencies:
        detail = f"{ruleset_id} is played in {', '.join(currencies)}"
        raise validation_failed([{"pointer": "/currency", "detail": detail}])
    found = await reading.odds.of_version(ruleset_id, published.ref.version)
    wanted = [odds for odds in found if odds.terms.currency == (asked.currency or odds.terms.currency)]
    wanted.sort(key=lambda odds: (currencies.index(odds.terms.currency), odds.terms))
    if not wanted:
        raise _not_ready(published)
    fitting = [odds for odds in wanted if _has_limits(odds.terms, asked)]
    if not fitting:
        detail = "no table that plays this version has such a limit, or its odds are not computed yet"
        raise validation_failed([{"pointer": _limit_asked(asked), "detail": detail}])
    if (why := fitting[0].figures.get("unsupported")) is not None:
        raise Problem("odds_not_counted", f"Of {ruleset_id} no exact odds can be given: {why}.")
    odds = _at(fitting, asked.ante)
    if odds is None:
        raise validation_failed([{"pointer": "/ante", "detail": _antes_told(fitting)}])
    return Found(published, found, odds)


async def version_of(reading: Reading, ruleset_id: str, version: int | None) -> PublishedRuleset:
    """Return a version of a rule set, the newest where none is named. Raises Problem ruleset_not_found."""
    versions = await reading.versions(ruleset_id)
    if not versions:
        raise Problem("ruleset_not_found", f"There is no published rule set {ruleset_id}.")
    if version is None:
        return versions[-1]
    found = next((each for each in versions if each.ref.version == version), None)
    if found is None:
        raise Problem("ruleset_not_found", f"{ruleset_id} has no version {version}.")
    return found


def terms_document(terms: Terms) -> dict[str, Any]:
    """Return what odds are of, without the rule set."""
    own = {"raise_win_cap": terms.raise_win_cap, "bonus_stake": terms.bonus_stake}
    set_ = {name: amount for name, amount in own.items() if amount}
    return {"currency": terms.currency, "ante": terms.ante, **set_}


def terms_words(terms: Terms) -> str:
    """What odds are of, in words."""
    limit, stake = terms.raise_win_cap, terms.bonus_stake
    words = [
        f"at an ante of {money(terms.ante, terms.currency)}",
        f"a raise wins at most {money(limit, terms.currency)}" if limit else "",
        f"the bonus costs {money(stake, terms.currency)}" if stake else "",
    ]
    return ", ".join(filter(None, words))


def _has_limits(terms: Terms, asked: Asked) -> bool:
    return terms.raise_win_cap == (
        terms.raise_win_cap if asked.raise_win_cap is None else asked.raise_win_cap
    ) and terms.bonus_stake == (terms.bonus_stake if asked.bonus_stake is None else asked.bonus_stake)


def _limit_asked(asked: Asked) -> str:
    return "/bonus_stake" if asked.raise_win_cap is None else "/raise_win_cap"


def _at(found: Sequence[Odds], ante: int | None) -> Odds | None:
    """Return the odds at an ante, or those that are the same; the first ones where none is named."""
    if ante is None:
        return found[0]
    exactly = (odds for odds in found if odds.terms.ante == ante)
    same = (odds for odds in found if _uncut(odds, ante) and _uncut(odds, odds.terms.ante))
    return next(exactly, None) or next(same, None)


def _uncut(odds: Odds, ante: int) -> bool:
    """Whether no cap cuts what a raise wins at an ante."""
    bound = odds.figures["cap"]["free_up_to"]
    return bound is None or ante <= bound


def _antes_told(found: Sequence[Odds]) -> str:
    antes = sorted({(odds.terms.currency, odds.terms.ante) for odds in found})[:_ANTES_TOLD_MAX]
    told = ", ".join(f"{ante} ({money(ante, currency)})" for currency, ante in antes)
    return f"odds are computed for an ante of {told}; scripts/odds computes others"


def _not_ready(published: PublishedRuleset) -> Problem:
    ref = published.ref
    return Problem(
        "odds_not_ready",
        f"The odds of {ref.id} version {ref.version} are being computed, or this service computes none.",
        headers={"Retry-After": str(RETRY_SECONDS)},
    )
