"""A stack that is full: whoever comes last is told so, and a hand that is played on it goes on unharmed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulate.phone import Refused
from stack import lent, scale
from tests.e2e.live_hand import live_hand
from tests.e2e.party import until, within
from tests.waiting import reach
from wire import client_in

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

SMALL = {"SNATCH_ENGINE_TABLES": "2", "SNATCH_BOTS_SEATS": "2"}


async def metric(state: dict[str, Any], kind: str, name: str) -> float:
    """Of the first process of this kind."""
    port = next(part["ports"]["ops"] for part in state["parts"] if part["kind"] == kind)
    async with httpx.AsyncClient(trust_env=False) as http:
        lines = (await http.get(f"http://127.0.0.1:{port}/metrics")).text.splitlines()
    return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(f"{name} ")))


async def heard(state: dict[str, Any], name: str, holds: Callable[[float], bool], kind: str = "rooms") -> None:
    async with asyncio.timeout(20):
        while not holds(await metric(state, kind, name)):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.05)


async def test_a_full_house_refuses_rooms_and_bots_kindly_and_the_hand_on_it_goes_on(tmp_path: Path) -> None:
    with lent.started(folder=tmp_path / "data", say=False, settings=SMALL) as state:
        await heard(state, "snatch_rooms_capacity", lambda most: most == 2)
        async with live_hand(state, "easy", "easy") as hand, httpx.AsyncClient(trust_env=False) as http:
            hand.play(speed=1.0)
            people, first = hand.people, hand.people.room
            cy = await people.host("Cy")
            await heard(state, "snatch_bots_seats", lambda driven: driven == 2, "bots")
            with pytest.raises(Refused, match="bots_busy"):
                await refused_at_last(cy)
            assert cy.lobby is not None
            answer = await http.post(f"{state['url']}/api/rooms", json={"name": "Di", "request_id": "one"})
            assert (answer.status_code, answer.json()["error"]) == (503, "house_full")
            assert int(answer.headers["retry-after"]) > 0
            assert (await http.get(f"{state['url']}/readyz")).status_code == 200, "full is not unready: people play"
            late = await people.join("Late", first)
            await until(late, lambda p: p.screen.table is not None)
            await within(cy.act(client_in.StartTable()))
            await until(cy, lambda p: p.screen.table is not None)
            done = people.found.done
            await reach(lambda: people.found.done > done + 5, "the hand goes on")
            assert set(people.found.errors) <= {"bots_busy"}
            people.room = first
            await hand.finish()


async def test_with_an_engine_less_than_there_are_rooms_all_of_them_go_on_and_no_more_come_in(tmp_path: Path) -> None:
    one_each = {"SNATCH_ENGINE_TABLES": "1"}
    with lent.started("--engines", "2", folder=tmp_path / "data", say=False, settings=one_each) as state:
        await heard(state, "snatch_rooms_capacity", lambda most: most == 2)
        async with live_hand(state) as hand, httpx.AsyncClient(trust_env=False) as http:
            hand.play(speed=1.0)
            people, first = hand.people, hand.people.room
            cy = await people.host("Cy")
            await asyncio.to_thread(scale.scale_to, Path(state["data"]), {"engine": 1})
            await heard(state, "snatch_rooms_capacity", lambda most: most == 1)
            answer = await http.post(f"{state['url']}/api/rooms", json={"name": "Di", "request_id": "one"})
            assert answer.json()["error"] == "house_full"
            await within(cy.act(client_in.StartTable()))
            await until(cy, lambda p: p.screen.table is not None)
            await hand.live()
            assert people.found.errors == {}, "nobody else was refused anything"
            people.room = first
            await hand.finish()


async def refused_at_last(phone: Any) -> None:
    """Workers say every half second how many seats are left: bots are added until none is."""
    async with asyncio.timeout(20):
        while True:
            await phone.act(client_in.AddBot("easy"))
            bot = next(p.player for p in phone.lobby.players if p.bot)
            await phone.act(client_in.RemovePlayer(bot))
