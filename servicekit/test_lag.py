"""The event loop's lag, as operators and autoscalers see it."""

from __future__ import annotations

import asyncio
import time

from servicekit.lag import Lag
from servicekit.meters import Meters


def test_the_recent_lag_is_the_worst_of_all_but_one_in_a_hundred() -> None:
    meters = Meters("snatch")
    lag = Lag(meters)
    assert lag.most() == 0
    for _ in range(299):
        lag.saw(0.002)
    lag.saw(3.0)
    assert meters.registry.get_sample_value("snatch_event_loop_lag_recent_seconds") == 0.002, "one hiccup is none"
    for _ in range(5):
        lag.saw(1.5)
    assert lag.most() == 1.5
    for _ in range(300):
        lag.saw(0.001)
    assert lag.most() == 0.001, "what was half a minute ago is past"
    assert meters.registry.get_sample_value("snatch_event_loop_lag_seconds_count") == 605


class Told(Lag):
    """Says when it has looked."""

    def __init__(self, meters: Meters) -> None:
        super().__init__(meters)
        self.looked = asyncio.Event()

    def saw(self, late: float) -> None:
        super().saw(late)
        self.looked.set()


async def test_a_loop_that_was_held_up_is_seen_late() -> None:
    lag = Told(Meters("snatch"))
    lag.start()
    try:
        time.sleep(0.3)  # noqa: ASYNC251 - the fault that is to be seen
        async with asyncio.timeout(20):
            await lag.looked.wait()
        assert lag.most() > 0.15, "due after 0.1 s, it could not come before 0.3 s"
    finally:
        lag.stop()
