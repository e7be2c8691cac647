"""The evidence log's files and proofs over HTTP: what is there, exactly where, for how long; what is not."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.settings import ServiceSettings
from api.tokens import Tokens, mint
from infrastructure.evidence import files, folder, merkle
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.notes import parse_checkpoint, parse_note, parse_vkey, verify
from infrastructure.evidence.tiles import pack_entries, tile_path
from tests.integration.made_log import SIGNER, WITNESS, checkpoint, make_log

KEY = b"k" * 32
EVENTS = [b"event %d" % number for number in range(70_000)]
LEAVES = merkle.leaf_hashes(EVENTS)
YEAR = "public, max-age=31536000, immutable"
HOUR = "public, max-age=3600"


@dataclass
class Reading:
    """A database with the events up to `there`, an open round's at `open`, a changed one at `altered`."""

    there: int = len(EVENTS)
    open: int = 0
    altered: int = 0

    async def disclosed(self, first: int, last: int) -> list[bytes] | None:
        """Return events, unless one of them belongs to the open round."""
        if last > self.there or first <= self.open <= last:
            return None
        numbered = enumerate(EVENTS[first - 1 : last], first)
        return [b"altered" if position == self.altered else event for position, event in numbered]


@dataclass
class Log:
    """A service that has nothing but a log."""

    path: Path
    reading: Reading

    def get(self, path: str, *, scope: str = "", method: str = "GET", **headers: str) -> httpx.Response:
        """Ask."""
        app = create_app(ServiceSettings("", Path()))
        parts = {"log": LogFolder(self.path), "tokens": Tokens(KEY), "reading": self.reading}
        app.state.service = SimpleNamespace(**parts)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if scope:
            token = mint(KEY, scope, client_id="operator", actor="operator", ttl_seconds=60)
            named["authorization"] = f"Bearer {token}"

        async def sent() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://ledger") as client:
                return await client.request(method, path, headers=named)

        return asyncio.run(sent())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 70 000 events."""
    path = tmp_path_factory.mktemp("log")
    make_log(path, EVENTS)
    return path


@pytest.fixture
def log(whole: Path) -> Log:
    """A service with that log."""
    return Log(whole, Reading())


def problem(response: httpx.Response) -> tuple[int, str]:
    """Return status and code of what was refused."""
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def test_the_checkpoint_is_a_signed_note(log: Log) -> None:
    """It is text, kept for a moment only, and verifies with the key that is served beside it."""
    answer = log.get("/log/checkpoint")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=1"
    note = parse_note(answer.content)
    assert parse_checkpoint(note.text).root == merkle.root_of(LEAVES)
    keys = log.get("/log/key")
    assert keys.headers["content-type"] == "text/plain; charset=utf-8"
    assert verify(note, [parse_vkey(keys.text.removesuffix("\n"))])[0].name == SIGNER.name


@pytest.mark.parametrize(
    ("level", "number", "width"),
    [(0, 0, 256), (0, 272, 256), (0, 273, 112), (0, 273, 3), (1, 0, 256), (1, 1, 17), (2, 0, 1), (0, 5, 7)],
)
def test_a_tile_is_what_its_path_says(log: Log, level: int, number: int, width: int) -> None:
    """Hashes of complete subtrees, 32 bytes each; a named log's whole tile stays a year, others an hour."""
    answer = log.get(f"/log/{tile_path(level, number, width)}")
    named = log.get(f"/log/1/{tile_path(level, number, width)}")
    assert answer.status_code == 200
    span = 256**level
    first = number * 256 * span
    hashes = [merkle.root_of(LEAVES[first + at * span : first + (at + 1) * span]) for at in range(width)]
    assert answer.content == b"".join(hashes)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == HOUR
    assert named.content == answer.content
    assert named.headers["cache-control"] == (YEAR if width == 256 else HOUR)


@pytest.mark.parametrize(
    "path",
    [
        "tile/0/273",  # not whole in this tree
        "tile/0/273.p/113",
        "tile/1/001.p/18",
        "tile/2/000.p/2",
        "tile/3/000.p/1",
        "tile/0/274.p/1",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/07",
        "tile/0/x000/001",
        "tile/0/0",
        "tile/0/0000",
        "tile/0/x001",
        "tile/00/000",
        "tile/8/000",
        "tile/-1/000",
        "tile/0/000/",
        "tile/0/000.p/1/",
        "tile/0/%2e%2e/%2e%2e/keys",
        "tile/0/../checkpoint",
        "tile/0/\u0660\u0660\u0660",
        "tile",
        "tile/0",
        "tile/0/000.new",
        "proof/0",
        "proof/70001",
        "proof/1x",
        "proof/-1",
        "proof/01",
        "proof/9007199254740993",
        "consistency/5/4",
        "consistency/1/70001",
        "consistency/x/4",
        "0/checkpoint",
        "2/checkpoint",
        "01/checkpoint",
        "x/key",
        "begun",
        "1/begun",
        "head",
        "keys",
    ],
)
def test_any_other_path_is_nothing(log: Log, path: str) -> None:
    """What no signed tree has, another spelling, a way out of the folder: nothing; no cache keeps that."""
    answer = log.get(f"/log/{path}", scope="audit admin")
    assert problem(answer) == (404, "not_found")
    assert "max-age" not in answer.headers.get("cache-control", "")


def test_nothing_is_there_before_the_log_has_signed(tmp_path: Path) -> None:
    """A log that is only about to begin has no checkpoint, no key and no tile yet."""
    folder.begin(tmp_path / "log", 1)
    empty = Log(tmp_path / "log", Reading())
    for path in ("checkpoint", "key", "tile/0/000.p/1", "proof/1", "consistency/0/0", "1/checkpoint"):
        assert problem(empty.get(f"/log/{path}")) == (404, "not_found")


def test_tiles_that_are_prepared_are_not_served(tmp_path: Path) -> None:
    """The folder may have more than was signed: until it is, that may still change."""
    made = make_log(tmp_path, EVENTS[:600])
    files.write(made.place / folder.CHECKPOINT, checkpoint(made, 300))
    log = Log(tmp_path, Reading())
    assert log.get("/log/tile/0/001.p/44").status_code == 200
    for path in ("tile/0/001.p/45", "tile/0/001", "tile/0/002.p/1", "tile/1/000.p/2", "proof/301"):
        assert problem(log.get(f"/log/{path}")) == (404, "not_found")
    assert log.get("/log/tile/entries/001.p/44", scope="audit").status_code == 200
    assert problem(log.get("/log/tile/entries/001.p/45", scope="audit")) == (404, "not_found")


def test_a_missing_tile_is_no_answer_and_no_trace(tmp_path: Path) -> None:
    """Where the folder lacks what the checkpoint says, the client may come back; no path is told."""
    made = make_log(tmp_path, EVENTS[:600])
    (made.place / tile_path(0, 1)).unlink()
    log = Log(tmp_path, Reading())
    for path in ("tile/0/001", "proof/300"):
        answer = log.get(f"/log/{path}")
        assert problem(answer) == (503, "overloaded")
        assert str(tmp_path) not in answer.text


def test_who_has_it_already_is_told_so(log: Log) -> None:
    """Conditional requests (RFC 9110 section 13): the same entity is not sent again, another one is."""
    for path in ("checkpoint", "key", "tile/0/000", "tile/1/001.p/17", "proof/7", "consistency/3/70000"):
        first = log.get(f"/log/{path}")
        tag = first.headers["etag"]
        for known in (tag, f'"x", W/{tag}', "*"):
            again = log.get(f"/log/{path}", if_none_match=known)
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert again.headers["cache-control"] == first.headers["cache-control"]
        assert log.get(f"/log/{path}", if_none_match='"x"').content == first.content


def test_head_tells_what_get_would(log: Log) -> None:
    """The same status and headers, length included."""
    for path in ("checkpoint", "key", "tile/0/000", "proof/7", "consistency/3/70000", "1/checkpoint"):
        got, told = log.get(f"/log/{path}"), log.get(f"/log/{path}", method="HEAD")
        assert (told.status_code, dict(told.headers)) == (200, dict(got.headers))
    assert log.get("/log/tile/0/999", method="HEAD").status_code == 404
    assert problem(log.get("/log/checkpoint", method="POST")) == (405, "method_not_allowed")
    assert log.get("/log/checkpoint", method="DELETE").headers["allow"] == "GET, HEAD"


def test_a_proof_is_a_file_by_itself(log: Log) -> None:
    """tlog-proof: its index, the path up to the root, and the checkpoint it leads to."""
    for position in (1, 256, 257, 65_537, 70_000):
        answer = log.get(f"/log/proof/{position}")
        assert answer.headers["content-disposition"].endswith(f'"event-{position}.tlog-proof"')
        head, _, note = answer.text.partition("\n\n")
        first, index, *path = head.split("\n")
        assert (first, index) == ("c2sp.org/tlog-proof@v1", f"index {position - 1}")
        tree = parse_checkpoint(parse_note(note.encode()).text)
        proof = [base64.b64decode(line) for line in path]
        assert merkle.verify_inclusion(LEAVES[position - 1], position - 1, tree.size, proof, tree.root)


def test_a_proof_has_the_witnesses_as_far_as_they_came(tmp_path: Path) -> None:
    """A checkpoint that is cosigned and has the event comes before a newer one that is not."""
    made = make_log(tmp_path, EVENTS[:600])
    files.write(made.place / folder.COSIGNED, checkpoint(made, 500, cosigned=True))
    log = Log(tmp_path, Reading())
    for position, size, cosigned in ((500, 500, True), (501, 600, False)):
        text = log.get(f"/log/proof/{position}").text
        note = parse_note(text.partition("\n\n")[2].encode())
        assert parse_checkpoint(note.text).size == size
        assert (WITNESS.name in text) == cosigned


def test_consistency_of_any_two_sizes(log: Log) -> None:
    """Hashes, one a line, that prove that the larger tree begins with the smaller one."""
    for old, new in ((1, 70_000), (256, 257), (65_535, 65_536), (69_999, 70_000), (0, 5), (9, 9)):
        answer = log.get(f"/log/1/consistency/{old}/{new}")
        assert answer.headers["cache-control"] == YEAR
        proof = [base64.b64decode(line) for line in answer.text.split("\n")[:-1]]
        roots = merkle.root_of(LEAVES[:old]), merkle.root_of(LEAVES[:new])
        assert merkle.verify_consistency(old, roots[0], new, roots[1], proof)


def test_earlier_logs_stay_where_they_are(tmp_path: Path) -> None:
    """After a new log has begun, the old one's files are below its number, and the new one's at both."""
    make_log(tmp_path, EVENTS[:300])
    make_log(tmp_path, EVENTS[:40], number=2)
    log = Log(tmp_path, Reading())
    sizes = {
        path: parse_checkpoint(parse_note(log.get(path).content).text).size
        for path in ("/log/checkpoint", "/log/1/checkpoint", "/log/2/checkpoint")
    }
    assert list(sizes.values()) == [40, 300, 40]
    assert log.get("/log/1/tile/0/000").content == b"".join(LEAVES[:256])
    assert problem(log.get("/log/tile/0/000")) == (404, "not_found")
    assert log.get("/log/1/proof/300").status_code == 200
    assert log.get("/log/1/key").text == log.get("/log/2/key").text
    assert log.get("/log/1/consistency/1/300").status_code == 200
    assert log.get("/log/1/tile/entries/001.p/44", scope="audit").content == pack_entries(EVENTS[256:300])


@pytest.mark.parametrize("scope", ["play", "cashier", "admin", "reports", "disputes"])
def test_entries_need_the_auditors_scope(log: Log, scope: str) -> None:
    """Hashes are open; the events themselves are the auditor's."""
    assert problem(log.get("/log/tile/entries/000", scope=scope)) == (403, "scope_missing")
    assert problem(log.get("/log/tile/entries/000")) == (401, "unauthenticated")
    assert log.get("/log/tile/0/000").status_code == 200


def test_a_bundle_is_the_events_behind_their_lengths(whole: Path) -> None:
    """Whole or in part, plain or compressed, they are what the tile hashes; no shared cache keeps them."""
    log = Log(whole, Reading())
    for path, events in (("000", EVENTS[:256]), ("273.p/112", EVENTS[69_888:]), ("000.p/9", EVENTS[:9])):
        answer = log.get(f"/log/tile/entries/{path}", scope="audit", accept_encoding="identity")
        assert answer.content == pack_entries(events)
        assert answer.headers["cache-control"].startswith("private, max-age=")
        packed = log.get(f"/log/tile/entries/{path}", scope="audit", accept_encoding="br, gzip;q=0.5, gzip")
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == answer.content
        assert packed.headers["etag"] != answer.headers["etag"]
        assert "Accept-Encoding" in packed.headers["vary"]


def test_a_bundle_waits_for_the_end_of_its_rounds(whole: Path) -> None:
    """While a round with an event in it is open there is no bundle, whatever its width; others are there."""
    log = Log(whole, Reading(open=300))
    for path in ("001", "001.p/44"):
        answer = log.get(f"/log/tile/entries/{path}", scope="audit")
        assert problem(answer) == (404, "entries_not_ready")
        assert answer.headers["cache-control"] == "no-store"
    for path in ("000", "001.p/43", "002"):
        assert log.get(f"/log/tile/entries/{path}", scope="audit").status_code == 200


def test_a_bundle_the_sealer_has_written_is_there_without_the_database(tmp_path: Path) -> None:
    """Events that are archived are still in the log's own files."""
    made = make_log(tmp_path, EVENTS[:600])
    bundle = pack_entries(EVENTS[256:512])
    (made.place / "tile/entries").mkdir()
    files.write(made.place / "tile/entries/001", bundle)
    log = Log(tmp_path, Reading(there=0))
    assert log.get("/log/tile/entries/001", scope="audit").content == bundle
    assert problem(log.get("/log/tile/entries/000", scope="audit")) == (404, "entries_not_ready")


def test_events_that_were_not_sealed_are_no_bundle(whole: Path) -> None:
    """Where the database says something else than the log, nobody gets it for a bundle of the log."""
    log = Log(whole, Reading(altered=300))
    assert problem(log.get("/log/tile/entries/001", scope="audit")) == (503, "overloaded")
    assert log.get("/log/tile/entries/000", scope="audit").status_code == 200


def test_compressing_is_the_same_each_time(log: Log) -> None:
    """The entity behind an ETag is one: no time of day is in what was compressed."""
    answers = [log.get("/log/tile/entries/000", scope="audit", accept_encoding="gzip") for _ in range(2)]
    assert answers[0].headers["content-encoding"] == "gzip"
    assert answers[0].headers["etag"] == answers[1].headers["etag"]


def test_each_route_is_documented_for_every_log() -> None:
    """The document has each path below `/log` and below `/log/{generation}`."""
    paths: dict[str, Any] = create_app(ServiceSettings("", Path())).openapi()["paths"]
    below = {path.removeprefix("/log") for path in paths if path.startswith("/log/") and "{gen" not in path}
    assert {
        "/checkpoint",
        "/key",
        "/tile/{level}/{index}",
        "/tile/entries/{index}",
        "/proof/{position}",
    } < below
    assert {path.removeprefix("/log/{generation}") for path in paths if path.startswith("/log/{gen")} == below
