"""/readyz of the public port is asked by many; what it looks at may be slow."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from services.gateway import readiness as readiness_module
from services.gateway.readiness import Readiness
from tests.waiting import reach


class Slow:
    """NATS, rooms and engines in one: rooms answers when it is let."""

    is_connected = True

    def __init__(self) -> None:
        self.looks = 0
        self.let = asyncio.Event()

    async def ready(self) -> str | None:
        self.looks += 1
        await self.let.wait()
        return "rooms: Redis is away"


async def test_who_waited_while_another_looked_has_its_answer_and_nobody_waits_for_a_look_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness_module, "KEPT", 0.0)
    slow: Any = Slow()
    readiness = Readiness(slow, slow, cast(Any, None))
    asking = [asyncio.create_task(readiness.ready()) for _ in range(5)]
    await reach(lambda: slow.looks, "one looks")
    slow.let.set()
    assert await asyncio.gather(*asking) == ["rooms: Redis is away"] * 5
    assert slow.looks == 1
