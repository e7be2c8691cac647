"""Files that are no evidence at all."""

from __future__ import annotations

from tests.unit.scripts.evidence_builder import canonical
from tests.unit.scripts.verified_rounds import us_casino

GOOD = canonical(us_casino().evidence())
HOSTILE = {
    "nothing": b"",
    "not JSON": b"{",
    "not an object": b"[1]",
    "a number": b"7",
    "not UTF-8": b'{"format":"\xff"}',
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "another format": GOOD.replace(b"evidence/1", b"evidence/2"),
    "a part missing": GOOD.replace(b'"round_id":"r-1",', b""),
    "player missing": GOOD.replace(b'"player":null,', b""),
    "an unknown part": GOOD.replace(b'"player":null,', b'"player":null,"proof":1,'),
    "a key twice": GOOD.replace(b'"player":null,', b'"player":null,"player":null,'),
    "NaN": GOOD.replace(b'"amount":500', b'"amount":NaN'),
    "infinity": GOOD.replace(b'"amount":500', b'"amount":-Infinity'),
    "a float": GOOD.replace(b'"amount":500', b'"amount":500.0'),
    "an exponent": GOOD.replace(b'"amount":500', b'"amount":5e2'),
    "beyond 2^53": GOOD.replace(b'"amount":500', b'"amount":9007199254740992'),
    "a thousand digits": GOOD.replace(b'"amount":500', b'"amount":' + b"9" * 5_000),
    "deep lists": b'{"format":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "a lone surrogate": GOOD.replace(b'"title":"', b'"title":"\\ud800'),
    "too large": b" " * (64 * 2**20 + 1),
    "events that are numbers": GOOD.replace(b'"events":[', b'"events":[1,'),
}  # fmt: skip
