"""What an export asks of the evidence log: that a day's events are those it has sealed, and a signature."""

from __future__ import annotations

from infrastructure.archive.manifest import ArchiveError, Sealed, hash_text
from infrastructure.evidence.folder import LogFolder
from infrastructure.evidence.merkle import verify_consistency
from infrastructure.evidence.notes import (
    Checkpoint,
    NoteError,
    Signer,
    parse_checkpoint,
    parse_note,
    write_note,
)
from infrastructure.evidence.unavailable import LogUnavailable


class LogSeal:
    """A ledger's log in its folder, and its key."""

    def __init__(self, folder: LogFolder, signer: Signer) -> None:
        self._folder = folder
        self._signer = signer

    def size(self) -> int:
        """How many events are sealed. Raises ArchiveError."""
        try:
            newest = self._folder.newest()
        except LogUnavailable as error:
            raise ArchiveError(f"the evidence log cannot be read: {error}") from error
        return newest.size if newest else 0

    def prove(self, size: int, root: bytes) -> Sealed:
        """Show that the first `size` events have this root. Raises ArchiveError where they do not."""
        try:
            note, checkpoint = self._checkpoint(size)
            proof = self._folder.consistency(size, checkpoint.size)
        except (LogUnavailable, NoteError, ValueError) as error:
            raise ArchiveError(f"the evidence log cannot be read: {error}") from error
        if not verify_consistency(size, root, checkpoint.size, checkpoint.root, proof):
            raise ArchiveError(
                f"the events up to position {size} are not those that the evidence log has sealed: "
                "audit the ledger (scripts/audit)"
            )
        return Sealed(note.decode(), tuple(map(hash_text, proof)), tuple(self._folder.keys()))

    def sign(self, text: str) -> bytes:
        """A signed note of a text."""
        return write_note(text, [self._signer.sign(text)])

    def _checkpoint(self, size: int) -> tuple[bytes, Checkpoint]:
        """The newest checkpoint of at least a size; one that the witnesses have signed, if there is one."""
        for note in (self._folder.cosigned(), self._folder.note()):
            if note is not None:
                checkpoint = parse_checkpoint(parse_note(note).text)
                if checkpoint.size >= size:
                    return note, checkpoint
        raise ArchiveError(f"the evidence log has not sealed position {size} yet")
