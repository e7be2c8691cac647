"""The demo's own witness: kept beside the service like its other processes, with a memory of its own."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.cli import own_witness as own
from api.cli import serve, supervisor
from api.cli.own_witness import OwnWitness, own_witness
from api.cli.supervisor import Workers, listen
from api.settings import ServiceSettings
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.witness.state import InUseError, State, StateError
from tests.unit.infrastructure.witness.small_log import ORIGIN, SmallLog, request, signer

LOG = SmallLog(300)
TOLD = {"PYTHONPATH": str(Path(__file__).parents[2])}
SLEEPING = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder of logs as a sealer leaves it: one log, with its key."""
    (tmp_path / "log" / "1").mkdir(parents=True)
    (tmp_path / "log" / "1" / "keys").write_text(f"{LOG.key.verifier.vkey}\n")
    return tmp_path / "log"


@contextlib.contextmanager
def kept(folder: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[OwnWitness, Workers]]:
    """Yield a witness beside a service, looked after until it answers."""
    witness = own_witness(folder, logs)
    monkeypatch.setattr(Workers, "_is_ready", lambda _: True)
    with witness.process.listener, listen("127.0.0.1", 0) as listener:
        workers = Workers(listener, TOLD, SLEEPING, others=[witness.process])
        try:
            workers.start(1)
            yield witness, workers
        finally:
            workers.stop()


def ask(address: WitnessAddress, path: str, body: bytes | None = None) -> tuple[int, str]:
    """Return the status and the text of a witness's answer."""
    parts = urlsplit(address.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.request("GET" if body is None else "POST", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_it_signs_for_the_logs_kept_here(tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key is known before it runs; it signs for the log in the folder, and for a key that comes later."""
    with kept(tmp_path / "witness", logs, monkeypatch) as (witness, _):
        assert ask(witness.address, "/key") == (200, f"{witness.address.verifier.vkey}\n")
        assert ask(witness.address, "/add-checkpoint", LOG.request(0, 9))[0] == 200
        later = SmallLog(300, key=signer(number=2))
        assert ask(witness.address, "/add-checkpoint", later.request(9, 20))[0] == 403
        with (logs / "1" / "keys").open("a") as keys:
            keys.write(f"{later.key.verifier.vkey}\n")
        assert ask(witness.address, "/add-checkpoint", later.request(9, 20))[0] == 200


def test_killed_it_is_started_again_where_it_was(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kill -9: another one answers at the same place, with the same key, and has not forgotten."""
    with kept(tmp_path / "witness", logs, monkeypatch) as (witness, workers):
        assert ask(witness.address, "/add-checkpoint", LOG.request(0, 100))[0] == 200
        victim = workers._children[-1].process.pid
        os.kill(victim, signal.SIGKILL)
        deadline = time.monotonic() + 30
        said: list[str] = []
        while workers._children[-1].process.pid == victim:
            said += workers.look_after()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert said == [f"witness {victim} ended with status -9; starting another in 0.1 s"]
        assert ask(witness.address, "/key") == (200, f"{witness.address.verifier.vkey}\n")
        fork = SmallLog(100, fork_at=1)
        assert ask(witness.address, "/add-checkpoint", request(100, [], fork.note(100)))[0] == 409
        assert ask(witness.address, f"/checkpoint/{ORIGIN}")[1].startswith(LOG.note(100).decode())


def test_it_is_the_same_after_a_restart_of_the_service(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped with the service it leaves no process behind; the next one has its key and its memory."""
    with kept(tmp_path / "witness", logs, monkeypatch) as (first, workers):
        assert ask(first.address, "/add-checkpoint", LOG.request(0, 100))[0] == 200
        process = workers._children[-1].process
    assert process.poll() is not None
    with kept(tmp_path / "witness", logs, monkeypatch) as (second, _):
        assert second.address.verifier == first.address.verifier
        assert ask(second.address, "/add-checkpoint", LOG.request(0, 300)) == (409, "100\n")


def test_a_folder_in_use_is_waited_for_a_moment(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness of a service that was killed gives its folder up soon; one that does not is told."""
    monkeypatch.setattr(own, "PATIENCE_SECONDS", 0.05)
    with State.open(tmp_path / "witness"), pytest.raises(InUseError):
        own_witness(tmp_path / "witness", logs)


def test_without_it_the_service_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A witness that has lost its memory is told in a line; the service starts without it."""
    with State.open(tmp_path / "witness"):
        pass
    (tmp_path / "witness" / "state.json").unlink()
    settings = ServiceSettings("", tmp_path / "keys")
    with contextlib.ExitStack() as stack:
        assert serve.with_own_witness(settings, tmp_path / "witness", stack) == (settings, [])
    said = capsys.readouterr().out
    assert said.startswith("The log is not cosigned: the demo's own witness cannot run")
    assert said.count("\n") == 1


def test_with_it_the_settings_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of the service learn its key and where it is from their environment."""
    with contextlib.ExitStack() as stack:
        settings, (process,) = serve.with_own_witness(
            ServiceSettings("", tmp_path / "keys"), tmp_path / "witness", stack
        )
        for name, value in settings.to_environment().items():
            monkeypatch.setenv(name, value)
        (named,) = ServiceSettings.from_environment().witnesses
        assert WitnessAddress.parse(named).url.endswith(f":{process.listener.getsockname()[1]}")
    with pytest.raises(OSError, match="descriptor"):
        process.listener.getsockname()


def test_no_witness_and_several_come_through_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is named is read back as it was."""
    for witnesses in ((), ("key-1 http://one",), ("key-1 http://one", "key-2 https://two/w")):
        settings = ServiceSettings("", tmp_path / "keys", witnesses=witnesses)
        for name, value in settings.to_environment().items():
            monkeypatch.setenv(name, value)
        assert ServiceSettings.from_environment().witnesses == witnesses


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--witness", "key http://example.com"], "not a verifier key"),
        (["--witness", signer().verifier.vkey], "not a witness's"),
        (["--witness", signer().cosigner.vkey], "'VKEY URL'"),
        (
            [
                "--witness",
                f"{signer().cosigner.vkey} http://a",
                "--witness",
                f"{signer().cosigner.vkey} http://b",
            ],
            "twice",
        ),
    ],
)
def test_a_witness_wrongly_named_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2 and what is wrong with it, before anything is started."""
    with pytest.raises(SystemExit, match="2"):
        serve.parse(arguments)
    assert said in capsys.readouterr().err


def test_witnesses_are_named_on_the_command_line() -> None:
    """Each --witness is one; the processes are told them in the same order."""
    named = tuple(f"{signer(number=number).cosigner.vkey} https://example.com/{number}" for number in (1, 2))
    assert serve.parse(["--witness", named[0], "--witness", named[1]]).witnesses == named
    assert serve.parse([]).witnesses == ()


def test_what_runs_beside_begins_when_the_service_is_ready(
    tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that never gets ready has started no witness."""
    witness = own_witness(tmp_path / "witness", logs)
    monkeypatch.setattr(supervisor, "READY_TIMEOUT_S", 0.05)
    monkeypatch.setattr(Workers, "_is_ready", lambda _: False)
    with witness.process.listener, listen("127.0.0.1", 0) as listener:
        workers = Workers(listener, TOLD, SLEEPING, others=[witness.process])
        with pytest.raises(supervisor.ServiceError, match="not ready"):
            workers.start(1)
        assert [each.name for each in workers._children] == ["worker"]
        workers.stop()


def test_a_folder_of_somebody_elses_is_told(tmp_path: Path, logs: Path) -> None:
    """A folder that others may write to is no place for a witness, the demo's own neither."""
    (tmp_path / "witness").mkdir()
    (tmp_path / "witness").chmod(0o777)
    with pytest.raises(StateError, match="chmod 700"):
        own_witness(tmp_path / "witness", logs)
