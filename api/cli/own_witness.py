"""The demo's own witness: a process beside the service, with its own key and memory.

It shows how a witness works, and finds what a restored or altered ledger says differently. It convinces
nobody else, as whoever can alter the ledger can alter it too: that takes a witness on another's machine.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.cli import witness
from api.cli.supervisor import Beside, listen
from infrastructure.evidence.asking import WitnessAddress
from infrastructure.evidence.notes import Signer
from infrastructure.witness.state import InUseError, State

NAME: Final = "witness"
HOST: Final = "127.0.0.1"
PATIENCE_SECONDS: Final = 2.0
"""The witness of a service that was killed gives the folder up within this."""
POLL_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class OwnWitness:
    """How the log reaches it, and the process that it is."""

    address: WitnessAddress
    process: Beside


def own_witness(folder: Path, log: Path) -> OwnWitness:
    """Return the witness whose state is in a folder, for the logs that are kept in another.

    Its socket is open: whoever keeps the process closes it. Raises StateError where the folder cannot be
    used.
    """
    verifier = _signer(folder).cosigner
    listener = listen(HOST, 0)
    command = [sys.executable, "-P", "-m", witness.__name__, "--state", str(folder), "--log-folder", str(log)]
    process = Beside(NAME, [*command, "--descriptor"], listener)
    return OwnWitness(WitnessAddress(verifier, f"http://{HOST}:{listener.getsockname()[1]}"), process)


def _signer(folder: Path) -> Signer:
    """Return the witness's key, made where there is none yet."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with State.open(folder) as state:
                return Signer.from_seed(state.name, state.seed)
        except InUseError:
            if time.monotonic() > deadline:
                raise
        time.sleep(POLL_SECONDS)
