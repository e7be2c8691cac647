"""What a worker has to know, and how it is told: through its environment, by the process that starts it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

DSN = "STUD_LEDGER_DSN"
KEYS = "STUD_LEDGER_KEYS"
DEMO = "STUD_LEDGER_DEMO"


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The application role's connection string, the folder of the keys, whether demo tables may be opened.

    The connection string may hold a password: it is left out of the representation.
    """

    dsn: str = field(repr=False)
    keys: Path
    demo: bool = False

    def to_environment(self) -> dict[str, str]:
        """Return the environment variables that say the same."""
        return {DSN: self.dsn, KEYS: str(self.keys), DEMO: "1" if self.demo else "0"}

    @classmethod
    def from_environment(cls) -> ServiceSettings:
        """Read the settings a supervisor left in our environment. Raises KeyError where there are none."""
        return cls(os.environ[DSN], Path(os.environ[KEYS]), demo=os.environ.get(DEMO) == "1")
