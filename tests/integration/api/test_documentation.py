"""The documentation tells what the service does, and needs no internet."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute

from api import app as application
from api.composition import BUILD
from api.problems import KINDS
from api.writing import WriteRoute

if TYPE_CHECKING:
    from conftest import Api

ROUTES = [route for router in application.ROUTERS for route in router.routes if isinstance(route, APIRoute)]
DOCUMENTED = [route for route in ROUTES if route.include_in_schema]


@pytest.fixture(scope="module")
def document(api: Api) -> dict[str, Any]:
    """Yield the OpenAPI document."""
    return dict(api.done(api.client.get("/openapi.json")))


def operation(document: dict[str, Any], route: APIRoute) -> dict[str, Any]:
    """Return what the document says of a route."""
    (method,) = route.methods
    return dict(document["paths"][route.path_format][method.lower()])


@pytest.mark.parametrize("route", DOCUMENTED, ids=lambda route: f"{route.methods} {route.path}")
def test_each_route_lists_what_it_can_answer(document: dict[str, Any], route: APIRoute) -> None:
    """Every route has a summary, an example, and every problem with its status and form."""
    told = operation(document, route)
    assert told["summary"]
    assert told["description"]
    for status, answer in told["responses"].items():
        if int(status) < 400:
            assert all("example" in content for content in answer["content"].values())
            continue
        content = answer["content"]["application/problem+json"]
        assert content["schema"]["$ref"].endswith("/ProblemDocument")
        assert all(KINDS[code].status == int(status) for code in content["examples"])
    if route.path.startswith("/v1/"):
        assert {"401", "403", "422", "500", "503"} <= set(told["responses"])
        assert told["security"][0]["token"]


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if isinstance(r, WriteRoute)], ids=lambda route: route.path
)
def test_each_write_has_examples_that_hold(document: dict[str, Any], route: WriteRoute) -> None:
    """A write names the key's header, and its examples are of the shape it takes."""
    told = operation(document, route)
    assert {"name": "Idempotency-Key", "in": "header", "required": True}.items() <= told["parameters"][
        -1
    ].items()
    examples = told["requestBody"]["content"]["application/json"]["examples"]
    assert examples
    for example in examples.values():
        route.body_type.model_validate(example["value"])


def test_the_documentation_needs_no_internet(api: Api) -> None:
    """The interactive page loads nothing from elsewhere, and what it loads is there."""
    page = api.client.get("/docs").text
    links = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert links
    for link in links:
        assert link.startswith("/")
        assert api.client.get(link).status_code == 200


def test_the_build_names_the_projects_version() -> None:
    """What stands on every round is the version that the project has."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"stud-ledger/{project['project']['version']}" == BUILD
