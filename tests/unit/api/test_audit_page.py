"""An audit's report as a page: everything is escaped, amounts are those of the currency."""

from __future__ import annotations

from api.audit.rendering import html
from infrastructure.audit.report import Check, Report, Scope, Totals, encoded, exact_text, sha256
from infrastructure.audit.results import Figures, Finding

EVIL = "<script>alert('x')</script>&\"'"


def report(*findings: Finding, found: int | None = None) -> Report:
    """Return a report."""
    house = ("real", "JPY", EVIL), ("test", "USD", "nordic")
    return Report(
        run_id="R",
        scope=Scope("database", 1, 1_234_567, "2026-11-29T00:00:00.000001Z", ""),
        totals=Totals(
            events=1_234_567,
            rounds=100_000,
            open_rounds=2,
            wallets=12,
            figures={
                house[0]: Figures(rounds=1, staked=123_456),
                house[1]: Figures(rounds=2, staked=5, returned=-100_000),
            },
            accounts={("house:real:nordic", "USD"): -10_001, ("wallet:real", "JPY"): 20_000},
            pots={"pot": (1_000_000_001, 0, 50)},
        ),
        checks=[
            Check("events", "fail" if findings else "pass", 3, "events", EVIL),
            Check("x", "not_checked"),
        ],
        exceptions=findings,
        found=len(findings) if found is None else found,
        made_at="2026-11-30T00:00:00Z",
        seconds=1.25,
        software=EVIL,
        log={"origin": EVIL, "size": 5, "root": "abc=", "keys": [EVIL]},
    )


def test_nothing_of_a_report_becomes_markup() -> None:
    """An edited event may say anything: it is shown as text."""
    page = html(report(Finding(7, EVIL, EVIL, EVIL)).as_json())
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6


def test_amounts_are_shown_in_units_of_their_currency() -> None:
    """By the currency's exponent, with what is below the minor unit behind it."""
    page = html(report().as_json())
    for shown in ("123\u202f456", "0.05", "\u22121\u202f000.00", "\u22120.010001", "1\u202f234\u202f567"):
        assert shown in page, shown
    assert ">2<" in page  # twenty thousand ten-thousandths of a yen


def test_the_first_of_many_exceptions_are_shown() -> None:
    """And how many there are in all."""
    page = html(report(*(Finding(n, "what", "a", "b") for n in range(3)), found=4_000).as_json())
    assert "4\u202f000 exceptions" in page
    assert "The first 3 of 4\u202f000" in page
    assert "Everything checked" not in page
    one = html(report(Finding(1, "what", "a", "b")).as_json())
    assert "1 exception<" in one


def test_a_report_has_one_encoding() -> None:
    """What the ledger records is the hash of canonical bytes; long values are cut."""
    told = report(Finding(1, "what", "x" * 10_000, "b")).as_json()
    assert len(told["exceptions"][0]["expected"]) == 300
    assert sha256(encoded(told)) == sha256(encoded(dict(reversed(told.items()))))
    assert told["verdict"] == "fail"
    assert report().as_json()["verdict"] == "pass"
    assert [exact_text(amount) for amount in (0, 1, -10_000, 12_300)] == ["0", "0.0001", "-1", "1.23"]
