"""QR codes of links, as SVG."""

from __future__ import annotations

import io
from functools import lru_cache

import segno


@lru_cache(maxsize=1024)
def svg(text: str) -> bytes:
    """Dark on a white plate with its quiet zone, so that it scans from a dark page; scales to its box."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=8, border=4, light="#fff", omitsize=True)
    return out.getvalue()
