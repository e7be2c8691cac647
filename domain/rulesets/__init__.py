"""The houses: one TOML file each, and the schema that says what a valid one is.

The domain reads no files: whoever composes the service reads ``<id>.toml`` for the ids in `SHIPPED`
and hands the text to ``domain.rulesets.schema.load``.
"""

from __future__ import annotations

from typing import Final

SHIPPED: Final = (
    "nordic",
    "evolution-live",
    "cyber",
    "czech",
    "us-casino",
    "uk-casino",
    "macau",
    "adelaide",
    "casino-poker-1982",
)
"""The ids of the rule sets that come with the project, in the order of their sources."""
