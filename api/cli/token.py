"""`scripts/token`: make an access token and print it as the last word; or a person's key.

Without `--person` the token is signed with the service's key. A person signs with a key of their own, which
needs no service: `--new-person NAME --key FILE` makes it and prints its public half, for an administrator to
register (`POST /v1/people`); `--person NAME --key FILE --scope …` then makes tokens with it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from api.cli import data_directory
from api.tokens import (
    PERSON_TTL_SECONDS_DEFAULT,
    SCOPES,
    TTL_SECONDS_DEFAULT,
    TokenError,
    check_name,
    mint,
    mint_person,
)
from infrastructure import person_keys
from infrastructure.keys import KeysError, load_token_key

CLIENT_DEFAULT = "operator"


def main(arguments: list[str] | None = None) -> int:
    """Print what was asked for; return 0, or 1 where there is no key or no service would take the token."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    person = chosen.person or chosen.new_person
    if (person is None) != (chosen.key is None):
        parser.error("--key goes with --person or --new-person")
    if chosen.new_person is None and chosen.scope is None:
        parser.error("--scope says what the token allows")
    try:
        if chosen.new_person is not None:
            check_name("person", chosen.new_person)
            print(f"The public key of {chosen.new_person}: {person_keys.make(chosen.key)}")
        elif chosen.person is not None:
            print(_persons(chosen))
        else:
            print(_services(chosen))
    except (KeysError, TokenError) as problem:
        print(f"stud-ledger: {problem}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/token", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scope", help=f"what it allows, separated by spaces: {', '.join(SCOPES)}")
    parser.add_argument(
        "--client",
        default=CLIENT_DEFAULT,
        help="who owns the idempotency keys sent with a service token (%(default)s)",
    )
    parser.add_argument("--actor", help="who is recorded as acting with a service token (the client)")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--person", metavar="NAME", help="make the token of a registered person")
    who.add_argument("--new-person", metavar="NAME", help="make a person's key, and no token")
    parser.add_argument("--key", type=Path, metavar="FILE", help="where the person's key is, or is to be")
    parser.add_argument(
        "--ttl",
        type=int,
        help=f"seconds it is valid ({TTL_SECONDS_DEFAULT}; a person's {PERSON_TTL_SECONDS_DEFAULT})",
    )
    parser.add_argument("--data-dir", type=Path, help="the service's data directory")
    parser.add_argument("--keys", type=Path, help="where its keys are kept (keys in the data directory)")
    return parser


def _persons(chosen: argparse.Namespace) -> str:
    ttl = PERSON_TTL_SECONDS_DEFAULT if chosen.ttl is None else chosen.ttl
    return mint_person(person_keys.load(chosen.key), chosen.person, chosen.scope, ttl_seconds=ttl)


def _services(chosen: argparse.Namespace) -> str:
    directory = data_directory.choose(chosen.data_dir, chosen.keys)
    return mint(
        load_token_key(directory.keys),
        chosen.scope,
        client_id=chosen.client,
        actor=chosen.actor or chosen.client,
        ttl_seconds=TTL_SECONDS_DEFAULT if chosen.ttl is None else chosen.ttl,
    )


if __name__ == "__main__":
    sys.exit(main())
