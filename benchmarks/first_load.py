"""What a browser loads before the first place shows: the scripts and styles that a built page names."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import NamedTuple

MOST = 150_000
"""Bytes, packed, that scripts and styles of a first load may have."""

_NAMED = re.compile(r'(?:src|href)="/?([^"]+\.(?:js|css))"')
_IMPORTED = re.compile(r"""\b(?:import|from)\s*["']\./([^"']+\.js)["']""")


class Loaded(NamedTuple):
    """One file; bytes as they are, and as they go through a line."""

    name: str
    plain: int
    packed: int


def first_load(dist: Path, page: str) -> list[Loaded]:
    """Of a page in the built client, what its scripts import included; what is only imported later is not."""
    waiting = _NAMED.findall((dist / page).read_text(encoding="utf-8"))
    found: dict[str, Loaded] = {}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        content = (dist / name).read_bytes()
        found[name] = Loaded(name, len(content), len(gzip.compress(content, 9)))
        if name.endswith(".js"):
            folder = str(Path(name).parent)
            waiting += [f"{folder}/{other}" for other in _IMPORTED.findall(content.decode("utf-8"))]
    return sorted(found.values())
