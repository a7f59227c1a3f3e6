"""Partitions that are halted, and what an operator does about them; and a store that was wiped."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from itertools import product
from typing import Any

import httpx
import pytest
from nats.aio.msg import Msg

from generated.snatch.engine.v1 import engine_pb2 as pb
from servicekit.engines import EngineAway
from servicekit.health import HttpServer, ops_app
from services.engine import records as r
from services.engine.app import Engine
from services.engine.ledger import Ledger
from services.engine.replay import Replay
from services.engine.settings import SetupSettings
from services.engine.setup import set_up
from services.engine.stream import EXPECTED, SLOT_ID
from tests.servers import NatsServer
from tests.services.engine_stack import Driver, EngineStack, bots_table, seated
from tests.waiting import reach
from wire import subjects
from wire.places import CODE_ALPHABET, PARTITIONS, partition_of

ROOM, OTHER = "BCDFG", "CCCCC"
HERE = partition_of(ROOM)
NEIGHBOUR = next(code for tail in product(CODE_ALPHABET, repeat=4) if partition_of(code := "B" + "".join(tail)) == HERE)
"""Another room of the same partition."""
OPTIONS = {"length": "to25"}


@pytest.fixture
def server(new_nats: Callable[[], NatsServer]) -> NatsServer:
    return new_nats()


@pytest.fixture
async def stack(server: NatsServer) -> AsyncIterator[EngineStack]:
    stack = await EngineStack(server.url).begin()
    yield stack
    await stack.end()


class Operator:
    """Speaks to an engine's operations port."""

    def __init__(self, engine: Engine) -> None:
        self._server = HttpServer(ops_app(engine.ready, engine.registry, engine.operations()), "127.0.0.1", 0)

    async def __aenter__(self) -> Operator:
        await self._server.start()
        self._http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self._server.port}", timeout=30)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        await self._server.stop()

    async def partitions(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self._http.get("/partitions")).json()["partitions"]
        return found

    async def post(self, path: str) -> tuple[int, dict[str, Any]]:
        answer = await self._http.post(path)
        return answer.status_code, answer.json()


async def table_news(stack: EngineStack) -> asyncio.Queue[dict[str, Any]]:
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def hear(message: Msg) -> None:
        await told.put(json.loads(message.data))

    await stack.nc.subscribe(subjects.TABLE_NEWS, cb=hear)
    await stack.nc.flush()
    return told


def serves_all(engine: Engine) -> bool:
    """All are open, and their placement says so."""
    return engine.hall is not None and sum(o.served_at is not None for o in engine.hall.owners()) == PARTITIONS


def halted(engine: Engine) -> set[int]:
    assert engine.hall is not None
    return set(engine.hall.halted())


async def test_a_log_that_went_backwards_is_claimed_anew_when_an_operator_says_so_and_what_is_gone_is_told(
    stack: EngineStack,
) -> None:
    engine = await stack.start("one")
    ann, bo = await seated(stack, ROOM), await seated(stack, OTHER)
    news = await table_news(stack)
    await stack.nc.jetstream().purge_stream(subjects.LOG_STREAM, subject=subjects.log(HERE))
    ann.send("options", options=OPTIONS)
    await reach(lambda: halted(engine) == {HERE}, "halted")
    with pytest.raises(EngineAway):
        await stack.engines.view(pb.ViewRequest(room=ROOM), timeout=0.3)
    async with Operator(engine) as operator:
        seen = (await operator.partitions())[str(HERE)]
        assert (seen["phase"], seen["rooms"]) == ("halted", 1)
        assert "the log ends with" in seen["why"]
        status, found = await operator.post(f"/partitions/{HERE}/reclaim")
        assert (status, found) == (200, {"partition": HERE, "phase": "open", "gone": [ROOM]})
        assert (await operator.post(f"/partitions/{HERE}/reclaim"))[0] == 409
    async with asyncio.timeout(10):
        told = await news.get()
    assert {k: told[k] for k in ("room", "table", "what", "player", "why")} == {
        "room": ROOM,
        "table": "t1",
        "what": "closed",
        "player": "p0",
        "why": "lost",
    }
    await ann.hear(lambda: any(reply.kind == pb.REPLY_KIND_NO_TABLE for reply in ann.replies))
    assert await bo.move("options", options=OPTIONS) is None
    assert engine.hall is not None
    assert engine.hall.missing() is None


async def test_a_log_that_can_t_be_replayed_halts_again_until_an_operator_gives_up_what_it_lost(
    stack: EngineStack,
) -> None:
    await stack.start("one")
    ann = await seated(stack, ROOM)
    for length in ("to25", "to50", "one"):
        await ann.move("options", options={"length": length})
    last = (await stack.nc.jetstream().get_last_msg(subjects.LOG_STREAM, subjects.log(HERE))).seq
    await stack.stop("one")
    await stack.nc.jetstream().purge_stream(subjects.LOG_STREAM, subject=subjects.log(HERE), seq=last)
    two = await stack.start("two")
    await reach(lambda: halted(two) == {HERE}, "halted")
    async with Operator(two) as operator:
        _, found = await operator.post(f"/partitions/{HERE}/reclaim")
        assert found["phase"] == "halted"
        _, found = await operator.post("/partitions/reclaim?lose=yes")
        assert [(one["phase"], one["gone"]) for one in found["reclaimed"]] == [("open", [ROOM])]
    ann.send("options", options=OPTIONS)
    await ann.hear(lambda: any(reply.kind == pb.REPLY_KIND_NO_TABLE for reply in ann.replies))
    await stack.engines.open_table(bots_table(ROOM, "t2"))


async def test_of_a_damaged_log_an_operator_keeps_what_is_whole_behind_the_damage(stack: EngineStack) -> None:
    await stack.start("one")
    ann, bo = await seated(stack, ROOM), await seated(stack, NEIGHBOUR)
    for driver in (ann, bo):
        await driver.move("options", options=OPTIONS)
    before = stack.state(ROOM)
    await stack.stop("one")
    now = max(record.now for record in await stack.log(ROOM))
    await append(stack, b"\xc1")
    snapshot = r.RoomSnapshot(ROOM, before)
    await append(stack, r.encode(r.Record(r.BEFORE, HERE, 1, "data", now, [snapshot])))
    two = await stack.start("two")
    await reach(lambda: halted(two) == {HERE}, "halted")
    async with Operator(two) as operator:
        _, found = await operator.post(f"/partitions/{HERE}/reclaim?lose=yes")
        assert (found["phase"], found["rooms"], found["gone"]) == ("open", 1, [NEIGHBOUR])
    assert stack.state(ROOM) == before
    assert await ann.move("options", options={"length": "to50"}) is None


async def append(stack: EngineStack, body: bytes) -> None:
    """One more message at the end of the partition's log."""
    js = stack.nc.jetstream()
    last = (await js.get_last_msg(subjects.LOG_STREAM, subjects.log(HERE))).seq
    await js.publish(subjects.log(HERE), body, headers={EXPECTED: str(last), SLOT_ID: f"{HERE}:1:{last}:test"})


async def test_a_wiped_store_halts_what_was_open_and_an_operator_s_word_makes_it_serve_again(
    server: NatsServer, stack: EngineStack
) -> None:
    engine = await stack.start("one")
    ann, bo = await seated(stack, ROOM), await seated(stack, OTHER)
    await reach(lambda: serves_all(engine), "all open")
    news = await table_news(stack)
    server.stop()
    shutil.rmtree(server.folder / "jetstream")
    server.start()
    await set_up(SetupSettings(nats_url=server.url))
    await reach(lambda: len(halted(engine)) == PARTITIONS, "all halted, those that nobody plays on too")
    assert engine.hall is not None
    assert "64 of 64 partitions are halted" in (engine.hall.missing() or "")
    async with Operator(engine) as operator:
        answers = await asyncio.gather(*(operator.post("/partitions/reclaim") for _ in range(3)))
    assert [status for status, _ in answers] == [200, 200, 200], "whoever says the same at the same time gets the rest"
    reclaimed = [one for _, found in answers for one in found["reclaimed"]]
    assert sorted(one["partition"] for one in reclaimed) == list(range(PARTITIONS))
    assert {one["phase"] for one in reclaimed} == {"open"}
    assert sorted(room for one in reclaimed for room in one.get("gone", [])) == [ROOM, OTHER]
    async with asyncio.timeout(10):
        assert {(await news.get())["room"], (await news.get())["room"]} == {ROOM, OTHER}
    for driver in (ann, bo):
        driver.send("options", options=OPTIONS)
        await driver.hear(lambda d=driver: any(reply.kind == pb.REPLY_KIND_NO_TABLE for reply in d.replies))  # type: ignore[misc]
    await stack.engines.open_table(bots_table(ROOM, "t2"))
    cy = Driver(stack, ROOM, "p0", tab=2)
    await cy.attach()
    assert await cy.move("options", options=OPTIONS) is None


async def test_a_bucket_alone_that_was_wiped_is_filled_again_and_no_table_notices(stack: EngineStack) -> None:
    engine = await stack.start("one")
    ann = await seated(stack, ROOM)
    await ann.move("options", options=OPTIONS)
    before = stack.state(ROOM)
    await reach(lambda: serves_all(engine), "all open")
    await stack.nc.jetstream().delete_stream(f"KV_{subjects.OWN_BUCKET}")
    await set_up(SetupSettings(nats_url=stack.url))
    assert engine.hall is not None
    board = engine.hall.board

    def filled() -> bool:
        return len(board.placed) == PARTITIONS and {at.entry.state for at in board.placed.values()} == {"open"}

    await reach(lambda: not filled(), "it is noticed")
    await reach(filled, "every placement is there again")
    assert stack.state(ROOM) == before
    assert await ann.move("options", options={"length": "to50"}) is None
    assert halted(engine) == set()


def wipe_after_replay(stack: EngineStack, monkeypatch: pytest.MonkeyPatch, *streams: str) -> None:
    """These are made anew, empty, once the room's partition is read and before it is open."""
    original = Replay.run
    left = list(streams)

    async def run(self: Replay, fence: int) -> Ledger | None:
        ledger = await original(self, fence)
        if self._partition == HERE:
            while left:
                await stack.nc.jetstream().delete_stream(left.pop())
            await set_up(SetupSettings(nats_url=stack.url))
        return ledger

    monkeypatch.setattr(Replay, "run", run)


async def test_a_store_that_is_wiped_between_replay_and_placement_halts_what_had_tables(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stack.start("one")
    await seated(stack, ROOM)
    await stack.stop("one")
    wipe_after_replay(stack, monkeypatch, subjects.LOG_STREAM, f"KV_{subjects.OWN_BUCKET}")
    engine = await stack.start("two")
    await reach(lambda: HERE in halted(engine), "halted")
    assert engine.hall is not None
    assert "the log ends with nothing" in engine.hall.halted()[HERE].partition.why


async def test_a_bucket_that_is_wiped_between_replay_and_placement_costs_no_table(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stack.start("one")
    ann = await seated(stack, ROOM)
    await stack.stop("one")
    wipe_after_replay(stack, monkeypatch, f"KV_{subjects.OWN_BUCKET}")
    engine = await stack.start("two")
    assert await ann.move("options", options=OPTIONS) is None
    assert halted(engine) == set()
