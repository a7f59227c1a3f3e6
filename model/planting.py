"""How a rule is broken: an attribute of the real code is replaced for as long as a world runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

Plant = Callable[[contextlib.ExitStack], None]
Original = Callable[..., Any]


def put(stack: contextlib.ExitStack, owner: Any, name: str, broken: Callable[[Original], Any]) -> None:
    """Replace an attribute by what `broken` makes of the original."""
    original = getattr(owner, name)
    setattr(owner, name, broken(original))
    stack.callback(setattr, owner, name, original)


def replace(stack: contextlib.ExitStack, table: dict[Any, Any], key: Any, value: Any) -> None:
    """Replace an entry of a table of functions."""
    stack.callback(table.__setitem__, key, table[key])
    table[key] = value
