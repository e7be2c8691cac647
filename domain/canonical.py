"""One way to hash a document, so that whoever holds it can hash it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def document_sha256(document: Mapping[str, Any]) -> str:
    """The SHA-256 (hex) of a document's canonical JSON: sorted keys, no spaces, UTF-8."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
