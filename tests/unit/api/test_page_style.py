"""The style sheet: readable by contrast (WCAG 2.2, 1.4.3), and nothing fetched from elsewhere."""

from __future__ import annotations

import re

import pytest

from api.page.rendering import STYLE

SHEET = STYLE.decode()
FELT_LIGHTEST = "#125c41"
ON_LIGHT = [
    ("ink", "paper"),
    ("soft", "paper"),
    *((text, "sheet") for text in ("soft", "won", "lost", "back", "red")),
]
ON_FELT = [(text, FELT_LIGHTEST) for text in ("on-felt", "on-felt-soft", "gold")]
WRITTEN_OUT = [("#2b2104", "gold"), ("#6d1010", "#fff1ee"), ("#e9f2ec", "#14241c"), ("#0b5a3c", "sheet")]
PAIRS = [*ON_LIGHT, *ON_FELT, *WRITTEN_OUT, ("sheet", "felt")]


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, or of a variable of the sheet."""
    if not colour.startswith("#"):
        found = re.search(rf"--{colour}: (#[0-9a-f]{{6}});", SHEET)
        assert found, colour
        colour = found.group(1)
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_stands_out_from_its_ground(text: str, ground: str) -> None:
    """Text has a contrast of at least 4.5 to 1, level AA; the felt is taken where it is lightest."""
    lighter, darker = sorted((luminance(text), luminance(ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_colours_that_are_checked_are_the_sheets() -> None:
    """A colour written out above is one that the sheet still has."""
    for colour in (c for pair in PAIRS for c in pair if c.startswith("#")):
        assert colour in SHEET


def test_the_sheet_fetches_nothing() -> None:
    """System fonts only, no pictures, no imports."""
    assert not re.search(r"url\(|@import|@font-face|https?:", SHEET)
