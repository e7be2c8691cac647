"""Which tool finds which tampering: what the suite asserts, and the README's table is written from.

`python -m tests.integration.tamper.matrix` writes the table into the README again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.integration.tamper import through_files as files
from tests.integration.tamper import through_sql as sql
from tests.integration.tamper import with_everything as everything
from tests.integration.tamper.insider import Change, Copy
from tests.integration.tamper.tools import INSIDE, OUTSIDE

README: Final = Path(__file__).parents[3] / "README.md"
BEGIN: Final = "<!-- written by tests/integration/tamper/matrix.py -->\n"
END: Final = "<!-- end of what is written -->"

NAMED, FOUND, UNSEEN = "●", "○", "·"
"""Found, and where; found, and that something is wrong there or before; not found."""


class Row(NamedTuple):
    """A way to tamper, and what each of `INSIDE` and of `OUTSIDE` says of it, in their order."""

    tamper: Callable[[Copy], Change]
    says: str
    inside: str
    outside: str

    @property
    def cells(self) -> str:
        """What each tool says."""
        return self.inside + self.outside


THROUGH_SQL: Final = (
    Row(sql.edit_a_payout, "edit an event: a payout", "●●··●●●", "●●·●··"),
    Row(sql.edit_a_name, "edit an event: who sent it", "·●··●●●", "●●·●··"),
    Row(sql.delete_an_event, "delete an event", "●●··●○○", "○○·●··"),
    Row(sql.insert_an_event, "insert an event, counting the others on", "●●··●○○", "○○·●··"),
    Row(sql.append_an_event, "append a forged deposit", "●●·····", "······"),
    Row(sql.reorder_events, "reorder two events", "●●··●○○", "○○·●··"),
    Row(sql.swap_cards, "swap two rounds' cards", "·●··●●●", "●●·●··"),
    Row(sql.cut_off_the_tail, "truncate the tail", "○●··●··", "···●··"),
    Row(sql.roll_back_the_database, "roll back the database to a backup", "·●··●··", "···●··"),
    Row(sql.fork_the_database, "fork the database: a backup, and other events", "·●··●··", "···●··"),
    Row(sql.change_a_balance, "alter a balance", "●●·····", "······"),
    Row(sql.change_a_meter, "alter a jackpot's meter", "●●·····", "······"),
    Row(sql.change_a_ruleset, "alter a published rule set", "●●·····", "······"),
    Row(sql.change_a_person, "alter a person's key", "●●·····", "······"),
    Row(sql.change_a_posting, "alter a line of a statement", "●●·····", "······"),
    Row(sql.change_a_record, "alter a hand's record", "●●·····", "······"),
    Row(sql.change_the_trial_balance, "alter the trial balance, keeping it zero", "●●·····", "······"),
    Row(sql.leave_the_guards_off, "drop a trigger that refuses changes", "●●·····", "······"),
)
OF_THE_LOG: Final = (
    Row(files.change_a_leaf, "alter a leaf in a hash tile", "·●··○··", "···●··"),
    Row(files.change_a_node, "alter a hash in a tile above", "·●··○○○", "○○·●··"),
    Row(files.lose_a_tile, "delete a hash tile", "·●··●··", "···●··"),
    Row(files.change_a_bundle, "alter an entry bundle", "·●··○·○", "···●··"),
    Row(files.change_the_checkpoint, "alter the checkpoint", "·●··●●●", "●●●●··"),
    Row(files.sign_the_checkpoint_with_another_key, "sign it with another key", "·●··●●●", "●●●●··"),
    Row(files.publish_an_older_checkpoint, "publish an older checkpoint", "·······", "··●···"),
    Row(files.lose_what_was_signed_last, "delete what was signed last", "·●··●··", "···●··"),
    Row(files.lose_the_log, "delete the log", "·●··●○○", "○○○●··"),
)
OF_THE_ARCHIVE: Final = (
    Row(files.edit_an_archived_event, "alter a day's events", "··●●···", "····●●"),
    Row(files.edit_and_sign_with_another_key, "and sign that with another key", "··●●···", "····●●"),
    Row(files.edit_and_sign_with_the_key, "and sign that with the real key", "··●●···", "····●●"),
    Row(
        files.edit_hands_and_sign_with_the_key,
        "alter the last day's table of hands, sign that with the real key",
        "·······",
        "·····●",
    ),
    Row(files.lose_the_first_day, "delete the first day", "··●●···", "····●●"),
    Row(files.lose_the_last_day, "delete the last day", "·······", "····○●"),
)
WITH_EVERYTHING: Final = (
    Row(everything.hash_again, "edit an event, re-hash every tile and bundle", "·○··○○○", "○○·○··"),
    Row(
        everything.hash_again_with_another_key,
        "the same, with a new key in log, ledger and archive",
        "·○○○·○○",
        "○○○○○○",
    ),
    Row(
        everything.sign_a_payout_again,
        "edit a payout, re-sign the log with the key",
        "●●···●●",
        "●●○●··",
    ),
    Row(
        everything.sign_everything_again,
        "edit who sent an event, re-sign log and archive with the real key",
        "·······",
        "○○○○○○",
    ),
    Row(everything.roll_back_everything, "roll back database, log and archive", "·······", "○○●●○○"),
    Row(
        everything.fork_everything,
        "fork all three: other events, signed with the real key, exported",
        "·······",
        "○○○○○○",
    ),
)
GROUPS: Final = {
    "by SQL, as superuser": THROUGH_SQL,
    "files of the log": OF_THE_LOG,
    "files of the archive": OF_THE_ARCHIVE,
    "history written again": WITH_EVERYTHING,
}
ROWS: Final = [row for rows in GROUPS.values() for row in rows]


def table() -> str:
    """The README's table."""
    return "".join(f"{line}\n" for line in _lines())


def rewritten(text: str) -> str:
    """The README's text with the table as it is now. Raises ValueError where its place is missing."""
    start = text.index(BEGIN) + len(BEGIN)
    return text[:start] + table() + text[text.index(END, start) :]


def _lines() -> Iterator[str]:
    columns = [*INSIDE, *(f"*{name}*" for name in OUTSIDE)]
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{':-:|' * len(columns)}"
    for group, rows in GROUPS.items():
        yield f"| **{group}** |{' |' * len(columns)}"
        for row in rows:
            yield f"| {row.says} | {' | '.join(row.cells)} |"


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0)
