"""What a service says when it is ready: where it is, tokens to try it with, and a hand to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GAME_SERVER: Final = "game server"

ROLES: Final = {
    GAME_SERVER: ("game-server", "play cashier"),
    "administrator": ("administrator", "admin"),
    "back office": ("back-office", "reports"),
    "regulator": ("regulator", "audit"),
    "dispute agent": ("dispute-agent", "disputes"),
}
"""Who lives on a ledger: the actor its events name, and the scopes of its token."""

HAND: Final = """\
A hand in the shell, from ante to verified payout:

TOKEN={token}
post() {{ curl -sS "{address}/v1/rounds$1" -d "$2" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: $(date +%s)$1"; echo; }}
SEAT='{{"seat":1,"player_id":"demo","ante":1000,"side_bets":{{"jackpot":100}}}}'
post "" '{{"table_id":"demo-us-casino","seats":['$SEAT'],"deal":true}}' | tee hand.json
ROUND=$(python3 -c 'import json; print(json.load(open("hand.json"))["round_id"])')
post /$ROUND/decisions '{{"seat":1,"action":"raise"}}'
curl -sS {address}/v1/rounds/$ROUND/evidence -H "Authorization: Bearer $TOKEN" -o hand.json
python3 scripts/verify.py hand.json
"""


def text(address: str, data_directory: Path, tokens: Mapping[str, str], witness: str | None = None) -> str:
    """Return what to print. `tokens` maps each of the roles to its token; without them none are shown.

    `witness` is the key of the witness that runs beside the service, where one does.
    """
    lines = [
        f"Stud Ledger is ready at {address}",
        f"  the page        {address}/",
        f"  the interface   {address}/docs",
        f"  data directory  {data_directory}",
        *([f"  its witness     {witness}"] if witness else []),
        "",
    ]
    if tokens:
        lines += ["Tokens for a day (scripts/token makes others):", ""]
        lines += [f"  {who} ({ROLES[who][1]}):\n{token}" for who, token in tokens.items()]
        lines += ["", HAND.format(token=tokens[GAME_SERVER], address=address)]
    else:
        lines += ["Tokens are made with scripts/token.", ""]
    return "\n".join([*lines, "Ctrl-C stops the service and what it started."])
