"""What can go wrong with the embedded server, each with one line that says what to do."""

from __future__ import annotations


class LauncherError(Exception):
    """The server cannot be started or stopped; the message is the one line a person reads."""


class DirectoryInUseError(LauncherError):
    """Another process works on the directory."""
