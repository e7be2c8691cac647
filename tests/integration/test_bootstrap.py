"""From a fresh clone to a running command, and every way it can fail in one clear line."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from api.cli import bootstrap

ROOT = Path(__file__).parents[2]
LOCK = "requirements.lock"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project folder whose lock names no package, so that nothing is fetched."""
    (tmp_path / LOCK).write_text("# nothing\n")
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record installations instead of running pip, and leave pip out, which takes long; return the record."""
    record: list[str] = []
    without(monkeypatch, "ensurepip")
    monkeypatch.setattr(bootstrap, "install", lambda _python, _venv, lock_path: record.append(lock_path))
    return record


def fake_pip(monkeypatch: pytest.MonkeyPatch, says: str, status: int) -> None:
    """Let pip be a program that says something and ends with a status."""
    program = [sys.executable, "-c", f"print({says!r}); raise SystemExit({status})"]
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _command, **kwargs: real(program, **kwargs))


def test_it_parses_on_old_pythons() -> None:
    """The launchers and what they import first have no syntax newer than Python 3.6."""
    launchers = [path for path in (ROOT / "scripts").iterdir() if not path.suffix and path.is_file()]
    files = [
        *launchers,
        ROOT / "api/__init__.py",
        ROOT / "api/cli/__init__.py",
        ROOT / "api/cli/bootstrap.py",
    ]
    assert len(files) > 4
    for file in files:
        ast.parse(file.read_text(), feature_version=(3, 6))


def test_it_needs_the_standard_library_alone() -> None:
    """The bootstrap runs on a Python that has nothing installed."""
    tree = ast.parse((ROOT / "api/cli/bootstrap.py").read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("version", [(3, 6), (3, 10), (3, 14), (4, 0)])
def test_an_unsupported_python_is_told_what_to_install(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old or too new Python, with no supported one on PATH, gets one line naming what is supported."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(bootstrap.BootstrapError, match="install Python 3") as problem:
        bootstrap.choose_python(version)
    assert str(problem.value) == (
        f"Python {version[0]}.{version[1]} is not supported: "
        "install Python 3.11, 3.12 or 3.13, then run this again"
    )


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_a_supported_python_goes_on(version: tuple[int, int]) -> None:
    """Supported versions pass without a word."""
    bootstrap.choose_python(version)


def test_a_supported_python_on_the_path_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a supported Python beside it, an unsupported one hands the command over, arguments and all."""
    calls: list[tuple[str, list[str]]] = []
    ours = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    monkeypatch.setattr(shutil, "which", lambda name: sys.executable if name == ours else None)
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append((program, arguments)))
    monkeypatch.setattr(sys, "argv", ["scripts/serve", "--port", "1"])
    with pytest.raises(bootstrap.BootstrapError):  # a replaced process would not come back to raise
        bootstrap.choose_python((3, 9))
    assert calls == [(sys.executable, [sys.executable, "scripts/serve", "--port", "1"])]


def test_a_shim_that_leads_nowhere_is_passed_over(tmp_path: Path) -> None:
    """A program of the right name that does not run, or is another version, is not taken."""
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert not bootstrap.runs_as(str(shim), (3, 12))
    assert not bootstrap.runs_as(str(tmp_path / "absent"), (3, 12))
    assert not bootstrap.runs_as(sys.executable, (3, 6))


def test_an_environment_is_made_once(project: Path, installed: list[str]) -> None:
    """The first command makes the environment, the second finds it as it is."""
    python = bootstrap.prepare_environment(str(project), LOCK)
    assert bootstrap.prepare_environment(str(project), LOCK) == python
    assert installed == [str(project / LOCK)]
    done = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, capture_output=True)
    assert done.stdout.decode().strip() == str(project / ".venv")


def test_the_version_counts_only_where_something_is_to_be_made(
    project: Path, installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system whose Python became too new goes on with the environment it has, and cannot make another."""

    def refuse(_version: tuple[int, int]) -> None:
        raise bootstrap.BootstrapError("not this one")

    bootstrap.prepare_environment(str(project), LOCK)
    monkeypatch.setattr(bootstrap, "choose_python", refuse)
    bootstrap.prepare_environment(str(project), LOCK)
    shutil.rmtree(project / ".venv")
    with pytest.raises(bootstrap.BootstrapError, match="not this one"):
        bootstrap.prepare_environment(str(project), LOCK)
    assert len(installed) == 1


def test_a_changed_lock_is_installed_again(project: Path, installed: list[str]) -> None:
    """Another lock is installed into the environment that is there."""
    bootstrap.prepare_environment(str(project), LOCK)
    kept = project / ".venv" / "kept"
    kept.touch()
    (project / LOCK).write_text("# something else\n")
    bootstrap.prepare_environment(str(project), LOCK)
    assert len(installed) == 2
    assert kept.exists()


def test_an_interrupted_installation_is_repeated(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock's mark is written last: what did not finish is done again."""

    def interrupted(*_arguments: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "install", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            bootstrap.prepare_environment(str(project), LOCK)


def test_each_lock_has_its_own_mark(project: Path, installed: list[str]) -> None:
    """A test run beside the service adds its packages and leaves the service's mark alone."""
    (project / "requirements-test.lock").write_text("# more\n")
    bootstrap.prepare_environment(str(project), LOCK)
    bootstrap.prepare_environment(str(project), "requirements-test.lock")
    bootstrap.prepare_environment(str(project), LOCK)
    assert [Path(path).name for path in installed] == [LOCK, "requirements-test.lock"]


def test_a_moved_environment_is_made_anew(project: Path, installed: list[str], tmp_path: Path) -> None:
    """A copied project does not use the environment it was copied with: its paths lead to the old place."""
    bootstrap.prepare_environment(str(project), LOCK)
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(project / LOCK, copy / LOCK)
    shutil.copytree(project / ".venv", copy / ".venv", symlinks=True)
    python = bootstrap.prepare_environment(str(copy), LOCK)
    assert len(installed) == 2
    done = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, capture_output=True)
    assert done.stdout.decode().strip() == str(copy / ".venv")


def test_an_environment_whose_python_is_gone_is_made_anew(project: Path, installed: list[str]) -> None:
    """After the system's Python was replaced the environment is made with the one that is there."""
    bootstrap.prepare_environment(str(project), LOCK)
    python = project / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(project / "gone")
    bootstrap.prepare_environment(str(project), LOCK)
    assert len(installed) == 2
    assert python.resolve().exists()


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """Let this Python lack some modules."""
    real = bootstrap.has_module
    monkeypatch.setattr(bootstrap, "has_module", lambda name: name not in missing and real(name))


def test_without_ensurepip_pip_installs_from_outside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python has pip but no ensurepip, the environment has no pip and is filled from outside."""
    commands: list[list[str]] = []

    def silent(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        commands.append(command)
        return popen(["true"], **options)

    popen = subprocess.Popen
    without(monkeypatch, "ensurepip")
    environment = project / ".venv"
    bootstrap.make_environment(str(environment))
    assert not (environment / "bin" / "pip").exists()
    monkeypatch.setattr(subprocess, "Popen", silent)
    bootstrap.install(str(environment / "bin" / "python"), str(environment), str(project / LOCK))
    assert commands[0][:5] == [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    assert "--require-hashes" in commands[0]


@pytest.mark.parametrize("missing", [("ensurepip", "pip"), ("venv",)])
def test_without_the_tools_one_line_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    """Where neither ensurepip nor pip is there, or no venv, the line names the package that brings them."""
    without(monkeypatch, *missing)
    with pytest.raises(bootstrap.BootstrapError, match="apt-get install python3-venv"):
        bootstrap.prepare_environment(str(project), LOCK)
    assert not (project / ".venv").exists()


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (
            "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found for x",
            "network",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "do not use it"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: No matching distribution found for x==1", "no ready-made package"),
        ("error: command 'gcc' failed\nERROR: Failed building wheel for x", "C compiler"),
        ("something\nERROR: the reason", "the reason"),
        ("", "no reason given"),
    ],
)
def test_a_failed_installation_is_explained_in_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, says: str, expected: str
) -> None:
    """Whatever pip says, a person gets one line that says what to do."""
    fake_pip(monkeypatch, says, 1)
    with pytest.raises(bootstrap.BootstrapError) as problem:
        bootstrap.install(sys.executable, str(project / ".venv"), str(project / LOCK))
    assert expected in str(problem.value)
    assert "\n" not in str(problem.value)


def test_no_network_is_one_line(project: Path, tmp_path: Path) -> None:
    """With an index that cannot be reached the real pip's failure becomes the line about the network."""
    (project / LOCK).write_text("a-package==1 --hash=sha256:" + "0" * 64 + "\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from api.cli import bootstrap\n"
        "bootstrap.ROOT = sys.argv[2]; bootstrap.run('api.cli.serve')"
    )
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": os.devnull, "HOME": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT), str(project)],
        check=False,
        env=environment | nowhere | {"PIP_RETRIES": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        "stud-ledger: the package index cannot be reached: connect to the network, then run this again"
    )


def test_a_folder_that_cannot_be_written_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the environment cannot be made the line says where and why."""
    (project / ".venv").write_text("a file, not a folder")
    monkeypatch.setattr(bootstrap, "discard", lambda _path: None)
    with pytest.raises(bootstrap.BootstrapError, match=rf"cannot make {re.escape(str(project))}/\.venv: "):
        bootstrap.prepare_environment(str(project), LOCK)


def test_two_first_commands_take_turns(project: Path) -> None:
    """Two commands at once on a fresh clone make one environment, one after the other."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from api.cli import bootstrap\n"
        "bootstrap.install = lambda *_: print('installed')\n"
        "bootstrap.prepare_environment(sys.argv[2], 'requirements.lock')"
    )
    command = [sys.executable, "-c", script, str(ROOT), str(project)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate()[0].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(output.strip() for output in outputs) == ["", "installed"]


def test_the_environments_in_the_locks_are_one() -> None:
    """The test lock has every package of the service's lock in the same version, with the same hashes."""
    service, test = (locked(ROOT / name) for name in (LOCK, "requirements-test.lock"))
    assert len(service) > 20
    assert {name: test.get(name) for name in service} == service


def test_the_locks_name_no_host_and_hash_everything() -> None:
    """A lock works with whatever index a machine uses, and trusts none of them."""
    for name in (LOCK, "requirements-test.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert "--index" not in text
        assert all(hashes for _, hashes in locked(ROOT / name).values())


def locked(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Return a lock's packages: the version and hashes of each."""
    packages = {}
    for line in path.read_text().replace("\\\n", " ").splitlines():
        if "==" in line:
            name, version, *hashes = re.split(r"==|\s+", line.strip())
            packages[name] = (version, frozenset(hashes))
    return packages


def test_the_scripts_are_executable_launchers() -> None:
    """Every launcher can be run, is a few lines, and names an existing module."""
    for path in (ROOT / "scripts").iterdir():
        if path.is_file() and not path.suffix:
            lines = path.read_text().splitlines()
            assert os.access(path, os.X_OK), path
            assert lines[0] == "#!/usr/bin/env python3"
            assert len(lines) < 15
            module = re.search(r'run\("([a-z_.]+)"', path.read_text())
            assert module is not None
            place = ROOT / module[1].replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module[1]


def test_the_environment_made_is_what_venv_makes(tmp_path: Path) -> None:
    """An environment that the standard library made elsewhere is not taken for ours."""
    venv.create(tmp_path / ".venv", with_pip=False)
    assert not bootstrap.is_ours(str(tmp_path / ".venv"))
