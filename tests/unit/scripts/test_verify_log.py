"""The verifier on a file's log proof: what it takes, and by which step it refutes everything else."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.scripts.evidence_builder import canonical
from tests.unit.scripts.log_builder import (
    LOG_KEY,
    ORIGIN,
    OTHER_KEY,
    OTHER_WITNESS,
    WITNESS,
    Key,
    base64_of,
    checkpoint,
    entries_around,
    growth,
    hashed,
    root,
    sealed,
)
from tests.unit.scripts.test_verify import run
from tests.unit.scripts.verified_rounds import ROUNDS, nordic, us_casino
from tests.unit.scripts.verifier import Evidence, event_of, examine, verify

LOG_STEPS = [step for step in verify.STEPS if step.startswith("log.")]


def asked(**given: Any) -> Namespace:
    """Return what a caller asks for on the command line."""
    return Namespace(**{"key": [], "witness": [], "since": "", "jackpot": None} | given)


def judged(file: Evidence, **given: Any) -> Any:
    """Return what the verifier found in a file, asked for more."""
    return verify.examine(canonical(file), asked(**given))


def failing(file: Evidence, **given: Any) -> list[str]:
    """Return the steps that refute a file."""
    case = judged(file, **given)
    assert not case.unusable, case.unusable
    return [step for step, faults in case.faults.items() if faults]


@pytest.mark.parametrize("name", ROUNDS)
def test_a_sealed_round_is_verified(name: str) -> None:
    """Every house's round with a proof passes all steps of the log, asked for its key and its witness."""
    case = judged(sealed(ROUNDS[name]().evidence()), key=[LOG_KEY.vkey], witness=[WITNESS.vkey])
    assert (case.verdict(), case.unusable, case.open) == ("verified", "", set())
    assert {case.result(step) for step in ["file", *LOG_STEPS[:-1]]} == {"PASS"}
    assert case.notes["log.witness"] == "witness.example/w1 at 2026-11-30 00:53:20 UTC"


@pytest.mark.parametrize("player", ["p-3", "p-6"])
def test_one_players_sealed_file_is_verified(player: str) -> None:
    """Withheld events are in the log by their hashes."""
    case = judged(sealed(nordic().evidence(player)))
    assert (case.verdict(), case.result("log.inclusion")) == ("verified", "PASS")


def test_a_file_without_a_proof_says_so() -> None:
    """Format 1 stays readable: the steps of the log are NONE, and the report says what is missing."""
    case = examine(us_casino().evidence())
    assert {case.result(step) for step in ["file", *LOG_STEPS]} == {"NONE"}
    assert verify.NO_LOG in verify.report(case)["not_covered"]
    assert verify.NO_LOG not in verify.report(judged(sealed(us_casino().evidence())))["not_covered"]


@pytest.mark.parametrize(
    ("given", "step"),
    [
        ({"key": [LOG_KEY.vkey]}, "log.signature"), ({"witness": [WITNESS.vkey]}, "log.witness"),
        ({"since": "a checkpoint"}, "log.consistency"), ({"jackpot": Path("log")}, "log.jackpot"),
    ],
)  # fmt: skip
def test_a_file_without_a_proof_is_refuted_where_one_was_asked_for(given: dict[str, Any], step: str) -> None:
    """A proof cannot be got rid of by calling the file one of format 1."""
    assert failing(us_casino().evidence(), **given) == [step]


def test_whose_key_it_is_is_said() -> None:
    """Without `--key` the report says that only the file names the key that signed."""
    file = sealed(us_casino().evidence())
    assert "only this file names" in judged(file).notes["log.signature"]
    assert "that you know" in judged(file, key=[LOG_KEY.vkey]).notes["log.signature"]


def test_a_cosignature_that_nobody_asked_for_is_open() -> None:
    """A witness's line is neither taken nor refused without its key, and this is said; none is NONE."""
    case = judged(sealed(us_casino().evidence()))
    assert (case.verdict(), case.result("log.witness")) == ("verified", "OPEN")
    assert "witness.example/w1" in case.notes["log.witness"]
    assert judged(sealed(us_casino().evidence(), signers=[LOG_KEY])).result("log.witness") == "NONE"


def test_an_open_cosignature_leaves_no_other_step_out() -> None:
    """What is undecided about the log does not keep the cards from being held against the deck."""
    case = judged(sealed(us_casino().evidence()))
    assert (case.open, case.result("cards.deck")) == ({"log.witness"}, "PASS")
    file = us_casino().evidence()
    event_of(file, "AntePlaced")["data"]["client_seed"] = "tails"
    assert failing(sealed(file)) == ["cards.deck"]


def test_rotated_keys_both_sign() -> None:
    """Where two keys of a log sign, either may be the one that is known, and both are checked."""
    file = sealed(us_casino().evidence(), signers=[LOG_KEY, OTHER_KEY])
    assert failing(file, key=[OTHER_KEY.vkey]) == []
    assert failing(sealed(us_casino().evidence()), key=[OTHER_KEY.vkey, LOG_KEY.vkey]) == []
    assert failing(sealed(us_casino().evidence()), key=[OTHER_KEY.vkey]) == ["log.signature"]
    file["log"]["checkpoint"] = checkpoint(entries_around(us_casino().evidence()), LOG_KEY)
    assert failing(hashed(file)) == ["log.signature"]


def in_log(**parts: Any) -> Callable[[Evidence], None]:
    """Return a change of parts of the log's proof."""

    def alter(file: Evidence) -> None:
        file["log"] |= parts

    return alter


def resigned(*signers: Any, **options: Any) -> Callable[[Evidence], None]:
    """Return another checkpoint of the same tree."""

    def alter(file: Evidence) -> None:
        file["log"]["checkpoint"] = checkpoint(entries_around(us_casino().evidence()), *signers, **options)

    return alter


def forked(file: Evidence) -> None:
    """Put in a checkpoint, rightly signed, of a tree that has another event."""
    leaves = entries_around(us_casino().evidence())
    file["log"]["checkpoint"] = checkpoint([*leaves[:50], root([]), *leaves[51:]], LOG_KEY, WITNESS)


def salted(file: Evidence) -> None:
    """Change what no rule of the game derives."""
    event_of(file, "Raised")["salt"] = "B" * 22


def earlier(**parts: Any) -> Callable[[Evidence], None]:
    """Return a change of the earlier tree."""

    def alter(file: Evidence) -> None:
        file["log"]["earlier"] |= parts

    return alter


def other_place(file: Evidence) -> None:
    """Let every event stand one place further on."""
    for event in file["events"]:
        event["position"] += 1


def beyond(file: Evidence) -> None:
    """Let the last event stand behind the log's end."""
    file["events"][-1]["position"] += 100


HASH = base64_of(bytes(32))


@pytest.mark.parametrize(
    ("alter", "step"),
    [
        (resigned(OTHER_KEY, WITNESS), "log.signature"),
        (resigned(WITNESS), "log.signature"),
        (resigned(LOG_KEY, WITNESS, origin="another/log/1"), "log.signature"),
        (in_log(origin="another/log/1"), "log.signature"),
        (in_log(keys=[]), "log.signature"),
        (in_log(keys=[LOG_KEY.vkey, OTHER_KEY.vkey]), "log.signature"),
        (resigned(LOG_KEY), "log.witness"),
        (resigned(LOG_KEY, OTHER_WITNESS), "log.witness"),
        (forked, "log.inclusion"),
        (forked, "log.consistency"),
        (salted, "log.inclusion"),
        (other_place, "log.inclusion"),
        (beyond, "log.leaves"),
        (lambda file: file["log"]["proofs"].pop(), "log.leaves"),
        (lambda file: file["log"]["proofs"].append([]), "log.leaves"),
        (lambda file: file["log"]["proofs"].reverse(), "log.inclusion"),
        (lambda file: file["log"]["proofs"][3].pop(), "log.inclusion"),
        (lambda file: file["log"]["proofs"][3].append(HASH), "log.inclusion"),
        (lambda file: file["log"]["proofs"].__setitem__(3, []), "log.inclusion"),
        (earlier(root=HASH), "log.consistency"),
        (earlier(size=102), "log.consistency"),
        (earlier(size=0), "log.consistency"),
        (earlier(size=10**6), "log.consistency"),
        (earlier(proof=[]), "log.consistency"),
        (earlier(proof=[HASH]), "log.consistency"),
    ],
)  # fmt: skip
def test_what_is_altered_in_a_proof_is_refuted_by_its_step(
    alter: Callable[[Evidence], Any], step: str
) -> None:
    """Whatever is changed, with the file's own hash made to agree, the step that is about it fails."""
    file = sealed(us_casino().evidence())
    alter(file)
    assert step in failing(hashed(file), witness=[WITNESS.vkey])


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 1), (64, 64), (103, 103), (130, 130)])
def test_any_earlier_tree_is_taken(size: int, count: int) -> None:
    """The empty one, complete ones, ragged ones and the same one."""
    leaves = entries_around(us_casino().evidence(), 130)
    file = sealed(us_casino().evidence(), leaves, since=size)
    assert failing(file) == []
    saved = checkpoint(leaves[:count], LOG_KEY)
    assert failing(file, since=saved) == []
    assert judged(file, since=saved).notes["log.consistency"] == f"since your checkpoint of {count} entries"


def test_a_smaller_tree_of_the_same_root_is_no_earlier_tree() -> None:
    """The tree's own root does not prove a tree of another size, with no proof beside it."""
    leaves = entries_around(us_casino().evidence(), 130)
    file = sealed(us_casino().evidence(), leaves, since=130)
    for size in (129, 131, 64, 1):
        file["log"]["earlier"] = {"size": size, "root": base64_of(root(leaves)), "proof": []}
        assert failing(hashed(file)) == ["log.consistency"], size


def test_a_saved_checkpoint_of_another_history_is_refuted() -> None:
    """`--since` finds a fork: the saved root is not the one that the log has at that size."""
    leaves = entries_around(us_casino().evidence(), 130)
    file = sealed(us_casino().evidence(), leaves, since=64)
    other = [*leaves[:7], root([]), *leaves[8:]]
    assert failing(file, since=checkpoint(other[:64], LOG_KEY)) == ["log.consistency"]
    assert failing(file, since=checkpoint(other, LOG_KEY)) == ["log.consistency"]
    assert failing(file, since=checkpoint(leaves[:64], LOG_KEY, origin="another/1")) == ["log.consistency"]


def test_a_fork_of_a_log_with_a_long_name_is_refuted() -> None:
    """What is shown of a checkpoint is cut short, and what is compared is not."""
    long = "stud-ledger/" + "0123456789abcdef" * 30 + "/1"
    key = Key.of(b"log", long)
    leaves = entries_around(us_casino().evidence(), 130)
    file = sealed(us_casino().evidence(), leaves, since=64)
    file["log"] |= {"origin": long, "keys": [key.vkey], "checkpoint": checkpoint(leaves, key, origin=long)}
    other = [*leaves[:7], root([]), *leaves[8:]]
    assert failing(hashed(file), since=checkpoint(leaves[:64], key, origin=long)) == []
    assert failing(hashed(file), since=checkpoint(other[:64], key, origin=long)) == ["log.consistency"]


def test_a_key_signs_the_log_of_its_own_name_alone() -> None:
    """Or one trusted key could vouch for a second history that witnesses of the first never see."""
    leaves = entries_around(us_casino().evidence(), 130)
    file = sealed(us_casino().evidence(), leaves)
    note = checkpoint(leaves, LOG_KEY, origin=f"{ORIGIN}0")
    file["log"] |= {"origin": f"{ORIGIN}0", "checkpoint": note}
    assert failing(hashed(file)) == failing(hashed(file), key=[LOG_KEY.vkey]) == ["log.signature"]


def test_an_empty_earlier_tree_has_one_root_and_no_proof() -> None:
    """A hash that is said to be its root is not taken for one because a proof leads to it."""
    file = sealed(us_casino().evidence(), entries_around(us_casino().evidence(), 130), since=0)
    assert failing(file) == []
    proof = root([b"x" * 32])
    said = base64_of(hashlib.sha256(proof).digest())
    file["log"]["earlier"] = {"size": 0, "root": said, "proof": [base64_of(proof)]}
    assert failing(hashed(file)) == ["log.consistency"]


@pytest.mark.parametrize(("size", "why"), [(63, "?since=63"), (500, "?since=500")])
def test_a_saved_checkpoint_that_the_file_has_no_proof_from_is_said(size: int, why: str) -> None:
    """It is not passed over: the file is unusable for that, and the answer says what to ask for."""
    leaves = entries_around(us_casino().evidence(), 130)
    case = judged(sealed(us_casino().evidence(), leaves), since=checkpoint((leaves * 5)[:size], LOG_KEY))
    assert case.verdict() == "unusable"
    assert why in case.unusable


def test_a_fork_is_refuted_by_who_holds_the_first_proof() -> None:
    """Two rightly signed files of one round: both verify alone, and not from each other's earlier tree."""
    leaves = entries_around(us_casino().evidence(), 130)
    other = [*leaves[:7], root([]), *leaves[8:]]
    one, two = (sealed(us_casino().evidence(), each, since=64) for each in (leaves, other))
    assert failing(one) == failing(two) == []
    two["log"]["earlier"] = one["log"]["earlier"]
    assert failing(hashed(two)) == ["log.consistency"]
    two["log"]["earlier"]["proof"] = [*map(base64_of, growth(64, other))]
    assert failing(hashed(two)) == ["log.consistency"]


@pytest.mark.parametrize(
    "given",
    [
        {"key": ["no key"]}, {"key": [WITNESS.vkey]}, {"witness": [LOG_KEY.vkey]}, {"since": "no checkpoint"},
        {"key": [LOG_KEY.vkey[:-4] + "AAAA"]}, {"key": [LOG_KEY.vkey.replace("/1+", "/2+")]},
        {"key": [LOG_KEY.vkey + "\n"]}, {"since": f"{ORIGIN}\n5\n{HASH}\n"},
    ],
)  # fmt: skip
def test_what_is_no_key_and_no_checkpoint_is_said(given: dict[str, Any]) -> None:
    """A caller's mistake is one line of reason, never a verdict on the file."""
    case = judged(sealed(us_casino().evidence()), **given)
    assert case.verdict() == "unusable"
    assert case.unusable


@pytest.mark.parametrize(
    "note",
    [
        "", "\n\n", f"{ORIGIN}\n112\n{HASH}\n", f"{ORIGIN}\n0112\n{HASH}\n\n\u2014 a b\n",
        f"{ORIGIN}\n112\n{HASH}\n\n\u2014 a\n", f"{ORIGIN}\n112\n\n\u2014 a b\n",
        f"\n112\n{HASH}\n\n\u2014 a b\n",
        f"{ORIGIN}\n112\n{HASH[:-1]}\n\n\u2014 a b\n", f"{ORIGIN}\n112\n{HASH}\n\n\u2014 a b",
        f"{ORIGIN}\n112\n{HASH}\n\n" + "\u2014 a b\n" * 65, f"{ORIGIN}\n112\n{HASH}\n\n- a b\n",
    ],
)  # fmt: skip
def test_what_is_no_signed_checkpoint_is_unusable(note: str) -> None:
    """Notes are read strictly, and bounded."""
    file = sealed(us_casino().evidence())
    file["log"]["checkpoint"] = note
    case = judged(hashed(file))
    assert case.verdict() == "unusable"
    assert case.unusable


def test_several_witnesses_are_each_required() -> None:
    """Every witness that is asked for has to have cosigned, and each one's time is told."""
    file = sealed(us_casino().evidence(), signers=[LOG_KEY, WITNESS, OTHER_WITNESS])
    case = judged(file, witness=[WITNESS.vkey, OTHER_WITNESS.vkey])
    assert case.verdict() == "verified"
    assert re.fullmatch(
        "witness.example/w1 at .* UTC, witness.example/w2 at .* UTC", case.notes["log.witness"]
    )


@pytest.mark.parametrize("part", ["root", "signature"])
def test_base64_has_one_spelling(part: str) -> None:
    """Bits that decoders pass over are not passed over: a checkpoint cannot be written in two ways."""
    file = sealed(us_casino().evidence(), signers=[LOG_KEY])
    text = file["log"]["checkpoint"]
    line = text.split("\n")[2 if part == "root" else 4]
    at = text.index(line) + len(line) - (2 if part == "root" else 1 + line.endswith("="))
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = text[:at] + digits[digits.index(text[at]) ^ 1] + text[at + 1 :]
    assert base64.b64decode(other.split("\n")[2]) == base64.b64decode(text.split("\n")[2])
    file["log"]["checkpoint"] = other
    assert judged(hashed(file)).verdict() in ("refuted", "unusable")


def test_extension_lines_are_signed_with_the_rest() -> None:
    """A checkpoint may say more (tlog-checkpoint); what it says is under the signature too."""
    file = sealed(us_casino().evidence())
    body, _, _ = file["log"]["checkpoint"].rpartition("\n\n")
    body = f"{body}\nmore of it\n"
    file["log"]["checkpoint"] = f"{body}\n{LOG_KEY.line(body)}{WITNESS.line(body)}"
    assert failing(hashed(file), witness=[WITNESS.vkey]) == []
    file["log"]["checkpoint"] = file["log"]["checkpoint"].replace("more of", "less of")
    assert failing(hashed(file), witness=[WITNESS.vkey]) == ["log.signature", "log.witness"]


# ── The file itself ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "spell",
    [
        lambda raw: raw + b"\n", lambda raw: raw.replace(b'"log":', b'"log": '),
        lambda raw: b"{" + raw[raw.index(b'"sha256"') : -1] + b"," + raw[1 : raw.index(b',"sha256"')] + b"}",
        lambda raw: raw.replace(b"/", b"\\/", 1), lambda raw: raw.replace(b'"amount":500', b'"amount":0500'),
    ],
)  # fmt: skip
def test_another_spelling_is_not_verified(spell: Callable[[bytes], bytes]) -> None:
    """The bytes are canonical JSON: there is one file for what it says."""
    raw = canonical(sealed(us_casino().evidence()))
    assert spell(raw) != raw
    assert verify.examine(spell(raw)).verdict() in ("refuted", "unusable")
    assert verify.examine(raw).verdict() == "verified"


def test_a_wrong_hash_is_refuted_before_anything_else() -> None:
    """Damage to a file is called that, with nothing said about the ledger."""
    file = sealed(us_casino().evidence())
    file["sha256"] = "0" * 64
    assert failing(file) == ["file"]


@pytest.mark.parametrize(
    ("format_", "parts"), [("2", ["log"]), ("2", ["sha256"]), ("1", []), ("2", ["log", "sha256"])]
)
def test_a_file_has_all_parts_of_its_format(format_: str, parts: list[str]) -> None:
    """Format 2 has a proof and a hash, format 1 neither."""
    file = sealed(us_casino().evidence())
    file["format"] = f"stud-ledger/evidence/{format_}"
    for part in parts:
        del file[part]
    assert judged(file).verdict() == "unusable"


def test_a_commitment_behind_the_first_stake_is_refuted() -> None:
    """The event that commits to the deck is in the log before every stake, whatever order the file claims."""
    file = copy.deepcopy(us_casino().evidence())
    game = verify.Round(file)
    game.check_form(b"")
    for event in game.events[:2]:
        event.position = 300 - event.position
    game.check_rules()
    game.check_order()
    game.check_commitment()
    assert game.faults["cards.commitment"]


# ── On the command line ─────────────────────────────────────────────────────────────────────────────────────
def test_the_command_line_takes_keys_witnesses_and_a_saved_checkpoint(tmp_path: Path) -> None:
    """All options together verify; each of them wrong refutes or is unusable."""
    leaves = entries_around(us_casino().evidence(), 130)
    (tmp_path / "hand.json").write_bytes(canonical(sealed(us_casino().evidence(), leaves, since=64)))
    (tmp_path / "saved").write_text(checkpoint(leaves[:64], LOG_KEY), encoding="utf-8")
    given = ("hand.json", "--quiet", "--key", LOG_KEY.vkey, "--witness", WITNESS.vkey, "--since", "saved")
    done = run(tmp_path, *given)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"VERIFIED\n", b"")
    given = ("hand.json", "--quiet", "--key", OTHER_KEY.vkey, "--witness", WITNESS.vkey, "--since", "saved")
    done = run(tmp_path, *given, "--witness", OTHER_WITNESS.vkey)
    assert (done.returncode, done.stdout) == (1, b"REFUTED log.signature, log.witness\n")
    done = run(tmp_path, *given[:-1], "absent")
    assert (done.returncode, done.stderr) == (2, b"")


def test_the_report_shows_the_difference(tmp_path: Path) -> None:
    """A refuted proof names the event, the checkpoint's root and the one that the proof leads to."""
    file = sealed(us_casino().evidence())
    salted(file)
    (tmp_path / "hand.json").write_bytes(canonical(hashed(file)))
    done = run(tmp_path, "hand.json")
    assert done.returncode == 1
    expected = root(entries_around(us_casino().evidence())).hex()
    assert f'(Raised, seat 1): expected "{expected}", found "'.encode() in done.stdout
    assert done.stdout.endswith(b"REFUTED log.inclusion\n")
