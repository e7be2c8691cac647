"""From a fresh clone to a running command: find a Python, make `.venv`, install the locked packages, go.

Only the standard library, and no syntax newer than Python 3.6: on a Python that cannot run the project this
file must still get far enough to say so. Every way it can fail ends in one line that says what to do, and in
exit status 1.

The environment carries marks. The *home* mark says where it was made, so that a moved or copied one, or one
whose Python is gone, is made anew. A *lock* mark is the SHA-256 of the lock file whose packages are in it; it
is written last, so that an interrupted installation is simply repeated.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SUPPORTED = ((3, 11), (3, 12), (3, 13))
SUPPORTED_TEXT = "Python 3.11, 3.12 or 3.13"
HOME_MARK = "stud-ledger.home"
OFFLINE_SIGNS = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "NameResolutionError",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Connection refused",
    "ProxyError",
    "Could not fetch URL",
)


class BootstrapError(Exception):
    """The environment cannot be made; the message is the one line a person reads."""


def run(module: str, lock: str = "requirements.lock") -> None:
    """Replace this process by `module` of the project, run inside an environment that has what `lock` names.

    Does not return: the module runs with our arguments, or one line is printed and the exit status is 1.
    """
    try:
        python = prepare_environment(ROOT, lock)
    except BootstrapError as problem:
        sys.exit("stud-ledger: {}".format(problem))
    except KeyboardInterrupt:
        sys.exit(130)
    # Nothing but the project and its locked packages can be imported: neither the caller's folder (hence -P)
    # nor what its PYTHONPATH names.
    os.environ["PYTHONPATH"] = ROOT
    sys.stdout.flush()
    os.execv(python, [python, "-P", "-m", module, *sys.argv[1:]])


def say(text: str) -> None:
    """Show a step on standard error, where it does not mix with a command's own output."""
    sys.stderr.write("stud-ledger: {}\n".format(text))
    sys.stderr.flush()


def choose_python(version: "tuple[int, int]") -> None:
    """Return where `version` is supported; else start over with a supported Python found on PATH.

    Raises BootstrapError where there is none.
    """
    if version in SUPPORTED:
        return
    here = "Python {}.{}".format(*version)
    for major, minor in reversed(SUPPORTED):
        other = shutil.which("python{}.{}".format(major, minor))
        if other and runs_as(other, (major, minor)):
            say("{} is not supported; using {}".format(here, other))
            os.execv(other, [other, *sys.argv])
    raise BootstrapError("{} is not supported: install {}, then run this again".format(here, SUPPORTED_TEXT))


def runs_as(python: str, version: "tuple[int, int]") -> bool:
    """Tell whether `python` starts and is of `version`: a version manager's shim may lead nowhere."""
    probe = [python, "-c", "import sys; print(sys.version_info[:2])"]
    try:
        done = subprocess.run(
            probe, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.decode().strip() == str(version)


def prepare_environment(root: str, lock: str) -> str:
    """Return the Python of an environment below `root` that has the packages of the lock file.

    Makes what is missing. Two at once take turns. Raises BootstrapError.
    """
    venv = os.path.join(root, ".venv")
    python = os.path.join(venv, "bin", "python")
    lock_path = os.path.join(root, lock)
    with open(lock_path, "rb") as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    if is_ours(venv) and read_mark(venv, lock) == wanted:
        return python
    choose_python(sys.version_info[:2])  # only now: an environment that is there has its own
    with one_at_a_time(root):
        if not is_ours(venv):
            make_environment(venv)
        if read_mark(venv, lock) != wanted:
            install(python, venv, lock_path)
            write_mark(venv, lock, wanted)
    return python


@contextlib.contextmanager
def one_at_a_time(root: str) -> "Iterator[None]":
    """Hold the project folder's lock: taken on the folder itself, so that no lock file is left behind."""
    folder = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another command is preparing the environment; waiting for it")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def home_of(venv: str) -> str:
    """Return what the home mark of an environment made here has to say."""
    return os.path.realpath(venv)


def is_ours(venv: str) -> bool:
    """Tell whether the environment was made at this place and its Python is still there."""
    return os.path.exists(os.path.join(venv, "bin", "python")) and read_mark(venv, HOME_MARK) == home_of(venv)


def read_mark(venv: str, name: str) -> str:
    """Return a mark's text, empty where there is none."""
    try:
        with open(os.path.join(venv, mark_name(name)), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def write_mark(venv: str, name: str, text: str) -> None:
    """Write a mark whole or not at all."""
    path = os.path.join(venv, mark_name(name))
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.replace(path + ".new", path)


def mark_name(name: str) -> str:
    """Return the file name of a mark."""
    return name if name == HOME_MARK else "stud-ledger.{}".format(name)


def make_environment(venv: str) -> None:
    """Make an empty environment, with pip in it where this Python brings one. Raises BootstrapError."""
    with_pip = has_module("ensurepip")
    if not with_pip and not has_module("pip"):
        raise BootstrapError(
            "this Python has neither ensurepip nor pip: install one (on Debian: apt-get install python3-venv)"
        )
    if not has_module("venv"):
        raise BootstrapError("this Python has no venv module (on Debian: apt-get install python3-venv)")
    say("making {} with Python {}.{}.{}".format(venv, *sys.version_info[:3]))
    try:
        if os.path.lexists(venv):
            discard(venv)
        command = [sys.executable, "-m", "venv"] + ([] if with_pip else ["--without-pip"]) + [venv]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as problem:
        raise BootstrapError("cannot make {}: {}".format(venv, problem.strerror)) from None
    if done.returncode:
        raise BootstrapError(
            "cannot make {}: {}".format(venv, last_line(done.stdout.decode(errors="replace")))
        )
    write_mark(venv, HOME_MARK, home_of(venv))


def discard(venv: str) -> None:
    """Remove an environment that cannot be used here."""
    say("{} was made elsewhere or is not whole: making it anew".format(venv))
    if os.path.islink(venv):
        os.unlink(venv)
    else:
        shutil.rmtree(venv)


def has_module(name: str) -> bool:
    """Tell whether this Python has a module, without importing it."""
    return importlib.util.find_spec(name) is not None


def install(python: str, venv: str, lock_path: str) -> None:
    """Install what the lock names, every file checked against its hash. Raises BootstrapError."""
    inside = os.path.exists(os.path.join(venv, "bin", "pip"))
    if not inside and not has_module("pip"):
        raise BootstrapError(
            "{} has no pip and neither has this Python: remove {} and install pip".format(venv, venv)
        )
    pip = [python, "-m", "pip"] if inside else [sys.executable, "-m", "pip", "--python", python]
    options = ["--require-hashes", "--no-input", "--retries=2", "--progress-bar=off"]
    command = [*pip, "--disable-pip-version-check", "install", *options, "-r", lock_path]
    with open(lock_path, encoding="utf-8") as file:
        packages = sum("==" in line for line in file)
    say("installing {} packages from {} (once)".format(packages, os.path.basename(lock_path)))
    # A caller's settings that move the installation elsewhere would leave our environment empty.
    env = {
        k: v for k, v in os.environ.items() if k not in ("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PYTHONPATH")
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env) as pip_process:
        output = show_progress(pip_process.stdout or ())
    if pip_process.returncode:
        raise BootstrapError(explain(output, lock_path))


def show_progress(output: "Iterable[bytes]") -> str:
    """Show a line for each package pip takes up; return the last part of everything it said."""
    lines = []  # type: list[str]
    for raw in output:
        line = raw.decode(errors="replace").rstrip()
        lines = [*lines[-200:], line]
        if line.startswith("Collecting "):
            say("  " + line.split()[1])
        elif line.startswith("Installing collected"):
            say("  unpacking")
    return "\n".join(lines)


def explain(output: str, lock_path: str) -> str:
    """Turn what pip said into one line that says what to do."""
    name = os.path.basename(lock_path)
    if any(sign in output for sign in OFFLINE_SIGNS):
        return "the package index cannot be reached: connect to the network, then run this again"
    if "DO NOT MATCH THE HASHES" in output:
        return "a downloaded package is not the one {} names: do not use it, check your package index".format(
            name
        )
    if "No space left" in output:
        return "the disk is full: about 400 MB are needed for the packages"
    if "compiler" in output or "Failed building wheel" in output or "Failed to build" in output:
        return "a package has no ready-made file for this system: install a C compiler, then run this again"
    if "No matching distribution" in output:
        return "no ready-made package for this system ({}): {}".format(sys.platform, last_line(output))
    return "pip could not install {}: {}".format(name, last_line(output))


def last_line(text: str) -> str:
    """Return the last line that calls itself an error, else the last line that says anything."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "Error"))]
    return (errors or lines or ["no reason given"])[-1]
