"""What the software is, down to the byte: SHA-256 of its files (GLI-19 2.3.2).

A folder's hash is that of a text with one line for each file, in the order of their paths: the file's own
SHA-256, two spaces, its path with slashes. It is what ``sha256sum`` prints, so that anybody can compute it.
What Python compiled is left out: it is made anew from the rest. A link counts by where it leads.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from domain.commands import VerifySoftware
from domain.events import Occasion
from infrastructure.ledger.submission import Submission, own_submission

ROOT: Final = Path(__file__).parents[1]
CODE: Final = ("api", "domain", "infrastructure", "scripts")
RULESETS: Final = "domain/rulesets"
RULESET_SUFFIX: Final = ".toml"
LOCK: Final = "requirements.lock"
_COMPILED: Final = "__pycache__"


@dataclass(frozen=True, slots=True)
class Software:
    """The software of one process. `start` names the start of the service that it belongs to.

    `server` is the folder of the PostgreSQL installation, None where the server is another's.
    """

    build: str
    start: str
    server: Path | None = None
    root: Path = ROOT

    def look(self, occasion: Occasion, *, trusting: bool = False) -> VerifySoftware:
        """Return the command that records what is there now. Reads some 30 MB. Raises OSError."""
        rulesets = sorted((self.root / RULESETS).glob(f"*{RULESET_SUFFIX}"))
        known = frozenset(rulesets)
        code = [path for part in CODE for path in files(self.root / part) if path not in known]
        return VerifySoftware(
            build=self.build,
            code=digest(code, self.root),
            rulesets=digest(rulesets, self.root),
            lock=digest([self.root / LOCK], self.root),
            postgres=None
            if self.server is None
            else digest(_of_server(self.server), self.server.parent.parent),
            occasion=occasion,
            trusting=trusting,
        )

    def at_start(self, *, trusting: bool) -> Submission:
        """Return the first look of a process.

        It is recorded once for each start of the service, and once more for a process that finds something
        else.
        """
        command = self.look("start", trusting=trusting)
        found = hashlib.sha256(repr(command).encode()).hexdigest()
        return own_submission(command, f"software:start:{self.start}:{found}")

    def daily(self, day: str) -> Submission:
        """Return the look of a day, by its ISO date: whoever looks first has looked for all."""
        return own_submission(self.look("daily"), f"software:daily:{day}")


def digest(paths: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 (hex) of files by their paths below `root`. Raises OSError."""
    whole = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in paths):
        whole.update(f"{_sha256(path)}  {name}\n".encode())
    return whole.hexdigest()


def files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, but for what Python compiled."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != _COMPILED]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        yield from (Path(parent, name) for name in (*names, *links))


def _of_server(server: Path) -> Iterator[Path]:
    """Yield the programs and libraries; a wheel has some of these in a folder beside the package."""
    package = server.parent
    for folder in (server / "bin", server / "lib", package.with_name(f"{package.name}.libs")):
        yield from files(folder)


def _sha256(path: Path) -> str:
    if path.is_symlink():
        return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
