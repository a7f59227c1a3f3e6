"""Real engines on the modelled NATS: they claim, take over, hand over; zombies are deposed; a seed is a seed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from nats.aio.msg import Msg

from generated.snatch.engine.v1 import engine_pb2 as pb
from model.bus import SimBus
from model.cluster import Cluster, EngineNode, Plan, room_in
from model.store import Stored
from model.weather import ROUGH
from services.engine import records as r
from services.engine.partition import Phase, epoch_of
from services.engine.stream import EXPECTED, SLOT_ID
from tests.services.engine_twin import TWIN
from wire import subjects
from wire.places import partition_of

PARTITION = 7
ROOM = room_in(PARTITION)


class Refused(Exception):
    """What a call was aborted with."""


class Context:
    """A gRPC context, as far as an engine looks at it."""

    def invocation_metadata(self) -> Any:
        return ()

    async def abort(self, code: Any, details: str = "") -> None:
        raise Refused(f"{code.name} {details}")


class Life:
    """A cluster with one room, that somebody attaches to again and again: each answer is a committed record."""

    def __init__(self, seed: int = 1, engines: int = 2, replicated: bool = False) -> None:
        self.cluster = Cluster(
            seed, Plan(engines=engines, partitions=(PARTITION,), replicated=replicated), {"twin": TWIN}
        )
        self.loop = self.cluster.loop
        self.log: list[Stored] = []
        self.answers: list[tuple[float, str, int]] = []
        """(true time, engine, session) of each attach that was answered."""
        self.cluster.nats.committed.append(self._on_commit)
        self.cluster.start()
        self.loop.root.at(0.3, self._poke)

    def _on_commit(self, message: Stored) -> None:
        if message.stream == "LOG":
            self.log.append(message)

    def _poke(self) -> None:
        for engine in self.cluster.alive():
            if not engine.node.halted and engine.hall.owner_of(ROOM) is not None:
                engine.node.spawn(self._attach(engine))
        self.loop.root.after(0.05, self._poke)

    async def _attach(self, engine: EngineNode) -> None:
        ann = pb.OpenMember(player="ann", name="Ann")
        opening = pb.OpenRequest(room=ROOM, table="t1", game="twin", host="ann", members=[ann])
        try:
            await engine.service.Open(opening, Context())  # type: ignore[arg-type]
            answer = await engine.service.Attach(
                pb.AttachRequest(room=ROOM, player="ann", tab=1, name="Ann"),
                Context(),  # type: ignore[arg-type]
            )
        except Refused:
            return
        self.answers.append((self.loop.now, engine.node.name, answer.session))

    def owner(self) -> EngineNode:
        owners = [e for e in self.cluster.alive() if not e.node.halted and e.hall.owner_of(ROOM) is not None]
        assert len(owners) == 1, owners
        return owners[0]

    def run(self, seconds: float) -> None:
        self.loop.run(self.loop.now + seconds)

    def check(self) -> None:
        """The chain is whole, epochs never fall, no session was given twice, nobody halted, nothing failed."""
        previous, epoch = 0, 0
        for message in self.log:
            assert int(message.headers[EXPECTED]) == previous
            previous = message.sequence
            assert epoch_of(message.headers[SLOT_ID]) >= epoch
            epoch = epoch_of(message.headers[SLOT_ID])
        sessions = [session for _, _, session in self.answers]
        assert len(sessions) == len(set(sessions))
        phases = {owner.partition.phase for e in self.cluster.alive() for owner in e.owners()}
        assert Phase.HALTED not in phases
        assert self.cluster.faults == []
        assert self.loop.errors == []


@pytest.fixture
def life() -> Iterator[Life]:
    life = Life()
    yield life
    life.cluster.close()


def test_one_engine_opens_the_partition_and_commits(life: Life) -> None:
    life.run(2.0)
    assert len(life.answers) > 20
    assert {name for _, name, _ in life.answers} == {life.owner().node.name}
    assert r.decode(life.log[0].data).kind == "claim"
    life.check()


def test_a_killed_owner_is_followed_by_the_other_with_all_that_it_had_answered(life: Life) -> None:
    life.run(2.0)
    owner = life.owner()
    owner.node.kill()
    before = life.answers[-1]
    life.run(3.0)
    first = next(a for a in life.answers if a[0] > before[0] and a[1] != owner.node.name)
    assert first[2] > before[2]
    assert first[0] - 2.0 < 2.0
    life.check()


def test_a_zombie_wakes_and_is_deposed(life: Life) -> None:
    life.run(2.0)
    zombie = life.owner()
    zombie.node.stall(3.0)
    life.run(2.5)
    successor = life.owner()
    assert successor is not zombie
    life.run(2.0)
    assert life.owner() is successor
    assert life.cluster.alive() == [e for e in life.cluster.ever if not e.node.dead]
    life.check()


@pytest.mark.parametrize("seed", range(12))
def test_a_zombie_stopped_at_its_record_shows_nothing_of_a_second_truth(seed: int) -> None:
    life = Life(seed)
    life.loop.root.at(1.0, life.cluster.ambush, seed % 4, 0.0002 * (seed % 5), lambda engine: engine.node.stall(2.5))
    life.run(6.0)
    assert life.owner()
    assert life.answers[-1][0] > 5.5
    life.check()
    life.cluster.close()


def test_an_engine_told_to_end_hands_over_within_moments(life: Life) -> None:
    life.run(2.0)
    leaving = life.owner()
    life.cluster.term(leaving.name)
    life.run(0.5)
    assert life.owner() is not leaving
    assert leaving.ended
    gap = max(later[0] - earlier[0] for earlier, later in pairwise(life.answers))
    assert gap < 0.3
    assert "release" in [r.decode(m.data).kind for m in life.log]
    life.check()


def test_the_same_name_started_again_takes_its_partitions_back(life: Life) -> None:
    life.run(2.0)
    owner = life.owner()
    owner.node.kill()
    again = life.cluster.start_engine(owner.name)
    life.run(2.0)
    assert again.boot != owner.boot
    assert life.owner()
    life.check()


def test_a_rival_of_the_same_name_makes_the_older_process_resign(life: Life) -> None:
    life.run(2.0)
    older = life.owner()
    life.cluster.start_engine(older.name)
    life.run(2.0)
    assert len(life.cluster.resigned) == 1
    assert older.hall.resigned
    assert life.owner() is not older
    life.check()


def test_without_nats_nobody_is_judged_and_play_goes_on_by_itself(life: Life) -> None:
    life.run(2.0)
    owner = life.owner()
    life.cluster.nats.kill_server(0, 3.0)
    life.run(1.0)
    silent = len(life.answers)
    life.run(1.5)
    assert len(life.answers) == silent
    life.run(2.5)
    assert life.owner() is owner
    assert len(life.answers) > silent
    life.check()


def test_a_wiped_bucket_costs_no_epoch(life: Life) -> None:
    life.run(2.0)
    owner = life.owner()
    epoch = owner.owners()[0].partition.epoch
    life.cluster.nats.wipe_placement()
    owner.node.kill()
    life.run(3.0)
    assert life.owner().owners()[0].partition.epoch == epoch + 1
    life.check()


@pytest.mark.parametrize("replicated", [False, True], ids=["single", "replicated"])
def test_rough_weather_costs_time_and_nothing_else(replicated: bool) -> None:
    life = Life(5, replicated=replicated)
    life.cluster.nats.weather = ROUGH
    life.run(8.0)
    life.cluster.nats.calm()
    life.run(3.0)
    assert life.answers[-1][0] > 10.5
    life.check()
    life.cluster.close()


def test_a_replicated_log_loses_its_leaders_and_nothing_else() -> None:
    life = Life(3, replicated=True)
    for at in (1.0, 3.0, 5.0):
        life.loop.root.at(at, life.cluster.nats.lose_leaders)
    life.loop.root.at(7.0, life.cluster.nats.lose_quorum, 1.0)
    life.run(14.0)
    assert life.answers[-1][0] > 13.5
    life.check()
    life.cluster.close()


def test_a_room_that_is_never_quiet_tells_all_its_numbers_too(life: Life) -> None:
    """Else a seat that lost its last own frame would not know, for as long as others play."""
    told: list[float] = []
    reader = SimBus(life.cluster.nats, life.loop.node("reader"), "reader")

    async def hear(message: Msg) -> None:
        told.append(life.loop.now)

    async def listen() -> None:
        await reader.connected()
        await reader.subscribe(subjects.beacon(ROOM), cb=hear)

    reader.node.spawn(listen())
    life.run(12.0)
    pauses = [later - earlier for earlier, later in pairwise(told)]
    assert max(pauses) < 2.6
    assert told[-1] > 9.0
    assert max(b[0] - a[0] for a, b in pairwise(life.answers)) < 0.5
    life.check()


def eventful(seed: int) -> str:
    """A life with a bit of everything; its trace."""
    life = Life(seed, engines=3, replicated=bool(seed % 2))
    cluster, root = life.cluster, life.loop.root
    cluster.nats.weather = ROUGH
    root.at(1.0, cluster.ambush, 2, 0.0003, lambda engine: engine.node.stall(1.5))
    root.at(1.5, cluster.kill, "engine-1")
    root.at(2.0, cluster.start_engine, "engine-1")
    root.at(3.0, cluster.term, "engine-2")
    root.at(3.5, cluster.nats.kill_server, 0, 0.4)
    life.run(6.0)
    trace = life.loop.trace
    cluster.close()
    return f"{trace} {len(life.log)} {len(life.answers)}"


def test_the_same_seed_is_the_same_life_and_another_seed_another() -> None:
    assert eventful(1) == eventful(1)
    assert len({eventful(seed) for seed in range(4)}) == 4


def test_a_seed_is_the_same_life_in_every_process() -> None:
    """Whatever the hashes of strings are there, and wherever objects lie."""
    program = "from tests.model.test_cluster import eventful; print(eventful(7), eventful(8))"
    told = set()
    for hashes in ("0", "1", "4711"):
        found = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(found.stdout.strip())
    assert told == {f"{eventful(7)} {eventful(8)}"}


def test_a_room_of_a_partition_is_one() -> None:
    assert partition_of(ROOM) == PARTITION
    assert room_in(PARTITION, 1) != ROOM
    assert partition_of(room_in(PARTITION, 1)) == PARTITION
