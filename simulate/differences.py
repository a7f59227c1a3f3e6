"""Where two pictures differ, in a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

SHOWN = 4


def differences(a: Any, b: Any, names: tuple[str, str]) -> str:
    """The first few places, each with both sides; empty when there are none.

    >>> differences({"x": [1, 2]}, {"x": [1, 3]}, ("screen", "log"))
    '.x.1: 2 (screen), 3 (log)'
    """
    found = list(_walk("", msgspec.to_builtins(a), msgspec.to_builtins(b)))
    text = "; ".join(f"{path or 'all'}: {one!r} ({names[0]}), {two!r} ({names[1]})" for path, one, two in found[:SHOWN])
    return text + (f"; {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _walk(path: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}, key=str):
            yield from _walk(f"{path}.{key}", a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (one, two) in enumerate(zip(a, b, strict=True)):
            yield from _walk(f"{path}.{index}", one, two)
    elif a != b:
        yield path, a, b
