"""The front page, played as a browser without JavaScript would play it, on a real ledger."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from domain.rulesets import SHIPPED
from tests.integration.api.browser import Browser

if TYPE_CHECKING:
    from tests.integration.api.browser import Page
    from tests.integration.api.conftest import Api

VERIFY = Path(__file__).parents[3] / "scripts" / "verify.py"
RAISE_WORDS = {
    "evolution-live": "Call",
    "cyber": "Back Bet",
    "czech": "Odds",
    "us-casino": "Bet",
    "macau": "Bet",
}
CURRENCIES = {"czech": "CZK", "uk-casino": "£", "macau": "HK$", "adelaide": "A$"}


@pytest.fixture
def browser(demo_api: Api) -> Browser:
    """Return a browser at the demonstration."""
    return Browser(demo_api.client)


def deal(browser: Browser, house: str, **filled: str | None) -> Page:
    """Place an ante of 5.00, or what is given, and deal."""
    return browser.press(
        browser.load(f"/?house={house}"), "/play/rounds", "deal", **{"ante_1": "5.00", **filled}
    )


def play_out(browser: Browser, page: Page, action: str = "raise") -> Page:
    """Decide every hand of a round the same way."""
    while any(form.action.endswith("/decisions") for form in page.forms):
        page = browser.press(page, "/decisions", action)
        assert page.response.status_code == 200, page.text
    return page


def round_id(page: Page) -> str:
    """Return the round that a page is about."""
    return str(page.response.url.params["round"])


@pytest.mark.parametrize("house", SHIPPED)
def test_a_whole_hand_is_played_and_verified_in_every_house(
    browser: Browser, house: str, tmp_path: Path
) -> None:
    """Ante, every side bet the house has, raise: each bet is told; the download passes the verifier."""
    page = browser.load(f"/?house={house}")
    inputs = page.form("/play/rounds").fields
    names = [f.name for f in inputs if f.name.endswith("-1") and f.name != "ante-1"]
    kinds = {f.name: f.kind for f in inputs}
    side_bets = {name.replace("-", "_"): "on" if kinds[name] == "checkbox" else "2.00" for name in names}
    page = browser.press(page, "/play/rounds", "deal", ante_1="5.00", **side_bets)
    assert page.text.count("face down") == (3 if house == "casino-poker-1982" else 4)
    assert "Revealed when the round has ended" in page.text
    word = RAISE_WORDS.get(house, "")
    assert any(words.startswith(word) and "10.00" in words for _, _, words in page.form("/decisions").buttons)
    page = play_out(browser, page)
    assert "What each bet did, and why" in page.text
    assert "face down" not in page.text
    assert "Wallet before the round" in page.text
    assert CURRENCIES.get(house, "") in page.text
    assert page.text.count("Stake") >= 1 + len(names)
    file = next(link for link in page.links if link.endswith("/evidence.json"))
    response = browser.client.get(file)
    assert response.headers["content-disposition"] == f'attachment; filename="round-{round_id(page)}.json"'
    evidence = tmp_path / f"round-{round_id(page)}.json"
    evidence.write_bytes(response.content)
    assert f"python3 scripts/verify.py {evidence.name}" in page.text
    checked = subprocess.run(
        [sys.executable, "-I", VERIFY, evidence], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_a_checkpoint_that_was_kept_shows_that_nothing_was_changed(browser: Browser, tmp_path: Path) -> None:
    """The page leads to the log's checkpoint; whoever keeps it proves a later round's consistency with it."""
    page = play_out(browser, deal(browser, "us-casino"), "fold")
    assert browser.client.get(f"/play/rounds/{round_id(page)}/evidence.json").status_code == 200
    assert {"/log/checkpoint", "/log/key"} <= set(page.links)
    kept = tmp_path / "checkpoint.txt"
    kept.write_bytes(browser.client.get("/log/checkpoint").content)
    size = kept.read_text(encoding="utf-8").split("\n")[1]
    page = play_out(browser, deal(browser, "us-casino"), "fold")
    file = next(link for link in page.links if link.endswith("/evidence.json"))
    evidence = tmp_path / "round.json"
    evidence.write_bytes(browser.client.get(file, params={"since": size}).content)
    checked = subprocess.run(
        [sys.executable, "-I", VERIFY, evidence, "--since", kept], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    proof = next(link for link in page.links if link.startswith("/log/proof/"))
    assert browser.client.get(proof).text.startswith("c2sp.org/tlog-proof@v1\n")


def test_hidden_cards_are_not_on_the_page_before_the_end(browser: Browser) -> None:
    """What the dealer turns up at the end was nowhere in the page while the player decided (G5)."""
    dealt = deal(browser, "us-casino")
    settled = play_out(browser, dealt)
    cards = re.findall(
        r"(?:two|three|four|five|six|seven|eight|nine|ten|jack|queen|king|ace) of [a-z]+s", settled.text
    )
    hidden = cards[1:5]
    assert len(cards) == 10
    assert not [card for card in hidden if card in dealt.response.text]
    assert not re.search(r"\b[0-9a-f]{96}\b", dealt.response.text)
    assert re.search(r"\b[0-9a-f]{96}\b", settled.response.text)


def test_folding_gives_up_the_ante_and_says_so(demo_api: Api, browser: Browser) -> None:
    """A fold costs the ante; the page's wallet figures are the ledger's."""
    before = demo_api.balance("demo")[0]
    page = play_out(browser, deal(browser, "casino-poker-1982"), "fold")
    assert "You folded" in page.text
    assert "A fold gives up the ante of $5.00." in page.text
    assert demo_api.balance("demo") == (before - 500, 0)
    assert f"${(before - 500) / 100:,.2f}" in page.text


def test_a_card_is_bought_with_the_one_that_was_chosen(browser: Browser) -> None:
    """At the Czech house a radio button chooses the card; fee and special bonus are gone."""
    page = deal(browser, "czech", bonus_1="on")
    refused = browser.press(page, "/decisions", "exchange")
    assert refused.response.status_code == 422
    assert "Choose the card to give up" in refused.text
    card = next(f.value for f in refused.form("/decisions").fields if f.kind == "radio")
    page = browser.press(refused, "/decisions", "exchange", discard=card)
    assert "You gave up the" in page.text
    assert not any(f.kind == "radio" for f in page.form("/decisions").fields)
    assert "exchange" not in [value for _, value, _ in page.form("/decisions").buttons]
    page = play_out(browser, page)
    assert "This bet goes with the card purchase, whatever card is drawn" in page.text
    assert "It is taken at once and never comes back" in page.text


def test_three_hands_are_decided_one_after_the_other(browser: Browser) -> None:
    """At the cyber house up to three hands are played; only the one whose turn it is has buttons."""
    page = deal(browser, "cyber", ante_2="6.00", ante_3="7.00", jackpot_3="on")
    for seat in ("1", "2", "3"):
        forms = [form for form in page.forms if form.action.endswith("/decisions")]
        assert [f.value for form in forms for f in form.fields if f.name == "seat"] == [seat]
        assert page.text.count("decided after the one before it") == 3 - int(seat)
        page = browser.press(page, "/decisions", "fold" if seat == "2" else "raise")
    assert "Hand 2: You folded" in page.text
    assert "the ante of $6.00" in page.text
    again = {f.name: f.value for f in page.form("/play/rounds").fields if f.name.startswith("ante")}
    assert again == {"ante-1": "5.00", "ante-2": "6.00", "ante-3": "7.00"}


def test_only_one_of_three_hands_need_be_played(browser: Browser) -> None:
    """Empty hands are not played; a form with none says what to do."""
    page = deal(browser, "cyber", ante_1="", ante_3="7.00")
    assert page.text.count("Your hand") == 1
    play_out(browser, page, "fold")
    page = deal(browser, "cyber", ante_1="")
    assert page.response.status_code == 422
    assert "No hand has an ante" in page.text


def test_pressing_twice_acts_once(demo_api: Api, browser: Browser) -> None:
    """The same form sent again leads to the same round, and costs nothing more (G3)."""
    before = demo_api.balance("demo")[0]
    form = browser.load("/?house=us-casino").form("/play/rounds")
    first, second = (browser.post(form, form.sent("deal", ante_1="5.00")) for _ in range(2))
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    assert demo_api.balance("demo") == (before - 500, 500)
    page = browser.load(first.headers["location"].partition("#")[0])
    form = page.form("/decisions")
    again = [browser.post(form, form.sent("fold")) for _ in range(2)]
    assert [response.status_code for response in again] == [303, 303]
    assert demo_api.balance("demo") == (before - 500, 0)


def test_another_choice_with_a_used_form_changes_nothing(demo_api: Api, browser: Browser) -> None:
    """After a fold the same form's raise is refused in words, and the page shows how the round stands."""
    page = deal(browser, "us-casino")
    form = page.form("/decisions")
    browser.post(form, form.sent("fold"))
    before = demo_api.balance("demo")
    refused = browser.press(page, "/decisions", "raise")
    assert refused.response.status_code == 422
    assert "used already" in refused.text
    assert "You folded" in refused.text
    assert demo_api.balance("demo") == before


def test_a_form_from_a_page_of_before_is_told_how_the_round_stands(browser: Browser) -> None:
    """A second window's button, with a key of its own, meets a decided hand."""
    page = deal(browser, "us-casino")
    other = browser.load(f"/?round={round_id(page)}")
    play_out(browser, page, "fold")
    late = browser.press(other, "/decisions", "raise")
    assert late.response.status_code == 409
    assert "decided before, perhaps in another window" in late.text
    assert "You folded" in late.text


def test_a_lost_tab_finds_its_round_again(browser: Browser) -> None:
    """The house's page goes on with the player's unfinished round there."""
    page = deal(browser, "adelaide")
    found = browser.load("/?house=adelaide")
    assert round_id(found) == round_id(page)
    assert found.form("/decisions")
    play_out(browser, found, "fold")
    assert browser.load("/?house=adelaide").form("/play/rounds")


def test_the_deck_can_be_fixed_before_the_stake(demo_api: Api, browser: Browser) -> None:
    """The commitment is shown before any stake, and the player's own words go into the shuffle (G6)."""
    page = browser.press(browser.load("/?house=us-casino"), "/play/rounds", "open")
    commitment = demo_api.get(f"/v1/rounds/{round_id(page)}").json()["deck_commitment"]
    assert commitment in page.text
    assert page.form("/antes").offers("client_seed")
    seed = 'lucky <7> "&'
    refused = browser.press(page, "/antes", "deal", ante_1="nothing", client_seed=seed)
    assert refused.response.status_code == 422
    page = browser.press(refused, "/antes", "deal", ante_1="5.00")
    assert round_id(page) == demo_api.get(f"/v1/rounds/{round_id(page)}").json()["round_id"]
    page = play_out(browser, page)
    assert "fixed by this commitment before the first stake" in page.text
    events = demo_api.get(f"/v1/rounds/{round_id(page)}/events").json()["items"]
    placed = next(event["data"] for event in events if event["type"] == "AntePlaced")
    assert placed["client_seed"] == seed
    assert next(event["meta"]["actor"] for event in events) == "demo"


def test_the_page_names_no_outside_and_needs_no_script(browser: Browser) -> None:
    """No script, nothing from elsewhere, no inline style; the headers forbid what the page does not need."""
    page = play_out(browser, deal(browser, "us-casino", jackpot_1="on"))
    assert not [tag for tag, _ in page.tags if tag in ("script", "iframe", "object", "embed", "style")]
    for tag, attributes in page.tags:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("href", "src", "action"):
            assert attributes.get(name, "/").startswith(("/", "#", "data:image/")), attributes
    headers = page.response.headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    style = next(a["href"] for tag, a in page.tags if tag == "link" and a["rel"] == "stylesheet")
    sheet = browser.client.get(style)
    assert sheet.headers["content-type"].startswith("text/css")
    assert "immutable" in sheet.headers["cache-control"]
    assert not re.search(r"url\(|@import", sheet.text)


def test_every_label_has_its_input_and_every_picture_its_words(browser: Browser) -> None:
    """Fields are labelled, and each card says its name to those who do not see it."""
    page = deal(browser, "czech")
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert all(a["for"] in ids for tag, a in page.tags if tag == "label" and "for" in a)
    assert all(a.get("aria-hidden") == "true" for tag, a in page.tags if tag == "svg")
    assert len(re.findall(r"\w+ of (?:clubs|diamonds|hearts|spades)", page.text)) == 6
    play_out(browser, page, "fold")


def test_the_rules_of_the_house_can_be_read(browser: Browser) -> None:
    """Pay tables, the cap, and the flagged readings are on the page."""
    page = browser.load("/?house=us-casino")
    assert "Royal flush 100 to 1" in page.text
    assert "Straight flush 10% of the meter" in page.text
    assert "At most $5,000.00 on one hand." in page.text
    assert "Where the source leaves room: our readings" in page.text
    assert "The source is silent on a jackpot bet whose player folds" in page.text
