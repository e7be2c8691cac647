"""The evidence log's own events, audits and exports: what they say, and the rows kept of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from infrastructure.checking.books import Books
from infrastructure.checking.registers import two_people

Data = dict[str, Any]

LOG: Final = "log"
_OF_A_HALT: Final = ("size", "root", "position")
_NOTHING: Final = dict.fromkeys(("halted", *_OF_A_HALT, "signed_origin", "signed_vkey"))
_EXPORTED: Final = {"archive_sequence": 0, "archive_day": "", "archive_position": 0, "archive_sha256": ""}


def _log(books: Books) -> Data:
    if books.registers.peek(LOG) is None:
        empty = {"at": books.position, "generation": 0, "origin": "", "keys": [], "version": 0}
        books.registers.add(LOG, empty | _NOTHING | _EXPORTED)
    log: Data = books.registers.get(LOG) or {}
    log["at"] = books.position
    return log


def _started(books: Books, name: str, data: Data) -> None:
    two_people(books, data)
    log, generation = _log(books), data["generation"]
    if name != str(generation) or generation <= log["generation"]:
        books.differs("log", f"the log {generation} starts in the stream log-{name}")
    if log["generation"]:
        left = data.get("previous", {})
        due = log["signed_origin"] or log["origin"], log["signed_vkey"] or log["keys"][0]
        if log["halted"] is None or (left.get("origin"), left.get("vkey")) != due:
            books.differs("log", f"the log {generation} does not take the place of the one that was halted")
    elif generation != 1:
        books.differs("log", f"the first log is the {generation}.")
    log.update(_NOTHING, generation=generation, origin=data["origin"], keys=[data["vkey"]], version=1)


def _rotated(books: Books, name: str, data: Data) -> None:
    two_people(books, data)
    log = _of_log(books, name, data)
    if log["keys"][:1] != [data["previous_vkey"]]:
        books.differs("log", f"the key that is replaced in the log {name} is not the one that signed")
    log["keys"].insert(0, data["vkey"])


def _halted(books: Books, name: str, data: Data) -> None:
    log = _of_log(books, name, data)
    if log["halted"] is not None:
        books.differs("log", f"the log {name} is halted twice")
    log["halted"] = data["reason"]
    log.update({each: data.get(each) for each in _OF_A_HALT})
    log["signed_origin"], log["signed_vkey"] = data.get("origin"), data.get("vkey")


def _of_log(books: Books, name: str, data: Data) -> Data:
    log = _log(books)
    if not name == str(log["generation"]) == str(data["generation"]):
        books.differs("log", f"the log {log['generation']} changes in the stream log-{name}")
    log["version"] += 1
    return log


def _audit_started(books: Books, name: str, data: Data) -> None:
    if data["run_id"] != name or books.registers.peek(f"audit-{name}") is not None:
        books.differs("audit", f"the audit {name} starts twice, or in another's stream")
        return
    said = {each: data[each] for each in ("run_id", "source", "from_position", "to_position")}
    books.registers.add(f"audit-{name}", {"at": books.position, **said, "verdict": None})


def _audit_finished(books: Books, name: str, data: Data) -> None:
    audit = books.registers.get(f"audit-{name}")
    if audit is None or data["run_id"] != name or audit["verdict"] is not None:
        books.differs("audit", f"the audit {name} ends and did not run, or ends in another's stream")
        return
    audit["at"] = books.position
    audit.update({each: data.get(each) for each in ("verdict", "rounds", "events", "exceptions")})
    audit["report_sha256"] = data.get("report_sha256")


def _exported(books: Books, name: str, data: Data) -> None:
    log = _log(books)
    due = log["archive_sequence"] + 1
    if (name, data["sequence"]) != (str(due), due):
        books.differs(
            "archive", f"the export {data['sequence']} follows {due - 1} in the stream archive-{name}"
        )
    if data["first_position"] != log["archive_position"] + 1 or data["day"] <= log["archive_day"]:
        books.differs("archive", f"the export {name} does not go on where the one before ended")
    log.update(
        archive_sequence=data["sequence"],
        archive_day=data["day"],
        archive_position=data["last_position"],
        archive_sha256=data["manifest_sha256"],
    )


RECORDED: Final[dict[str, tuple[str, Callable[[Books, str, Data], None]]]] = {
    "LogStarted": ("log", _started),
    "LogKeyRotated": ("log", _rotated),
    "LogHalted": ("log", _halted),
    "AuditStarted": ("audit", _audit_started),
    "AuditFinished": ("audit", _audit_finished),
    "ArchiveExported": ("archive", _exported),
}
"""What to do with each of these types of event, and which kind of stream it is in."""
