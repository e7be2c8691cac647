"""`scripts/log`, and commands of processes that have no writer of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.log import main
from api.log import starting
from domain import commands as c
from infrastructure import log_keys
from infrastructure.bootstrap import prepare
from infrastructure.evidence import folder
from infrastructure.evidence.folder import Head
from infrastructure.evidence.notes import Checkpoint, parse_vkey, write_note
from infrastructure.keys import Keys, KeysError
from infrastructure.ledger.once import submit_once
from infrastructure.ledger.submission import ReadOnly, Result, own_submission

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
SCHEMA = "ledger"
ROOT = b"r" * 32


class Place:
    """A ledger's database and its data directory."""

    def __init__(self, database: str, path: Path) -> None:
        self.path = path
        self.keys = path / "keys"
        self.dsn = prepare(database, SCHEMA, passwords=PASSWORDS).app
        Keys.load_or_create(self.keys, ledger_is_empty=True)

    def ask(self, command: c.Command, key: str) -> Result:
        """Have a command decided by a process that has no writer."""
        submission = own_submission(command, key)
        return submit_once(self.dsn, SCHEMA, self.keys, submission, throwaway=True)

    def run(self, *arguments: str) -> int:
        """Run the command in this process."""
        return main([*arguments, "--data-dir", str(self.path)])


@pytest.fixture(scope="module")
def place(database: str, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a ledger that has begun and has no log."""
    place = Place(database, tmp_path_factory.mktemp("data"))
    place.ask(c.StartLedger(demo=True), "start")
    return place


@pytest.fixture(autouse=True)
def url(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the command work on the tests' database."""
    monkeypatch.setenv("DATABASE_URL", database)


def test_the_whole_way(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """From a ledger without a log to one that is halted: what is told, what is made, and the exit status."""

    def told(status: int) -> dict[str, Any]:
        assert place.run("status", "--json") == status
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    assert place.run("status") == 2
    assert "start the service once" in capsys.readouterr().err

    log = place.path / "log"
    place.ask(starting.first(place.keys, log), "log:start")
    found = told(0)
    assert (found["generation"], found["halted"], found["signed_last"]) == (1, False, None)
    assert place.run("status") == 0
    out = capsys.readouterr().out
    assert found["origin"] in out
    assert "signed    nothing yet" in out

    assert place.run("new-key") == 0
    out = capsys.readouterr().out
    vkey = out.split()[-1]
    assert "POST /v1/log/keys" in out
    assert parse_vkey(vkey).name == found["origin"]
    assert log_keys.load_for(place.keys, vkey).verifier.vkey == vkey
    assert told(0)["keys"] == found["keys"]  # nobody has approved it

    checkpoint = Checkpoint(found["origin"], 100, ROOT)
    note = write_note(
        checkpoint.body(), [log_keys.load_for(place.keys, found["keys"][0]).sign(checkpoint.body())]
    )
    (log / folder.HEAD).write_bytes(folder.head_text(Head(1, checkpoint, note)))
    found = told(1)
    assert (found["wrong"], found["halted"], found["signed_last"]["size"]) == ("behind", False, 100)
    assert place.run("status") == 1
    assert "WRONG     behind: the service's next start will halt the ledger" in capsys.readouterr().out

    place.ask(c.HaltLog(1, "behind", 2, 100, checkpoint.root_text), "halt")
    found = told(1)
    assert (found["halted"], found["reason"], found["agree_to"]) == (True, "behind", 2)
    assert place.run("status") == 1
    assert "HALTED    behind: ledger and log agree up to position 2." in capsys.readouterr().out
    assert place.run("new-key") == 0
    out = capsys.readouterr().out
    assert "POST /v1/log/generations" in out
    assert parse_vkey(out.split()[-1]).name == found["next_origin"]

    for key in place.keys.glob("log-*.key"):
        key.rename(key.with_suffix(".away"))
    assert place.run("status") == 1
    assert "MISSING   the key's secret half is not here" in capsys.readouterr().out

    with pytest.raises(ReadOnly):
        place.ask(c.OpenPlayer("anna", "p1", "USD"), "anna")


def test_what_cannot_be_looked_at_is_told_in_one_line(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder that is damaged, a ledger that is not there: status 2."""
    (tmp_path / "head").write_text("{}")
    assert place.run("status", "--log", str(tmp_path)) == 2
    assert "is damaged" in capsys.readouterr().err
    monkeypatch.delenv("DATABASE_URL")
    assert main(["status", "--data-dir", str(tmp_path)]) == 2
    assert f"there is no ledger in {tmp_path}" in capsys.readouterr().err


def test_a_command_of_a_process_without_a_writer_happens_once(place: Place) -> None:
    """Sent again it gets its first answer; without the ledger's keys it is not sent, and no key is made."""
    command = c.StartAudit("once", "database", 1, 1)
    first = place.ask(command, "audit:once")
    assert place.ask(command, "audit:once") == first._replace(replayed=True)
    nothing = place.path / "no-keys"
    with pytest.raises(KeysError, match=r"token\.key is missing"):
        submit_once(place.dsn, SCHEMA, nothing, own_submission(command, "other"), throwaway=True)
    assert not list(nothing.glob("*.key"))
