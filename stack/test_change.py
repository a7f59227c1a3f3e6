"""Who is restarted, and in which order, when something isn't ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stack.change import Change, NotDone


@dataclass
class Twin:
    """A child that a restart cures."""

    name: str
    state: str
    renewed: list[str]
    why: str = ""
    hopeless: bool = False
    part: Any = None
    log: Any = field(default_factory=lambda: SimpleNamespace(path=Path("a.log")))

    def __post_init__(self) -> None:
        self.part = SimpleNamespace(name=self.name, kind=self.name.split("-")[0])

    async def renew(self, part: Any, grace: float) -> None:
        self.renewed.append(self.name)
        self.state = "ready"


class TwinStack:
    """Engines that wait for a NATS which has lost its disk."""

    def __init__(self) -> None:
        self.renewed: list[str] = []
        self.screen = SimpleNamespace(say=lambda text: None)
        states = {"nats-1": "ready", "nats-2": "not ready", "engine-1": "ready", "gateway-1": "ready"}
        self.children = [Twin(name, state, self.renewed) for name, state in states.items()]

    async def until(self, holds: Callable[[], bool], within: float) -> bool:
        return holds()

    async def settled(self, within: float) -> bool:
        return all(c.state == "ready" for c in self.children)


async def test_of_a_kind_that_is_named_those_that_are_not_ready_are_restarted_first() -> None:
    stack = TwinStack()
    await Change(cast(Any, stack)).restart(["nats"])
    assert stack.renewed == ["nats-2", "nats-1"]


async def test_all_services_are_restarted_only_while_all_is_ready() -> None:
    stack = TwinStack()
    with pytest.raises(NotDone, match="nats-2 not ready: another one should not go now"):
        await Change(cast(Any, stack)).restart([])
    assert stack.renewed == []
