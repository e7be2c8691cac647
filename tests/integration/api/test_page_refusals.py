"""What the front page does not do, and how it says so; nothing changes and nothing typed is lost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.log import checkpoints
from infrastructure.evidence.folder import LogFolder
from tests.integration.api.browser import Browser, Page
from tests.integration.api.test_page import browser, deal, play_out, round_id

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

__all__ = ["browser"]

HOSTILE = '"><script>alert(1)</script>'


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "An amount is missing: type it like 5.00"),
        ("five", "“five” is no amount in USD"),
        ("5,00", "is no amount in USD"),
        ("-5", "is no amount in USD"),
        ("5.001", "is no amount in USD"),
        ("1e3", "is no amount in USD"),
        ("\N{ARABIC-INDIC DIGIT FIVE}", "is no amount in USD"),
        ("NaN", "is no amount in USD"),
        ("9999999999999", "is more than the ledger takes at once"),
        (HOSTILE, "is no amount in USD"),
    ],
)
def test_an_amount_that_is_none_is_told_in_words(
    demo_api: Api, browser: Browser, typed: str, words: str
) -> None:
    """The form comes back as it was filled in, with what to type; the ledger has not been asked."""
    before = demo_api.rows()
    page = deal(browser, "us-casino", ante_1=typed, jackpot_1="on")
    assert page.response.status_code == 422
    assert words in page.text
    fields = {f.name: f for f in page.form("/play/rounds").fields}
    assert fields["ante-1"].value == typed
    assert fields["jackpot-1"].checked
    assert "<script" not in page.response.text
    assert demo_api.rows() == before


@pytest.mark.parametrize(
    ("typed", "words"),
    [("0.99", "This table takes $1.00 to $100.00"), ("100.01", "This table takes $1.00 to $100.00")],
)
def test_a_stake_outside_the_limits_is_told_in_money(browser: Browser, typed: str, words: str) -> None:
    """The ledger's refusal is told in whole units, and the next try, with a new key, goes through."""
    page = deal(browser, "us-casino", ante_1=typed)
    assert page.response.status_code == 422
    assert words in page.text
    page = browser.press(page, "/play/rounds", "deal", ante_1="5.00")
    assert page.form("/decisions")
    play_out(browser, page, "fold")


def test_too_little_money_is_told_and_play_money_can_be_had(demo_api: Api, browser: Browser) -> None:
    """An empty wallet refuses the stake; the page then offers play money, and pressing twice pays once."""
    balance = demo_api.balance("demo-hkd")[0]
    withdrawal = {"amount": balance - 150, "reference": "page-test"}
    assert demo_api.post("/v1/players/demo-hkd/withdrawals", withdrawal).status_code == 201
    page = deal(browser, "macau", ante_1="5.00")
    assert page.response.status_code == 409
    assert "This needs HK$5.00, and the wallet holds HK$1.50." in page.text
    form = page.form("/play/deposits")
    assert "HK$200.00 of play money" in form.buttons[0][2]
    for _ in range(2):
        assert browser.post(form, form.sent("")).status_code == 303
    assert demo_api.balance("demo-hkd") == (20_150, 0)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_another_sites_form_is_refused(demo_api: Api, browser: Browser, headers: dict[str, str]) -> None:
    """A form that another site sends does nothing."""
    before = demo_api.rows()
    form = browser.load("/").form("/play/rounds")
    response = demo_api.client.post(form.action, data=form.sent("deal", ante_1="5.00"), headers=headers)
    assert response.status_code == 403
    assert "another site" in response.text
    assert demo_api.rows() == before


def test_a_round_of_others_is_not_dealt(demo_api: Api) -> None:
    """Nobody who comes by the page closes the bets of a round in which only others sit."""
    demo_api.player("guest")
    seat = {"seat": 1, "player_id": "guest", "ante": 500}
    others = demo_api.open("demo-us-casino", seat)["round_id"]
    response = demo_api.client.post(f"/play/rounds/{others}/deal", data={"key": "k" * 24})
    assert response.status_code == 404
    assert demo_api.get(f"/v1/rounds/{others}").json()["phase"] == "betting"


def test_a_form_without_fetch_metadata_needs_its_own_origin(demo_api: Api, browser: Browser) -> None:
    """An older browser says only Origin: the page's own is taken."""
    form = browser.load("/?house=us-casino").form("/play/rounds")
    origin = str(demo_api.client.base_url).rstrip("/")
    response = demo_api.client.post(
        form.action, data=form.sent("deal", ante_1="5.00"), headers={"Origin": origin}
    )
    assert response.status_code == 303
    play_out(browser, browser.load("/?house=us-casino"), "fold")


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"key=" + b"x" * 10_000, "application/x-www-form-urlencoded", 413),
        (b"{}", "application/json", 415),
        (b"key=aaaaaaaaaaaaaaaaaaaa&key=bbbbbbbbbbbbbbbbbbbb", "application/x-www-form-urlencoded", 422),
        (b"key=%FF%FE", "application/x-www-form-urlencoded", 422),
        (b"&".join(b"a%d=1" % n for n in range(100)), "application/x-www-form-urlencoded", 422),
        (b"house=us-casino&intent=deal", "application/x-www-form-urlencoded", 422),
        (b"", "application/x-www-form-urlencoded", 422),
    ],
)
def test_what_no_browser_sends_is_refused(demo_api: Api, content: bytes, kind: str, status: int) -> None:
    """Too much, no form, a field twice, no text, many fields, no key: a page that says so."""
    before = demo_api.rows()
    response = demo_api.client.post("/play/rounds", content=content, headers={"Content-Type": kind})
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/html")
    assert demo_api.rows() == before


def test_what_is_in_the_address_is_not_in_the_page(browser: Browser) -> None:
    """Houses and rounds that do not exist are answered by a page that repeats nothing of them."""
    for address in (f"/?house={HOSTILE}", f"/?round={HOSTILE}", "/?round=nothing", "/?round="):
        page = browser.load(address)
        assert page.response.status_code == 404
        assert "There is nothing here" in page.text
        assert "alert" not in page.response.text


def test_decisions_that_are_none_are_refused(demo_api: Api, browser: Browser) -> None:
    """A seat of nobody's, an action or a card that does not exist: told in words, and the hand can go on."""
    page = deal(browser, "czech")
    form = page.form("/decisions")
    before = demo_api.rows()
    for changed in (
        {"seat": "2"},
        {"seat": "x"},
        {"action": "win"},
        {"action": ""},
        {"action": "exchange", "discard": "Zz"},
        {"action": "exchange", "discard": HOSTILE},
    ):
        response = browser.post(form, {**form.sent("raise"), **changed})
        assert response.status_code == 422
        assert Page(response).form("/decisions")
    assert demo_api.rows() == before
    play_out(browser, page, "fold")


def test_a_bet_the_house_does_not_offer_is_not_placed(browser: Browser) -> None:
    """A field the form does not have is not a bet."""
    form = browser.load("/?house=casino-poker-1982").form("/play/rounds")
    browser.post(form, {**form.sent("deal", ante_1="5.00"), "jackpot-1": "on"})
    page = browser.load("/?house=casino-poker-1982")
    assert "On the table $5.00" in page.text
    play_out(browser, page, "fold")


def test_a_round_that_has_not_ended_has_no_evidence(browser: Browser) -> None:
    """The file is there after the end, and not before."""
    page = deal(browser, "us-casino")
    response = browser.client.get(f"/play/rounds/{round_id(page)}/evidence.json")
    assert response.status_code == 404
    assert "has not ended" in response.text
    play_out(browser, page, "fold")


def test_a_file_that_is_not_ready_is_told_in_words(
    demo_api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the log has not signed the round the page says so, and leads back to it."""
    page = play_out(browser, deal(browser, "us-casino"), "fold")
    monkeypatch.setattr(checkpoints, "WAIT_SECONDS_MAX", 0.1)
    monkeypatch.setattr(demo_api.service, "log", LogFolder(Path("/nowhere")))
    response = browser.client.get(f"/play/rounds/{round_id(page)}/evidence.json")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "has not come to this one: try again" in response.text
    assert f"/?round={round_id(page)}#proof" in Page(response).links


def test_rounds_of_others_are_nobodys_business(demo_api: Api, browser: Browser) -> None:
    """Neither another player's round at a demo table nor the demo player's elsewhere is shown or played."""
    demo_api.player("anna")
    demo_api.table("private")
    seats = {"demo-us-casino": "anna", "private": "demo"}
    for table_id, player_id in seats.items():
        body = {
            "table_id": table_id,
            "deal": True,
            "seats": [{"seat": 1, "player_id": player_id, "ante": 500}],
        }
        other = demo_api.post("/v1/rounds", body).json()["round_id"]
        assert browser.load(f"/?round={other}").response.status_code == 404
        assert browser.client.get(f"/play/rounds/{other}/evidence.json").status_code == 404
        form = {"key": "k" * 20, "seat": "1", "action": "fold"}
        assert browser.client.post(f"/play/rounds/{other}/decisions", data=form).status_code == 404
        assert demo_api.get(f"/v1/rounds/{other}").json()["phase"] == "dealt"
        demo_api.post(f"/v1/rounds/{other}/decisions", {"seat": 1, "action": "fold"})


def test_others_at_the_same_round_are_left_out(demo_api: Api, browser: Browser) -> None:
    """On a round with another player the page shows, plays and hands out only what is the demo player's."""
    demo_api.player("bert")
    opened = demo_api.post("/v1/rounds", {"table_id": "demo-us-casino", "seats": []}).json()["round_id"]
    demo_api.post(f"/v1/rounds/{opened}/antes", {"seats": [{"seat": 1, "player_id": "bert", "ante": 700}]})
    page = browser.press(browser.load(f"/?round={opened}"), "/antes", "deal", ante_1="5.00")
    assert "7.00" not in page.text.partition("The rules of this house")[0].replace("$0.70", "")
    assert [f.value for f in page.form("/decisions").fields if f.name == "seat"] == ["2"]
    demo_api.post(f"/v1/rounds/{opened}/decisions", {"seat": 1, "action": "raise"})
    page = play_out(browser, page)
    assert "Your hand" in page.text
    evidence = browser.client.get(f"/play/rounds/{opened}/evidence.json").json()
    assert sum(event.get("withheld", False) for event in evidence["events"]) == 4


def test_the_address_of_a_form_leads_to_its_page(browser: Browser) -> None:
    """Who loads the address of a refused form again, without the form, finds the page it belongs to."""
    page = deal(browser, "us-casino")
    for form in ("decisions", "antes", "deal"):
        response = browser.client.get(f"/play/rounds/{round_id(page)}/{form}")
        assert response.headers["location"] == f"/?round={round_id(page)}#table"
    for address in ("/play/rounds", "/play/deposits", "/play/rounds/%20/deal"):
        assert browser.client.get(address).headers["location"] == "/"
    assert browser.client.head("/").status_code == 303
    play_out(browser, page, "fold")


def test_a_round_whose_time_ran_out_is_told(demo_api: Api, browser: Browser) -> None:
    """Where the clock decided first, the late press is told so; an unstaked round has ended too."""
    unstaked = browser.press(browser.load("/?house=us-casino"), "/play/rounds", "open")
    page = deal(browser, "us-casino")
    demo_api.clock.ahead_us += 1_000_000_000
    end = time.monotonic() + 20
    while {demo_api.get(f"/v1/rounds/{round_id(p)}").json()["phase"] for p in (page, unstaked)} != {
        "closed",
        "voided",
    }:
        assert time.monotonic() < end, "the clock's decisions do not come"
        time.sleep(0.05)
    late = browser.press(page, "/decisions", "raise")
    assert late.response.status_code == 409
    assert "The time to decide ran out, and the hand folded" in late.text
    expired = browser.press(unstaked, "/antes", "deal", ante_1="5.00")
    assert expired.response.status_code == 409
    assert "The round has ended without a stake" in expired.text
    assert expired.form("/play/rounds")


def test_no_page_to_play_on_where_the_ledger_is_no_demonstration(api: Api) -> None:
    """Any other ledger says what it is and points to its documentation; the forms' addresses do nothing."""
    page = Browser(api.client).load("/")
    assert page.response.status_code == 200
    assert "not marked as a demonstration" in page.text
    assert page.forms == []
    assert "/docs" in page.links
    style = next(a["href"] for tag, a in page.tags if tag == "link" and a["rel"] == "stylesheet")
    assert api.client.get(style).status_code == 200
    before = api.rows()
    for address in ("/play/rounds", "/play/deposits", "/play/rounds/x/decisions", "/play/rounds/x/antes"):
        response = api.client.post(address, data={"key": "k" * 20, "house": "us-casino", "intent": "open"})
        assert response.status_code == 404
    assert api.client.get("/play/rounds/x/evidence.json").status_code == 404
    assert api.rows() == before
