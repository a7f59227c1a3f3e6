"""The secret that signs players' tokens is changed, round by round, while a hand is played."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.gateway.app import Gateway
from services.gateway.settings import GatewaySettings
from services.rooms.app import Rooms
from services.rooms.settings import RoomsSettings
from simulate.door import Door
from simulate.phone import Phone
from tests.e2e.inprocess import SECRET, Stack, all_ready
from tests.e2e.party import Party, must, until
from wire import client_in

pytestmark = pytest.mark.timeout(120)

NEW = "the secret that comes after it"


@asynccontextmanager
async def of_round(stack: Stack, number: int, secret: str, also: str) -> AsyncIterator[str]:
    """A gateway and a rooms worker that have got so far, beside the others; the gateway's address."""
    rooms = Rooms(
        RoomsSettings(**stack.common("rooms", number), redis_url=stack.redis.url, secret=secret, secret_also=also)
    )
    await rooms.start()
    gateway = Gateway(
        GatewaySettings(
            **stack.common("gateway", number),
            rooms_addr=f"127.0.0.1:{rooms.port}",
            port=0,
            secret=secret,
            secret_also=also,
        )
    )
    await gateway.start()
    try:
        await all_ready([rooms, gateway])
        yield f"http://127.0.0.1:{gateway.port}"
    finally:
        await gateway.stop()
        await rooms.stop()


def page(people: Party, url: str, token: str, tab: int) -> Phone:
    """Opened at another gateway."""
    phone = Phone(url, token, tab, people.found)
    people.phones.append(phone)
    phone.start()
    return phone


async def test_whoever_has_a_seat_keeps_it_and_newcomers_are_known_to_those_a_round_behind(
    stack: Stack, people: Party
) -> None:
    ann, bo = await people.host("Ann"), await people.join("Bo")
    await people.start(ann)
    await must(ann, client_in.Deal())
    await people.live()
    seat, mine = bo.screen.seat, bo.screen.view.mine
    async with (
        of_round(stack, 2, SECRET, also=NEW) as first_round,
        of_round(stack, 3, NEW, also=SECRET) as second_round,
        Door(second_round) as door,
    ):
        bo.stop()
        back = page(people, second_round, bo.token, 7)
        await until(back, lambda p: p.screen.live)
        assert (back.screen.seat, back.screen.view.mine) == (seat, mine)
        await must(back, client_in.Pause())
        await until(ann, lambda p: p.screen.table.paused_by is not None)

        late = await door.join(people.room, "Cy", str(uuid.uuid4()))
        cy = page(people, first_round, late.token, 8)
        await until(cy, lambda p: p.lobby is not None)
        assert cy.lobby is not None
        assert "Cy" in [player.name for player in cy.lobby.players]
        for phone in (back, cy):
            phone.stop()
