"""What the quick look calls faultless passes every check; whatever else there is gets all of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.replay import faultless, ordinary, read_fast, replay, retell
from domain.replay.house import canonical
from domain.replay.ranking import CATEGORIES, qualifies, rank
from domain.replay.retelling import Row
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import Events, dropping, envelope, parameters, repeating, setting
from tests.unit.domain.replay.honest_rounds import HONEST
from tests.unit.domain.replay.rules_and_decks import digest, plain
from tests.unit.domain.replay.stream_builder import Stream, find


def all_folded() -> Stream:
    """A house that sells no card and reveals nothing when all fold: two hands of one player, in turn."""
    rules = plain(
        seating={"seats": 6, "hands_per_player": 2},
        play={"reveal_if_all_fold": False, "decision_order": "seat"},
    )
    del rules["exchange"]
    stream = Stream(rules, source="rng", bonus_stake=500)
    stream.ante(1, 1000, player="p").ante(2, 500, player="p").command().deal_deck().fold(1).fold(2)
    stream.settle(1, "folded", "pair", shown=False, ante=(0, 0))
    return stream.settle(2, "folded", "high_card", shown=False, ante=(0, 0)).close()


def with_up_card() -> Stream:
    """A bet on the best five with the dealer's first card, which loses."""
    rules = plain(
        side_bets=[{"kind": "five_plus_one", "stake": "free", "basis": "to_1", "pays": {"flush": 5}}]
    )
    stream = Stream(rules, source="rng", bonus_stake=500)
    stream.ante(1, 1000, five_plus_one=200).command().deal_deck().fold(1)
    stream.reveal("high_card", qualified=False)
    return stream.settle(1, "folded", "pair", shown=False, ante=(0, 0), five_plus_one=(0, 0)).close()


ORDINARY = (
    honest.rng_with_exchanges,
    honest.rng_block_in_one_command,
    honest.rng_shared,
    all_folded,
    with_up_card,
)


def rows_of(events: Events) -> list[Row]:
    """The events as they are kept, in the places that they say."""
    return [
        (event["position"], event["stream"], event["version"], canonical(event) or b"") for event in events
    ]


def looked_at(stream: Stream, events: Events) -> bool:
    """Whether a round is faultless at a quick look. Its failures are those of a whole report in any case."""
    ruleset = canonical(stream.document)
    assert ruleset is not None
    whole = replay(events, stream.document)
    failures = replay(events, ruleset, only_failures=True)
    assert failures.verdict == whole.verdict
    assert list(failures.checks) == [check for check in whole.checks if check.result == "fail"]
    named = events[0]["data"].get("ruleset", {}).get("sha256", "")
    told = retell(rows_of(events), {named: ruleset})
    assert whole.verdict == "pass" or told is None
    return told is not None


@pytest.mark.parametrize("play", HONEST, ids=lambda play: play.__name__)
def test_an_honest_round_has_no_failures(play: Callable[[], Stream]) -> None:
    """Asked for failures alone, a report of an honest round is empty, whichever way it was looked at."""
    stream = play()

    looked_at(stream, stream.events)

    assert replay(stream.events, stream.document, stream.jackpot, only_failures=True).checks == ()


@pytest.mark.parametrize("play", ORDINARY, ids=lambda play: play.__name__)
def test_an_ordinary_round_takes_a_quick_look_alone(play: Callable[[], Stream]) -> None:
    """From a committed deck, with bought cards, side bets, client seeds, shared hands or one command."""
    stream = play()

    assert looked_at(stream, stream.events)


def table(**fields: Any) -> Callable[[Events], None]:
    """Set fields of the round's first event."""
    return setting("RoundOpened", **fields)


def pinned(part: str, **fields: Any) -> Callable[[Events], None]:
    """Set fields of what the round's first event pins."""
    return lambda events: events[0]["data"][part].update(fields)


def moved_up(kind: str, seat: int, places: int) -> Callable[[Events], None]:
    """Let one event come earlier."""

    def alter(events: Events) -> None:
        event = find(events, kind, seat)
        at = events.index(event)
        events.insert(at - places, events.pop(at))
        for number, each in enumerate(events, 1):
            each["version"], each["position"] = number, 1000 + 2 * number
            each["recorded_at"] = f"2026-11-29T21:24:02.{number:06}Z"

    return alter


THREE: dict[str, Callable[[Events], Any]] = {
    "no_opening": dropping("RoundOpened"),
    "no_end": dropping("RoundClosed"),
    "another_source": table(deal_source="table"),
    "another_algorithm": table(deck_algorithm="stud-deck-0"),
    "another_ruleset_hash": pinned("ruleset", sha256="0" * 64),
    "another_ruleset": pinned("ruleset", id="other"),
    "another_currency": table(currency="GBP"),
    "other_jackpot_parameters": pinned("jackpot", reset=1),
    "antes_the_wrong_way_round": parameters(min_ante=2_000_000),
    "no_bonus_stake": lambda events: events[0]["data"]["parameters"].pop("bonus_stake"),
    "a_version_twice": envelope(3, version=3),
    "a_position_twice": envelope(3, position=103),
    "time_stands_still": envelope(3, recorded_at="2026-11-29T21:24:01.000021Z"),
    "another_stream": envelope(3, stream="round-r-9"),
    "a_version_twice_later": envelope(-2, version=3),
    "a_position_twice_later": envelope(-1, position=103),
    "time_stands_still_later": envelope(-1, recorded_at="2026-11-29T21:24:01.000021Z"),
    "no_time": envelope(-1, recorded_at="2026-11-29T21:24:01,999999Z"),
    "no_salt": envelope(-1, salt="!" * 22),
    "nobody_asked": envelope(-1, meta={"actor": 1, "command": "c", "schema": 1}),
    "no_day": table(gaming_day="2026-11-9"),
    "ante_too_high": parameters(max_ante=500),
    "ante_of_no_seat": setting("AntePlaced", 1, seat=6),
    "side_bet_elsewhere": setting("SideBetPlaced", 2, seat=1),
    "side_bet_of_another": setting("SideBetPlaced", 2, player="p-1"),
    "side_bet_too_high": setting("SideBetPlaced", 2, nth=1, amount=501),
    "side_bet_not_offered": setting("SideBetPlaced", 2, nth=1, bet="five_plus_one"),
    "side_bet_twice": repeating("SideBetPlaced", 2),
    "contribution_wrong": setting("SideBetPlaced", 2, contribution="71"),
    "contribution_missing": setting("SideBetPlaced", 2, contribution=None),
    "contribution_overflows": setting("SideBetPlaced", 2, overflow="1"),
    "balance_wrong": setting("SideBetPlaced", 2, balance_after=1),
    "ante_balance_wrong": setting("Raised", 2, balance_after=1),
    "seats_miscounted": setting("BettingClosed", seats=2),
    "no_seed": setting("RoundClosed", deck_seed=None),
    "another_seed": setting("RoundClosed", deck_seed="00" * 48),
    "another_commitment": table(deck_commitment="0" * 64),
    "client_seed_gone": setting("AntePlaced", 2, client_seed=None),
    "another_card": setting("Dealt", 2, cards=["2c", "3c", "4c", "5c", "6c"]),
    "dealt_elsewhere": setting("Dealt", 2, indices=[0, 1, 2, 3, 4]),
    "dealt_to_another": setting("Dealt", 2, seat=3),
    "dealt_to_all": setting("Dealt", 2, to="shared"),
    "another_up_card": setting("Dealt", None, nth=3, up_indices=[0]),
    "up_card_to_a_seat": setting("Dealt", None, nth=3, to="seat"),
    "up_card_of_a_seat": setting("Dealt", None, nth=3, seat=3),
    "raised_too_much": setting("Raised", 2, amount=2001),
    "raised_by_another": setting("Raised", 2, player="p-4"),
    "raised_twice": repeating("Raised", 2),
    "decided_by_nobody": setting("Folded", 1, decided_by="timeout"),
    "decided_by_a_stranger": setting("Folded", 1, seat=3),
    "fee_wrong": setting("CardExchanged", 4, fee=999),
    "bought_by_another": setting("CardExchanged", 4, player="p-1"),
    "bought_twice": repeating("CardExchanged", 4),
    "discard_not_held": setting("CardExchanged", 4, discard="2d"),
    "drawn_from_elsewhere": setting("CardExchanged", 4, drawn_index=22),
    "another_drawn": setting("CardExchanged", 4, drawn="2h"),
    "nothing_forfeited": setting("CardExchanged", 4, forfeited=[]),
    "not_revealed": dropping("DealerQualified"),
    "dealer_called_wrong": setting("DealerQualified", category="flush"),
    "dealer_does_not_play": setting("DealerQualified", qualified=False),
    "settled_wrong": setting("Settled", 2, result="push"),
    "settled_of_another": setting("Settled", 2, player="p-1"),
    "called_wrong": setting("Settled", 2, category="flush"),
    "not_shown": setting("Settled", 2, shown=False),
    "paid_wrong": setting("Settled", 2, balance_after=5),
    "settled_early": moved_up("Settled", 4, 1),
    "settled_twice": repeating("Settled", 4),
    "nothing_settled": dropping("Settled", 2),
}


@pytest.mark.parametrize("alter", THREE.values(), ids=THREE)
def test_what_is_altered_is_looked_at_closely(alter: Callable[[Events], Any]) -> None:
    """An alteration of any step ends the quick look; the report is the whole one's."""
    stream = honest.rng_with_exchanges()
    events = stream.copy()
    alter(events)

    assert not looked_at(stream, events)


def test_a_bet_that_was_not_placed_is_looked_at_closely() -> None:
    """Bets are compared as they have to be, one by one."""
    stream = honest.rng_block_in_one_command()
    events = stream.copy()
    find(events, "Settled")["data"]["bets"][0]["won"] = 1

    assert not looked_at(stream, events)


def test_a_client_seed_in_the_opening_command_is_looked_at_closely() -> None:
    """Who staked together with the commitment cannot have chosen a seed after it."""
    stream = honest.rng_block_in_one_command()
    events = stream.copy()
    find(events, "AntePlaced")["data"]["client_seed"] = "x"

    assert not looked_at(stream, events)


def test_decisions_out_of_turn_are_looked_at_closely() -> None:
    """Where seats decide in turn, the second does not decide first."""
    stream = all_folded()
    events = stream.copy()
    for number, other in ((1, 2), (2, 1)):
        events[[e["type"] for e in events].index("Folded") + number - 1]["data"]["seat"] = other

    assert not looked_at(stream, events)


def all_fold(rules: dict[str, Any], players: dict[int, str], **side_bets: int) -> Stream:
    """A round from the deck in which every seat folds and nobody sees the dealer's hand."""
    stream = Stream(rules, source="rng", jackpot={"reset": 1_000_000}, bonus_stake=500)
    for seat, player in players.items():
        stream.ante(seat, 1000, player=player, **side_bets)
    stream.command().deal_deck()
    for seat in players:
        stream.fold(seat)
    for seat in players:
        category = rank(find(stream.events, "Dealt", seat)["data"]["cards"]).category
        lost = dict.fromkeys(side_bets, (0, 0))
        stream.settle(seat, "folded", category, shown=False, ante=(0, 0), **lost)
    return stream.close()


@pytest.mark.parametrize("hands", [1, 2])
def test_more_hands_than_allowed_are_looked_at_closely(hands: int) -> None:
    """One player holds two hands, which not every house allows."""
    seating = {"seats": 6, "hands_per_player": hands}
    stream = all_fold(plain(seating=seating, play={"reveal_if_all_fold": False}), {1: "p", 2: "p"})

    assert looked_at(stream, stream.events) == (hands == 2)


def test_a_fold_where_somebody_buys_at_a_house_that_sells_nothing() -> None:
    """A bought card is looked at closely where the house sells none."""
    stream = honest.rng_with_exchanges()
    del stream.document["exchange"]
    events = stream.copy()
    events[0]["data"]["ruleset"]["sha256"] = digest(stream.document)

    assert not looked_at(stream, events)


def test_an_expired_round_is_looked_at_closely() -> None:
    """A round without any stake is no ordinary one, although it passes."""
    stream = honest.void_expired()

    assert not looked_at(stream, stream.events)


@pytest.mark.parametrize("awards", [CATEGORIES, ("royal_flush",)])
def test_an_award_is_looked_at_closely(awards: tuple[str, ...]) -> None:
    """Where a final hand earns an award of the jackpot, the awards are checked, and not only the bets."""
    paying = {category: {"fixed": "1"} for category in awards}
    jackpot = {"kind": "jackpot", "stake": "1", "basis": "for_1", "awards": paying}
    stream = all_fold(plain(side_bets=[jackpot], play={"reveal_if_all_fold": False}), {1: "p"}, jackpot=100)

    assert looked_at(stream, stream.events) == (len(awards) == 1)


def test_what_bets_come_to_is_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """More different bets at a table than are remembered are told like any others."""
    monkeypatch.setattr(ordinary, "_REMEMBERED", 1)
    faultless._table.cache_clear()
    stream = honest.rng_with_exchanges()

    assert looked_at(stream, stream.events)
    assert looked_at(stream, stream.events)


def raised(odds: int, round_id: str) -> Stream:
    """A round from the deck in which one seat raises, at a house that pays these odds."""
    rules = plain(raise_pays=dict.fromkeys(CATEGORIES, odds))
    stream = Stream(rules, source="rng", round_id=round_id, bonus_stake=500).ante(1, 10**6).command()
    stream.deal_deck().raise_(1)
    dealer = rank([stream.deck[place] for place in stream.dealer_row])
    hand = rank(find(stream.events, "Dealt", 1)["data"]["cards"])
    qualified = qualifies(dealer, "ace_king")
    stream.reveal(dealer.category, qualified=qualified)
    result = ("win" if hand.value < dealer.value else "lose") if qualified else "dealer_not_qualified"
    legs = {
        "win": {"ante": (10**6, 10**6, 1), "raise_": (2 * 10**6, 2 * 10**6 * odds, odds)},
        "lose": {"ante": (0, 0), "raise_": (0, 0)},
        "dealer_not_qualified": {"ante": (10**6, 10**6, 1), "raise_": (2 * 10**6, 0)},
    }[result]
    return stream.settle(1, result, hand.category, shown=True, **legs).close()


@pytest.mark.parametrize("odds", [3, 10**12])
def test_a_win_beyond_all_bounds_is_looked_at_closely(odds: int) -> None:
    """What no event could say is no ordinary win, and does not pass for one."""
    rounds = [raised(odds, f"r-{number}") for number in range(12)]
    won = [find(stream.events, "Settled", 1)["data"]["result"] == "win" for stream in rounds]

    assert any(won)
    for stream, win in zip(rounds, won, strict=True):
        assert looked_at(stream, stream.events) == (odds == 3 or not win)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: (row[0] + 1, *row[1:]),
        lambda row: (row[0], row[1], row[2] + 1, row[3]),
        lambda row: (*row[:3], row[3] + b" "),
        lambda row: (*row[:3], row[3][:-30]),
        lambda row: (*row[:3], b""),
        lambda row: (*row[:3], b"\xff" + row[3][1:]),
    ],
)
@pytest.mark.parametrize("play", ORDINARY, ids=lambda play: play.__name__)
def test_each_event_has_to_be_in_its_place(play: Callable[[], Stream], change: Callable[[Row], Row]) -> None:
    """An event that is kept elsewhere than it says, or is no canonical text, is looked at closely."""
    stream = play()
    rows, rulesets = rows_of(stream.events), {stream.sha256: canonical(stream.document) or b""}

    assert retell(rows, rulesets) is not None
    for at in range(len(rows)):
        assert retell([*rows[:at], change(rows[at]), *rows[at + 1 :]], rulesets) is None
    assert retell(rows[:-1], rulesets) is None
    assert retell([*rows, (rows[-1][0] + 1, rows[-1][1], rows[-1][2] + 1, rows[-1][3])], rulesets) is None


STREAMS = [play() for play in ORDINARY]
CHOICES = st.integers(0, 10**6)
WORDS = [
    "player",
    "timeout",
    "win",
    "lose",
    "push",
    "folded",
    "pair",
    "high_card",
    "seat",
    "shared",
    "As",
    "x",
]


def values(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a value that is neither object nor array."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, inner in items:
        found += values(inner) if isinstance(inner, dict | list) else [(value, key)]
    return found


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_small_change_is_overlooked(data: st.DataObject) -> None:
    """Numbers, words and flags that are changed a little are never faultless where a whole report fails."""
    stream = copy.copy(STREAMS[data.draw(CHOICES) % len(STREAMS)])
    events = stream.copy()
    for _ in range(data.draw(st.integers(1, 2))):
        event = events[data.draw(CHOICES) % len(events)]
        places = values(event["data"]) or values(event)
        container, key = places[data.draw(CHOICES) % len(places)]
        value = container[key]
        if isinstance(value, bool):
            container[key] = not value
        elif isinstance(value, int):
            container[key] = value + data.draw(st.sampled_from([-100, -1, 1, 100]))
        else:
            same = [
                other
                for each in events
                for parent, name in values(each)
                if name == key
                for other in [parent[name]]
            ]
            container[key] = data.draw(st.sampled_from([*map(str, same), *WORDS]))

    looked_at(stream, events)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_byte_is_overlooked(data: st.DataObject) -> None:
    """Where bytes are exchanged and a round is faultless still, its events are read and pass all checks."""
    stream = STREAMS[data.draw(CHOICES) % len(STREAMS)]
    rows, ruleset = rows_of(stream.events), canonical(stream.document) or b""
    at = data.draw(CHOICES) % len(rows)
    stored = bytearray(rows[at][3])
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(CHOICES) % len(stored)
        stored[place] = data.draw(st.one_of(st.sampled_from(stored), st.integers(0, 255)))
    rows[at] = (*rows[at][:3], bytes(stored))

    told = retell(rows, {stream.sha256: ruleset})

    if told is not None:
        records = [read_fast(row[3]) for row in rows]
        assert [(each.position, each.stream, each.version) for each in records if each] == [
            row[:3] for row in rows
        ]
        assert replay([row[3] for row in rows], stream.document).verdict == "pass"
        assert told.times == [each.recorded_at for each in records if each]
