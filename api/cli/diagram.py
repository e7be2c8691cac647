"""`scripts/diagram`: draw the life of a round into the README again, after its table has changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from domain.diagram import phase_diagram

README: Final = Path(__file__).resolve().parents[2] / "README.md"
BEGIN: Final = "<!-- drawn by scripts/diagram -->\n```mermaid\n"
END: Final = "\n```\n<!-- end of what is drawn -->"


def redrawn(text: str) -> str:
    """The README's text with the diagram as it is now. Raises ValueError where its place is missing."""
    start = text.index(BEGIN) + len(BEGIN)
    return text[:start] + phase_diagram() + text[text.index(END, start) :]


def main() -> int:
    """Draw; with ``--check`` only tell by the exit status whether it is up to date."""
    text = README.read_text(encoding="utf-8")
    fresh = redrawn(text)
    if "--check" in sys.argv[1:]:
        return 0 if fresh == text else 1
    README.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
