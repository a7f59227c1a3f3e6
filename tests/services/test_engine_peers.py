"""Engines of one another: found dead soon, never by a rumour alone, and forgotten when they are long gone."""

from __future__ import annotations

import signal

import msgspec
import pytest

from generated.snatch.engine.v1 import engine_pb2 as pb
from services.engine import hall, keeper, lease
from services.engine.app import Engine
from services.engine.board import KV, KV_STREAM, Board, Lease
from services.engine.hall import Hall
from services.engine.lease import Silence
from tests.services.engine_stack import Driver, EngineStack, bots_table
from tests.waiting import reach
from wire import subjects
from wire.news import EngineSuspected
from wire.places import PARTITIONS

ROOM = "BCDFG"
NEVER = 1000.0


def hall_of(engine: Engine) -> Hall:
    assert engine.hall is not None
    return engine.hall


async def leases(stack: EngineStack) -> set[str]:
    """The engines that the bucket has leases of."""
    info = await stack.nc.jetstream().stream_info(KV_STREAM, subjects_filter=f"{KV}e.>")
    return {subject.removeprefix(f"{KV}e.") for subject in info.state.subjects or {}}


async def suspect(stack: EngineStack, addr: str) -> None:
    await stack.nc.publish(subjects.ENGINE_SUSPECTED, msgspec.json.encode(EngineSuspected(addr)))
    await stack.nc.flush()


@pytest.fixture
def silence_is_no_death(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of engines in this process."""
    monkeypatch.setattr(lease, "DEAD_AFTER", NEVER)
    monkeypatch.setattr(keeper, "QUIET_AFTER", NEVER)


@pytest.mark.usefixtures("silence_is_no_death")
async def test_a_stream_that_breaks_at_a_caller_has_the_dead_engine_found_at_once(stack: EngineStack) -> None:
    doomed = await stack.process("doomed")
    try:
        await stack.engines.open_table(bots_table(ROOM))
        ann = Driver(stack, ROOM, "p0")
        await ann.attach()
        await ann.move("options", options={"length": "to25"})
        survivor = hall_of(await stack.start("survivor"))
        await reach(lambda: survivor.keeper.alive() == {"doomed"}, "they know each other")
        doomed.send_signal(signal.SIGKILL)
        await reach(lambda: len(survivor.owners()) == PARTITIONS, "all taken over")
        assert await ann.move("options", options={"length": "to50"}) is None
    finally:
        if doomed.returncode is None:
            doomed.kill()
        await doomed.wait()


@pytest.mark.usefixtures("silence_is_no_death")
async def test_a_rumour_about_a_living_engine_harms_nobody(stack: EngineStack) -> None:
    one, two = hall_of(await stack.start("one")), hall_of(await stack.start("two"))
    await reach(lambda: one.keeper.alive() == {"two"} and two.keeper.alive() == {"one"}, "they know each other")
    epochs = {p: at.entry.epoch for p, at in two.board.placed.items()}
    for _ in range(5):
        await suspect(stack, two.addr)
        await suspect(stack, "nobody:1")
    await stack.nc.publish(subjects.ENGINE_SUSPECTED, b"{")
    await stack.nc.flush()
    await reach(lambda: one.keeper._probes == set(), "all asked")
    assert one.keeper.alive() == {"two"}
    assert {p: at.entry.epoch for p, at in two.board.placed.items()}.items() >= epochs.items()


async def test_an_engine_long_gone_is_forgotten_and_welcome_again(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "FORGET_AFTER", lease.DEAD_AFTER + 0.5)
    monkeypatch.setattr(keeper, "REREAD", 0.3)
    one = hall_of(await stack.start("one"))
    await stack.start("two-ab12")
    await reach(lambda: "two-ab12" in one.keeper.alive(), "it is there")
    assert await leases(stack) == {"one", "two-ab12"}
    await stack.stop("two-ab12")
    await reach(lambda: "two-ab12" not in one.board.leases, "it is forgotten")
    assert await leases(stack) == {"one"}
    assert one.keeper.silence.long_gone() == set()
    await stack.start("two-ab12")
    await reach(lambda: "two-ab12" in one.keeper.alive(), "it is there again")


async def test_an_engine_that_ended_and_comes_back_takes_nothing_from_a_living_one(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hall, "STABLE", NEVER)
    one = hall_of(await stack.start("one"))
    await reach(lambda: len(one.owners()) == PARTITIONS, "it has all")
    await stack.start("two")
    await stack.stop("two")
    await reach(lambda: one.board.leases["two"][0].gone, "its farewell is heard")
    epochs = {p: at.entry.epoch for p, at in one.board.placed.items()}
    two = hall_of(await stack.start("two"))
    await reach(lambda: two.keeper._lease.n >= 3, "it has looked at everything")
    assert {p: at.entry.epoch for p, at in two.board.placed.items()} == epochs
    assert (len(one.owners()), two.owners()) == (PARTITIONS, [])


async def test_an_engine_that_ends_gives_nothing_to_one_that_is_ending_too(stack: EngineStack) -> None:
    one, two = hall_of(await stack.start("one")), hall_of(await stack.start("two"))
    await reach(lambda: one.keeper.alive() == {"two"} and two.keeper.alive() == {"one"}, "they know each other")
    await reach(lambda: len(one.owners()) + len(two.owners()) == PARTITIONS, "all are open")
    mine = [owner.number for owner in one.owners()]
    two._draining = True  # as its `stop` begins
    two.keeper.leave()
    await reach(lambda: one.board.leases["two"][0].leaving, "it is heard that it leaves")
    await stack.stop("one")
    await reach(lambda: all(two.board.placed[p].entry.state == "offer" for p in mine), "all is given away")
    assert {two.board.placed[p].entry.owner for p in mine} == {""}


async def test_a_lease_of_an_older_release_is_of_one_that_stays() -> None:
    assert not msgspec.json.decode(b'{"n":1,"addr":"x:1"}', type=Lease).leaving


async def test_what_another_engine_has_forgotten_is_forgotten_here_too(
    stack: EngineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "REREAD", 0.3)
    one = hall_of(await stack.start("one"))
    await stack.start("two")
    await stack.stop("two")
    await reach(lambda: "two" in one.board.leases, "its farewell is heard")
    await stack.nc.jetstream().purge_stream(KV_STREAM, subject=f"{KV}e.two")
    await reach(lambda: "two" not in one.board.leases, "it is forgotten")


async def test_a_lease_renewed_meanwhile_is_never_forgotten(stack: EngineStack) -> None:
    one = hall_of(await stack.start("one"))
    await stack.start("two")
    await reach(lambda: "two" in one.board.leases, "it is there")
    board: Board = one.board
    old, revision = board.leases["two"]
    await reach(lambda: board.leases["two"][1] > revision, "it was renewed")
    heard = board.leases["two"]
    board.leases["two"] = (old, revision)
    await board.forget("two")
    board.leases["two"] = heard
    assert "two" in await leases(stack)


def test_silence_of_a_peer_that_is_forgotten_is_counted_no_more() -> None:
    silence = Silence()
    silence.heard("two", 0.0)
    now = 0.0
    while silence.long_gone() == set():
        now += lease.RENEW
        silence.renewed(now)
    assert now >= lease.FORGET_AFTER
    silence.forget("two")
    silence.renewed(now + 1)
    assert (silence.alive(), silence.long_gone()) == (set(), set())


async def test_an_attach_is_undone_by_its_name_and_a_later_one_is_left_alone(stack: EngineStack) -> None:
    await stack.start("one")
    await stack.engines.open_table(bots_table(ROOM))
    ann = Driver(stack, ROOM, "p0")
    await ann.attach()
    lost = pb.AttachRequest(room=ROOM, player="p9", name="Bo", tab=1, attempt=77)
    seat = (await stack.engines.attach(lost)).seat
    stack.engines.detach_attempt(ROOM, 77)
    await ann.hear(lambda: {"t": "presence", "seat": seat, "present": False} in ann.events)
    lost.attempt = 78
    await stack.engines.attach(lost)
    stack.engines.detach_attempt(ROOM, 77)
    await reach(lambda: not stack.engines._commands._detaches, "confirmed")
    assert [e["present"] for e in ann.events if e["t"] == "presence" and e["seat"] == seat] == [True, False, True]
