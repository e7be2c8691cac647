"""The audit of consecutive events: what an untouched ledger comes to, and where a touched one is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.replay import retell
from infrastructure.audit import partition
from infrastructure.audit.merging import Merger
from infrastructure.audit.partition import audit_partition
from infrastructure.audit.results import FINDINGS_MAX, Context, Opening, Outcome, StoredRow
from infrastructure.checking.fold import Fold
from infrastructure.evidence.merkle import TILE_WIDTH, complete_root, leaf_hash, root_of
from tests.unit.infrastructure.eventful_play import eventful

NOTHING = Context({})
ROWS: list[StoredRow] = [(row.position, row.stream, row.version, row.data) for row in eventful(9, 150).events]


def rulesets() -> Context:
    """The rule sets that are published in the ledger, and the sizes of the log whose roots are wanted."""
    parts = [audit_partition([row], NOTHING) for row in ROWS if row[1].startswith("ruleset-")]
    known = {each.sha256: each.content for part in parts for each in part.published}
    return Context(known, (1, 7, 256, 300, len(ROWS)))


KNOWN = rulesets()


def outcome(
    rows: Sequence[StoredRow],
    size: int = 10**6,
    context: Context = KNOWN,
    opening: Opening | None = None,
) -> Outcome:
    """What an audit in partitions of a size comes to, the parts sent from one process to another."""
    with Merger(context, opening) as merger:
        for at in range(0, len(rows), size):
            part = audit_partition(rows[at : at + size], context)
            merger.add(pickle.loads(pickle.dumps(part)))  # noqa: S301 - our own
        return merger.finish()


WHOLE = outcome(ROWS)


def test_an_untouched_ledger_has_no_exceptions() -> None:
    """Rounds, wallets, jackpots, voids, transfers and adjustments: everything follows from the events."""
    assert WHOLE.findings == []
    assert (WHOLE.first, WHOLE.last, WHOLE.events) == (1, len(ROWS), len(ROWS))
    assert sum(figures.rounds for figures in WHOLE.figures.values()) > 30
    assert sum(figures.jackpot_won for figures in WHOLE.figures.values()) > 0


def test_a_round_is_told_as_a_whole_as_it_is_event_by_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no round is told as a whole, all comes to the same; and many are."""
    told: list[bool] = []

    def none(rows: Sequence[StoredRow], rulesets: Mapping[str, bytes]) -> None:
        told.append(retell(rows, rulesets) is not None)

    monkeypatch.setattr(partition, "retell", none)

    assert outcome(ROWS) == WHOLE
    assert told.count(True) > 10


def test_the_accounts_are_those_of_another_fold() -> None:
    """Balances, pools, house and cashier are what the checker's fold, which shares none of this, comes to."""
    fold = Fold()
    fold.take((position, version, stream, data) for position, stream, version, data in ROWS)
    expected: dict[tuple[str, str], int] = dict(fold.books.accounts)
    for wallet in fold.books.wallets.values():
        for account, amount in (("wallet", wallet.balance), ("on_game", wallet.on_game)):
            key = f"{account}:{wallet.account_class}", wallet.currency
            expected[key] = expected.get(key, 0) + amount * 10_000
    found: dict[tuple[str, str], int] = {}
    for (name, currency), amount in WHOLE.accounts.items():
        if not name.startswith("jackpot"):
            key = ":".join(name.split(":")[:2]), currency
            found[key] = found.get(key, 0) + amount

    assert {k: v for k, v in found.items() if v} == {k: v for k, v in expected.items() if v}
    assert WHOLE.pots == {
        name: (pot.meter, pot.overflow, pot.diverted) for name, pot in fold.books.jackpots.items()
    }
    assert WHOLE.wallets == fold.books.wallets.count
    fold.books.close()


def test_the_log_is_that_of_all_events() -> None:
    """Roots of the whole and of the wanted sizes, and the hashes of whole tiles, wherever events are cut."""
    hashes = [leaf_hash(row[3]) for row in ROWS]
    expected = {size: root_of(hashes[:size]) for size in KNOWN.roots_at}
    tiles = [
        complete_root(b"".join(hashes[at : at + TILE_WIDTH]))
        for at in range(0, len(hashes) - TILE_WIDTH + 1, TILE_WIDTH)
    ]
    leaves = audit_partition(ROWS[100:], KNOWN).leaves

    assert WHOLE.roots == outcome(ROWS, 300).roots == outcome(ROWS, 7).roots == expected
    assert (leaves.first_tile, leaves.tiles) == (1, tiles[1:])
    assert len(tiles) > 1


@settings(max_examples=8, deadline=None)
@given(st.integers(1, len(ROWS)))
def test_it_does_not_matter_where_events_are_cut(size: int) -> None:
    """One partition, or very many: the outcome is the same, whether rule sets are known before or not."""
    assert outcome(ROWS, size) == WHOLE
    assert outcome(ROWS, size, KNOWN._replace(rulesets={})) == WHOLE


def test_no_events_are_nothing() -> None:
    """An empty partition is none."""
    with Merger(KNOWN) as merger:
        merger.add(audit_partition([], KNOWN))
        assert merger.finish().events == 0


# ── Tampering ───────────────────────────────────────────────────────────────────────────────────────────────
def nth(kind: str, number: int = 0, where: Callable[[dict[str, Any]], bool] = lambda _: True) -> int:
    """The index of an event of a type in `ROWS`."""
    mark = f'"type":"{kind}"'.encode()
    found = [n for n, row in enumerate(ROWS) if mark in row[3] and where(orjson.loads(row[3])["data"])]
    return found[number]


def edited(index: int, change: Callable[[dict[str, Any]], Any]) -> list[StoredRow]:
    """The ledger with one event changed."""
    position, stream, version, data = ROWS[index]
    event = orjson.loads(data)
    change(event)
    changed = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
    return [*ROWS[:index], (position, stream, version, changed), *ROWS[index + 1 :]]


def in_data(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    """Set fields of an event's data."""
    return lambda event: event["data"].update(fields)


def found(rows: Sequence[StoredRow]) -> set[tuple[int, str]]:
    """Positions and names of all exceptions, which are the same in one partition and in many."""
    whole, cut = outcome(rows), outcome(rows, 11)
    assert whole.found
    assert cut.found
    return {(finding.position, finding.what) for finding in whole.findings} & {
        (finding.position, finding.what) for finding in cut.findings
    }


ANTE = nth("AntePlaced", 3)
HIT = nth("JackpotHit", 1)
TAMPERED: dict[str, tuple[int, Callable[[dict[str, Any]], Any], str]] = {
    "a_balance": (ANTE, in_data(balance_after=123), "balance_after"),
    "an_ante_of_another_place": (ANTE, lambda event: event.update(position=7), "place"),
    "an_ante_of_another_stream": (ANTE, lambda event: event.update(stream="round-x"), "place"),
    "a_malformed_ante": (ANTE, in_data(amount="1"), "readable"),
    "a_card": (nth("DealerQualified", 2), in_data(category="flush"), "replay"),
    "a_deposit": (nth("Deposited"), in_data(amount=4_999_999), "balance_after"),
    "a_deposit_of_nothing": (nth("Deposited"), in_data(balance_after=-1), "balance_after"),
    "a_deposit_of_another": (nth("Deposited"), in_data(player="x"), "wallet"),
    "a_wallet_of_another": (nth("WalletOpened", 1), in_data(player="x"), "wallet"),
    "a_deposit_without_player": (nth("Deposited"), lambda event: event["data"].pop("player"), "readable"),
    "an_unknown_type": (nth("Deposited"), lambda event: event.update(type="Gifted"), "type"),
    "a_type_elsewhere": (nth("Deposited"), lambda event: event.update(type="TableClosed"), "type"),
    "a_time_without_end": (nth("Deposited"), lambda event: event.update(recorded_at="now"), "readable"),
    "a_time_before": (
        nth("Deposited"),
        lambda event: event.update(recorded_at="2000-01-01T00:00:00.000000Z"),
        "recorded_at",
    ),
    "no_actor": (nth("Deposited"), lambda event: event["meta"].pop("actor"), "envelope"),
    "a_meter_before": (HIT, in_data(meter_before="1"), "jackpot.meter"),
    "a_meter_after": (HIT, in_data(meter_after="1"), "jackpot.meter"),
    "a_link": (HIT, in_data(previous_position=1), "jackpot.previous_position"),
    "a_count": (HIT, in_data(order=77), "jackpot.order"),
    "an_adjustment": (nth("JackpotAdjusted"), in_data(before="1"), "jackpot"),
    "a_jackpot_opened_twice": (nth("JackpotOpened", 1), in_data(jackpot_id="pot"), "jackpot"),
    "a_ruleset": (nth("RoundOpened", 4), lambda e: e["data"]["ruleset"].update(version=9), "ruleset"),
    "a_ruleset_hash": (
        nth("RoundOpened", 4),
        lambda e: e["data"]["ruleset"].update(sha256="0" * 64),
        "ruleset",
    ),
}


@pytest.mark.parametrize(("index", "change", "what"), TAMPERED.values(), ids=TAMPERED)
def test_an_edited_event_is_found_where_it_is(
    index: int, change: Callable[[dict[str, Any]], Any], what: str
) -> None:
    """An edit is an exception at the event, at the first one of its round, or at what has to follow it."""
    rows = edited(index, change)
    stream = ROWS[index][1]
    near = {position for position, of, _, _ in ROWS if of == stream} | {index + 1, index + 2}

    places = found(rows)

    assert {position for position, name in places if name.startswith(what)} & near, places


def test_bytes_that_are_not_canonical_are_found() -> None:
    """The same values in other bytes are another leaf; a round's event and any other."""
    for index in (ANTE, nth("Deposited"), nth("TableOpened")):
        position, stream, version, data = ROWS[index]
        spaced = (position, stream, version, data.replace(b'"data":', b'"data": ', 1))
        rows = [*ROWS[:index], spaced, *ROWS[index + 1 :]]

        assert (position, "canonical") in found(rows)


@pytest.mark.parametrize("garbage", [b"", b"{", b"[]", b"null", b'{"type":"AntePlaced","version":1}'])
def test_what_is_no_event_is_found(garbage: bytes) -> None:
    """Bytes that are no event are an exception where they are, in a round and elsewhere."""
    for index in (ANTE, nth("Deposited")):
        position, stream, version, _ = ROWS[index]
        rows = [*ROWS[:index], (position, stream, version, garbage), *ROWS[index + 1 :]]

        assert (position, "readable") in found(rows)


@pytest.mark.parametrize("index", [0, 40, ANTE, nth("Deposited", 2), nth("RoundClosed", 1)])
def test_a_missing_event_is_found(index: int) -> None:
    """A position that is not there is named, also at the beginning."""
    assert (index + 1, "position") in found([*ROWS[:index], *ROWS[index + 1 :]])


def test_an_event_that_is_there_twice_is_found() -> None:
    """Positions do not repeat."""
    assert (ANTE + 2, "position") in found([*ROWS[: ANTE + 1], *ROWS[ANTE:]])


def test_swapped_events_are_found() -> None:
    """Two events in each other's place are out of order."""
    rows = [*ROWS[:ANTE], ROWS[ANTE + 1], ROWS[ANTE], *ROWS[ANTE + 2 :]]

    assert (ANTE + 1, "position") in found(rows)


def test_a_version_that_is_missing_is_found() -> None:
    """The versions of a wallet's stream have no gap."""
    index = nth("Deposited", 9)
    position, stream, version, data = ROWS[index]
    rows = [*ROWS[:index], (position, stream, version + 1, data), *ROWS[index + 1 :]]

    assert {(position, "version"), (position, "place")} <= found(rows)


def test_an_event_after_a_rounds_end_is_found() -> None:
    """A stream does not go on after its round has ended."""
    index = nth("RoundClosed")
    end = orjson.loads(ROWS[index][3])
    position, stream, version = len(ROWS) + 1, ROWS[index][1], end["version"] + 1
    end |= {"position": position, "version": version, "recorded_at": "2099-01-01T00:00:00.000000Z"}
    more = (position, stream, version, orjson.dumps(end, option=orjson.OPT_SORT_KEYS))

    assert (position, "round") in found([*ROWS, more])


def test_a_round_without_published_rules_is_found() -> None:
    """A rule set that was never published is none, although the audit was told of it."""
    index = nth("RulesetPublished")
    rows = edited(index, in_data(ruleset_id="other"))

    assert any(name == "ruleset" for _, name in found(rows))


def test_very_many_exceptions_are_counted_and_the_first_kept() -> None:
    """An audit of nothing but garbage tells of the first exceptions and how many there were."""
    rows = [(position, "wallet-x", position, b"") for position in range(1, FINDINGS_MAX + 100)]

    told = outcome(rows, 100)

    assert len(told.findings) == FINDINGS_MAX
    assert told.found > FINDINGS_MAX


# ── Parts ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_part_whose_beginning_is_not_known_says_so() -> None:
    """Without opening balances nothing is wrong, and what could not be checked is counted."""
    middle = next(n for n in range(200, len(ROWS)) if ROWS[n][1] == ROWS[n - 1][1])

    part = outcome(ROWS[middle:], 50, opening=Opening(middle))

    assert part.findings == []
    assert part.roots == {}
    assert part.unopened_wallets > 0
    assert part.unchecked_rounds > 0


def test_a_part_goes_on_from_recorded_openings() -> None:
    """Wallets and pools that an archive recorded have to be those that the events go on from."""
    before, middle = outcome(ROWS[:200]), 200
    balances = {
        player: wallet.closing for player, wallet in audit_partition(ROWS[:200], KNOWN).wallets.items()
    }

    right = outcome(ROWS[middle:], 50, opening=Opening(middle, balances, before.pots))
    wrong_wallets = {player: balance + 1 for player, balance in balances.items()}
    wrong_pots = {name: (pools[0] + 1, pools[1], pools[2]) for name, pools in before.pots.items()}
    wrong = outcome(ROWS[middle:], 50, opening=Opening(middle, wrong_wallets, wrong_pots))

    assert right.findings == []
    assert right.pots == WHOLE.pots
    assert {finding.what for finding in wrong.findings} >= {"balance_after", "jackpot.meter"}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(ROWS) - 1), st.integers(0, 10**6), st.integers(0, 7), st.integers(20, 400))
def test_no_flipped_bit_stays_hidden_or_breaks_the_audit(index: int, at: int, bit: int, size: int) -> None:
    """Whatever a changed bit makes of an event: no error, and another root or an exception that is told."""
    position, stream, version, data = ROWS[index]
    flipped = bytearray(data)
    flipped[at % len(data)] ^= 1 << bit
    rows = [*ROWS[:index], (position, stream, version, bytes(flipped)), *ROWS[index + 1 :]]

    told = outcome(rows[max(0, index - 30) : index + 30], size, opening=Opening(max(0, index - 30)))

    leaf = audit_partition([rows[index]], KNOWN).leaves.range
    assert told.events <= 60
    assert leaf.nodes != audit_partition([ROWS[index]], KNOWN).leaves.range.nodes
