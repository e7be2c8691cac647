"""A strategy chart as a drawing: words say what colours say, nothing runs, equal charts are equal files."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from typing import Any
from xml.parsers import expat

import pytest

from api.rulesets import svg
from api.rulesets.chart import Heading, cell_label, draw, row_words
from domain.odds.chart import Action, Chart, GivenUp, Row, Section

PLAIN: tuple[Action, ...] = ("fold", "raise")
ALL: tuple[Action, ...] = ("fold", "raise", "exchange")
RANKS = ("A", "K", "Q")
HEADING = Heading(
    "A house", "house version 1, at an ante of $1.00", {"raise": "Call", "fold": "Fold"}, ["A note."]
)
PAIRS = Section(
    "pairs", "one", RANKS, (Row("9-9", ((0, 4), (0, 4), (0, 4))), Row("8-8", ((3, 0), (1, 2), (0, 0))))
)
CHART = Chart(PLAIN, 1, (PAIRS, Section("lower", "one", RANKS, (Row("7 high", ((5, 0),) * 3),))))
BUYING = Chart(
    ALL,
    1,
    (
        Section("made", "one", RANKS, (Row("flush", ((0, 9, 0),) * 3),)),
        Section(
            "drawing",
            "one",
            RANKS,
            (
                Row(
                    "lower, four to a flush",
                    ((1, 2, 7),) * 3,
                    (
                        GivenUp("flush_draw", "lowest", 10),
                        GivenUp("flush_draw", "another", 8),
                        GivenUp("high_cards", "lowest", 2),
                        GivenUp("pair", "paired", 1),
                    ),
                ),
            ),
        ),
    ),
)
TWO = Chart(
    PLAIN,
    2,
    (
        Section("pairs", "unpaired", ("A+K 0", "low 2"), (Row("9-9", ((0, 4), (2, 2))),)),
        Section("pairs", "pair", RANKS, (Row("9-9", ((4, 0),) * 3),)),
        Section("A-K-Q", "ranks", RANKS, (Row("J", ((0, 0), (1, 0), (0, 1))),)),
    ),
)


class Parsed:
    """A parsed drawing: every tag with its attributes, and all text. Raises where it is no XML."""

    def __init__(self, drawn: bytes) -> None:
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self._inside: list[str] = []
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda _: self._inside.pop()
        parser.CharacterDataHandler = self._data
        parser.buffer_text = True
        parser.Parse(drawn, True)  # noqa: FBT003 - the parser's own way to say that this is all

    def _start(self, name: str, attributes: Any) -> None:
        self.tags.append((name, dict(attributes)))
        self._inside.append(name)

    def _data(self, data: str) -> None:
        if self._inside[-1] != "style":
            self.text.append(data)


@pytest.mark.parametrize("chart", [CHART, BUYING, TWO])
def test_the_same_chart_is_the_same_file(chart: Chart) -> None:
    """Two drawings of equal charts have the same bytes."""
    assert draw(chart, HEADING) == draw(Chart.from_document(chart.document()), replace(HEADING))


@pytest.mark.parametrize("chart", [CHART, BUYING, TWO])
def test_a_drawing_is_named_described_and_inert(chart: Chart) -> None:
    """It is XML with a title and a description, and has no script, no handler and no address in it."""
    drawn = draw(chart, HEADING)
    parsed = Parsed(drawn)
    name, attributes = parsed.tags[0]
    assert name == "svg"
    ids = {a["id"]: tag for tag, a in parsed.tags if "id" in a}
    assert ids[attributes["aria-labelledby"]] == "title"
    assert ids[attributes["aria-describedby"]] == "desc"
    assert {tag for tag, _ in parsed.tags} <= {"svg", "title", "desc", "style", "rect", "g", "text"}
    assert not any(key.startswith("on") or "href" in key for _, a in parsed.tags for key in a)
    assert drawn.count(b"http") == 1  # the namespace
    assert b"url(" not in drawn
    assert b"@import" not in drawn


def test_everything_is_escaped() -> None:
    """A title with marks of XML, control characters or half a surrogate is shown, and is no element."""
    evil = '</title><script>alert("1")</script> & ]]> \' \x00\x1b \ud800 \ufffe'
    names = {"raise": "<b onload='x'>Call</b>", "fold": "Fold"}
    bad = Chart(PLAIN, 1, (Section("<i>", "one", ('"', "K", "Q"), (Row("<u>&", ((1, 1),) * 3),)),))
    drawn = draw(bad, Heading(evil, evil, names, [evil]))
    parsed = Parsed(drawn)
    assert b"<script" not in drawn
    assert "script" not in {tag for tag, _ in parsed.tags}
    text = "".join(parsed.text)
    assert '</title><script>alert("1")</script> & ]]> \' \ufffd\ufffd \ufffd \ufffd' in text
    assert "<u>&" in text
    assert "<b onload='x'>Call</b>" in text


def test_the_policy_allows_its_own_style_alone() -> None:
    """The Content-Security-Policy has the digest of the style sheet that is in the file."""
    (style,) = re.findall(rb"<style>(.*?)</style>", draw(CHART, HEADING), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in svg.POLICY
    assert "default-src 'none'" in svg.POLICY
    assert "script" not in svg.POLICY


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ((0, 7, 0), "R"),
        ((3, 0, 0), "F"),
        ((0, 0, 2), "X"),
        ((0, 0, 0), "-"),
        ((1, 3, 0), "R75"),
        ((1, 1, 0), "F50"),
        ((1, 100_000, 0), "R99"),
        ((2, 3, 5), "X50"),
    ],
)
def test_a_cell_says_what_is_best_and_how_often(cell: tuple[int, ...], label: str) -> None:
    """Letters name the decision; a share of some but not all is never none or all."""
    assert cell_label(cell, ALL) == label


def test_each_row_is_told_in_a_sentence() -> None:
    """A row's title has in words what its cells say in letters, with the cards that go in an exchange."""
    first, second = PAIRS.rows
    assert row_words(CHART, PAIRS, first) == "9-9: raise against everything"
    told = "8-8: fold against A; raise (67 %) or fold (33 %) against K; cannot be against Q"
    assert row_words(CHART, PAIRS, second) == told
    drawing = BUYING.sections[1]
    assert row_words(BUYING, drawing, drawing.rows[0]) == (
        "lower, four to a flush: exchange a card (70 %) or raise (20 %) or fold (10 %) against everything. "
        "In an exchange goes the card outside the flush (86 %), the lowest card in no pair (10 %), a card of "
        "the pair (5 %)"
    )
    assert told in Parsed(draw(CHART, HEADING)).text


def test_the_legend_has_the_houses_own_words() -> None:
    """Letters are explained, with what the house calls its bets; notes stand below."""
    text = Parsed(draw(CHART, HEADING)).text
    assert {"raise (Call)", "fold", "Strategy chart: A house", "A note.", HEADING.subtitle} <= set(text)
    assert "exchange a card" not in text
    assert "exchange a card" in Parsed(draw(BUYING, HEADING)).text


def test_a_long_section_goes_on_in_the_next_column_under_its_own_heads() -> None:
    """What does not fit below is continued beside, and its title and columns are said again."""
    rows = tuple(Row(f"row {number}", ((1, 0),) * 3) for number in range(60))
    drawn = Parsed(draw(Chart(PLAIN, 1, (Section("lower", "one", RANKS, rows),)), HEADING))
    assert drawn.text.count("No pair, lower than ace-king") == 3
    assert [text for text in drawn.text if re.fullmatch(r"Row \d+", text)] == [f"Row {n}" for n in range(60)]
    assert {a["x"] for tag, a in drawn.tags if a.get("class") == "label"} > {"24"}


def test_the_colours_stand_out() -> None:
    """Letters have a contrast of at least 4.5 to 1 on the colours of their cells, by day and by night."""
    for sheet in svg.STYLE.split("@media"):
        colours = dict(re.findall(r"\.([a-z-]+)\{fill:(#[0-9a-f]{6})", sheet))
        for kind in ("raise", "fold", "exchange"):
            for ground in (kind, f"{kind}-part"):
                assert contrast(colours[f"t-{kind}"], colours[ground]) >= 4.5, (kind, ground)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
