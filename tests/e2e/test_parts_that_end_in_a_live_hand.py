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
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulate.log_witness import LogWitness
from simulate.phone import Phone
from simulate.room_log import RoomLog, judge_ledger, judge_view
from simulate.tv import Tv
from stack import lent, scale
from tests.e2e.party import Party, must, party, until, within
from tests.waiting import reach
from wire import client_in

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]

SERVICES = ("engine", "rooms", "bots")
DOORS = ("gateway", "watch")
SERVERS = ("valkey", "nats")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Two of each service; one NATS, one Valkey."""
    two = [word for kind in ("engines", "gateways", "rooms", "bots", "watches") for word in (f"--{kind}", "2")]
    with lent.started(*two, folder=tmp_path_factory.mktemp("stack"), say=False) as state:
        yield state


class Hand:
    """Ann, Bo and bots in a live hand, a TV beside them, and a witness of the log."""

    def __init__(self, people: Party, witness: LogWitness, phones: list[Phone], tv: Tv) -> None:
        self.people, self.witness, self.phones, self.tv = people, witness, phones, tv
        self._playing: asyncio.Task[None] | None = None

    def play(self, speed: float) -> None:
        self._playing = asyncio.create_task(self.people.play(*self.phones, speed=speed))

    async def live(self) -> None:
        """Everybody may move cards, in the hand that was dealt first."""
        for phone in self.phones:
            await until(phone, lambda p: p.screen.live)
            assert phone.screen.view.hand == 1

    async def finish(self) -> None:
        """To the scores, at once; then all screens, a page opened now and the log must say the same."""
        await self.stop()
        self.play(speed=30)
        assert self._playing is not None
        await self._playing
        found = self.people.found
        assert await self.witness.catch_up()
        log = self.witness.rooms[self.people.room]
        for phone in self.phones:
            await until(phone, lambda p: p.screen.phase() in ("scores", "standings"))
            seat = phone.screen.seat
            assert seat is not None
            judge_ledger(log, self.people.room, seat, phone.tab, {i: t.no for i, t in phone.told.items()}, found)
            judge_view(log, self.people.room, seat, phone.screen.view, found)
            second = self.people.tab(phone.token)
            await until(second, lambda p: p.screen.table is not None)
            assert second.screen.view == phone.screen.view
        await until(self.tv, lambda t: t.screen.phase() in ("scores", "standings"))
        assert self.tv.screen.view.result == self.phones[0].screen.view.result
        assert found.told == []

    async def stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)

    def log(self) -> RoomLog:
        return self.witness.rooms[self.people.room]


@asynccontextmanager
async def live_hand(stack: dict[str, Any], *bots: str) -> AsyncIterator[Hand]:
    address = SimpleNamespace(url=stack["url"], watch_url=stack["watch_url"])
    async with party(address) as people:
        witness = LogWitness(stack["nats_url"], people.found)
        await witness.start()
        hand = None
        try:
            ann, bo = await people.host("Ann"), await people.join("Bo")
            for level in bots:
                await within(ann.act(client_in.AddBot(level)))  # type: ignore[arg-type]
            await people.start(ann)
            await must(ann, client_in.Deal())
            await people.live()
            tv = await people.tv()
            await until(tv, lambda t: t.screen.live)
            hand = Hand(people, witness, [ann, bo], tv)
            yield hand
        finally:
            if hand is not None:
                await hand.stop()
            await witness.stop()


async def test_every_part_is_restarted_in_a_live_hand_and_nothing_is_lost(stack: dict[str, Any]) -> None:
    data = Path(stack["data"])
    async with live_hand(stack, "easy") as hand:
        found = hand.people.found
        hand.play(speed=1.0)
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
