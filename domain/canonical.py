"""One way to hash a document, so that whoever holds it can hash it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def document_sha256(document: Mapping[str, Any]) -> str:
    """The SHA-256 (hex) of a document's canonical JSON (RFC 8785; there are no floats in ours)."""
    canonical = json.dumps(_ordered(document), separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _ordered(value: Any) -> Any:
    """Keys go by their UTF-16 code units (section 3.2.3), which is not how Python compares all texts."""
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    return [_ordered(item) for item in value] if isinstance(value, (list, tuple)) else value
