"""The whole OpenAPI document asked by Schemathesis, all its checks on: no failure, nothing undocumented."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings

from api.app import create_app
from api.audit import commands as audit_commands
from api.jackpots import reads as jackpots
from api.settings import ServiceSettings
from infrastructure import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.api.conftest import Api

EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES")
"""How many random requests each operation gets, beside those that cover its parameters: for a longer look."""
KEY = re.compile(r"[ -~]{1,128}")

_numbers = itertools.count(1)


def _whole_document() -> Any:
    """Return the document with every check on."""
    config = schemathesis.Config.from_dict(
        {
            # As HTTP has it, a query's parameter that nobody knows is ignored.
            "generation": {"allow-extra-parameters": False},
            "checks": {
                # A request of the right shape can still be one that the ledger refuses: an ante above the
                # table's limit, a dealt card dealt again. Its contract answers those with 422 too.
                "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "422"]},
            },
        }
    )
    document = create_app(ServiceSettings("", Path())).openapi()
    return schemathesis.openapi.from_dict(document, config=config)


schema = _whole_document()


@pytest.fixture(scope="module", autouse=True)
def _impatient() -> Iterator[None]:
    """Let nobody wait long for positions that no answer has named, and let no stream of a meter go on.

    Audits may wait in any number: that there are too many is no answer to what is asked here.
    """
    with (
        mock.patch.object(audit_commands, "WAITING_MAX", 1_000),
        mock.patch.object(reading, "POSITION_WAIT_SECONDS_MAX", 0.02),
        mock.patch.object(jackpots, "STREAM_SECONDS_MAX", 0.01),
        mock.patch.object(jackpots, "LOOK_SECONDS", 0.01),
    ):
        yield


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Yield one connection for all requests."""
    with requests.Session() as made:
        made.trust_env = False
        yield made


@schema.parametrize()
@settings(
    max_examples=int(EXAMPLES or 12),
    derandomize=EXAMPLES is None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_documented(case: schemathesis.Case, api: Api, session: requests.Session) -> None:
    """No request, whatever it is, meets an internal error or an answer that the document does not have."""
    headers = {"Authorization": f"Bearer {api.token()}"}
    if KEY.fullmatch((case.headers or {}).get("Idempotency-Key", "")):
        headers["Idempotency-Key"] = f"schemathesis-{next(_numbers)}"  # or all requests are the same one
    case.call_and_validate(base_url=str(api.client.base_url), headers=headers, session=session)
