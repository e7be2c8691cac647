"""The front page in a real browser with JavaScript off, against a service of its own."""

from __future__ import annotations

import base64
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from api.rulesets.chart import Heading, draw
from domain.odds.chart import Chart, Row, Section
from domain.rulesets import SHIPPED
from tests.end_to_end.chromium import NAMES, PATIENCE_SECONDS, chromium, executable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.end_to_end.chromium import Chromium

PATH = executable()
pytestmark = pytest.mark.skipif(PATH is None, reason=f"there is no browser here: none of {', '.join(NAMES)}")

SERVE = Path(__file__).parents[2] / "scripts" / "serve"
PHONE = 390


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield the address of a service that was started as a newcomer starts it."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    command = [SERVE, "--port", "0", "--data-dir", folder / "data"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        try:
            ready = next((line for line in service.stdout if "is ready at" in line), "")
            assert ready, "the service has ended: its message is in the captured output"
            yield ready.split()[-1]
        finally:
            service.send_signal(signal.SIGINT)
            service.communicate(timeout=PATIENCE_SECONDS)
            shutil.rmtree(folder)


@pytest.fixture(scope="module")
def tab() -> Iterator[Chromium]:
    """Yield a browser's tab without JavaScript."""
    assert PATH is not None
    with chromium(PATH) as tab:
        yield tab


def words(tab: Chromium) -> str:
    """Return what is read on the page."""
    return " ".join(re.sub(r"<[^>]*>", " ", tab.text()).split())


def test_the_tab_runs_no_script(tab: Chromium) -> None:
    """What follows is done without JavaScript: a script that would change the page does not run."""
    tab.load("data:text/html," + quote("<p>still</p><script>document.body.textContent = 'changed'</script>"))
    assert words(tab).startswith("still")


def test_a_hand_is_played_by_choosing_typing_and_clicking(tab: Chromium, address: str) -> None:
    """Choose a house, type an ante, tick the jackpot, deal, raise: result, wallet and seed are there."""
    tab.resize(1280)
    tab.load(f"{address}/")
    tab.follow('nav.houses a[href="/?house=us-casino"]')
    tab.type("#ante-1", "7.50")
    tab.click("#jackpot-1")
    tab.follow('button[name="intent"][value="deal"]')
    said = words(tab)
    assert "Ante $7.50" in said
    assert "Progressive jackpot $1.00" in said
    assert said.count("face down") == 4
    tab.follow('button[name="action"][value="raise"]')
    said = words(tab)
    assert "Bet $15.00" in said
    assert "What each bet did, and why" in said
    assert "Wallet before the round $10,000.00" in said
    assert re.search(r"Seed of the deck [0-9a-f]{96}", said)
    assert tab.has('a[href$="/evidence.json"][download]')
    tab.follow('.again button[value="deal"]')
    assert "Ante $7.50" in words(tab)
    tab.follow('button[name="action"][value="fold"]')
    assert "You folded" in words(tab)


def test_a_card_is_bought_by_clicking_on_it(tab: Chromium, address: str) -> None:
    """At the Czech house the card itself is what is clicked on."""
    tab.load(f"{address}/?house=czech")
    tab.click("#bonus-1")
    tab.follow('button[value="deal"]')
    tab.click(".swap li:nth-child(3) label svg")
    assert tab.has(".swap li:nth-child(3) input:checked")
    tab.follow('button[value="exchange"]')
    assert "You gave up the" in words(tab)
    tab.follow('button[value="raise"]')
    assert "This bet goes with the card purchase" in words(tab)


def test_a_wrong_amount_is_told_and_put_right(tab: Chromium, address: str) -> None:
    """What was typed is still there, with the reason; the next try goes through."""
    tab.load(f"{address}/?house=nordic")
    tab.type("#ante-1", "five")
    tab.follow('button[value="deal"]')
    assert "“five” is no amount in USD: type it like 5.00" in words(tab)
    tab.type("#ante-1", "5")
    tab.follow('button[value="deal"]')
    assert "Ante $5.00" in words(tab)
    tab.follow('button[value="fold"]')


@pytest.mark.parametrize("house", SHIPPED)
def test_every_house_fits_a_phone(tab: Chromium, address: str, house: str) -> None:
    """On a screen of 390 pixels nothing sticks out sideways: before the deal, deciding, at the end."""
    tab.resize(PHONE, 844)
    tab.load(f"{address}/?house={house}")
    assert tab.width() == PHONE
    tab.follow('button[value="deal"]')
    assert tab.width() == PHONE
    while tab.has('button[value="raise"]'):
        tab.follow('button[value="raise"]')
    assert "What each bet did, and why" in words(tab)
    assert tab.width() == PHONE


def test_the_page_of_a_rule_set_fits_a_phone(tab: Chromium, address: str) -> None:
    """What a house returns and how to play it is reached from its table, and nothing sticks out sideways."""
    tab.resize(PHONE, 844)
    tab.load(f"{address}/?house=czech")
    tab.follow('.rules a[href^="/rules/czech"]')
    assert "What this house returns to somebody who always decides for the best" in words(tab)
    assert tab.width() == PHONE


def test_a_chart_is_drawn_by_a_browser(tab: Chromium) -> None:
    """The browser reads the drawing as one: its rows, and in them the letters and their boxes."""
    rows = (Row("A-K-Q-8-2", ((1, 5), (6, 0))),)
    chart = Chart(("fold", "raise"), 1, (Section("ace_king", "one", ("A", "K"), rows),))
    drawn = draw(chart, Heading("A & B", "an ante of $1.00", {}, ()))
    tab.load("data:image/svg+xml;base64," + base64.b64encode(drawn).decode())
    assert tab.has("svg[role] > g > rect.raise-part")
    assert tab.has("svg[role] > g > rect.fold")
    assert "R83" in words(tab)
