"""What a worker has to know, and how it is told: through its environment, by the process that starts it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

DSN = "STUD_LEDGER_DSN"
KEYS = "STUD_LEDGER_KEYS"
LOG = "STUD_LEDGER_LOG"
DEMO = "STUD_LEDGER_DEMO"
START = "STUD_LEDGER_START"
PROJECTOR = "STUD_LEDGER_PROJECTOR_INSIDE"
SERVER = "STUD_LEDGER_PG_INSTALLATION"
WITNESSES = "STUD_LEDGER_WITNESSES"
ODDS = "STUD_LEDGER_ODDS"


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The application role's connection string, the folder of the keys, whether demo tables may be opened.

    `log` is the folder of the evidence log: `log` beside the keys, where none is named.

    `start` names this start of the service, which all its processes share; `server` is the folder of the
    PostgreSQL that runs for it, None where the server is another's. `projector_inside`: a thread of the
    process projects, as there is no process for it. `witnesses` cosign the log's checkpoints, each of them
    named by its key and its URL: ``VKEY URL``. `odds` is the folder of what takes long to count for the exact
    odds of rule sets; None where this service computes none.

    The connection string may hold a password: it is left out of the representation.
    """

    dsn: str = field(repr=False)
    keys: Path
    demo: bool = False
    start: str = field(default_factory=lambda: secrets.token_hex(8))
    server: Path | None = None
    projector_inside: bool = True
    log: Path = Path()
    witnesses: tuple[str, ...] = ()
    odds: Path | None = None

    def __post_init__(self) -> None:
        """Fill in the log's folder."""
        if self.log == Path():
            object.__setattr__(self, "log", self.keys.parent / "log")

    def to_environment(self) -> dict[str, str]:
        """Return the environment variables that say the same."""
        return {
            DSN: self.dsn,
            KEYS: str(self.keys),
            LOG: str(self.log),
            DEMO: "1" if self.demo else "0",
            START: self.start,
            SERVER: "" if self.server is None else str(self.server),
            PROJECTOR: "1" if self.projector_inside else "0",
            WITNESSES: "\n".join(self.witnesses),
            ODDS: "" if self.odds is None else str(self.odds),
        }

    @classmethod
    def from_environment(cls) -> ServiceSettings:
        """Read the settings a supervisor left in our environment. Raises KeyError where there are none."""
        server, odds = os.environ.get(SERVER), os.environ.get(ODDS)
        return cls(
            os.environ[DSN],
            Path(os.environ[KEYS]),
            demo=os.environ.get(DEMO) == "1",
            start=os.environ.get(START) or secrets.token_hex(8),
            server=Path(server) if server else None,
            projector_inside=os.environ.get(PROJECTOR) != "0",
            log=Path(os.environ.get(LOG, "")),
            witnesses=tuple(os.environ.get(WITNESSES, "").splitlines()),
            odds=Path(odds) if odds else None,
        )
