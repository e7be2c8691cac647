"""`scripts/token`: make an access token with the service's key and print it as the last word."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from api.cli import data_directory
from api.tokens import SCOPES, TTL_SECONDS_DEFAULT, TokenError, mint
from infrastructure.keys import KeysError, load_token_key

CLIENT_DEFAULT = "operator"


def main(arguments: list[str] | None = None) -> int:
    """Print a token; return 0, or 1 where there is no key or no service would accept the token."""
    parser = argparse.ArgumentParser(prog="scripts/token", description=__doc__)
    parser.add_argument(
        "--scope", required=True, help=f"what it allows, separated by spaces: {', '.join(SCOPES)}"
    )
    parser.add_argument(
        "--client", default=CLIENT_DEFAULT, help="who owns the idempotency keys sent with it (%(default)s)"
    )
    parser.add_argument("--actor", help="who is recorded as acting (the client)")
    parser.add_argument(
        "--ttl", type=int, default=TTL_SECONDS_DEFAULT, help="seconds it is valid (%(default)s)"
    )
    parser.add_argument("--data-dir", type=Path, help="the service's data directory")
    parser.add_argument("--keys", type=Path, help="where the keys are kept (keys in the data directory)")
    chosen = parser.parse_args(arguments)
    directory = data_directory.choose(chosen.data_dir, chosen.keys)
    try:
        key = load_token_key(directory.keys)
        token = mint(
            key,
            chosen.scope,
            client_id=chosen.client,
            actor=chosen.actor or chosen.client,
            ttl_seconds=chosen.ttl,
        )
    except (KeysError, TokenError) as problem:
        print(f"stud-ledger: {problem}", file=sys.stderr)
        return 1
    print(token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
