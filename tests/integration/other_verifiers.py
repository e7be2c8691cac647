"""Asking verifiers that other people wrote about the log of `vector_log`.

Their answers are kept in tests/vectors/log, made so:

    python3.12 -m venv V && V/bin/pip install aics-tlog==0.2.1
    V/bin/python -m tests.integration.other_verifiers aics-tlog > tests/vectors/log/aics-tlog.json
    python3 -m tests.integration.other_verifiers sumdb > tests/vectors/log/sumdb.json

The second needs Go, which carries golang.org/x/mod/sumdb among its own sources, and no network.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.integration import vector_log

VECTORS: Final = Path(__file__).parents[1] / "vectors" / "log"
SECONDS_MAX: Final = 240
CHECKPOINT: Final = "--checkpoint log/checkpoint --vkey-file log.vkey"
WITNESSED: Final = f"--witness-key {vector_log.WITNESS.cosigner.vkey} --quorum 1"

AICS: Final = {
    "checkpoint": f"verify-checkpoint --note log/checkpoint --vkey-file log.vkey {WITNESSED}",
    "checkpoint from the tiles": "verify-checkpoint --tiles log --vkey-file log.vkey --origin "
    + vector_log.ORIGIN,
    "another origin": "verify-checkpoint --note log/checkpoint --vkey-file log.vkey --origin example.com/log",
    "a stranger's key": "verify-checkpoint --note log/checkpoint --vkey-file stranger.vkey",
    "not cosigned": f"verify-checkpoint --note old.note --vkey-file log.vkey {WITNESSED}",
    **{
        f"leaf {i}": f"verify-inclusion --tiles log {CHECKPOINT} {WITNESSED} --index {i} --leaf leaf-{i}"
        for i in vector_log.LEAVES
    },
    "entry of leaf 256": f"verify-inclusion --tiles log {CHECKPOINT} --index 256",
    "another place": f"verify-inclusion --tiles log {CHECKPOINT} --index 255 --leaf leaf-256",
    "consistency": "verify-consistency --tiles log --vkey-file log.vkey --old-checkpoint old.note",
    "a fork": "verify-consistency --tiles log --vkey-file log.vkey --old-checkpoint fork.note",
    "a flipped bit": f"verify-inclusion --tiles broken {CHECKPOINT} --index 1024",
}
"""What `aics-tlog` is asked, in the folder of `vector_log`."""


GO: Final = (
    *("-sizes", ",".join(map(str, vector_log.SIZES))),
    *("-pairs", ",".join(f"{old}:{new}" for old, new in vector_log.PAIRS)),
    *("-notes", "old.note,fork.note"),
    *("-leaves", ",".join(map(str, vector_log.LEAVES))),
    *("-broken", "1024"),
)
"""What golang.org/x/mod/sumdb is asked there."""


def has_aics() -> bool:
    """Say whether this Python has aics-tlog."""
    return importlib.util.find_spec("aics_tlog") is not None


def ask_aics(folder: Path) -> dict[str, Any]:
    """Return the exit status and the output of each command; paths in it are relative to the folder."""
    found = {}
    for name, command in AICS.items():
        done = subprocess.run(
            [sys.executable, "-m", "aics_tlog", *command.split()],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_MAX,
        )
        said = json.loads(done.stdout.replace(f"{folder.resolve().as_uri()}/", ""))
        said.pop("evidence", None)  # the two notes that disagree, which are ours
        found[name] = {"command": f"aics-tlog {command}", "status": done.returncode, "output": said}
    return found


def made_by_aics() -> dict[str, Any]:
    """Return a log that aics-tlog made and signed: two checkpoints, the proof between them, a cosignature."""
    import aics_tlog as aics  # noqa: PLC0415  # not on every Python

    tree = aics.MerkleTree(vector_log.leaf(i) for i in range(300))
    key, witness = vector_log.LOG.private, vector_log.WITNESS
    heads = {size: aics.Checkpoint(vector_log.ORIGIN, size, tree.root(size)) for size in (7, 300)}
    _, line = aics.sign_cosignature(
        witness.private, witness.name, vector_log.COSIGNED_AT, vector_log.ORIGIN, 300, tree.root(300)
    )
    return {
        "vkey": aics.format_vkey(aics.vkey_from_ed25519(vector_log.ORIGIN, key.public_key())),
        "witness_vkey": aics.format_vkey(aics.cosignature_vkey(witness.name, witness.private.public_key())),
        "notes": {
            str(size): aics.sign_checkpoint(head, key, vector_log.ORIGIN).serialise()
            for size, head in heads.items()
        },
        "consistency": [base64.b64encode(each).decode() for each in tree.consistency_proof(7, 300)],
        "inclusion_of_7": [base64.b64encode(each).decode() for each in tree.inclusion_proof(7, 300)],
        "cosignature": f"— {line.name} {base64.b64encode(line.key_id + line.signature).decode()}\n",
    }


def go_sources() -> Path | None:
    """Return where the Go that is installed keeps golang.org/x/mod, None where there is none."""
    go = shutil.which("go")
    if go is None:
        return None
    root = subprocess.run(
        [go, "env", "GOROOT"], capture_output=True, text=True, check=False, timeout=SECONDS_MAX
    ).stdout.strip()
    sources = Path(root) / "src" / "cmd" / "vendor" / "golang.org"
    return sources if (sources / "x" / "mod" / "sumdb" / "tlog").is_dir() else None


def ask_go(folder: Path, *asked: str) -> dict[str, Any]:
    """Return what golang.org/x/mod/sumdb says of a folder, asked so.

    Its sources are those that the Go here was made with. What can be asked is told in sumdb/main.go.
    """
    sources = go_sources()
    assert sources is not None
    with tempfile.TemporaryDirectory() as workspace:
        (Path(workspace) / "src").mkdir()
        (Path(workspace) / "src" / "golang.org").symlink_to(sources)
        command = [
            "go",
            "run",
            str(VECTORS / "sumdb" / "main.go"),
            *asked,
            str(folder),
        ]
        done = subprocess.run(
            command,
            env=os.environ | {"GO111MODULE": "off", "GOPATH": workspace, "GOFLAGS": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_MAX,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(which: str) -> None:
    """Print one verifier's answers."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        vector_log.write(folder)
        go = which == "sumdb"
        found = ask_go(folder, *GO) if go else {"commands": ask_aics(folder), "made": made_by_aics()}
    sys.stdout.write(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
