"""What a long command tells of how far it has come."""

from __future__ import annotations

import io

import pytest

from api.cli import progress


class Terminal(io.StringIO):
    """A standard error that a person watches."""

    def isatty(self) -> bool:
        """It is."""
        return True


def test_a_log_gets_a_line_now_and_then_and_the_end_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not every step is told, only what comes when it is time, and the end, whenever that is."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    tell = progress.Progress("rounds")
    for done, second in ((1, 5.0), (2, 11.0), (3, 12.0), (4, 12.5), (4, 30.0)):
        now[0] = second
        tell(done, 4)
    assert capsys.readouterr().err == "2 of 4 rounds\n4 of 4 rounds\n"


def test_a_person_sees_a_bar_that_fills_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is written over itself and ends when everything is done."""
    now, terminal = [0.0], Terminal()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    tell = progress.Progress("events")
    now[0] = 2.0
    tell(10, 40)
    now[0] = 8.0
    tell(40, 40)
    first, second = terminal.getvalue().split("\r")[1:]
    assert first.rstrip(" ") == f"[{'#' * 7}{'.' * 23}] 10 of 40 events, 6 s left"
    assert second.rstrip(" \n") == f"[{'#' * 30}] 40 of 40 events"
    assert second.endswith("\n")
