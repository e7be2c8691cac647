"""The software check over HTTP: at a start, on demand, daily; and how two people accept what has changed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from domain.events import SoftwareVerified
from infrastructure.ledger.stored_form import decode
from infrastructure.software import ROOT
from tests.integration.api.individuals import Individual

if TYPE_CHECKING:
    from tests.integration.api.conftest import Api

ANNA = Individual("anna")
BEN = Individual("ben")
DAY_US = 86_400_000_000
FILES = ("api/near.py", "domain/rulesets/czech.toml", "requirements.lock")
SECONDS_MAX = 30.0


@pytest.fixture(scope="module", autouse=True)
def stage(api: Api) -> None:
    """Register two administrators, open a table and a round."""
    for one in (ANNA, BEN):
        api.done(api.post("/v1/people", one.body))
    api.player("carl")
    api.table("t-software", parallel_rounds=True)


@pytest.fixture
def files(api: Api, tmp_path: Path) -> Iterator[Path]:
    """Let the software be a copy of a part of it, of a build of its own, whose files a test may change."""
    for name in FILES:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    real = api.service.software
    api.service.software = dataclasses.replace(real, root=tmp_path, build=f"copy/{tmp_path.name}")
    api.service.writer.call(api.service.software.at_start(trusting=False))
    yield tmp_path
    api.service.software = real
    api.service.writer.call(dataclasses.replace(real, start=tmp_path.name).at_start(trusting=False))


def recorded(api: Api) -> list[SoftwareVerified]:
    """Return every look that the ledger has recorded."""
    query = sql.SQL(
        "SELECT data FROM {}.events WHERE starts_with(stream, 'ledger-software') ORDER BY position"
    )
    with psycopg.connect(api.admin_dsn) as connection:
        rows = connection.execute(query.format(sql.Identifier(api.schema))).fetchall()
    events = [decode(data).event for (data,) in rows]
    assert all(isinstance(event, SoftwareVerified) for event in events)
    return events  # type: ignore[return-value] # that is what was asserted


def look(api: Api) -> dict[str, Any]:
    """Have the software looked at now."""
    return dict(api.done(api.post("/v1/software/checks")))


def opens_a_round(api: Api) -> bool:
    """Say whether a new round opens; where it does not, the software is why."""
    answer = api.post("/v1/rounds", {"table_id": "t-software", "seats": []})
    if answer.status_code != 201:
        api.refused("software_mismatch", 409, answer)
    return bool(answer.status_code == 201)


def until(condition: Callable[[], object]) -> None:
    """Wait, a bounded time, until something is so."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_service_has_looked_before_its_first_request(api: Api) -> None:
    """The first start of a ledger is its baseline, and what was found and accepted can be read."""
    baseline = recorded(api)[0]
    assert (baseline.occasion, baseline.matches, baseline.accepted) == ("start", True, "baseline")
    shown = api.done(api.get("/v1/software"))
    assert (shown["halted"], shown["changed"]) == (False, [])
    assert shown["found"] == shown["accepted"]
    assert set(shown["found"]) == {"code", "rulesets", "lock"}


def test_a_second_process_of_a_start_records_nothing_new(api: Api) -> None:
    """Processes of one start that find the same are one look; another start is another."""
    before = len(recorded(api))
    same = api.service.software.at_start(trusting=False)
    assert api.service.writer.call(same).replayed
    assert len(recorded(api)) == before
    other = dataclasses.replace(api.service.software, start="another").at_start(trusting=False)
    assert not api.service.writer.call(other).replayed
    assert recorded(api)[-1].matches


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_halts_new_rounds_until_it_is_as_it_was(api: Api, files: Path, name: str) -> None:
    """Code, rule sets, packages: a byte more is found on demand; put back, rounds open again."""
    assert look(api)["changed"] == []
    kept = (files / name).read_bytes()
    (files / name).write_bytes(kept + b"\n")
    part = {"api/near.py": "code", "requirements.lock": "lock"}.get(name, "rulesets")
    found = look(api)
    assert (found["halted"], found["changed"]) == (True, [part])
    assert not opens_a_round(api)
    assert "stud_ledger_software_halted 1.0" in api.client.get("/metrics").text
    (files / name).write_bytes(kept)
    assert look(api)["halted"] is False
    assert opens_a_round(api)


def test_a_round_under_way_is_played_to_its_end(api: Api, files: Path) -> None:
    """What a player has staked before is dealt and settled as ever."""
    opened = api.open("t-software", api.seat(1, "carl"), deal=True)
    (files / "api/more.py").write_text("pass\n")
    assert look(api)["halted"] is True
    assert api.decide(opened["round_id"], 1, "fold")["phase"] == "closed"


def test_two_people_accept_what_has_changed(api: Api, files: Path) -> None:
    """One proposes exactly what was found, another approves it, and only then rounds open."""
    (files / "api/near.py").write_text("pass\n")
    found = look(api)
    body = {"build": found["build"], "found": found["found"], "note": "A line was made shorter."}
    wrong = {**body, "found": {**found["found"], "code": "0" * 64}}
    api.refused("validation_failed", 422, ANNA.post(api, "/v1/software/acceptances", wrong))
    proposal = api.done(ANNA.post(api, "/v1/software/acceptances", body))
    assert (proposal["kind"], proposal["effect"]["changed"]) == ("software", ["code"])
    api.refused("same_person", 403, ANNA.decides(api, proposal["approval_id"]))
    assert not opens_a_round(api)
    answer = api.done(BEN.decides(api, proposal["approval_id"]))
    assert answer["result"]["halted"] is False
    assert opens_a_round(api)
    event = recorded(api)[-1]
    assert (event.accepted, event.proposed_by, event.approved_by) == ("approval", "anna", "ben")
    assert event.note_sha256 is not None
    api.refused("validation_failed", 422, ANNA.post(api, "/v1/software/acceptances", body))


def test_every_day_begins_with_a_look(api: Api) -> None:
    """When the date changes (UTC) the software is looked at once, without anybody asking."""
    before = len(recorded(api))
    api.clock.ahead_us += DAY_US
    until(lambda: len(recorded(api)) > before)
    looks = recorded(api)[before:]
    assert [(event.occasion, event.matches) for event in looks] == [("daily", True)]


def test_only_administrators_look_and_propose(api: Api) -> None:
    """Others may at most read what was found."""
    for path in ("/v1/software/checks", "/v1/software/acceptances"):
        api.refused("scope_missing", 403, api.post(path, scope="play cashier reports audit disputes"))
    api.refused("scope_missing", 403, api.get("/v1/software", scope="play cashier disputes"))
    api.done(api.get("/v1/software", scope="audit"))
