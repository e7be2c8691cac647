"""A few shapes of SVG 1.1 as text: every value is escaped, and the same input makes the same bytes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

MEDIA_TYPE: Final = "image/svg+xml"

STYLE: Final = """\
text{font-family:system-ui,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;fill:#1c2620}
.paper{fill:#fffdf7}.soft{fill:#5b655e}.line{stroke:#fffdf7;stroke-width:1;fill:none}
.h1{font-size:20px;font-weight:700}.h2{font-size:13px;font-weight:700}
.label{font-size:10.5px}.head{font-size:10.5px;font-weight:700;text-anchor:middle}
.cell{font-size:9.5px;text-anchor:middle}.note{font-size:11px}
.raise{fill:#bfe3c6}.fold{fill:#f1cfc7}.exchange{fill:#c6d8f3}.none{fill:#ece8db}
.raise-part{fill:#e2f2e0}.fold-part{fill:#f9e8e2}.exchange-part{fill:#e3ecf9}
.t-raise{fill:#0a3d20}.t-fold{fill:#6b1a0e}.t-exchange{fill:#10346b}
@media (prefers-color-scheme:dark){
text{fill:#e9ece6}.paper{fill:#16211b}.soft{fill:#a9b5ad}.line{stroke:#16211b}
.raise{fill:#1f6b3a}.fold{fill:#7c2f22}.exchange{fill:#2a4f8c}.none{fill:#27332c}
.raise-part{fill:#27442f}.fold-part{fill:#4b2f29}.exchange-part{fill:#2b3c57}
.t-raise{fill:#e4f7e6}.t-fold{fill:#fdeae5}.t-exchange{fill:#e6effd}
}
"""
_DIGEST: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY: Final = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; frame-ancestors 'none'; sandbox"
"""The Content-Security-Policy of a drawing that is served by itself: its style sheet and nothing else."""

# XML 1.0 section 2.2: everything else cannot be written, not even as a reference.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def tag(name: str, *inside: str, **attributes: str | int) -> str:
    """Return an element around what is inside, which is XML already; a hyphen in a name is written ``_``."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_printable(str(value)))}"
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(words: str, x: int, y: int, kind: str, **attributes: str | int) -> str:
    """Return a line of text that begins, or where its kind says so is centred, at a place."""
    return tag("text", plain(words), x=x, y=y, class_=kind, **attributes)


def title(words: str) -> str:
    """Return what an element is called by browsers and screen readers."""
    return tag("title", plain(words))


def plain(words: str) -> str:
    """Return text as XML."""
    return escape(_printable(words))


def drawing(name: str, description: str, width: int, height: int, inside: Iterable[str]) -> bytes:
    """Return a whole file: named, described, self-contained."""
    return tag(
        "svg",
        tag("title", plain(name), id="name"),
        tag("desc", plain(description), id="description"),
        f"<style>{STYLE}</style>",
        tag("rect", width=width, height=height, class_="paper"),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="graphics-document",
        aria_labelledby="name",
        aria_describedby="description",
        lang="en",
    ).encode()


def _printable(words: str) -> str:
    return _NOT_XML.sub("\ufffd", words)
