"""Processes of a real stack end in a live hand, politely or not: a pause, and nothing lost.

Times are printed, never judged.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stack import lent, scale
from tests.e2e.live_hand import live_hand
from tests.waiting import reach

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

SERVICES = ("engine", "rooms", "bots")
DOORS = ("gateway", "watch")
SERVERS = ("valkey", "nats")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Two of each service; one NATS, one Valkey."""
    two = [word for kind in ("engines", "gateways", "rooms", "bots", "watches") for word in (f"--{kind}", "2")]
    with lent.started(*two, folder=tmp_path_factory.mktemp("stack"), say=False) as state:
        yield state


async def test_every_part_is_restarted_in_a_live_hand_and_nothing_is_lost(stack: dict[str, Any]) -> None:
    data = Path(stack["data"])
    async with live_hand(stack, "easy") as hand:
        found = hand.people.found
        hand.play(speed=0.6)
        for kind in (*SERVICES, *DOORS, *SERVERS):
            await hand.live()
            began, moves, reconnects = time.monotonic(), found.done, found.reconnects
            await asyncio.to_thread(scale.restart, data, [kind])
            await hand.live()
            took, back = time.monotonic() - began, found.reconnects - reconnects
            told = f"{found.done - moves} moves meanwhile, {back} sockets came back"
            say(f"{kind}: restarted in {took:.1f} s, {told}")
            if kind not in DOORS:
                assert back == 0, f"sockets were lost when {kind} was restarted"
        assert found.errors == {}, "nobody was refused anything"
        await hand.finish()


async def test_a_bots_worker_killed_in_mid_hand_is_followed_by_another_and_nothing_is_lost(
    stack: dict[str, Any],
) -> None:
    async with live_hand(stack, "hard", "hard", "hard") as hand:
        hand.play(speed=1.0)
        seats = {m.seat for m in hand.phones[0].screen.table.members if m.bot} if hand.phones[0].screen.table else set()
        await reach(lambda: {d.seat for d in hand.log().drives} == seats, "every bot seat has a driver")
        doomed = await asyncio.to_thread(busiest_worker, stack)
        drivers = {d.seat: d.worker for d in hand.log().drives}
        orphans = {seat for seat, worker in drivers.items() if worker.startswith(f"{doomed['name']}-")}
        assert orphans
        before = len(hand.log().drives)
        os.kill(doomed["pid"], signal.SIGKILL)
        killed = time.time()

        def followed() -> bool:
            return orphans <= {d.seat for d in hand.log().drives[before:] if d.worker != drivers[d.seat]}

        await reach(followed, "another worker drives the killed one's seats")
        last = max(d.at for d in hand.log().drives[before:] if d.seat in orphans)
        say(f"{len(orphans)} seats of {doomed['name']} were driven by another after {last - killed:.2f} s")
        await hand.live()
        await hand.finish()


def busiest_worker(stack: dict[str, Any]) -> dict[str, Any]:
    """The bots worker that drives the most seats."""
    state = lent.running(Path(stack["data"]))
    assert state is not None
    workers: list[dict[str, Any]] = [part for part in state["parts"] if part["kind"] == "bots"]
    return max(workers, key=lambda part: seats_driven(part["ports"]["ops"]))


def seats_driven(ops: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{ops}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith("snatch_bots_seats "))


def say(text: str) -> None:
    """For who reads the test's output: `pytest -rP`."""
    sys.stdout.write(f"{text}\n")
