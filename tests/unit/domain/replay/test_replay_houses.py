"""A faultless round of every house passes the replay."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.replay import replay
from tests.unit.domain.replay.honest_rounds import HONEST
from tests.unit.domain.replay.stream_builder import Stream


@pytest.mark.parametrize("play", HONEST, ids=lambda play: play.__name__)
def test_a_faultless_round_passes(play: Callable[[], Stream]) -> None:
    """A round whose every event is right passes every check, with the jackpot's parameters or without."""
    stream = play()

    for jackpot in (stream.jackpot, None):
        report = replay(stream.events, stream.document, jackpot)

        assert report.failed() == ()
        assert report.verdict == "pass"
