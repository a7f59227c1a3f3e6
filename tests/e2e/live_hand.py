"""A live hand on a real stack, while something happens to its processes; afterwards all sides must agree."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from simulate.log_witness import LogWitness
from simulate.phone import Phone
from simulate.room_log import RoomLog, judge_ledger, judge_view
from simulate.tv import Tv
from tests.e2e.party import Party, must, party, until, within
from wire import client_in


class Hand:
    """Ann, Bo and bots in a live hand, a TV beside them, and a witness of the log."""

    def __init__(self, people: Party, witness: LogWitness, phones: list[Phone], tv: Tv) -> None:
        self.people, self.witness, self.phones, self.tv = people, witness, phones, tv
        self._playing: asyncio.Task[None] | None = None

    def play(self, speed: float) -> None:
        """A hand may hang on what a bot turns at its own pace: it has minutes."""
        self._playing = asyncio.create_task(self.people.play(*self.phones, speed=speed, patience=240.0))

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
