"""A stack changes, or loses a NATS server of three, while a hand is played on it: nobody loses anything."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from servicekit import bus
from stack import lent, scale
from stack.data import DataFolder
from stack.orders import Refused
from tests.e2e.live_hand import live_hand
from tests.waiting import reach
from wire import subjects

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def names(state: dict[str, Any]) -> set[str]:
    assert state["ready"]
    return {part["name"] for part in state["parts"]}


async def test_a_stack_grows_and_shrinks_in_a_live_hand(tmp_path: Path) -> None:
    with lent.started(folder=tmp_path / "data", say=False) as one:
        data = Path(one["data"])
        with pytest.raises(Refused, match="fixed by the data"):
            await asyncio.to_thread(scale.scale_to, data, {"nats": 3})
        async with live_hand(one) as hand:
            hand.play(speed=1.0)
            two = await asyncio.to_thread(scale.raise_to, data, {"engine": 2, "gateway": 2, "rooms": 2})
            assert names(two) - names(one) == {"engine-2", "gateway-2", "rooms-2"}
            same = await asyncio.to_thread(scale.raise_to, data, {"engine": 1})
            assert same["parts"] == two["parts"], "raising never lowers"
            await hand.live()
            less = await asyncio.to_thread(scale.scale_to, data, {"engine": 1, "gateway": 1, "rooms": 1})
            assert names(less) == names(one)
            assert all(part["restarts"] == 0 for part in less["parts"]), "nothing died"
            await hand.live()
            assert hand.people.found.errors == {}, "nobody was refused anything"
            await hand.finish()


async def test_play_goes_on_when_the_leader_of_three_nats_servers_is_killed(tmp_path: Path) -> None:
    with lent.started("--nats", "3", folder=tmp_path / "data", say=False) as state:
        data = DataFolder(tmp_path / "data")
        name = await leader(state["nats_url"])
        before = part(state, name)
        async with live_hand(state) as hand:
            hand.play(speed=1.0)
            found = hand.people.found
            os.kill(before["pid"], signal.SIGKILL)

            def back() -> bool:
                now = data.state()
                return now is not None and now["ready"] and part(now, name)["restarts"] > before["restarts"]

            await reach(back, "the server is back, and has what the others have")
            moves = found.done
            await reach(lambda: found.done > moves, "play goes on")
            await hand.live()
            assert found.errors == {}, "nobody was refused anything"
            await hand.finish()


def part(state: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(p for p in state["parts"] if p["name"] == name)
    return found


async def leader(nats_url: str) -> str:
    """The part that leads the log, which is kept three times."""
    nc, leads = await bus.connect(nats_url, "test"), ""
    try:
        for stream in (f"KV_{subjects.OWN_BUCKET}", subjects.LOG_STREAM):
            cluster = (await nc.jetstream().stream_info(stream)).cluster
            assert cluster is not None
            assert cluster.leader is not None
            leads = cluster.leader
            copies = {leads, *(peer.name for peer in cluster.replicas or ())}
            assert copies == {"snatch-1", "snatch-2", "snatch-3"}, stream
        return leads.replace("snatch", "nats")
    finally:
        await nc.close()
