"""A running ledger, its witnesses (its own, and a regulator's that fetches), and other people's verifiers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infrastructure.evidence.notes import (
    Checkpoint,
    Verifier,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    verify,
)
from tests.end_to_end.service import ROOT, Service, done, stake, start, stop
from tests.integration import other_verifiers, vector_log
from tests.integration.test_other_verifiers import needs_aics, needs_go
from tests.integration.witness_process import run

SECONDS_MAX = 60


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Yield a service with its own witness and a player at a table."""
    folder = Path(tempfile.mkdtemp(prefix="stud-ledger-"))
    folder.chmod(0o711)
    running = start(folder / "data", "--port", "0")
    running.player("anna")
    running.table("t")
    yield running
    stop(running)
    shutil.rmtree(folder)


def play(service: Service) -> int:
    """Play a hand; return the position of its last event."""
    return play_round(service)[1]


def play_round(service: Service) -> tuple[str, int]:
    """Play a hand; return the round, and the position of its last event."""
    opened = done(service.post("/v1/rounds", {"table_id": "t", "seats": [stake("anna")], "deal": True}))
    round_id = str(opened["round_id"])
    decided = service.post(f"/v1/rounds/{round_id}/decisions", {"seat": 1, "action": "fold"})
    assert done(decided)["phase"] == "closed"
    return round_id, int(decided.headers["Ledger-Position"])


def keys(service: Service) -> list[Verifier]:
    """Return the log's keys as it tells them."""
    return list(map(parse_vkey, service.http.get(f"{service.url}/log/key").text.splitlines()))


def witness_key(service: Service) -> Verifier:
    """Return the key of the demo's witness, which the service said at its start."""
    (said,) = [line for line in service.log.read_text().splitlines() if "its witness" in line]
    return parse_vkey(said.split()[-1])


def checkpoint(service: Service) -> tuple[Checkpoint, set[Verifier], bytes]:
    """Return what the log publishes, and which of the keys we know have signed it."""
    data = service.http.get(f"{service.url}/log/checkpoint").content
    note = parse_note(data)
    known = [*keys(service), witness_key(service)]
    return parse_checkpoint(note.text), {each.verifier for each in verify(note, known)}, data


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for a condition, which has to come true in time."""
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def cosigned(service: Service, size: int) -> bytes:
    """Return a published checkpoint of at least a size that the witness has signed, once there is one."""
    found: list[bytes] = []

    def is_there() -> bool:
        shown, signers, data = checkpoint(service)
        found.append(data)
        return shown.size >= size and witness_key(service) in signers

    eventually(is_there)
    return found[-1]


def test_the_log_is_cosigned_and_stays_so_when_the_witness_is_killed(service: Service) -> None:
    """What is played is signed by log and witness; kill -9 of the witness is made good by the next one."""
    cosigned(service, play(service))
    for _ in range(2):
        (witness,) = service.children("api.cli.witness")
        witness.kill()
        cosigned(service, play(service))
    assert len(service.children("api.cli.witness")) == 1


def test_a_regulator_fetches_what_it_signs(service: Service, tmp_path: Path) -> None:
    """From behind a firewall, twice, with play between: the second time the proof comes from the tiles."""
    vkeys = [word for each in keys(service) for word in ("--log", each.vkey)]
    for _ in range(2):
        position = play(service)
        cosigned(service, position)
        fetched = run("--state", tmp_path / "state", *vkeys, "--once", f"{service.url}/log")
        assert fetched.returncode == 0, fetched.stderr
        note = parse_note(fetched.stdout.encode())
        assert parse_checkpoint(note.text).size >= position
        assert len(note.signatures) == 3


def test_a_payout_is_verified_with_the_witnesss_key_and_no_others(service: Service, tmp_path: Path) -> None:
    """Offline, with keys had on paper and an older checkpoint: verified; with another's witness, refuted."""
    old = cosigned(service, play(service))
    round_id, position = play_round(service)
    cosigned(service, position)
    since, file = tmp_path / "old.note", tmp_path / "round.json"
    since.write_bytes(old)
    size = parse_checkpoint(parse_note(old).text).size
    file.write_bytes(service.get(f"/v1/rounds/{round_id}/evidence?since={size}").content)

    def verified(witness: Verifier) -> subprocess.CompletedProcess[str]:
        options = ["--key", keys(service)[0].vkey, "--since", str(since), "--witness", witness.vkey]
        command = [sys.executable, "-I", str(ROOT / "scripts" / "verify.py"), str(file), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)

    right = verified(witness_key(service))
    assert right.returncode == 0, right.stdout
    assert verified(vector_log.WITNESS.cosigner).returncode == 1


@needs_aics
def test_aics_verifies_the_running_ledger(service: Service, tmp_path: Path) -> None:
    """Over HTTP: the checkpoint with a quorum of one witness, and that it continues one saved before."""
    (tmp_path / "old.note").write_bytes(cosigned(service, play(service)))
    (tmp_path / "log.vkey").write_text(keys(service)[0].vkey)
    cosigned(service, play(service))
    said = subprocess.run(
        [
            *(sys.executable, "-m", "aics_tlog", "verify-consistency", "--tiles", f"{service.url}/log"),
            *("--vkey-file", "log.vkey", "--old-checkpoint", "old.note"),
            *("--witness-key", witness_key(service).vkey, "--quorum", "1", "--max-age", "600"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
    )
    assert said.returncode == 0, said.stdout + said.stderr


@needs_go
def test_go_verifies_the_running_ledger(service: Service, tmp_path: Path) -> None:
    """From the folder its sealer keeps: signatures, roots and proofs hold as they are on the disk."""
    old = cosigned(service, play(service))
    position = play(service)
    note = cosigned(service, position)
    size = parse_checkpoint(parse_note(note).text).size
    shutil.copytree(service.data / "log" / "1", tmp_path / "log")
    (tmp_path / "log" / "checkpoint").write_bytes(note)
    (tmp_path / "old.note").write_bytes(old)
    for name, key in (
        ("log", keys(service)[0]),
        ("witness", witness_key(service)),
        ("stranger", vector_log.STRANGER.verifier),
    ):
        (tmp_path / f"{name}.vkey").write_text(key.vkey)
    pair = f"1:{size}"
    said = other_verifiers.ask_go(tmp_path, "-sizes", f"1,{size}", "-pairs", pair, "-notes", "old.note")
    assert len(said["signers"]) == 2
    assert said["old.note"] == said["consistency"][pair]["checked"] == "ok"
