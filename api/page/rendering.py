"""Turning what is to be seen into HTML: the templates, every value escaped, and the style sheet."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE: Final = Path(__file__).parent

STYLE: Final = (_HERE / "static" / "page.css").read_bytes()
STYLE_URL: Final = f"/page/{hashlib.sha256(STYLE).hexdigest()[:16]}.css"
"""The style sheet's path names its content, so that browsers may keep it for ever."""

_environment: Final = Environment(
    loader=FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_environment.globals["style_url"] = STYLE_URL


def render(template: str, **values: Any) -> str:
    """Render a template of this folder. Raises jinja2.UndefinedError for a value that nobody gave."""
    return _environment.get_template(template).render(**{"play": None, "house": None, **values})
