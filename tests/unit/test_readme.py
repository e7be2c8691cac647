"""The README says what is so."""

from __future__ import annotations

import os
import re

import pytest

from api.cli.diagram import README, redrawn

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")


def test_the_life_of_a_round_is_drawn_as_the_code_has_it() -> None:
    """The README's diagram is the one that scripts/diagram draws from the table of transitions now."""
    assert redrawn(TEXT) == TEXT


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^):]+)\)", TEXT))))
def test_every_link_leads_somewhere(target: str) -> None:
    """A link to a file of the project leads to one that is there."""
    assert (ROOT / target).exists()


@pytest.mark.parametrize("script", sorted(set(re.findall(r"scripts/([a-z]+)\b(?!\.)", TEXT))))
def test_every_script_is_there_and_can_be_started(script: str) -> None:
    """A command that the README names is an executable file."""
    assert os.access(ROOT / "scripts" / script, os.X_OK)


def test_every_house_is_in_the_table() -> None:
    """Each rule set that comes with the project has its row."""
    houses = {path.stem for path in (ROOT / "domain" / "rulesets").glob("*.toml")}
    assert houses == set(re.findall(r"\| \[`([a-z0-9-]+)`\]\(domain/rulesets/", TEXT))
