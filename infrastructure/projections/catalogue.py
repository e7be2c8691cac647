"""The projections of this software, in one place: the engine runs these, and `bootstrap` makes their tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from infrastructure.projections.kinds import Projection

PROJECTIONS: Final[tuple[Callable[[], Projection], ...]] = ()
"""A class each; an instance is made for the live tables and one more while they are rebuilt."""
