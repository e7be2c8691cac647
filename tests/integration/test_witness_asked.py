"""The log's side of its witnesses: checkpoints are offered, and whatever witnesses do, nobody waits."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from infrastructure.evidence import asking, witnesses
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.evidence.notes import NoteError, Signer, parse_note, parse_vkey, verify
from infrastructure.evidence.witnesses import Cosigned, Standing, Witnesses
from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Witness
from tests.integration.http_stub import Answer, Respond, answering
from tests.unit.infrastructure.witness.small_log import ORIGIN, SmallLog, signer

LOG = SmallLog(600)
TEXT = "text/plain"


class Asked:
    """A true witness behind a web server; `before` may decide the answer instead of it."""

    def __init__(self, folder: Path, name: str, known: Sequence[Signer] = (LOG.key,)) -> None:
        with State.open(folder, name) as state:  # nobody else opens it in these tests
            self.witness = Witness(
                state, KnownLogs(each.verifier.vkey for each in known), time.time, lambda _: None
            )
        self.before: Callable[[bytes], Answer | None] = lambda _: None
        self.requests: list[bytes] = []

    def respond(self, path: str, body: bytes) -> Answer:
        """Answer as the witness does, unless something else was decided."""
        assert path == "/add-checkpoint"
        self.requests.append(body)
        decided = self.before(body)
        if decided is not None:
            return decided
        answer = self.witness.add_checkpoint(body)
        return answer.status, answer.content_type, answer.body.encode()

    def address(self, url: str) -> WitnessAddress:
        """Return what names it at a URL."""
        return WitnessAddress(parse_vkey(self.witness.vkey), url)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    """Return a witness."""
    return Asked(tmp_path / "w1", "w1")


@contextlib.contextmanager
def asking_at(*addresses: WitnessAddress) -> Iterator[Witnesses]:
    """Yield the log's side of witnesses, stopped afterwards."""
    found = Witnesses(addresses)
    try:
        yield found
    finally:
        found.stop()


@contextlib.contextmanager
def asking_one(asked: Asked, respond: Respond | None = None) -> Iterator[Witnesses]:
    """Yield the log's side of one witness."""
    with answering(respond or asked.respond) as url, asking_at(asked.address(url)) as found:
        yield found


def offer(found: Witnesses, size: int, log: SmallLog = LOG) -> None:
    """Offer a log's checkpoint."""
    found.offer(log.note(size), log.proof)


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for a condition, which has to come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def cosigned(found: Witnesses, size: int, at_least: int | None = None) -> Cosigned:
    """Return the cosigned checkpoint of a size, as soon as there is one."""
    until(lambda: (newest := found.newest(at_least)) is not None and newest.checkpoint.size == size)
    newest = found.newest(at_least)
    assert newest is not None
    return newest


def problem(found: Witnesses) -> Standing:
    """Return where the one witness stands, as soon as something is wrong."""
    until(lambda: found.standing()[0].problem != "")
    return found.standing()[0]


def test_each_checkpoint_comes_back_cosigned(asked: Asked) -> None:
    """The cosigned note is the log's own with the witness's line, and verifies; sizes are remembered."""
    with asking_one(asked) as found:
        for size in (1, 7, 256, 600):
            offer(found, size)
            newest = cosigned(found, size)
            assert newest.note.startswith(LOG.note(size))
            (by,) = newest.witnesses
            assert by.vkey == asked.witness.vkey
            verified = verify(parse_note(newest.note), [LOG.key.verifier, by])
            assert [each.name for each in verified] == [ORIGIN, "w1"]
            assert abs((verified[1].time or 0) - time.time()) < 60
        assert found.standing() == [Standing("w1", 600)]
    assert len(asked.requests) == 4


def test_after_a_restart_the_witness_says_where_it_stands(asked: Asked) -> None:
    """A log that does not remember what was signed is told, and asks again with the proof from there."""
    with asking_one(asked) as found:
        offer(found, 100)
        cosigned(found, 100)
    with asking_one(asked) as found:
        offer(found, 300)
        cosigned(found, 300)
    assert [body.split(b"\n")[0] for body in asked.requests] == [b"old 0", b"old 0", b"old 100"]


def test_a_new_log_begins_at_zero(tmp_path: Path) -> None:
    """A checkpoint of another log, as after a new generation, is offered from its own beginning."""
    other = SmallLog(20, key=signer("another"))
    asked = Asked(tmp_path / "w", "w", (LOG.key, other.key))
    with asking_one(asked) as found:
        offer(found, 100)
        cosigned(found, 100)
        offer(found, 20, other)
        assert cosigned(found, 20).checkpoint.origin == "another"


def test_no_witness_is_no_work() -> None:
    """Without witnesses nothing is asked, and nothing is cosigned."""
    with asking_at() as found:
        offer(found, 5)
        assert found.newest() is None
        assert found.newest(1) is None
        assert found.standing() == []


def test_what_is_no_checkpoint_is_not_offered(asked: Asked) -> None:
    """Whoever offers something else learns it at once."""
    with asking_one(asked) as found, pytest.raises(NoteError):
        found.offer(b"no note", LOG.proof)


def test_a_fork_raises_the_alarm(asked: Asked) -> None:
    """A witness that has signed another tree of our size: one of us lies."""
    with asking_one(asked) as found:
        offer(found, 100)
        cosigned(found, 100)
        offer(found, 100, SmallLog(100, fork_at=3))
        standing = problem(found)
        assert (standing.problem, standing.alarm) == ("it has signed another tree of this size", True)


@pytest.mark.parametrize("remembered", [1, 0], ids=["remembered", "told"])
def test_a_fork_that_has_grown_raises_the_alarm(asked: Asked, remembered: int) -> None:
    """A log that was put back and has grown anew: the witness has signed what it does not continue."""
    with asking_one(asked) as found:
        offer(found, 100)
        cosigned(found, 100)
        fork = SmallLog(300, fork_at=90)
        if remembered:
            offer(found, 300, fork)
            standing = problem(found)
    if not remembered:
        with asking_one(asked) as found:
            offer(found, 300, fork)
            standing = problem(found)
    assert standing.problem == "our tree does not continue what it has signed of 100 leaves"
    assert standing.alarm


def test_a_larger_tree_raises_the_alarm(asked: Asked) -> None:
    """A witness that has signed more leaves than we have: we were rolled back."""
    with asking_one(asked) as found:
        offer(found, 100)
        cosigned(found, 100)
    with asking_one(asked) as found:
        offer(found, 99)
        standing = problem(found)
        assert (standing.problem, standing.alarm) == (
            "it has signed a tree of 100 leaves, larger than ours",
            True,
        )


def other_signature(asked: Asked) -> Answer:
    """Return the answer of a thief who has the witness's name and not its key."""
    return 200, TEXT, signer(asked.witness.vkey.split("+")[0]).cosign(LOG.checkpoint(9).body(), 1).encode()


WRONG: dict[str, tuple[Callable[[Asked], Answer], str]] = {
    "an error": (lambda _: (500, TEXT, b""), "it answers with status 500"),
    "no log of ours": (lambda _: (404, TEXT, b""), "it answers with status 404"),
    "nothing": (lambda _: (200, TEXT, b""), "its answer has no signature of its key"),
    "garbage": (lambda _: (200, TEXT, b"\xff\n"), "its answer is not a signature of its key"),
    "no line": (lambda _: (200, TEXT, b"signed\n"), "its answer is not a signature of its key"),
    "a stranger's line": (other_signature, "its answer has no signature of its key"),
    "too much": (lambda _: (200, TEXT, b"x" * 70_000), "its answer is too long"),
    "a size of no use": (
        lambda _: (409, "text/x.tlog.size", b"01\n"),
        "it does not say what size it has signed",
    ),
    "a conflict without a size": (lambda _: (409, TEXT, b""), "it does not say what size it has signed"),
    "the size we said": (
        lambda _: (409, "text/x.tlog.size", b"0\n"),
        "it does not say what size it has signed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_no_signature(asked: Asked, name: str) -> None:
    """Whatever it is, the checkpoint stays without it, and what is wrong can be told."""
    answer, said = WRONG[name]
    asked.before = lambda _: answer(asked)
    with asking_one(asked) as found:
        offer(found, 9)
        assert problem(found).problem == said
        assert found.newest() is None


def test_a_signature_of_something_else_is_none(asked: Asked) -> None:
    """A line of the right key under another checkpoint is refused."""
    line = asked.witness.add_checkpoint(LOG.request(0, 8)).body
    asked.before = lambda _: (200, TEXT, line.encode())
    with asking_one(asked) as found:
        offer(found, 9)
        assert problem(found).problem == "its answer is not a signature of its key"


def test_lines_of_strangers_beside_the_right_one_are_passed_over(asked: Asked) -> None:
    """Only the line of the key we know is taken."""

    def respond(path: str, body: bytes) -> Answer:
        status, kind, said = asked.respond(path, body)
        stranger = signer("example.com/stranger").cosign(LOG.checkpoint(9).body(), 1)
        return status, kind, stranger.encode() + said

    with asking_one(asked, respond) as found:
        offer(found, 9)
        assert cosigned(found, 9).note.count("—".encode()) == 2


def test_a_proof_that_cannot_be_made_is_told(asked: Asked) -> None:
    """Trouble with our own tiles is this witness's missing answer, and no end of the asking."""

    def broken(_: int, __: int) -> list[bytes]:
        raise OSError(5, "Input/output error")

    with asking_one(asked) as found:
        found.offer(LOG.note(9), broken)
        assert problem(found).problem == "the consistency proof cannot be made"
        offer(found, 9)
        cosigned(found, 9)
        assert found.standing() == [Standing("w1", 9)]


def test_one_that_is_away_is_asked_again_later(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens, then somebody does: the newest checkpoint offered meanwhile is cosigned."""
    monkeypatch.setattr(witnesses, "PAUSE_SECONDS_FIRST", 0.02)
    monkeypatch.setattr(witnesses, "PAUSE_SECONDS_MAX", 0.05)
    asked.before = lambda _: (503, TEXT, b"")
    with answering(asked.respond) as url, asking_at(asked.address(url)) as found:
        for size in range(1, 20):
            offer(found, size)
            time.sleep(0.005)
        assert problem(found).problem == "it answers with status 503"
        offer(found, 20)
        until(lambda: asked.requests[-1].startswith(LOG.request(0, 20)))
        asked.before = lambda _: None
        offer(found, 21)
        assert cosigned(found, 21)
        assert found.standing() == [Standing("w1", 21)]


def test_nobody_listening_is_told(asked: Asked) -> None:
    """A port that nobody answers on is a witness that cannot be reached, and no alarm."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with asking_at(asked.address(f"http://127.0.0.1:{port}")) as found:
        offer(found, 9)
        assert problem(found) == Standing("w1", 0, "it cannot be reached")


def test_a_connection_given_up_between_questions_is_made_anew(asked: Asked) -> None:
    """A server that hangs up after every answer costs no signature and no pause."""
    with answering(asked.respond, keep_alive=False) as url, asking_at(asked.address(url)) as found:
        for size in (5, 6, 7):
            offer(found, size)
            cosigned(found, size)
        assert found.standing() == [Standing("w1", 7)]


def test_a_slow_witness_holds_up_neither_the_log_nor_another(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answers at once and one not at all: offers return at once, and the first goes on signing."""
    monkeypatch.setattr(witnesses, "ROUND_SECONDS_MAX", 0.05)
    slow, let_go = Asked(tmp_path / "slow", "slow"), threading.Event()

    def wait(_: bytes) -> None:
        let_go.wait(20)

    slow.before = wait
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(answering(each.respond)) for each in (asked, slow))
        with asking_at(asked.address(one), slow.address(two)) as found:
            for size in (10, 20, 30):
                began = time.monotonic()
                offer(found, size)
                assert time.monotonic() - began < 0.5
                cosigned(found, size, at_least=1)
            assert found.newest() is None
            let_go.set()
            assert cosigned(found, 10).checkpoint.size == 10
            offer(found, 40)
            both = cosigned(found, 40)
            assert {each.name for each in both.witnesses} == {"w1", "slow"}
            assert found.newest(1) == both


def test_one_that_never_ends_its_answer_is_hung_up_on(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that trickles for ever ends when its time is over, and the witness is asked again."""
    monkeypatch.setattr(witnesses, "ROUND_SECONDS_MAX", 0.02)
    monkeypatch.setattr(witnesses, "ANSWER_SECONDS_MAX", 0.1)
    monkeypatch.setattr(witnesses, "PAUSE_SECONDS_FIRST", 0.02)
    ends = threading.Event()

    def trickle() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            ports.append(server.getsockname()[1])
            ready.set()
            server.settimeout(20)
            peer, _ = server.accept()
            with peer, contextlib.suppress(OSError):
                peer.sendall(b"HTTP/1.1 200 OK\r\n")
                while not ends.wait(0.01):
                    peer.sendall(b"X-More: x\r\n")

    ports: list[int] = []
    ready = threading.Event()
    thread = threading.Thread(target=trickle)
    thread.start()
    assert ready.wait(10)
    try:
        with asking_at(asked.address(f"http://127.0.0.1:{ports[0]}")) as found:
            offer(found, 9)
            assert problem(found).problem == "it cannot be reached"
    finally:
        ends.set()
        thread.join()


def test_stopping_does_not_wait_for_an_answer(asked: Asked) -> None:
    """A witness that is answering is hung up on at the end."""
    let_go = threading.Event()

    def wait(_: bytes) -> None:
        let_go.wait(20)

    asked.before = wait
    with answering(asked.respond) as url:
        found = Witnesses([asked.address(url)])
        offer(found, 9)
        until(lambda: bool(asked.requests))
        began = time.monotonic()
        found.stop()
        assert time.monotonic() - began < 5
        let_go.set()
        offer(found, 10)
    assert len(asked.requests) == 1


def test_a_system_without_threads_is_survived(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started the witness is asked later."""
    monkeypatch.setattr(witnesses, "PAUSE_SECONDS_FIRST", 0.02)
    start = threading.Thread.start
    failures = [RuntimeError("can't start new thread")]

    def fail_once(thread: threading.Thread) -> None:
        if thread.name != "witnesses" and thread.daemon and failures:
            raise failures.pop()
        start(thread)

    with asking_one(asked) as found:
        monkeypatch.setattr(threading.Thread, "start", fail_once)
        offer(found, 8)
        assert problem(found).problem == "there is no thread to ask it with"
        offer(found, 9)
        cosigned(found, 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a verifier key"),
        ("w1 http://example.com", "not a verifier key"),
        (f"{LOG.key.verifier.vkey} http://example.com", "not a witness's"),
        (f"{LOG.key.cosigner.vkey}", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} example.com", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} ftp://example.com", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} http://", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} http://example.com:99999", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} http://me:secret@example.com", "http or https URL"),
        (f"{LOG.key.cosigner.vkey} http://example.com/?a=b", "http or https URL"),
    ],
)
def test_what_names_no_witness_is_refused(text: str, said: str) -> None:
    """A witness is named by a cosigning key and the URL it is asked at."""
    with pytest.raises(NoteError, match=said):
        WitnessAddress.parse(text)


def test_a_witness_is_named_as_it_is_told() -> None:
    """What names a witness reads back as the same; a slash at the end is the same place."""
    address = WitnessAddress.parse(f" {LOG.key.cosigner.vkey}  https://example.com/w/ ")
    assert str(address) == f"{LOG.key.cosigner.vkey} https://example.com/w"
    assert WitnessAddress.parse(str(address)) == address
    assert asking.WitnessConnection(address).verifier == LOG.key.cosigner
