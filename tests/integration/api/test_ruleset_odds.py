"""What rule sets return, over HTTP and on their page: figures, charts, warnings, and what is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from api.rulesets import svg
from domain.odds.chart import Chart, Row, Section
from domain.odds.document import document
from domain.odds.house import house_odds, rules_for
from domain.odds.payoffs import Payoffs
from domain.rulesets.schema import RuleSet
from infrastructure.odds.store import OddsStore, Terms
from tests.integration.api.browser import Browser
from tests.unit.domain.odds.counted import BUYING, STANDARD

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

CHART = Chart(
    ("fold", "raise"),
    1,
    (Section("lower", "one", ("A", "K"), (Row("A-Q", ((5, 1), (7, 0))), Row("7 high", ((2, 0), (3, 0))))),),
)


def figures(ruleset: RuleSet, terms: Terms, outcomes: Any = STANDARD) -> dict[str, Any]:
    """Return the document of odds that are put together from known outcomes."""
    rules = rules_for(ruleset, terms.currency, terms.settings)
    return document(house_odds(rules, terms.ante, Payoffs.from_rules(rules, terms.ante), outcomes))


@pytest.fixture(scope="module")
def stocked(api: Api) -> Api:
    """Return a service on whose ledger some odds are computed: of four houses, and of one that cannot be."""
    with psycopg.connect(api.service.settings.dsn, autocommit=True) as connection:
        store = OddsStore(connection, api.schema)
        for house, currency, ante, cap, stake, outcomes in (
            ("us-casino", "USD", 100, 0, 0, STANDARD),
            ("us-casino", "USD", 10_000, 0, 0, STANDARD),
            ("nordic", "EUR", 500, 0, 0, STANDARD),
            ("nordic", "NOK", 500, 0, 0, STANDARD),
            ("czech", "EUR", 100, 70_000, 900, BUYING),
            ("czech", "EUR", 100, 80_000, 900, BUYING),
        ):
            terms = Terms(house, 1, currency, ante, cap, stake)
            store.put(terms, figures(ruleset(api, house), terms, outcomes), CHART.document())
        store.put(Terms("casino-poker-1982", 1, "USD", 100), {"unsupported": "it has no odds"}, {})
        giving = Terms("cyber", 1, "USD", 100)
        told = figures(ruleset(api, "cyber"), giving) | {"favours_player": ["main", "jackpot"]}
        store.put(giving, told, CHART.document())
    return api


def ruleset(api: Api, house: str) -> RuleSet:
    """Return a published rule set."""
    return RuleSet.from_document(api.done(api.get(f"/v1/rulesets/{house}"))["document"])


def test_what_is_not_computed_yet_is_told_so(api: Api) -> None:
    """Before there are odds the answer says when to ask again, and the page says that there are none."""
    for what in ("odds", "chart"):
        response = api.get(f"/v1/rulesets/adelaide/{what}")
        problem = api.refused("odds_not_ready", 409, response)
        assert response.headers["retry-after"] == "30"
        assert "adelaide version 1" in problem["detail"]
    page = Browser(api.client).load("/rules/adelaide")
    assert page.response.status_code == 200
    assert "The odds of adelaide version 1 are being computed" in page.text
    assert "the stake is our inference" in page.text or "2.50" in page.text
    assert api.client.get("/rules/adelaide/chart.svg").status_code == 404


def test_figures_are_the_exact_document(stocked: Api) -> None:
    """What is answered is what was computed, exact, with what it is of and what else there is."""
    terms = Terms("us-casino", 1, "USD", 100)
    told = stocked.done(stocked.get("/v1/rulesets/us-casino/odds"))
    expected = figures(ruleset(stocked, "us-casino"), terms)
    assert told["returns"] == expected["returns"]
    assert told["returns"]["ante"]["expected"]["num"] == "-142031221"
    assert told["ruleset"] == {**expected["ruleset"], "version": 1}
    assert told["computed"] == [{"currency": "USD", "ante": 100}, {"currency": "USD", "ante": 10_000}]
    assert {note["code"] for note in told["notes"]} >= {"own_cards"}
    stocked.refused(
        "scope_missing", 403, stocked.get("/v1/rulesets/us-casino/odds", scope="disputes:approve")
    )


@pytest.mark.parametrize(
    ("query", "ante", "currency"),
    [
        ("", 500, "NOK"),
        ("currency=EUR", 500, "EUR"),
        ("ante=500", 500, "NOK"),
        ("ante=77777&version=1", 500, "NOK"),
        ("ante=77777&currency=EUR", 500, "EUR"),
    ],
)
def test_odds_are_chosen_by_what_is_asked(stocked: Api, query: str, ante: int, currency: str) -> None:
    """The house's first currency where none is named; any ante where no cap cuts, as all are alike."""
    told = stocked.done(stocked.get(f"/v1/rulesets/nordic/odds?{query}"))
    assert (told["ante"], told["currency"]) == (ante, currency)


@pytest.mark.parametrize(
    ("query", "ante"), [("", 100), ("ante=100", 100), ("ante=2500", 100), ("ante=10000", 10_000)]
)
def test_under_a_cap_each_ante_is_its_own(stocked: Api, query: str, ante: int) -> None:
    """An ante at which the cap cuts nothing is as any such; one at which it does must have been computed."""
    assert stocked.done(stocked.get(f"/v1/rulesets/us-casino/odds?{query}"))["ante"] == ante
    problem = stocked.refused("validation_failed", 422, stocked.get("/v1/rulesets/us-casino/odds?ante=2501"))
    assert problem["errors"][0]["pointer"] == "/ante"
    assert "100 ($1.00), 10000 ($100.00)" in problem["errors"][0]["detail"]


def test_a_tables_own_limits_choose_too(stocked: Api) -> None:
    """Where the house leaves its cap to the tables, each has odds of its own."""
    path = "/v1/rulesets/czech/odds?currency=EUR"
    assert stocked.done(stocked.get(path))["cap"]["amount"] == 70_000
    assert stocked.done(stocked.get(f"{path}&raise_win_cap=80000"))["cap"]["amount"] == 80_000
    assert stocked.done(stocked.get(path))["computed"][1] == {
        "currency": "EUR",
        "ante": 100,
        "raise_win_cap": 80_000,
        "bonus_stake": 900,
    }
    for query, pointer in (("raise_win_cap=1", "/raise_win_cap"), ("bonus_stake=1", "/bonus_stake")):
        problem = stocked.refused("validation_failed", 422, stocked.get(f"{path}&{query}"))
        assert problem["errors"][0]["pointer"] == pointer
    stocked.refused("odds_not_ready", 409, stocked.get("/v1/rulesets/czech/odds?currency=CZK"))


def test_what_there_cannot_be_is_refused(stocked: Api) -> None:
    """No such house, version or currency; and a game whose odds nobody counts, with the reason."""
    for what in ("odds", "chart"):
        stocked.refused("ruleset_not_found", 404, stocked.get(f"/v1/rulesets/none/{what}"))
        stocked.refused("ruleset_not_found", 404, stocked.get(f"/v1/rulesets/nordic/{what}?version=2"))
        response = stocked.get(f"/v1/rulesets/nordic/{what}?currency=GBP")
        problem = stocked.refused("validation_failed", 422, response)
        assert problem["errors"][0]["pointer"] == "/currency"
        problem = stocked.refused(
            "odds_not_counted", 404, stocked.get(f"/v1/rulesets/casino-poker-1982/{what}?ante=1")
        )
        assert "it has no odds" in problem["detail"]
    assert "it has no odds" in Browser(stocked.client).load("/rules/casino-poker-1982").text


def test_a_chart_is_an_inert_drawing_that_is_fetched_once(stocked: Api) -> None:
    """An SVG with a policy of its own, tagged by the rule set's hash; who has it is not sent it again."""
    response = stocked.get("/v1/rulesets/us-casino/chart")
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["content-security-policy"] == svg.POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    tag = response.headers["etag"]
    assert tag.startswith('"' + stocked.get("/v1/rulesets/us-casino").json()["sha256"])
    assert "Strategy chart: Caribbean Stud, United States" in response.text
    assert "at an ante of $1.00" in response.text
    headers = {"Authorization": f"Bearer {stocked.token()}", "If-None-Match": f'"other", W/{tag}'}
    again = stocked.client.get("/v1/rulesets/us-casino/chart", headers=headers)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert stocked.get("/v1/rulesets/us-casino/chart").content == response.content
    assert stocked.get("/v1/rulesets/us-casino/chart?ante=10000").headers["etag"] != tag


def test_what_favours_the_player_is_warned_of(stocked: Api) -> None:
    """A rule set's reads say at which bets the player wins in the long run; the others have no warnings."""
    told = stocked.done(stocked.get("/v1/rulesets/cyber"))["warnings"]
    assert [(each["code"], each["bet"], each["currency"], each["ante"]) for each in told] == [
        ("favours_player", "main", "USD", 100),
        ("favours_player", "jackpot", "USD", 100),
    ]
    assert told[0]["text"] == "The game favours the player at an ante of $1.00, by exact odds."
    items = stocked.done(stocked.get("/v1/rulesets"))["items"]
    # The made-up game of which the Czech figures are gives at two tables.
    assert {item["id"] for item in items if item["warnings"]} == {"cyber", "czech"}
    page = Browser(stocked.client).load("/rules/cyber")
    assert "Warning. The game favours the player at an ante of $1.00" in page.text


def test_the_page_names_every_denominator(stocked: Api) -> None:
    """Returns with what they are a share of, how to play, what is left out: open to everybody, no script."""
    page = Browser(stocked.client).load("/rules/us-casino")
    assert page.response.status_code == 200
    assert "The game the ante 94.7757 % 5.2243 %" in page.text
    assert "The game everything wagered 97.4447 % 2.5553 %" in page.text
    assert "You fold 47.7745 %" in page.text
    assert (
        "36.2376 % of the stake come back as fixed awards, and another 2.9242 % for every $10,000.00"
        in page.text
    )
    assert "everything at a meter of $218,047.36" in page.text
    assert "other hands' cards are not used" in page.text
    assert "Where the source leaves room: our readings" in page.text
    assert "script" not in {tag for tag, _ in page.tags}
    (image,) = [a for tag, a in page.tags if tag == "img"]
    assert image["alt"]
    drawn = stocked.client.get(image["src"])
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.headers["content-security-policy"] == svg.POLICY
    other = next(link for link in page.links if "ante=10000" in link)
    assert "at an ante of $100.00" in Browser(stocked.client).load(other).text


def test_the_page_of_a_house_with_exchanges(stocked: Api) -> None:
    """Buying a card is among what happens, and the bonus has a stake at which it would be fair."""
    page = Browser(stocked.client).load("/rules/czech?currency=EUR&ante=100&raise_win_cap=80000")
    assert "a raise wins at most €800.00, the bonus costs €9.00" in page.text
    assert "You buy a card" in page.text
    assert re.search(r"Special bonus: its awards are worth €[0-9.,]+ a bet on average", page.text)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/rules/none", 404),
        ("/rules/%00", 404),
        ("/rules/us-casino?version=9", 404),
        ("/rules/us-casino?ante=2501", 422),
        ("/rules/us-casino?ante=x", 422),
        ("/rules/none/chart.svg", 404),
        ("/rules/us-casino/chart.svg?ante=2501", 404),
    ],
)
def test_a_page_that_is_not_there(stocked: Api, path: str, status: int) -> None:
    """What nobody published or computed is refused in words."""
    assert stocked.client.get(path).status_code == status
