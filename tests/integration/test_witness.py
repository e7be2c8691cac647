"""`scripts/witness` as a real process: asked, killed at any moment, started again, and asked again."""

from __future__ import annotations

import contextlib
import http.client
import random
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infrastructure.evidence.notes import parse_note, verify
from tests.integration.http_stub import Answer, answering
from tests.integration.witness_process import ROOT, WitnessProcess, run, running
from tests.unit.infrastructure.witness.small_log import ORIGIN, SmallLog, request, signer

LOG = SmallLog(70_000)
VKEY = LOG.key.verifier.vkey
FORK = SmallLog(700, fork_at=5)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WitnessProcess]:
    """Yield one witness for the tests that leave it as it was."""
    with running(tmp_path_factory.mktemp("shared") / "state", [VKEY], "--name", "regulator/w1") as witness:
        assert witness.add(LOG.request(0, 100)) == 200
        yield witness


def test_it_tells_its_key(shared: WitnessProcess) -> None:
    """The key it says at its start is the one it serves, a line of text."""
    assert shared.ask("GET", "/key") == (200, "text/plain", f"{shared.verifier.vkey}\n")
    assert shared.verifier.name == "regulator/w1"


def test_it_tells_what_it_signed_last(shared: WitnessProcess) -> None:
    """The last checkpoint of a log is served with both signatures; of other logs there is none."""
    status, kind, note = shared.ask("GET", f"/checkpoint/{ORIGIN}")
    assert (status, kind) == (200, "text/plain")
    known = [LOG.key.verifier, shared.verifier]
    assert [each.verifier for each in verify(parse_note(note.encode()), known)] == known
    assert shared.ask("GET", "/checkpoint/another")[0] == 404


def test_the_old_size_is_told_as_the_standard_says(shared: WitnessProcess) -> None:
    """Conflict has a type of its own and the size in decimal."""
    assert shared.ask("POST", "/add-checkpoint", LOG.request(0, 50)) == (409, "text/x.tlog.size", "100\n")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (request(100, [], FORK.note(100)), 409),
        (FORK.request(100, 700), 422),
        (request(100, LOG.proof(100, 200)[1:], LOG.note(200)), 422),
        (request(100, [], LOG.note(99)), 400),
        (SmallLog(200, key=signer(number=9)).request(100, 200), 403),
        (SmallLog(200, key=signer("other")).request(0, 200), 404),
        (b"garbage", 400),
        (b"", 400),
        (b"x" * 70_000, 413),
        (b"x" * 10_000_000, 413),
    ],
    ids=[
        "fork",
        "grown fork",
        "bad proof",
        "rollback",
        "key",
        "log",
        "garbage",
        "empty",
        "long",
        "very long",
    ],
)
def test_what_must_not_be_signed_is_refused(shared: WitnessProcess, body: bytes, status: int) -> None:
    """Each refusal has its status, and the last tree signed stays the last."""
    with contextlib.suppress(
        ConnectionError
    ):  # of a body that is not read to its end, the answer may be lost
        assert shared.ask("POST", "/add-checkpoint", body)[0] == status
    assert shared.ask("POST", "/add-checkpoint", LOG.request(0, 1))[2] == "100\n"


@pytest.mark.parametrize(("method", "path"), [("GET", "/add-checkpoint"), ("POST", "/key"), ("GET", "/")])
def test_nothing_else_is_answered(shared: WitnessProcess, method: str, path: str) -> None:
    """A witness has three addresses and a method for each."""
    assert shared.ask(method, path)[0] in {404, 405}


def test_a_body_that_never_ends_is_cut_off(shared: WitnessProcess) -> None:
    """A body without a length is read as far as a request may go and refused."""
    with socket.create_connection(("127.0.0.1", shared.port), timeout=20) as client:
        client.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                client.sendall(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 413")
    assert shared.ask("GET", "/key")[0] == 200


def test_many_at_once_get_one_history(tmp_path: Path) -> None:
    """Two forks shown by eight clients at once: all sizes that are signed are one fork's."""
    with running(tmp_path / "state", [VKEY]) as witness:
        logs, start = [SmallLog(60), SmallLog(60, fork_at=0)], threading.Barrier(8)

        def show(number: int) -> list[tuple[int, int]]:
            signed, old = [], 0
            start.wait()
            while old < 60:
                size = min(60, old + 1 + number)
                status, kind, said = witness.ask(
                    "POST", "/add-checkpoint", logs[number % 2].request(old, size)
                )
                if status == 200:
                    signed.append((size, number % 2))
                    old = size
                elif kind == "text/x.tlog.size":
                    old = int(said)
                else:
                    break  # it has signed the other fork
            return signed

        with ThreadPoolExecutor(8) as pool:
            signed = [each for found in pool.map(show, range(8)) for each in found]
        assert len({fork for _, fork in signed}) == 1
        assert len({size for size, _ in signed}) == len(signed)
        assert max(signed)[0] == 60


def test_killed_at_any_moment_it_has_forgotten_nothing(tmp_path: Path) -> None:
    """Kill -9 under load, again and again: whatever was answered is remembered, and a fork stays refused."""
    answered, chance = 0, random.Random(4)
    vkeys = set()
    for _ in range(4):
        with running(tmp_path / "state", [VKEY]) as witness:
            vkeys.add(witness.verifier.vkey)
            old = int(witness.ask("POST", "/add-checkpoint", LOG.request(0, 1))[2]) if answered else 0
            assert old >= answered
            if old:
                assert witness.add(request(old, [], SmallLog(old, fork_at=0).note(old))) == 409
            victim = threading.Timer(0.05 + chance.random() / 4, witness.kill)
            victim.start()
            with contextlib.suppress(OSError, http.client.HTTPException):  # it may die while it answers
                while True:
                    assert witness.add(LOG.request(old, old + 1)) == 200
                    old += 1
                    answered = old
            victim.join()
            assert answered, "it was killed before it had signed anything"
    assert len(vkeys) == 1
    assert answered > 4


def test_a_folder_has_one_witness(tmp_path: Path) -> None:
    """A second process on the same folder ends with a line that says why."""
    with running(tmp_path / "state", [VKEY]):
        second = run("--state", tmp_path / "state", "--log", VKEY, "--port", "0")
    assert second.returncode == 2
    assert second.stderr.startswith("stud-ledger: another witness works on")
    assert second.stderr.count("\n") == 1


def test_a_taken_port_is_one_line(shared: WitnessProcess, tmp_path: Path) -> None:
    """The address is named, and no trace of the program is printed."""
    second = run("--state", tmp_path / "state", "--log", VKEY, "--port", str(shared.port))
    assert second.returncode == 2
    assert second.stderr.startswith(f"stud-ledger: cannot listen on 127.0.0.1:{shared.port} (")
    assert second.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--state"),
        (["--state", "s"], "name a log with --log VKEY"),
        (["--state", "s", "--log", ""], "name a log with --log VKEY"),
        (["--state", "s", "--log", VKEY, "--port", "65536"], "--port must be"),
        (["--state", "s", "--log", "key"], "not a verifier key"),
        (["--state", "s", "--log", LOG.key.cosigner.vkey], "not a log's"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], said: str) -> None:
    """Status 2 and what to say instead; nothing is made."""
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# ── Fetching instead of being sent ──────────────────────────────────────────────────────────────────────────
@contextlib.contextmanager
def published(log: SmallLog, size: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the URL prefix of a log's files, and the files, which may be changed."""
    files = log.files(size)

    def respond(path: str, _: bytes) -> Answer:
        found = files.get(path.removeprefix("/log/"))
        return (404, "text/plain", b"") if found is None else (200, "application/octet-stream", found)

    with answering(respond) as url:
        yield f"{url}/log", files


def test_it_fetches_and_signs_what_a_log_publishes(tmp_path: Path) -> None:
    """The proof comes from the tiles; the checkpoint is printed with the witness's signature."""
    with published(LOG, 300) as (url, files):
        for size in (300, 300, 70_000):
            files.update(LOG.files(size))
            done = run("--state", tmp_path / "state", "--log", VKEY, "--once", url)
            assert done.returncode == 0, done.stderr
            note = parse_note(done.stdout.encode())
            assert done.stdout.startswith(LOG.note(size).decode())
            assert len(verify(note, [LOG.key.verifier])) == 1
            assert len(note.signatures) == 2


def test_fetched_and_sent_are_one_memory(tmp_path: Path) -> None:
    """What was fetched yesterday binds what is sent today."""
    with published(FORK, 700) as (url, _):
        assert run("--state", tmp_path / "state", "--log", VKEY, "--once", url).returncode == 0
    with running(tmp_path / "state", [VKEY]) as witness:
        assert witness.add(request(700, [], LOG.note(700))) == 409
        assert witness.add(LOG.request(700, 800)) == 422


def test_a_forged_history_is_not_fetched(tmp_path: Path) -> None:
    """A log that has published one history and now another is refused, status 1, and a line says so."""
    state = tmp_path / "state"
    with published(LOG, 300) as (url, files):
        assert run("--state", state, "--log", VKEY, "--once", url).returncode == 0
        files.update(FORK.files(700))
        done = run("--state", state, "--log", VKEY, "--once", url)
        assert done.returncode == 1
        assert "refused: the proof does not show that it continues the last one" in done.stderr
        assert "kept in the folder refused" in done.stderr
        assert done.stdout == ""
        files["checkpoint"] = LOG.note(299)
        done = run("--state", state, "--log", VKEY, "--once", url)
        assert done.returncode == 1
        assert "the log shows 299 leaves, and 300 were signed" in done.stderr


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No server, no checkpoint, a tile missing, short or too long, and no URL: status 2 and one line each."""
    state = tmp_path / "state"

    def once(url: str) -> str:
        done = run("--state", state, "--log", VKEY, "--once", url)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert "is not an http or https URL" in once("file:///log")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "cannot be read" in once(f"http://127.0.0.1:{port}/log")
    with published(LOG, 5) as (url, files):
        assert run("--state", state, "--log", VKEY, "--once", url).returncode == 0
        files.clear()
        assert "status 404" in once(url)
        files["checkpoint"] = b"no note"
        assert "is not a checkpoint: not a signed note" in once(url)
        files["checkpoint"] = LOG.note(300)
        assert "tile/0/001.p/44 answers with status 404" in once(url)
        files.update(LOG.files(300) | {"tile/0/000": bytes(32)})  # too short for the subtree that is wanted
        assert "too short" in once(url)
        files["tile/0/000"] = bytes(8193)
        assert "too long" in once(url)


def test_where_a_partial_tile_is_gone_the_full_one_does(tmp_path: Path) -> None:
    """A log may remove a partial tile once it is full: the checkpoint of before is still signed."""
    with published(LOG, 300) as (url, files):
        assert run("--state", tmp_path / "state", "--log", VKEY, "--once", url).returncode == 0
        files.update(LOG.files(1024))
        files["checkpoint"] = LOG.note(310)
        assert "tile/0/001.p/54" not in files
        done = run("--state", tmp_path / "state", "--log", VKEY, "--once", url)
        assert done.returncode == 0, done.stderr


def test_it_stands_on_little(tmp_path: Path) -> None:
    """Of the project a witness needs no more than what is copied here; its help names every option."""
    shutil.copytree(ROOT / "infrastructure/witness", tmp_path / "infrastructure/witness")
    for file in (
        "infrastructure/__init__.py",
        *(f"infrastructure/evidence/{name}.py" for name in ("__init__", "merkle", "notes", "tiles")),
        "api/__init__.py",
        *(f"api/cli/{name}.py" for name in ("__init__", "witness", "connections")),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.witness", "--help"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(option in done.stdout for option in ("--state", "--log", "--once", "--port", "--name"))
