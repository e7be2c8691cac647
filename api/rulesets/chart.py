"""A strategy chart as one page: an SVG that says in letters what its colours say, and each row in a sentence.

Sections flow through columns as text does in a newspaper. Nothing in the drawing runs or is fetched.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from api.rulesets import svg
from domain.odds.chart import Action, Against, Chart, GivenUp, Row, Section
from domain.rulesets.schema import RuleSet

NOTES: Final = ("own_cards", "ties", "other_hands_seen", "cap_open", "cap_cuts", "cap_aggregate")
"""Those of the figures' notes that are about decisions."""
LETTERS: Final[Mapping[Action, str]] = {"fold": "F", "raise": "R", "exchange": "X"}
_VERBS: Final[Mapping[Action, str]] = {"fold": "fold", "raise": "raise", "exchange": "exchange a card"}
TITLES: Final = {
    "made": "Two pair or better",
    "pairs": "A pair",
    "ace_king": "Ace and king, no pair",
    "lower": "No pair, lower than ace-king",
    "high_cards": "No pair",
    "drawing_pairs": "A pair and four cards to something better",
    "drawing": "No pair, four cards to something better",
}
_IDLE: Final = "{}, nothing better to draw to"
_HALVED: Final = ("pairs", "high_cards")
_WITHOUT_DRAWS: Final = ("made", "pairs")
_AGAINST: Final[Mapping[Against, str]] = {
    "one": "{}",
    "unpaired": "{}, against no pair",
    "pair": "{}, against a pair",
    "ranks": "{}, by both up-cards",
}
_COLUMNS: Final = {
    1: ("Columns: the dealer's up-card.",),
    2: (
        "Against no pair: ace and king are up (A+K), one of them (A/K), neither (low); how many it has.",
        "Against a pair: its rank. By both up-cards: rows are the higher one; the hand has none but A and K.",
    ),
}
_KEPT: Final = {
    "straight_flush_draw": "the card outside the straight flush",
    "flush_draw": "the card outside the flush",
    "open_straight_draw": "the card outside the straight",
    "inside_straight_draw": "the card outside the straight",
    "two_pair": "the card outside the pairs",
}
_GIVEN: Final = {
    "lowest": "the lowest card in no pair",
    "another": "another card in no pair",
    "paired": "a card of the pair",
}
_WIDTH, _MARGIN, _GAP = 1160, 24, 24
_ROW, _TITLE_ROW = 14, 24
_CELL, _CHARACTER = 23, 6
_LABEL, _SPACE = 24, 10
_NOTE_ROW, _NOTE_CHARACTERS, _GIVEN_CHARACTERS = 16, 190, 60
_TOP, _COLUMNS_TOP = 104, 102
_COLUMNS_OF_ONE: Final = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """What is written around a chart: the house's title, what it is computed for, its own words, notes."""

    title: str
    subtitle: str
    names: Mapping[str, str]
    notes: Sequence[str]


def heading(ruleset: RuleSet, version: str, words: str, figures: Mapping[str, Any]) -> Heading:
    """Return what is written around the chart of a rule set.

    `version` names which; `words` say what it is computed for, and `figures` is the document of odds for
    the same, whose notes about decisions belong beside a chart too.
    """
    return Heading(
        title=ruleset.title,
        subtitle=f"{ruleset.id}{version}, {words}",
        names={what: text for what, text in ruleset.names.items()},  # noqa: C416 - plain strings as keys
        notes=[note["text"] for note in figures["notes"] if note["code"] in NOTES],
    )


class _Line(NamedTuple):
    """A line of a column: a section's title and column heads, or a row."""

    section: Section
    row: Row | None
    height: int


class _Column(NamedTuple):
    """Lines below each other: how wide their labels are, and their cells."""

    lines: list[_Line]
    label: int
    cell: int

    @property
    def width(self) -> int:
        """From its labels to the end of its longest row."""
        given = max(len(_row_end(line)) for line in self.lines)
        return self.cells + (_SPACE + _CHARACTER * given if given else 0)

    @property
    def cells(self) -> int:
        """From its labels to its last cell."""
        return self.label + self.cell * max(len(line.section.columns) for line in self.lines)

    @property
    def height(self) -> int:
        """All lines."""
        return sum(line.height for line in self.lines)


def draw(chart: Chart, heading: Heading) -> bytes:
    """Return the drawing of a chart as the bytes of an SVG file."""
    columns = [_column(lines) for lines in _flowed(chart)]
    body: list[str] = []
    left, first = _MARGIN, _TOP + _NOTE_ROW * len(_COLUMNS[chart.up_cards])
    for column in columns:
        top = first
        for line in column.lines:
            body.append(_drawn(chart, line, column, left, top))
            top += line.height
        left += column.width + _GAP
    bottom = first + max(column.height for column in columns) + _TITLE_ROW
    notes = [part for note in heading.notes for part in textwrap.wrap(note, _NOTE_CHARACTERS)]
    for note in notes:
        body.append(svg.text(note, _MARGIN, bottom, "note soft"))
        bottom += _NOTE_ROW
    return svg.drawing(
        f"Strategy chart: {heading.title}",
        _description(chart, heading),
        max(_WIDTH, left - _GAP + _MARGIN),
        bottom + _MARGIN // 2,
        [*_head(chart, heading), *body],
    )


def cell_label(cell: Sequence[int], actions: Sequence[Action]) -> str:
    """Return what a cell says: the letter of what is best, and its share in per cent where it is not all.

    A share of some but not all is never rounded to none or all. A cell without states is a dash.
    """
    total = sum(cell)
    if not total:
        return "-"
    most = max(cell)
    letter = LETTERS[actions[cell.index(most)]]
    return letter if most == total else f"{letter}{_percent(most, total)}"


def row_words(chart: Chart, section: Section, row: Row) -> str:
    """Return a row in a sentence, for those who do not see it and for whoever points at it."""
    by_words: dict[str, list[str]] = {}
    for name, cell in zip(section.columns, row.cells, strict=True):
        by_words.setdefault(_cell_words(cell, chart.actions), []).append(name)
    parts = [
        f"{words} against {'everything' if len(names) == len(section.columns) else ', '.join(names)}"
        for words, names in by_words.items()
    ]
    given = f". In an exchange goes {_given_words(row.gives_up)}" if row.gives_up else ""
    return f"{row.name}: {'; '.join(parts)}{given}"


def _percent(part: int, whole: int) -> int:
    return min(max((200 * part + whole) // (2 * whole), 1), 99)


def _cell_words(cell: Sequence[int], actions: Sequence[Action]) -> str:
    total = sum(cell)
    found = [(count, action) for count, action in zip(cell, actions, strict=True) if count]
    if not found:
        return "cannot be"
    if len(found) == 1:
        return _VERBS[found[0][1]]
    return " or ".join(
        f"{_VERBS[action]} ({_percent(count, total)} %)" for count, action in sorted(found, reverse=True)
    )


def _given_words(given_up: Sequence[GivenUp]) -> str:
    """Which cards go in an exchange, with their shares."""
    total = sum(each.states for each in given_up)
    counts: dict[str, int] = {}
    for each in given_up:
        words = _KEPT.get(each.keeps, _GIVEN[each.gives])
        counts[words] = counts.get(words, 0) + each.states
    if len(counts) == 1:
        return next(iter(counts))
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{words} ({_percent(count, total)} %)" for words, count in ordered)


def _flowed(chart: Chart) -> list[list[_Line]]:
    """Put sections into columns: by what they are against, by what they draw to, or as they come."""
    heads = {section: _Line(section, None, _TITLE_ROW + _ROW) for section in chart.sections}
    lines = [
        line
        for section in chart.sections
        for line in (heads[section], *(_Line(section, row, _ROW) for row in section.rows))
    ]
    if chart.up_cards > 1:
        return [list(each) for _, each in groupby(lines, lambda line: line.section.against)]
    if "exchange" in chart.actions:
        return [list(each) for _, each in groupby(lines, lambda line: line.section.key in _WITHOUT_DRAWS)]
    whole = sum(line.height for line in lines) + (_COLUMNS_OF_ONE - 1) * (_TITLE_ROW + _ROW)
    flowed: list[list[_Line]] = [[]]
    for line in lines:
        needed = line.height + (_ROW if line.row is None else 0)  # no heads without a row
        full = sum(each.height for each in flowed[-1]) + needed > -(-whole // _COLUMNS_OF_ONE)
        if full and len(flowed[-1]) > 1 and len(flowed) < _COLUMNS_OF_ONE:
            # A section that goes on says again what it is.
            flowed.append([] if line.row is None else [heads[line.section]])
        flowed[-1].append(line)
    return flowed


def _column(lines: list[_Line]) -> _Column:
    names = [len(line.row.name) for line in lines if line.row is not None]
    heads = [len(name) for line in lines for name in line.section.columns]
    label = max(_LABEL, _CHARACTER * max(names) + _SPACE)
    return _Column(lines, label, max(_CELL, (_CHARACTER + 1) * max(heads) + _SPACE // 2))


def _drawn(chart: Chart, line: _Line, column: _Column, left: int, top: int) -> str:
    """Return a line of a column as XML."""
    section, row = line.section, line.row
    cells = left + column.label
    centres = [cells + column.cell * place + column.cell // 2 for place in range(len(section.columns))]
    if row is None:
        heads = [
            svg.text(name, centre, top + _TITLE_ROW + _SPACE, "head")
            for name, centre in zip(section.columns, centres, strict=True)
        ]
        return svg.tag("g", svg.text(_title(chart, section), left, top + _TITLE_ROW - 6, "h2"), *heads)
    y = top + _SPACE
    parts = [
        svg.title(row_words(chart, section, row)),
        svg.text(row.name[:1].upper() + row.name[1:], left, y, "label"),
        *_boxes(chart, row, column.cell, cells, top),
        *(
            svg.text(cell_label(cell, chart.actions), centre, y, f"cell t-{_kind(cell, chart.actions)}")
            for cell, centre in zip(row.cells, centres, strict=True)
        ),
    ]
    if words := _row_end(line):
        parts.append(svg.text(words, left + column.cells + _SPACE, y, "label soft"))
    return svg.tag("g", *parts)


def _row_end(line: _Line) -> str:
    """What is said behind a row's cells: which card goes in an exchange."""
    if line.row is None or not line.row.gives_up:
        return ""
    return textwrap.shorten(f"X: {_given_words(line.row.gives_up)}", _GIVEN_CHARACTERS, placeholder=" …")


def _title(chart: Chart, section: Section) -> str:
    words = TITLES.get(section.key, section.key)
    if "exchange" in chart.actions and section.key in _HALVED:
        words = _IDLE.format(words)
    return _AGAINST[section.against].format(words)


def _boxes(chart: Chart, row: Row, cell: int, left: int, top: int) -> Iterator[str]:
    """Yield the row's coloured boxes, one for neighbours that look the same."""
    place = 0
    for look, cells in groupby(row.cells, lambda each: _fill(each, chart.actions)):
        count = len(list(cells))
        yield svg.tag(
            "rect", x=left + cell * place, y=top, width=cell * count - 1, height=_ROW - 1, class_=look
        )
        place += count


def _kind(cell: Sequence[int], actions: Sequence[Action]) -> str:
    return actions[cell.index(max(cell))] if any(cell) else "none"


def _fill(cell: Sequence[int], actions: Sequence[Action]) -> str:
    kind = _kind(cell, actions)
    return kind if max(cell) == sum(cell) else f"{kind}-part"


def _head(chart: Chart, heading: Heading) -> list[str]:
    """Title and legend."""
    parts = [
        svg.text(f"Strategy chart: {heading.title}", _MARGIN, 34, "h1"),
        svg.text(heading.subtitle, _MARGIN, 56, "note soft"),
    ]
    parts += [
        svg.text(line, _MARGIN, _COLUMNS_TOP + _NOTE_ROW * number, "note soft")
        for number, line in enumerate(_COLUMNS[chart.up_cards])
    ]
    x = _MARGIN
    for action in reversed(chart.actions):
        own = heading.names.get(action, "")
        words = _VERBS[action] + (f" ({own})" if own and own.lower() != action else "")
        parts += [
            svg.tag("rect", x=x, y=68, width=_CELL, height=_ROW, class_=action),
            svg.text(LETTERS[action], x + _CELL // 2, 79, f"cell t-{action}"),
            svg.text(words, x + _CELL + 6, 79, "note"),
        ]
        x += _CELL + 24 + _CHARACTER * len(words)
    parts += [
        svg.tag("rect", x=x, y=68, width=_CELL, height=_ROW, class_="raise-part"),
        svg.text("R85", x + _CELL // 2, 79, "cell t-raise"),
        svg.text(
            "depends on suits or cards not named: best in 85 % of these hands", x + _CELL + 6, 79, "note"
        ),
    ]
    return parts


def _description(chart: Chart, heading: Heading) -> str:
    states = chart.states()
    shares = ", ".join(
        f"{_VERBS[action]} in {_percent(count, sum(states))} %"
        for count, action in zip(states, chart.actions, strict=True)
    )
    return (
        "The best decision for each kind of hand and what the dealer shows. Over all hands and up-cards: "
        f"{shares}. {heading.subtitle}"
    )
