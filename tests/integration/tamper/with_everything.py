"""What can be done by whoever has the database, all files and the keys: history is written again whole."""

from __future__ import annotations

from infrastructure.evidence.folder import CHECKPOINT, COSIGNED, HEAD
from tests.integration.tamper import through_sql
from tests.integration.tamper.insider import Change, Copy
from tests.integration.tamper.story import export, go_on

SIGNED = (CHECKPOINT, COSIGNED)


def hash_again(copy: Copy) -> Change:
    """Edit a name, and make all tiles and bundles again; what was signed stays."""
    change = through_sql.edit_a_name(copy)
    kept = {name: (copy.log / name).read_bytes() for name in SIGNED}
    head = (copy.folder("log") / HEAD).read_bytes()
    copy.reseal()
    for name, note in kept.items():
        (copy.log / name).write_bytes(note)
    (copy.folder("log") / HEAD).write_bytes(head)
    return change


def hash_again_with_another_key(copy: Copy) -> Change:
    """Edit a name, make a new key the log's from its beginning, and make log and archive again with it."""
    change = through_sql.edit_a_name(copy)
    copy.change_key()
    copy.export_again()
    return change


def sign_a_payout_again(copy: Copy) -> Change:
    """Edit a payout, and make the log again with the real key."""
    change = through_sql.edit_a_payout(copy)
    copy.reseal()
    return change


def sign_everything_again(copy: Copy) -> Change:
    """Edit a name, from which nothing follows, and make log and archive again with the real key."""
    change = through_sql.edit_a_name(copy)
    copy.export_again()
    return change


def roll_back_everything(copy: Copy) -> Change:
    """Put backups of the database, the log and the archive in their places."""
    copy.back_to_the_backup("log", "archive")
    return Change(copy.story.backed_up + 1)


def fork_everything(copy: Copy) -> Change:
    """The same, and go on with other events: more than there were, signed with the real key and exported."""
    copy.back_to_the_backup("log", "archive")
    go_on(copy.place, "other")
    go_on(copy.place, "more")
    copy.place.seal()
    export(copy.place)
    return Change(copy.story.backed_up + 1)
