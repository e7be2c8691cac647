"""Statements, sessions, records and balances as they were, over HTTP."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from api.paging import cursor_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Api

PLAY = ("ante", "side_bet", "raise", "exchange_fee", "settlement", "jackpot_award", "refund")


@pytest.fixture(scope="module")
def stage(api: Api) -> Api:
    """Yield a service with a jackpot's table and a second player who stands by."""
    api.jackpot("j")
    api.table("t", jackpot_id="j")
    api.player("other")
    return api


def position(api: Api) -> int:
    """Return how far the ledger has come."""
    return int(api.service.reading._seen)


def played(api: Api, player_id: str, action: str = "raise", **more: Any) -> str:
    """Play a hand with a jackpot bet and return its round."""
    seat = api.seat(1, player_id, side_bets={"jackpot": 100}, **more)
    round_id = str(api.open("t", seat, deal=True)["round_id"])
    api.decide(round_id, 1, action)
    return round_id


def items(api: Api, player_id: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return all pages of a statement."""
    return [item for page in pages(api, player_id, **parameters) for item in page["items"]]


def pages(api: Api, player_id: str, **parameters: Any) -> Iterator[dict[str, Any]]:
    """Yield a statement's pages by their cursors."""
    cursor: str | None = None
    while True:
        asked = {"min_position": position(api), **parameters, **({"cursor": cursor} if cursor else {})}
        page = api.done(api.get(f"/v1/players/{player_id}/statement", params=asked))
        yield page
        cursor = page.get("next_cursor")
        if cursor is None:
            return


def test_a_statement_runs_from_balance_to_balance(stage: Api) -> None:
    """Each item begins with the balance that the one before left, and the last one's is the wallet's."""
    stage.player("anna", 500_000)
    round_id = played(stage, "anna")
    stage.done(stage.post("/v1/players/anna/withdrawals", {"amount": 700, "reference": "out"}))
    listed = items(stage, "anna")
    balance = 0
    for item in listed:
        assert item["balance_before"] == balance
        balance = item["balance_after"]
        assert balance == item["balance_before"] + item["amount"]
    assert (balance, listed[-1]["on_game"]) == stage.balance("anna")
    types = [item["type"] for item in listed]
    assert types[:4] == ["deposit", "ante", "side_bet", "raise"]
    assert types[-2:] == ["settlement", "withdrawal"]
    assert all(item.get("round_id") == (round_id if item["type"] in PLAY else None) for item in listed)
    assert [item["position"] for item in listed] == sorted({item["position"] for item in listed})
    assert len({item["transaction_id"] for item in listed}) == len(listed)


def test_a_statement_is_paged_and_stable_under_play(stage: Api) -> None:
    """More items than a page come once each, in order, though more is played between the pages."""
    stage.player("pia", 900_000)
    for _ in range(30):
        played(stage, "pia")
    seen: list[int] = []
    for page in pages(stage, "pia"):
        assert len(page["items"]) <= 100
        seen += [item["position"] for item in page["items"]]
        if len(seen) <= 100:
            played(stage, "pia", "fold")
    assert seen == sorted(set(seen))
    assert seen == [item["position"] for item in items(stage, "pia")]
    assert len(seen) >= 30 * 4 + 1


def test_a_statement_of_a_period_has_what_was_recorded_in_it(stage: Api) -> None:
    """From a moment on, before a moment: the first counts, the second does not."""
    stage.player("per", 900_000)
    played(stage, "per")
    listed = items(stage, "per")
    third = listed[2]["at"]
    assert items(stage, "per", **{"from": third}) == listed[2:]
    assert items(stage, "per", to=third) == listed[:2]
    assert items(stage, "per", **{"from": "2020-01-01T00:00:00+02:00", "to": "2020-01-02T00:00:00Z"}) == []
    naive = stage.get("/v1/players/per/statement", params={"from": "2026-01-01T00:00:00"})
    stage.refused("validation_failed", 422, naive)


def test_balances_as_of_every_position_are_those_that_were(stage: Api) -> None:
    """A wallet and a jackpot can be asked for as of any position and moment, also while a hand is played."""
    seen = []
    stage.player("asta", 300_000)
    for action in ("raise", "fold"):
        round_id = stage.open("t", stage.seat(1, "asta", side_bets={"jackpot": 100}), deal=True)["round_id"]
        seen.append(facts_now(stage, "asta"))
        stage.decide(round_id, 1, action)
        seen.append(facts_now(stage, "asta"))
    for at, moment, wallet, meter in seen:
        for parameters in ({"position": at}, {"at": moment}):
            past = stage.done(stage.get("/v1/players/asta", params=parameters))
            assert (past["balance"], past["on_game"]) == wallet
            pot = stage.done(stage.get("/v1/jackpots/j", params=parameters))
            assert pot["meter_exact"] == meter


def test_books_of_a_moment_ago_are_waited_for(stage: Api) -> None:
    """Who asks for the balance as of what was just answered gets it: the read side is waited for."""
    stage.player("hast", 0)
    for number in range(1, 6):
        body = {"amount": 100, "reference": f"r{number}"}
        written = stage.post("/v1/players/hast/deposits", body)
        past = {"position": written.headers["Ledger-Position"]}
        then = stage.done(stage.get("/v1/players/hast", params=past))
        assert (then["balance"], then["position"]) == (100 * number, int(past["position"]))


def facts_now(api: Api, player_id: str) -> tuple[int, str, tuple[int, int], str]:
    """Return position, moment, wallet and meter as they are, with the read side come to it."""
    at = position(api)
    items(api, player_id)
    events = api.done(api.get(f"/v1/players/{player_id}/statement", params={"min_position": at}))["items"]
    moment = datetime.fromisoformat(events[-1]["at"]).astimezone(UTC) + timedelta(milliseconds=50)
    while datetime.now(UTC) < moment:
        pass
    meter = api.done(api.get("/v1/jackpots/j"))["meter_exact"]
    return at, moment.isoformat(), api.balance(player_id), meter


def test_what_was_not_there_yet_is_not_found(stage: Api) -> None:
    """Before its opening a wallet or a jackpot does not exist; beyond the ledger's end there is nothing."""
    before = position(stage)
    stage.player("late", 1000)
    stage.jackpot("late-pot")
    items(stage, "late")
    past = {"position": before}
    stage.refused("player_not_found", 404, stage.get("/v1/players/late", params=past))
    stage.refused("jackpot_not_found", 404, stage.get("/v1/jackpots/late-pot", params=past))
    beyond = {"position": position(stage) + 1000}
    stage.refused("validation_failed", 422, stage.get("/v1/players/late", params=beyond))
    both = {"position": before, "at": "2026-01-01T00:00:00Z"}
    stage.refused("validation_failed", 422, stage.get("/v1/players/late", params=both))


def test_the_trial_balance_is_zero_at_every_position(stage: Api) -> None:
    """As of any position the accounts of a currency add up to nothing, and the newest are the wallets'."""
    played(stage, "other")
    end = position(stage)
    items(stage, "other")
    for at in range(0, end + 1, max(1, end // 40)):
        balance = stage.done(stage.get("/v1/trial-balance", params={"position": at}))
        assert set(balance["sums"].values()) <= {"0"}
        assert balance["no_activity"] == (not balance["items"])
    now = stage.done(stage.get("/v1/trial-balance", params={"position": end}))
    accounts = {item["account"]: item["balance"] for item in now["items"]}
    assert accounts["jackpot:real:j"] == stage.done(stage.get("/v1/jackpots/j"))["meter_exact"]
    liability = stage.done(stage.get("/v1/reports/liability", params={"position": end}))["items"]
    (real,) = [item for item in liability if item["account_class"] == "real"]
    assert (real["wallets"], real["on_game"]) == (accounts["wallet:real"], accounts["on_game:real"])
    assert real["pending_withdrawals"] == "0"


def test_a_record_tells_the_hand_and_keeps_its_cards_until_the_end(stage: Api) -> None:
    """While a round is open its record says who staked what and no card; afterwards everything."""
    stage.player("rie", 100_000)
    seat = stage.seat(1, "rie", session_id="s-1", channel="mobile", side_bets={"jackpot": 100})
    round_id = stage.open("t", seat, deal=True)["round_id"]
    path = f"/v1/rounds/{round_id}/record"
    during = stage.done(stage.get(path))
    assert during["status"] == "in_progress"
    assert not {"cards", "dealer_cards", "result"} & during["items"][0].keys()
    after = stage.decide(round_id, 1, "raise")
    items(stage, "rie")
    record = stage.done(stage.get(path))
    assert record["status"] == "complete"
    (hand,) = record["items"]
    assert hand["player_id"] == "rie"
    assert (hand["session_id"], hand["channel"], hand["decision"], hand["decided_by"]) == (
        "s-1",
        "mobile",
        "raise",
        "player",
    )
    assert hand["cards"] == after["seats"][0]["cards"]
    assert hand["bets"] == after["seats"][0]["bets"]
    assert (hand["balance_before"], hand["balance_after"]) == (100_000, stage.balance("rie")[0])
    assert hand["wagered"] == 3100
    assert hand["contribution"] == "70"
    assert hand["returned"] + hand["game_win"] + hand["jackpot_win"] == after["seats"][0]["total_returned"]
    stage.refused("round_not_found", 404, stage.get("/v1/rounds/nobody/record"))
    stage.refused("scope_missing", 403, stage.get(path, scope="play"))


def test_a_round_without_hands_has_a_status_of_its_own(stage: Api) -> None:
    """Where there is no seat to show, the status told is the round's own, not always "in progress"."""
    empty = stage.open("t")["round_id"]
    path = f"/v1/rounds/{empty}/record"
    assert stage.done(stage.get(path)) == {"round_id": empty, "status": "in_progress", "items": []}
    body = {"cause": "malfunction", "note": "Nobody came."}
    stage.done(stage.post(f"/v1/rounds/{empty}/void", body))
    assert stage.done(stage.get(path)) == {"round_id": empty, "status": "cancelled", "items": []}
    stage.player("una", 100_000)
    complete = played(stage, "una")
    beyond = {"cursor": cursor_after(500), "min_position": position(stage)}
    last = stage.done(stage.get(f"/v1/rounds/{complete}/record", params=beyond))
    assert last == {"round_id": complete, "status": "complete", "items": []}


def test_a_session_runs_from_joining_to_leaving(stage: Api) -> None:
    """Who joins, plays and leaves has one session with its rounds and stakes."""
    stage.player("sif", 100_000)
    stage.table("sessions", parallel_rounds=False)
    stage.done(stage.post("/v1/tables/sessions/join", {"player_id": "sif", "seat": 2}))
    for action in ("raise", "fold"):
        round_id = stage.open("sessions", stage.seat(2, "sif"), deal=True)["round_id"]
        stage.decide(round_id, 2, action)
    going = sessions(stage, "sif")
    assert [(s["rounds"], s["stakes"], "ended" in s) for s in going] == [(2, 4000, False)]
    stage.done(stage.post("/v1/tables/sessions/leave", {"player_id": "sif"}))
    (left,) = sessions(stage, "sif")
    assert left["ended"] == "left"
    assert left["rounds_won"] <= 2


def sessions(api: Api, player_id: str) -> list[dict[str, Any]]:
    """Return a player's sessions as of now."""
    path = f"/v1/players/{player_id}/sessions"
    return list(api.done(api.get(path, params={"min_position": position(api)}))["items"])


def test_reports_add_up_to_what_was_played(stage: Api) -> None:
    """Handle, wins and contributions of the day are those of the hands; the jackpot's days roll forward."""
    stage.jackpot("roll", reset=5000)
    stage.table("day", jackpot_id="roll")
    stage.player("dag", 800_000)
    wagered = returned = won = 0
    for _ in range(5):
        seat = stage.seat(1, "dag", side_bets={"jackpot": 100})
        round_id = stage.open("day", seat, deal=True)["round_id"]
        seat_after = stage.decide(round_id, 1, "raise")["seats"][0]
        wagered += sum(bet["stake"] for bet in seat_after["bets"])
        returned += sum(bet["returned"] for bet in seat_after["bets"])
        won += sum(bet["won"] for bet in seat_after["bets"] if bet["bet"] != "jackpot")
    today = datetime.now(UTC).date()
    days = {"from": str(today - timedelta(days=1)), "to": str(today), "min_position": position(stage)}
    report = stage.done(stage.get("/v1/reports/game-performance", params={**days, "by": "table"}))
    (item,) = [each for each in report["items"] if each["table_id"] == "day"]
    assert (item["handle"], item["returned"], item["game_wins"]) == (wagered, returned, won)
    assert (item["rounds_finished"], item["unfinished"], item["contributions"]) == (5, 0, "350")
    assert item["ggr"] == wagered - returned - won
    forward = stage.done(stage.get("/v1/jackpots/roll/roll-forward", params=days))["items"][0]
    meter = forward["intervals"][-1]["meter"]
    assert meter["contributions"] == "350"
    assert meter["closing"] == stage.done(stage.get("/v1/jackpots/roll"))["meter_exact"]
    long_ago = {"from": "2001-01-01", "to": "2001-01-02"}
    nothing = stage.done(stage.get("/v1/reports/game-performance", params=long_ago))
    assert (nothing["no_activity"], nothing["items"]) == (True, [])
    listed = stage.done(stage.get("/v1/reports/jackpots", params=days))
    assert "roll" in [each["jackpot_id"] for each in listed["items"]]
    turned = {"from": "2026-02-01", "to": "2026-01-01"}
    stage.refused("validation_failed", 422, stage.get("/v1/reports/jackpots", params=turned))


def test_all_jackpots_day_by_day_are_told_of_some_days(stage: Api) -> None:
    """Ten years of twenty jackpots, day by day, would keep everybody else waiting: they are told by month."""
    years = {"from": "2020-01-01", "to": "2029-12-31"}
    problem = stage.refused("validation_failed", 422, stage.get("/v1/reports/jackpots", params=years))
    assert problem["errors"][0]["pointer"] == "/every"
    stage.done(stage.get("/v1/reports/jackpots", params={**years, "every": "month"}))
    stage.done(stage.get("/v1/jackpots/j/roll-forward", params=years))


def test_significant_events_are_listed(stage: Api) -> None:
    """A table that was closed is among the day's significant events, with who closed it."""
    stage.table("shut")
    stage.done(stage.post("/v1/tables/shut/close"))
    today = datetime.now(UTC).date()
    days = {"from": str(today - timedelta(days=1)), "to": str(today), "min_position": position(stage)}
    listed = stage.done(stage.get("/v1/reports/significant-events", params=days))["items"]
    (closed,) = [
        item for item in listed if item["subject"] == "table-shut" and item["kind"] == "table_closed"
    ]
    assert closed["actor"] == "tester"


def test_a_jackpots_days_and_months_follow_each_other(stage: Api) -> None:
    """Each interval opens with what the one before it closed with, the first with all that was before."""
    stage.jackpot("span", reset=5000)
    stage.table("spanned", jackpot_id="span")
    first = datetime.now(UTC).date()
    for days in (0, 1, 40):  # the last test here: the service's clock is never put back
        stage.clock.ahead_us = days * 24 * 3600 * 1_000_000
        stage.player(f"lang-{days}")
        stage.open("spanned", stage.seat(1, f"lang-{days}", side_bets={"jackpot": 100}))
    last = first + timedelta(days=41)

    def chain(since: date, **more: str) -> list[dict[str, Any]]:
        days = {"from": str(since), "to": str(last), "min_position": position(stage), **more}
        (found,) = stage.done(stage.get("/v1/jackpots/span/roll-forward", params=days))["items"]
        return list(found["intervals"])

    def meters(intervals: list[dict[str, Any]]) -> list[tuple[str, ...]]:
        told = ("opening", "contributions", "closing")
        return [tuple(each["meter"][name] for name in told) for each in intervals]

    by_day = [("0", "70", "5070"), ("5070", "70", "5140"), ("5140", "70", "5210")]
    assert meters(chain(first)) == by_day
    assert meters(chain(first + timedelta(days=2))) == by_day[2:]
    assert chain(last) == []
    months = chain(first, every="month")
    played_in = {str(first + timedelta(days=days))[:7] for days in (0, 1, 40)}
    assert [each["interval"] for each in months] == sorted(played_in)
    told = meters(months)
    assert (told[0][0], told[-1][2]) == ("0", "5210")
    assert all(before[2] == after[0] for before, after in pairwise(told))
