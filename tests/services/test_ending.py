"""The end of a service: nothing that fails keeps what comes after it from its turn."""

from __future__ import annotations

import asyncio

import pytest

from servicekit.ending import in_order


class Steps:
    def __init__(self) -> None:
        self.taken: list[str] = []
        self.hanging = asyncio.Event()

    async def well(self) -> None:
        self.taken.append("well")

    async def badly(self) -> None:
        self.taken.append("badly")
        raise OSError("a broken pipe")

    async def never(self) -> None:
        self.taken.append("never")
        self.hanging.set()
        await asyncio.Event().wait()


async def test_a_step_that_raises_is_logged_and_the_next_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    steps = Steps()
    await in_order(("a", steps.badly), None, ("b", steps.well))
    assert steps.taken == ["badly", "well"]
    assert "a broken pipe" in capsys.readouterr().out


async def test_an_end_that_is_cut_short_still_takes_the_steps_that_are_left() -> None:
    steps = Steps()
    ending = asyncio.create_task(in_order(("a", steps.never), ("b", steps.well)))
    await steps.hanging.wait()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert steps.taken == ["never", "well"]
