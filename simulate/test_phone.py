"""A phone finds a gateway out that answers wrongly; sockets lost are found again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

from games.snatch_solitaire.messages import Turn
from simulate.findings import Findings
from simulate.phone import ONE_ANSWER, SCHEMA, Phone, Refused
from wire import client_out as out

MEMBERS = [out.Member(0, "p0", "Ann", 0, playing=True, present=True)]
TABLE = out.TableView("t", "snatch_solitaire", "setup", 0, MEMBERS, {})
SNAPSHOT = out.Snapshot(1, "BCDFG", 0, 0, TABLE, None, out.You(0, False))

Script = Callable[[dict[str, Any]], list[Any]]


class TwinGateway:
    """Says hello with a snapshot, and answers a move as the test's script says."""

    def __init__(self) -> None:
        self.script: Script = lambda move: []
        self.url = ""
        self.hellos: list[dict[str, Any]] = []
        self.moves: list[int] = []

    async def serve(self, socket: ServerConnection) -> None:
        async for data in socket:
            message = msgspec.json.decode(data)
            if message["t"] == "hello":
                self.hellos.append(message)
                await self._say(socket, [SNAPSHOT])
            elif message["t"] == "move":
                self.moves.append(message["id"])
                await self._say(socket, self.script(message))

    async def _say(self, socket: ServerConnection, messages: list[Any]) -> None:
        for message in messages:
            if isinstance(message, int | None):
                await socket.close(message or 1012)
                return
            await socket.send(message if isinstance(message, str) else msgspec.json.encode(message).decode())


@pytest.fixture
async def gateway() -> AsyncIterator[TwinGateway]:
    twin = TwinGateway()
    async with serve(twin.serve, "127.0.0.1", 0) as server:
        twin.url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        yield twin


@pytest.fixture
async def phone(gateway: TwinGateway) -> AsyncIterator[Phone]:
    phone = Phone(gateway.url, "token", 7, Findings())
    phone.start()
    await phone.until(lambda p: p.screen.table is not None)
    yield phone
    phone.stop()


def told(id: int, no: str | None = None) -> out.SeatFrame:
    return out.SeatFrame(1, 0, [out.Step([], None, id, None if no is None else out.No(no))])


def found_of(phone: Phone) -> Findings:
    return phone._found


async def test_a_move_answered_once_breaks_nothing_and_is_timed(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [told(move["id"], "stale")]
    answer = await phone.move(Turn())
    assert answer.no == out.No("stale")
    found = found_of(phone)
    assert found.ok()
    assert found.refused == {"stale": 1}
    assert found.latency.get_total_count() == 1


async def test_a_move_answered_twice_is_found(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [told(move["id"]), told(move["id"])] if move["id"] == 1 else [told(move["id"])]
    await phone.move(Turn())
    await phone.move(Turn())  # its answer comes after the wrong one
    assert found_of(phone).broken == {ONE_ANSWER: 1}


async def test_an_answer_that_changes_is_found(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [told(move["id"])]
    await phone.move(Turn())
    gateway.script = lambda move: [out.Answer(1, out.No("stale"))] if move["id"] == 1 else [told(move["id"])]
    await phone.say_again()
    await phone.move(Turn())
    assert found_of(phone).broken == {ONE_ANSWER: 1}


async def test_the_same_answer_again_is_well(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [told(move["id"], "no_pile")]
    await phone.move(Turn())
    gateway.script = lambda move: [out.Answer(1, out.No("no_pile"))] if move["id"] == 1 else [told(move["id"])]
    await phone.say_again()
    await phone.move(Turn())
    assert found_of(phone).ok()


async def test_an_answer_to_nothing_is_found(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [told(99), told(move["id"])]
    await phone.move(Turn())
    assert found_of(phone).broken == {ONE_ANSWER: 1}


async def test_a_message_outside_the_protocol_is_found(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: ['{"t":"pong","at":1,"extra":2}', told(move["id"])]
    await phone.move(Turn())
    assert found_of(phone).broken == {SCHEMA: 1}


async def test_a_lost_socket_comes_back_with_the_same_tab_and_sends_its_move_again(
    gateway: TwinGateway, phone: Phone
) -> None:
    gateway.script = lambda move: [None] if len(gateway.moves) == 1 else [told(move["id"])]
    await phone.move(Turn())
    assert gateway.moves == [1, 1]
    assert [hello["tab"] for hello in gateway.hellos] == [7, 7]
    assert found_of(phone).ok()


async def test_a_verdict_that_a_snapshot_leaves_open_is_asked_for_until_it_comes(
    gateway: TwinGateway, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulate.phone.ASK_AGAIN", 0.05)
    shown = out.Snapshot(1, "BCDFG", 0, 0, TABLE, None, out.You(0, False), answered=1)
    replies: dict[int, list[Any]] = {1: [shown], 4: [out.Answer(1, out.No("stale"))]}
    gateway.script = lambda move: replies.get(len(gateway.moves), [])
    answer = await phone.move(Turn())
    assert answer.no == out.No("stale")
    assert gateway.moves == [1, 1, 1, 1]
    assert found_of(phone).ok()


async def test_a_phone_that_was_taken_over_does_not_fight_back(gateway: TwinGateway, phone: Phone) -> None:
    gateway.script = lambda move: [out.TakenOver(), 4001]
    with pytest.raises(Refused):
        await phone.move(Turn())
    assert phone.taken_over.is_set()
    assert len(gateway.hellos) == 1
