"""The front page, played as a browser without JavaScript would, on a real ledger."""

from __future__ import annotations

import re

import pytest

from domain.rulesets import SHIPPED
from tests.integration.api.browser import Browser

FORBIDDEN = ("script", "iframe", "object", "embed", "style")


@pytest.fixture
def browser(demo_api):
    """Return a browser at the demonstration."""
    return Browser(demo_api.client)


def play_out(browser, page, action="raise"):
    """Decide every hand of a round the same way."""
    while any(form.action.endswith("/decisions") for form in page.forms):
        page = browser.press(page, "/decisions", action)
    return page


@pytest.mark.parametrize("house", SHIPPED)
def test_a_whole_hand_is_played_in_every_house(browser, house):
    """Ante, every side bet the house has, raise: the page tells each bet's end and the wallet's, and the seed."""
    page = browser.load(f"/?house={house}")
    form = page.form("/play/rounds")
    side_bets = {f.name.replace("-", "_"): "2.00" if f.kind == "text" else "on" for f in form.fields}
    bets = {name: value for name, value in side_bets.items() if name.endswith("_1") and name != "ante_1"}
    page = browser.press(page, "/play/rounds", "deal", ante_1="5.00", **bets)
    assert "face down" in page.text
    assert "Revealed when the round has ended" in page.text
    page = play_out(browser, page)
    assert "What each bet did, and why" in page.text
    assert "face down" not in page.text
    assert "Wallet before the round" in page.text
    assert "python3 scripts/verify.py round-" in page.text
    assert re.search(r"\b[0-9a-f]{96}\b", page.text)
    assert "Play again" in page.text
